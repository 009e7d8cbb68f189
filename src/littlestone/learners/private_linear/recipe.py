"""A private linear rule: for records whose fields add up, where trees need many questions."""

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final

from littlestone import require
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.private_linear.algorithm import GRID, PrivateLinearEngine
from littlestone.learners.private_linear.features import Features
from littlestone.mechanisms.correlated_sums import MOST_RELEASES, CorrelatedSums
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness

# In units of 1/epsilon; docs/practice.md says how it was chosen, and the other two defaults.
_FIRST_BATCH: Final = 8


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateLinear(Budgeted):
    """Publish a linear rule, learned by logistic regression on noisy sums of gradients.

    Follow-the-regularised-leader: the weights are minus a rate times the sum of all gradients so
    far. Each example's gradient is clipped to length 1 and rounded to whole numbers; after each
    batch the sums are released with discrete Gaussian noise that is correlated over time, and
    everything else is computed from what was released. Batches grow with the rounds before them
    (``growth``). Numbers are scaled by their declared grid and categories have one weight for each
    value, so nothing is read off the data.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta), conditionally on every prefix; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    timing (docs/GUARANTEES.md): a round that ends a batch takes longer
        Proof:      algorithm.md

    Regret: nothing is proved; ``regret_bound`` is the number of rounds. docs/practice.md has
    measurements.

    >>> from littlestone.concepts.classes.stumps import Stumps
    >>> from littlestone.concepts.schema import Schema
    >>> rules = Stumps(Schema.from_mapping({"delay": {"grid": [0, 15]}}), 1)
    >>> learner = PrivateLinear(concepts=rules, rounds=10_000, epsilon=1.0, delta=1e-6)
    >>> learner.guarantee(), learner.sums.releases, learner.batch_sizes[-1]
    (PrivacyGuarantee(epsilon=1.0, delta=1e-06), 153, 284)
    """

    first: int | None = None
    """The examples of the first batch; 8/epsilon unless given."""
    growth: float = 0.03
    """A batch has at least this share of the rounds before it."""
    rate: float = 1.0
    """The deviation that noise gives to the score of a long record; less learns more slowly."""
    features: Features = field(init=False, repr=False, compare=False)
    sums: CorrelatedSums = field(init=False, repr=False, compare=False)
    batch_sizes: tuple[int, ...] = field(init=False, repr=False, compare=False)

    oblivious_only: ClassVar[bool] = True
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_promise()
        require.positive(rate=self.rate)
        if self.first is None:
            object.__setattr__(self, "first", math.ceil(_FIRST_BATCH / self.epsilon))
        assert self.first is not None
        require.integer(first=self.first, at_least=1)
        if not 0.01 <= self.growth <= 1:
            raise ValueError(f"growth must lie in [0.01, 1], got growth={self.growth!r}")
        features = Features.from_domain(self.concepts.domain)
        require.settle(self, features=features, batch_sizes=tuple(self._sizes()))
        width = self.features.width
        # |round(GRID * g)| <= GRID + sqrt(width) / 2 for |g| <= 1, squared and rounded up.
        longest = GRID * GRID + math.isqrt(GRID * GRID * width) + width // 4 + 2
        rho = ZeroConcentrated.largest(epsilon=self.epsilon, delta=self.delta).rho
        try:
            sums = CorrelatedSums(
                releases=len(self.batch_sizes), width=width, longest_squared=longest, rho=rho
            )
        except ValueError as problem:  # of rho, which nobody here has given
            raise ValueError(
                f"epsilon={self.epsilon!r} at delta={self.delta!r} would need more noise than "
                f"there are numbers for; make one of them larger"
            ) from problem
        object.__setattr__(self, "sums", sums)

    def _sizes(self) -> list[int]:
        """As many batches as the rounds have room for, one at least."""
        assert self.first is not None
        sizes: list[int] = []
        played = 0
        while True:
            size = max(self.first, math.ceil(self.growth * played))
            if sizes and played + size > self.rounds:
                return sizes
            if len(sizes) == MOST_RELEASES:
                raise ValueError(
                    f"first={self.first} and growth={self.growth!r} make more than "
                    f"{MOST_RELEASES} batches of {self.rounds} rounds; make one of them larger"
                )
            sizes.append(size)
            played += size

    @property
    def concentrated(self) -> ZeroConcentrated:
        return ZeroConcentrated(rho=self.sums.rho)

    def rate_of(self, batch: int) -> float:
        """What the sum of all gradients up to a batch is multiplied by."""
        require.integer(batch=batch, at_least=0, at_most=len(self.batch_sizes) - 1)
        noise = self.sums.deviation() / GRID * math.sqrt(self.features.width)
        # A step along the gradient of a whole batch, no longer than its curvature allows.
        return min(self.rate / noise, 4 / self.batch_sizes[batch])

    def engine(self, rng: Randomness, /) -> PrivateLinearEngine:
        return PrivateLinearEngine(self, rng)
