"""Report when a running count of private bits passes a threshold, then stop.

The noise is one-sided and geometric. Where one example moves all later counts by the same amount,
that needs a quarter of the query noise of [DR14, Algorithm 1] and half of its threshold noise.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from littlestone import require
from littlestone.errors import HaltedError
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.exact import fraction, noise_rate
from littlestone.privacy.mechanisms.noise.geometric import Geometric
from littlestone.privacy.mechanisms.noise.waiting_time import LIMIT, WaitingTime
from littlestone.privacy.mechanisms.saved_run import SavedRun
from littlestone.randomness import Randomness
from littlestone.randomness.noise_owner import IN_A_STEP
from littlestone.theory.above_threshold_bounds import (
    one_sided_early_upper_bound,
    one_sided_late_upper_bound,
)

_LARGEST_THRESHOLD = 1 << 60
_BITS = (bool, int)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class CountAboveThreshold:
    """Watch a sum of bits, one per round, and report the round in which it passes the threshold.

    Privacy:
        Releases:   the answer of every round, up to and including the first yes
        Neighbours: bit streams that differ in one round
        Adversary:  adaptive; chooses each bit after seeing the earlier answers
        Guarantee:  (epsilon, 0), however many rounds are played
        Assumes:    honest-caller: a bit depends on the example of its own round and on public
                    values only; timing (docs/GUARANTEES.md): a round whose bit is 1 takes longer
                    unless the run comes from ``start_plain``
        Proof:      count_above_threshold.md
        Checked:    proofs/promises/CountAboveThreshold.v, theorem count_above_threshold_private

    Instances on disjoint rounds, each started after the one before it has said yes, cost epsilon
    together (count_above_threshold.md).

    >>> from littlestone.randomness import seeded
    >>> recipe = CountAboveThreshold(epsilon=0.5, threshold=20)
    >>> recipe.guarantee()
    PrivacyGuarantee(epsilon=0.5, delta=0.0)
    >>> run = recipe.start(rng=seeded(1))
    >>> run.observe_zeros(1000) is None, run.observe(1)
    (True, False)
    """

    epsilon: float
    threshold: int
    _noise: Geometric = field(init=False, repr=False, compare=False)
    _waiting: WaitingTime = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.fields_fit(self)
        noise_rate(epsilon=self.epsilon)
        require.integer(
            threshold=self.threshold, at_least=-_LARGEST_THRESHOLD, at_most=_LARGEST_THRESHOLD
        )
        require.settle(
            self, _noise=Geometric(rate=self.epsilon), _waiting=WaitingTime(rate=self.epsilon)
        )

    def guarantee(self) -> PrivacyGuarantee:
        """Return what all answers together promise."""
        return PrivacyGuarantee.rounded_up(epsilon=self.epsilon)

    def early_error_bound(self, *, rounds: int, failure_probability: float) -> float:
        """Bound the undershoot: at every yes, the count is at least threshold minus this."""
        return one_sided_early_upper_bound(
            rounds=rounds, epsilon=self.epsilon, failure_probability=failure_probability
        )

    def late_error_bound(self, *, instances: int, failure_probability: float) -> float:
        """Bound the overshoot: at every no, the count is below threshold plus this."""
        return one_sided_late_upper_bound(
            instances=instances, epsilon=self.epsilon, failure_probability=failure_probability
        )

    def error_bound(self, *, rounds: int, instances: int = 1, failure_probability: float) -> float:
        """Return the sum of both one-sided errors, each of which fails with half the probability.

        A threshold of n plus the early error ensures n ones before every yes; then no run sees more
        than n + error_bound + 1 of them. ``rounds`` is the total over all instances.

        >>> recipe = CountAboveThreshold(epsilon=0.5, threshold=20)
        >>> round(recipe.error_bound(rounds=10**5, failure_probability=0.05), 1)
        37.8
        """
        half = failure_probability / 2
        return self.early_error_bound(
            rounds=rounds, failure_probability=half
        ) + self.late_error_bound(instances=instances, failure_probability=half)

    def start(self, *, rng: Randomness) -> "CountAboveThresholdRun":
        """Return a run in which rounds with bit 0 take almost no time."""
        return CountAboveThresholdRun(self, rng)

    def start_plain(self, *, rng: Randomness) -> "PlainAboveThresholdRun":
        """Return a run with the same law that does the same work in every round."""
        return PlainAboveThresholdRun(self, rng)

    def restore(self, state: Any, *, rng: Randomness) -> "CountAboveThresholdRun":
        """Continue a run from its ``state()``; each state may be continued once."""
        return CountAboveThresholdRun.restored(self, state, rng)


@dataclass(init=False, eq=False, repr=False)
class _Halting(SavedRun):
    """A run that ends with its first yes. ``_gap`` is the noisy threshold minus the count."""

    __slots__ = ("_gap", "_halted", "_rounds")

    _gap: int
    _rounds: int
    _halted: bool

    @property
    def halted(self) -> bool:
        """Whether the run has answered yes."""
        return self._halted

    _over = halted

    @property
    def rounds(self) -> int:
        """The number of rounds played, including the one that answered yes."""
        return self._rounds

    def _refuse(self) -> None:
        if self._halted:
            raise HaltedError("AboveThreshold has already answered yes; start a new run")
        super()._refuse()

    def _halt(self) -> None:
        self._halted = True
        self._retire("has halted")


class PlainAboveThresholdRun(_Halting):
    """The definition: draw noise for the threshold, then new noise in every round."""

    __slots__ = ("_noise",)

    def __init__(self, recipe: CountAboveThreshold, rng: Randomness) -> None:
        self._recipe, self._rng, self._noise = recipe, rng, recipe._noise
        self._gap = recipe.threshold + self._noise.draw(rng)  # (L1)
        self._rounds, self._halted = 0, False

    def observe(self, bit: int) -> bool:
        """Add ``bit`` to the count; return True once, when the noisy count passes the threshold."""
        bit = require.label(bit)
        self._begin()
        self._gap -= bit  # (L2)
        above = self._noise.draw(self._rng) >= self._gap  # (L3, L4)
        self._rounds += 1
        if above:
            self._halt()  # (L5)
        self._end()
        return above

    def observe_block(self, ones: ArrayLike, length: int) -> int | None:
        """As ``CountAboveThresholdRun.observe_block``, with noise drawn for each of the rounds."""
        positions = _checked_positions(ones, length)
        self._begin()
        bits = np.zeros(length, dtype=np.int64)
        bits[positions] = 1
        gaps = self._gap - np.cumsum(bits)  # (L2)
        above = self._noise.draw_many(length, self._rng) >= gaps  # (L3, L4)
        yes = int(above.argmax()) if above.any() else None
        self._rounds += length if yes is None else yes + 1
        self._gap -= len(positions)
        if yes is not None:
            self._halt()  # (L5)
        elif self._barred is IN_A_STEP:
            self._barred = None
        return yes


@dataclass(init=False, eq=False, repr=False)
class CountAboveThresholdRun(_Halting):
    """The same law, faster: while the count is unchanged, draw the rounds until yes in one step.

    If no further 1 arrives, the next ``_quiet`` rounds answer no; after them the answer is yes if
    ``_fires``, and undecided otherwise.
    """

    __slots__ = ("_fires", "_quiet", "_waiting")

    _quiet: int
    _fires: bool

    def __init__(self, recipe: CountAboveThreshold, rng: Randomness) -> None:
        self._recipe, self._rng, self._waiting = recipe, rng, recipe._waiting
        self._gap = recipe.threshold + recipe._noise.draw(rng)  # (L1)
        self._quiet, self._fires = 0, False
        self._rounds, self._halted = 0, False

    def observe(self, bit: int) -> bool:
        """Play one round; return True once, when the noisy count passes the threshold."""
        if type(bit) not in _BITS or bit >> 1:  # inlined: a call takes as long as the round
            bit = require.label(bit)
        if self._barred:
            self._refuse()
        self._barred = (
            IN_A_STEP  # as _begin and _end, without the calls: millions of rounds a second
        )
        if bit:
            self._count_ones(1)
        if self._quiet:
            self._quiet -= 1
            self._rounds += 1
            if self._barred is IN_A_STEP:  # unless it was retired meanwhile
                self._barred = None
            return False
        return self._record(self._stand_still(1), 1) is not None

    def observe_zeros(self, count: int) -> int | None:
        """Play ``count`` rounds with bit 0; return the position (from 0) of the yes, or None.

        Rounds after the yes are not played.
        """
        require.integer(count=count, at_least=0)
        self._begin()
        return self._record(self._stand_still(int(count)), int(count))

    def observe_block(self, ones: ArrayLike, length: int) -> int | None:
        """Play ``length`` rounds whose 1-bits are at the increasing positions ``ones``.

        Returns the position of the yes, or None; rounds after the yes are not played. The work
        grows with the number of ones, not with the length.
        """
        positions = _checked_positions(ones, length)
        self._begin()
        return self._record(self._play(positions, int(length)), int(length))

    def _belongs_to(self) -> dict[str, Any]:
        return {
            "kind": "above-threshold, secret, continue once",
            "epsilon": str(fraction(self._recipe.epsilon)),
            "threshold": self._recipe.threshold,
        }

    def _loaded(self) -> None:
        self._waiting = self._recipe._waiting
        if self._halted:
            self._halt()

    def _play(self, positions: NDArray[np.int64], length: int) -> int | None:
        if not len(positions):
            return self._stand_still(length)
        fired = self._stand_still(int(positions[0]))
        if fired is not None:
            return fired
        # The count is unchanged between ones; the stretch after the last one stays open.
        hit = self._waiting.first(self._gap - 1, np.diff(positions), self._rng)  # (L2, L3, L4)
        if hit is not None:
            stretch, wait = hit
            return int(positions[stretch]) + wait - 1
        self._count_ones(len(positions))
        last = int(positions[-1])
        fired = self._stand_still(length - last)
        return None if fired is None else last + fired

    def _count_ones(self, ones: int) -> None:
        self._gap -= ones  # (L2)
        self._quiet, self._fires = 0, False

    def _stand_still(self, rounds: int) -> int | None:
        """Return the position of the yes within ``rounds`` rounds without a 1."""
        played = 0
        while self._quiet < rounds - played:
            played += self._quiet
            if self._fires:
                return played
            wait = self._waiting.draw(self._gap, self._rng)  # (L3, L4)
            self._quiet, self._fires = min(wait - 1, LIMIT), wait <= LIMIT
        self._quiet -= rounds - played
        return None

    def _record(self, yes: int | None, rounds: int) -> int | None:
        self._rounds += rounds if yes is None else yes + 1
        if yes is not None:
            self._gap, self._quiet, self._fires = 0, 0, False  # nothing secret outlives the run
            self._halt()  # (L5)
        elif self._barred is IN_A_STEP:
            self._barred = None
        return yes


def _checked_positions(ones: ArrayLike, length: int) -> NDArray[np.int64]:
    require.integer(length=length, at_least=0, at_most=LIMIT)
    positions = require.array(ones=ones)
    if positions.size == 0:
        return np.empty(0, dtype=np.int64)
    if positions.ndim != 1 or positions.dtype.kind not in "iu":
        raise ValueError("ones must be a one-dimensional sequence of whole numbers")
    if positions[0] < 0 or positions[-1] >= length or not (positions[1:] > positions[:-1]).all():
        raise ValueError(f"ones must be increasing positions from 0 to {length - 1}")
    return positions.astype(np.int64, copy=False)
