"""Run the exponential mechanism on growing scores without reading all of them for each draw."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from operator import lshift
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.errors import SnapshotError
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.noise.integer_weights import whole_scores
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness
from littlestone.randomness.noise_owner import NoiseOwner


class GrowingScores(Protocol):
    """Scores of all elements, maintained by the caller; no score ever decreases."""

    def as_array(self) -> NDArray[np.int64]:
        """Return all current scores, in a new array."""

    def of(self, element: int, /) -> int:
        """Return the current score of one element."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncrementalSelection:
    """Draw from scores that grow from round to round, and rarely read all of them.

    The weights are computed every ``refresh`` rounds. In between, rejection sampling proposes an
    element by its old weight and accepts it with probability new weight / old weight, so the result
    has exactly the law of the new weights.

    Privacy (of each draw):
        Releases:   one element
        Neighbours: streams whose scores agree before some round, and from then on differ by one
                    and the same vector, whose entries and 0 lie within ``range_width``
        Adversary:  adaptive; scores may depend on everything released before
        Guarantee:  (epsilon, 0); its log-likelihood ratio spans at most epsilon
        Assumes:    honest-caller (the range width is true, no score falls); timing
                    (docs/GUARANTEES.md): the number of proposals depends on the scores
        Proof:      incremental_selection.md
    """

    mechanism: ExponentialMechanism
    refresh: int

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(refresh=self.refresh, at_least=1)

    def guarantee(self) -> PrivacyGuarantee:
        """Return the cost of one draw."""
        return self.mechanism.guarantee()

    def zero_concentrated(self) -> ZeroConcentrated:
        """Return the cost of one draw for zCDP."""
        return self.mechanism.zero_concentrated()

    def start(self, scores: GrowingScores, *, rng: Randomness) -> "IncrementalSelectionRun":
        """Return a run that draws from ``scores`` as they are at each draw."""
        return IncrementalSelectionRun(self, scores, rng)


@dataclass(init=False, eq=False, repr=False)
class IncrementalSelectionRun(NoiseOwner):
    """A run that holds the weights of the last refresh."""

    _base: NDArray[np.int64] | None
    _age: int

    def __init__(
        self, recipe: IncrementalSelection, scores: GrowingScores, rng: Randomness
    ) -> None:
        self._recipe, self._scores, self._rng = recipe, scores, rng
        self._table = recipe.mechanism._table
        self._digit_bits = self._table.digit_bits
        self._base, self._age = None, 0

    def passed(self, rounds: int) -> None:
        """Record that the scores have grown by this many rounds."""
        self._require_usable()
        self._age += rounds

    def draw(self) -> int:
        """Return one element, drawn by its current weight."""
        self._begin()
        element = self._accepted()
        self._end()
        return element

    def _accepted(self) -> int:
        """Propose until a proposal is kept."""
        if self._base is None or self._age >= self._recipe.refresh:
            self._lay_out(self._scores.as_array())
            self._age = 0
        table, base, rng = self._table, self._base, self._rng
        assert base is not None
        while True:
            element = self._propose()  # (L3)
            before, now = int(base[element]), self._scores.of(element)
            if now == before:
                return element
            old = table.weights[table.level(before - self._least)]
            new = table.weights[table.level(now - self._least)]
            if rng.below(old) < new:  # (L4)
                return element

    def loaded(self) -> None:
        """Restore the weights of the last refresh."""
        if self._base is None:
            return
        grown = self._scores.as_array() - self._base
        if not (
            (grown >= 0) & (grown <= self._age)
        ).all():  # almost every proposal would be rejected
            raise SnapshotError("the state's refresh scores do not fit its current scores")
        self._lay_out(self._base)

    def _lay_out(self, scores: NDArray[np.int64]) -> None:
        """Store the weights as digits of 40 bits, one array per digit (exponential.md)."""
        base = whole_scores(scores)
        self._base, self._least = base, int(base.min())  # (L1)
        levels = self._table.levels(base, base.min())  # (L2)
        self._within = [digit.take(levels).cumsum() for digit in self._table.digits]
        self._sums = [int(ends[-1]) for ends in self._within]
        places = [self._digit_bits * place for place in range(len(self._within))]
        self._ends = list(accumulate(map(lshift, self._sums, places)))

    def _propose(self) -> int:
        dart = self._rng.below(self._ends[-1])
        place = bisect_right(self._ends, dart)
        above = (self._ends[place] - 1 - dart) >> (self._digit_bits * place)
        unit = self._sums[place] - 1 - above
        return int(self._within[place].searchsorted(unit, side="right"))
