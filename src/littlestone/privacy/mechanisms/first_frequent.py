"""Release the first round in which some key is frequent, and that key."""

import heapq
import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from littlestone import require
from littlestone.concepts.canonical_key import canonical_key
from littlestone.concepts.json_form import canonical_value
from littlestone.errors import HaltedError
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.exact import exp_bounds
from littlestone.privacy.mechanisms.noise.geometric import Geometric
from littlestone.privacy.mechanisms.noise.waiting_time import LIMIT, WaitingTime
from littlestone.privacy.mechanisms.saved_run import SavedRun
from littlestone.privacy.rounding import exp_upper_bound, float_at_most
from littlestone.randomness import Randomness
from littlestone.randomness.noise_owner import IN_A_STEP

_GUARD_BITS: Final = 128


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class FirstFrequent:
    """Count keys, at most one per round, and release a key once its noisy count is large.

    Each key has its own AboveThreshold, whose threshold noise and query noise get different
    shares of epsilon: a replaced example lowers one count and raises another, so each share is paid
    once. Keys may come from an unbounded set; a key that never occurred is never released, and
    delta pays for that.

    Privacy:
        Releases:   the round in which the first key is released, and the keys released in it
        Neighbours: key streams of which one has one key more from some round on, the other
                    another one (or none) from some round on, and which are else the same
        Adversary:  adaptive
        Guarantee:  (epsilon, delta) within ``rounds`` rounds, conditionally on every prefix
        Assumes:    timing (docs/GUARANTEES.md): a round with a key takes longer
        Proof:      first_frequent.md
        Checked:    proofs/promises/FirstFrequent.v, theorem first_frequent_private

    >>> from littlestone.randomness import seeded
    >>> recipe = FirstFrequent(epsilon=1.0, delta=1e-6, rounds=10**6)
    >>> recipe.guarantee(), recipe.threshold
    (PrivacyGuarantee(epsilon=1.0, delta=1e-06), 33)
    >>> run = recipe.start(rng=seeded(1))
    >>> run.observe("rare"), run.observe_zeros(1000)
    (False, None)
    """

    epsilon: float
    delta: float
    rounds: int
    query_rate: float = field(init=False, repr=False, compare=False)
    """The part of epsilon that pays for a count that falls."""
    threshold_rate: float = field(init=False, repr=False, compare=False)
    """The part of epsilon that pays for a count that rises."""
    threshold: int = field(init=False, repr=False, compare=False)
    """A count that reaches this plus its threshold noise is released at once."""

    def __post_init__(self) -> None:
        require.usual_fields(self)
        query_rate = _best_query_rate(self.epsilon, self.delta, self.rounds)
        rest = float_at_most(Fraction(self.epsilon) - Fraction(query_rate))  # (L1)
        require.settle(self, query_rate=query_rate, threshold_rate=rest)
        require.settle(self, threshold=_smallest_threshold(self))

    def guarantee(self) -> PrivacyGuarantee:
        """Return the guarantee of one run."""
        return PrivacyGuarantee.rounded_up(epsilon=self.epsilon, delta=self.delta)

    def late_error_bound(self, *, failure_probability: float) -> int:
        """Bound the overshoot: a key is released before its count exceeds the threshold by this.

        >>> FirstFrequent(epsilon=1.0, delta=1e-6, rounds=10**6).late_error_bound(
        ...     failure_probability=0.05
        ... )
        20
        """
        return math.ceil(math.log(1 / failure_probability) / self.threshold_rate * (1 + 1e-12))

    def start(self, *, rng: Randomness) -> "FirstFrequentRun":
        """Start a run with its own noise."""
        return FirstFrequentRun(self, rng)

    def restore(self, state: Any, *, rng: Randomness) -> "FirstFrequentRun":
        """Continue from ``state()``; each state may be continued once."""
        return FirstFrequentRun.restored(self, state, rng)


@dataclass(init=False, eq=False, repr=False)
class FirstFrequentRun(SavedRun):
    """The gap of every key that occurred: its noisy threshold minus its count.

    While a gap is unchanged, its key's release round is drawn in one step, as in
    ``privacy/mechanisms/count_above_threshold.md``; ``_turns`` holds these rounds, the nearest
    first.
    """

    __slots__ = ("_gaps", "_newest", "_noise", "_numbers", "_round", "_turns", "_waiting",
                 "released")  # fmt: skip

    _round: int
    _numbers: int
    _gaps: dict[Hashable, int]
    _newest: dict[Hashable, int]
    _turns: list[tuple[int, int, bool, Hashable]]
    released: tuple[Any, ...]
    """What was released, in a random order; empty until then."""

    def __init__(self, recipe: FirstFrequent, rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._round, self._numbers, self.released = 0, 0, ()
        self._gaps, self._newest, self._turns = {}, {}, []
        self._loaded()

    def _loaded(self) -> None:
        self._noise, self._waiting = _laws(self._recipe.threshold_rate, self._recipe.query_rate)
        if self.released:
            self._retire("has released a key")

    @property
    def _over(self) -> bool:
        return bool(self.released)

    def observe(self, key: Hashable | None) -> bool:
        """Play one round that counts ``key``; return True once, when keys are released.

        A key is a hypothesis or a plain value (``canonical_key``); other keys raise a ValueError.
        """
        if key is not None and not hasattr(key, "to_json"):
            key = canonical_key(key)
        if self._barred:
            self._refuse()
        self._barred = IN_A_STEP
        self._round += 1
        if key is not None:
            if key not in self._gaps:
                self._gaps[key] = self._recipe.threshold + self._noise.draw(self._rng)  # (L2)
            self._gaps[key] -= 1  # (L3)
            self._draw_turn(key)
        if self._turns and self._turns[0][0] <= self._round and self._release_those_due():
            return True
        if self._barred is IN_A_STEP:
            self._barred = None
        return False

    def observe_zeros(self, count: int) -> int | None:
        """Play ``count`` rounds without a key; return the release's position (from 0) or None."""
        require.integer(count=count, at_least=0)
        self._begin()
        start, end = self._round, self._round + int(count)
        due = False
        while not due and self._turns and self._turns[0][0] <= end:
            self._round = self._turns[0][0]
            due = self._release_those_due()
        if not due:
            self._round = end
            self._end()
        return self._round - start - 1 if due else None

    def _draw_turn(self, key: Hashable) -> None:
        """Draw the round in which query noise first reaches the gap of ``key``."""
        wait = self._waiting.draw(self._gaps[key], self._rng)  # (L4)
        self._numbers += 1
        self._newest[key] = self._numbers
        heapq.heappush(self._turns, (self._round + wait - 1, self._numbers, wait <= LIMIT, key))
        if len(self._turns) > 2 * len(self._newest):  # most belong to gaps that have changed
            self._turns = [turn for turn in self._turns if self._newest[turn[3]] == turn[1]]
            heapq.heapify(self._turns)

    def _release_those_due(self) -> bool:
        due = []
        while self._turns and self._turns[0][0] <= self._round:
            _, number, releases, key = heapq.heappop(self._turns)
            if self._newest[key] != number:  # the gap has changed
                continue
            if releases:
                due.append(key)
            else:
                self._draw_turn(
                    key
                )  # no release for LIMIT rounds; draw again, coins have no memory
        if due:
            order = self._rng.permutation(len(due))
            self.released = tuple(canonical_value(due[i]) for i in order)  # (L5)
            self._gaps, self._newest, self._turns = {}, {}, []  # nothing secret outlives the run
            self._retire("has released a key")
        return bool(due)

    def _refuse(self) -> None:
        if self.released:
            raise HaltedError("FirstFrequent has released a key; start a new run")
        super()._refuse()


@lru_cache(maxsize=256)
def _laws(threshold_rate: float, query_rate: float) -> tuple[Geometric, WaitingTime]:
    """Return the two noise laws, cached per recipe."""
    return Geometric(rate=threshold_rate), WaitingTime(rate=query_rate)


def _best_query_rate(epsilon: float, delta: float, rounds: int) -> float:
    """Minimise ln(rounds·(1 + e^ε)/δ)/ε₁ + 1/(ε − ε₁), about the count at the release."""
    weight = math.sqrt(math.log(rounds) + math.log1p(math.exp(min(epsilon, 700))) - math.log(delta))
    return epsilon * weight / (weight + 1)


def _smallest_threshold(recipe: FirstFrequent) -> int:
    """Return the smallest τ with rounds·(1 + e^ε)·P(query noise ≥ τ + threshold noise) ≤ delta."""
    allowed = Fraction(recipe.delta) / recipe.rounds
    factor = 1 + exp_upper_bound(Fraction(recipe.epsilon))
    return light_threshold(
        Fraction(recipe.query_rate), Fraction(recipe.threshold_rate), allowed / factor
    )


@lru_cache(maxsize=256)
def light_threshold(query_rate: Fraction, threshold_rate: Fraction, allowed: Fraction) -> int:
    """Return the smallest τ that a count of 0 reaches in a round with probability ≤ ``allowed``.

    The probability is P(query noise ≥ τ + threshold noise) = a^τ·(1 − b)/(1 − ab) with
    a = e^(−query_rate), b = e^(−threshold_rate).
    """
    bits = _GUARD_BITS + allowed.denominator.bit_length()
    one = 1 << bits
    b_low, _ = exp_bounds(threshold_rate, bits)
    _, ab_high = exp_bounds(threshold_rate + query_rate, bits)
    share = Fraction(one - b_low, one - ab_high)
    surprise = math.log(allowed.denominator) - math.log(allowed.numerator)
    threshold = max(1, int((surprise + math.log(share)) / query_rate) - 2)
    while share * Fraction(exp_bounds(query_rate * threshold, bits)[1], one) > allowed:  # (L1)
        threshold += 1
    return threshold
