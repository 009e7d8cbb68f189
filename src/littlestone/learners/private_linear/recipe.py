"""Publish a private linear rule, for records whose fields add up."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Final

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.private_linear.algorithm import GRID, PrivateLinearEngine
from littlestone.learners.private_linear.features import Features
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.correlated_sums import CorrelatedSums
from littlestone.privacy.mechanisms.noise.geometric import CubeNoise
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness

MOST_PURE: Final = 20
"""The most weights for which noise that is uniform in cubes is less than Gaussian noise."""
# Examples of the first and of the longest batch, in units of 1/epsilon, and at least.
_FIRST, _LEAST_FIRST, _GROWTH = 16, 16, 1.5
_LONGEST, _LEAST_LONGEST = 128, 64


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateLinear(PrivateLearner):
    """Publish a linear rule, learned by logistic regression on noisy sums of gradients.

    Batches are disjoint, and the sum of the gradients of each is released once. The weights follow
    a Kalman filter: a step is long where a weight is uncertain and noise is small. Weights may
    drift, so the rule follows a change of the law. There is nothing to tune and no horizon.
    Up to 20 weights (one for each number, one for each value of a category, and a constant) noise
    is uniform in cubes and the promise pure; above, noise is Gaussian and costs ``delta``. Numbers
    are scaled by their declared range, so nothing is read from the data.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, 0) up to 20 weights, else (epsilon, delta), conditionally on every
                    prefix; per user (``max_contributions`` examples) by group privacy
        Assumes:    timing (docs/GUARANTEES.md): a round that ends a batch takes longer
        Proof:      algorithm.md

    Regret: nothing is proved; ``regret_bound`` is the number of rounds. docs/practice.md has
    measurements.

    >>> from littlestone.concepts.classes.stumps import Stumps
    >>> from littlestone.concepts.schema import Schema
    >>> rules = Stumps(Schema.from_mapping({"delay": {"range": [0, 60]}}), 1)
    >>> learner = PrivateLinear(concepts=rules, epsilon=1.0)
    >>> learner.guarantee(), [learner.batch_size(number) for number in (0, 1, 9)]
    (PrivacyGuarantee(epsilon=1.0, delta=0.0), [16, 24, 128])
    """

    concepts: ConceptClass
    epsilon: float
    delta: float = 1e-6
    rounds: int | None = None
    max_contributions: int = 1
    features: Features = field(init=False, repr=False, compare=False)
    cube: CubeNoise | None = field(init=False, repr=False, compare=False)
    """The mechanism for at most 20 weights."""
    sums: CorrelatedSums | None = field(init=False, repr=False, compare=False)
    """The mechanism for more weights."""

    form_version: ClassVar[int] = 2
    oblivious_only: ClassVar[bool] = True
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(epsilon=self.epsilon)
        require.integer(max_contributions=self.max_contributions, at_least=1)
        if self.rounds is not None:
            require.integer(rounds=self.rounds, at_least=1)
        features = Features.from_domain(self.concepts.domain)
        width = features.width
        pure = width <= MOST_PURE
        (require.probability if pure else require.open_probability)(delta=self.delta)
        try:
            # A replaced gradient moves each part by at most GRID.
            rate = Fraction(float_at_most(self.epsilon)) / GRID
            cube = CubeNoise(rate=rate, width=width) if pure else None
            sums = None if pure else self._gaussian(width)
        except ValueError as problem:  # about a rate or rho, which are not parameters here
            raise ValueError(
                f"epsilon={self.epsilon!r} at delta={self.delta!r} needs more noise than "
                f"can be represented; increase one of them"
            ) from problem
        require.settle(self, features=features, cube=cube, sums=sums)

    def _gaussian(self, width: int) -> CorrelatedSums:
        # |round(GRID * g)| <= GRID + sqrt(width) / 2 for |g| <= 1, squared and rounded up.
        longest = GRID * GRID + math.isqrt(GRID * GRID * width) + width // 4 + 2
        rho = ZeroConcentrated.largest(epsilon=self.epsilon, delta=self.delta).rho
        return CorrelatedSums(releases=1, width=width, longest_squared=longest, rho=rho)

    def batch_size(self, number: int) -> int:
        """Return the number of examples of batch 0, 1, …"""
        first = max(_FIRST / self.epsilon, _LEAST_FIRST)
        longest = max(_LONGEST / self.epsilon, _LEAST_LONGEST)
        return math.ceil(min(first * _GROWTH ** min(number, 100), longest))

    @property
    def noise_variance(self) -> float:
        """Return the variance of the noise in each part of a released gradient."""
        if self.sums is not None:
            return (self.sums.deviation() / GRID) ** 2
        width = self.features.width
        return (width + 1) * (width + 2) / 3 / self.epsilon**2

    @property
    def per_example(self) -> PrivacyGuarantee:
        """Return the guarantee for one example."""
        return PrivacyGuarantee(epsilon=self.epsilon, delta=0.0 if self.cube else self.delta)

    @property
    def concentrated(self) -> ZeroConcentrated | None:
        """Return the guarantee in zero-concentrated form; None if noise is uniform in cubes."""
        return None if self.sums is None else ZeroConcentrated(rho=self.sums.rho)

    def engine(self, rng: Randomness, /) -> PrivateLinearEngine:
        return PrivateLinearEngine(self, rng)
