"""Publish every key that is reported often enough: a blocklist over an unbounded universe."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Final

from littlestone import require
from littlestone.concepts.capabilities import SetsOfKeys
from littlestone.concepts.classes.sparse_sets import KeySets
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import ConceptClass, Label, Point
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.counters import CountersEngine
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent, light_threshold
from littlestone.randomness import Randomness
from littlestone.theory.tails import binomial_upper_tail, most_failures

_CHANCE: Final = Fraction(1, 100)
"""The largest probability that a listed key is unlisted although nobody complained."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateKeys(Budgeted):
    """List a key after enough reports, and unlist it after enough complaints.

    A report is a mistake on an unlisted key (label 1), a complaint one on a listed key (label 0).
    Every key has its own noise and an example counts for one key, so the promise covers the whole
    stream, however many keys are listed: nothing is composed. Keys come from an unbounded universe;
    a key that was never reported is never listed.

    Privacy:
        Releases:   the set of listed keys, in every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta), conditionally on every prefix; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    timing (docs/GUARANTEES.md): a round with a mistake takes longer
        Proof:      recipe.md
        Checked:    proofs/promises/PrivateKeys.v, theorem private_keys_private

    Mistakes, if the labels fit a set of keys: about 39 for each at epsilon = 1, delta = 1e-6 and
    10**6 rounds, and ``mistake_bound_for`` with high probability. A key whose labels keep changing
    costs about as much for each change; nothing better is promised where no set fits.

    >>> keys = PrivateKeys(rounds=10**6, epsilon=1.0, delta=1e-6)
    >>> keys.reports, keys.complaints, round(keys.expected_mistakes_for(1), 1)
    (33, 21, 39.3)
    """

    concepts: ConceptClass = field(default_factory=KeySets)
    watch: FirstFrequent = field(init=False, repr=False, compare=False)
    """The mechanism that counts reports; complaints have the same rates."""
    complaints: int = field(init=False, repr=False, compare=False)
    """The number of complaints, before noise, at which a key is unlisted."""

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_promise()
        if not isinstance(self.concepts, SetsOfKeys):
            raise ValueError(
                "concepts must be sets of keys (KeySets, SparseSets, Points), got "
                f"concepts={self.concepts!r}"
            )
        watch = FirstFrequent(epsilon=self.epsilon, delta=self.delta, rounds=self.rounds)
        rates = Fraction(watch.query_rate), Fraction(watch.threshold_rate)
        complaints = light_threshold(*rates, _CHANCE / self.rounds)
        require.settle(self, watch=watch, complaints=complaints)

    @property
    def reports(self) -> int:
        """The number of reports, before noise, at which a key is listed."""
        return self.watch.threshold

    def mistake_bound(self, *, failure_probability: float) -> float:
        """Bound the mistakes for the class's largest set, except with ``failure_probability``."""
        return self._capped(
            lambda keys: self.mistake_bound_for(keys, failure_probability=failure_probability)
        )

    def expected_mistake_bound(self) -> float:
        """Bound the mean of the mistakes for the largest set of the class."""
        return self._capped(self.expected_mistakes_for)

    def expected_mistakes_for(self, keys: int) -> float:
        """Bound the mean of the mistakes if the labels are those of a set of ``keys`` keys.

        Each listing costs at most the threshold and its noise, and is undone by chance with
        probability at most 1/100, which leads to one more listing.
        """
        require.integer(keys=keys, at_least=0)
        if keys * self.reports >= self.rounds:  # every round may be a mistake
            return self._most_mistakes
        noise = 1 / math.expm1(self.watch.threshold_rate)
        return keys * (self.reports + noise) / (1 - float(_CHANCE)) * (1 + 1e-12)

    def mistake_bound_for(self, keys: int, *, failure_probability: float) -> float:
        """Bound the mistakes for labels of ``keys`` keys, except with ``failure_probability``.

        Unless more than r of keys + r listings are undone by chance there are at most keys + r
        listings, and each costs the threshold and its own geometric noise.
        """
        require.integer(keys=keys, at_least=0)
        if not keys:
            return 0.0
        if keys * self.reports >= self.rounds:  # every round may be a mistake
            return self._most_mistakes
        best, again = math.inf, 0
        stop = -math.expm1(-self.watch.threshold_rate)
        while (keys + again) * self.reports < best:
            left = failure_probability - binomial_upper_tail(again, keys + again, float(_CHANCE))
            if left > 0:
                noise = most_failures(left * (1 - 1e-9), keys + again, stop)
                best = min(best, (keys + again) * self.reports + noise)
            again += 1
        return best

    def _capped(self, bound: Callable[[int], float]) -> float:
        assert isinstance(self.concepts, SetsOfKeys)
        keys = self.concepts.largest_set
        return self._most_mistakes if keys is None else min(bound(keys), self._most_mistakes)

    def engine(self, rng: Randomness, /) -> "PrivateKeysEngine":
        return PrivateKeysEngine(self, rng)


@dataclass(init=False, eq=False, repr=False)
class PrivateKeysEngine(CountersEngine):
    """The gap of an unlisted key counts reports, that of a listed key complaints."""

    hypothesis: FiniteSupport

    def __init__(self, recipe: "PrivateKeys", rng: Randomness) -> None:
        watch = recipe.watch  # (L1, L4)
        super().__init__(
            recipe, rng, query_rate=watch.query_rate, threshold_rate=watch.threshold_rate
        )

    def begin(self) -> None:
        """Publish the empty set."""
        self.begin_counting("counters of all keys")
        self.hypothesis = FiniteSupport(frozenset())

    def _count_mistake(self, x: Any, y: Label) -> None:
        self._count(x, not y)

    def _count(self, key: Point, listed: bool) -> None:
        gap = self._gaps.get(key)
        if gap is None:
            assert not listed  # a listed key got its noise when it was listed
            gap = self._recipe.reports + self._noise.draw(self._coins(key, "reports"))  # (L2)
        self._gaps[key] = gap - 1  # (L3)
        self._draw_turn(key, self._round)

    def _accept(self, due: list[Point]) -> None:
        """List and unlist the keys that are due."""
        listed = self.hypothesis.positives ^ frozenset(due)  # (L5)
        for key in filter(listed.__contains__, due):
            noise = self._noise.draw(self._coins(key, "complaints"))
            self._gaps[key] = self._recipe.complaints + noise  # (L6)
            self._draw_turn(key, self._round + 1)
        self.hypothesis = FiniteSupport(listed)
