"""Find the first query of a sequence above a threshold, for any queries of sensitivity 1.

Use ``CountAboveThreshold`` where the queries are running counts of one stream: it needs less noise.
"""

import math
from dataclasses import dataclass, field
from typing import Any

from littlestone import require
from littlestone.errors import HaltedError
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.exact import fraction, noise_rate
from littlestone.privacy.mechanisms.noise.geometric import Geometric
from littlestone.privacy.mechanisms.saved_run import SavedRun
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class AboveThreshold:
    """Answer "is this query above the threshold?" until the first yes.

    Privacy:
        Releases:   every answer, up to and including the first yes
        Neighbours: data on which each query changes by at most 1; with ``monotone``, all the
                    queries of a run moreover change in the same direction
        Adversary:  adaptive; chooses each query after seeing the earlier answers
        Guarantee:  (epsilon, 0), however many queries are asked
        Assumes:    honest-caller: the queries have that sensitivity (docs/GUARANTEES.md)
        Proof:      above_threshold.md

    >>> from littlestone.randomness import seeded
    >>> recipe = AboveThreshold(epsilon=2.0, threshold=50)
    >>> recipe.guarantee()
    PrivacyGuarantee(epsilon=2.0, delta=0.0)
    >>> run = recipe.start(rng=seeded(4))
    >>> [run.ask(value) for value in (0, 3, 1000)]
    [False, False, True]
    """

    epsilon: float
    threshold: int
    monotone: bool = False
    _threshold_noise: Geometric = field(init=False, repr=False, compare=False)
    _query_noise: Geometric = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.fields_fit(self)
        noise_rate(epsilon=self.epsilon)
        require.integer(threshold=self.threshold)
        if not isinstance(self.monotone, bool):
            raise ValueError(f"monotone must be True or False, got monotone={self.monotone!r}")
        half = fraction(self.epsilon) / 2
        query_noise = Geometric(rate=half if self.monotone else half / 2)
        require.settle(self, _threshold_noise=Geometric(rate=half), _query_noise=query_noise)

    def guarantee(self) -> PrivacyGuarantee:
        """Return what all answers together promise."""
        return PrivacyGuarantee.rounded_up(epsilon=self.epsilon)

    def error_bound(self, *, queries: int, failure_probability: float) -> float:
        """Return how far below the threshold a yes can be, and how far above it a no can be.

        The larger of the two one-sided errors over ``queries`` queries, each of which fails with
        half the probability.
        """
        require.integer(queries=queries, at_least=1)
        query_scale = (2 if self.monotone else 4) / self.epsilon
        early = query_scale * math.log(2 * queries / failure_probability)
        late = 2 / self.epsilon * math.log(2 / failure_probability)
        return max(early, late) * (1 + 2.0**-48)  # beyond every rounding of the formula

    def start(self, *, rng: Randomness) -> "AboveThresholdRun":
        """Return a run, with its noisy threshold drawn."""
        return AboveThresholdRun(self, rng)

    def restore(self, state: Any, *, rng: Randomness) -> "AboveThresholdRun":
        """Continue a run from its ``state()``; each state may be continued once."""
        return AboveThresholdRun.restored(self, state, rng)


@dataclass(init=False, eq=False, repr=False)
class AboveThresholdRun(SavedRun):
    """Holds the noisy threshold."""

    __slots__ = ("_halted", "_noisy_threshold")

    _noisy_threshold: int
    _halted: bool

    def __init__(self, recipe: AboveThreshold, rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._noisy_threshold = recipe.threshold + recipe._threshold_noise.draw(rng)  # (L1)
        self._halted = False

    @property
    def halted(self) -> bool:
        """Whether the run has answered yes."""
        return self._halted

    _over = halted

    def ask(self, value: int) -> bool:
        """Return whether the query with this true ``value`` is, noisily, above the threshold."""
        require.integer(value=value)
        self._begin()
        if self._halted:
            refusal = HaltedError("AboveThreshold has already answered yes; start a new run")
            self._break_off(refusal)
        noisy_value = int(value) + self._recipe._query_noise.draw(self._rng)  # (L2)
        self._halted = noisy_value >= self._noisy_threshold  # (L3, L4)
        self._end()
        return self._halted
