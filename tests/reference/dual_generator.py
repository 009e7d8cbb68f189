"""The generator for classes of small dual Littlestone dimension: an agnostic learner of points."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.learners.online.proper_agnostic import ProperAgnostic, ProperAgnosticState
from littlestone.learners.sanitizers.queries import FiniteQueries, Floats
from littlestone.theory.outwards import upwards

_LARGEST_ROUNDS: Final = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class DualGenerator:
    """Guesses as a proper agnostic learner of the dual class does [P, Lemma gen].

    The points are concepts over the concepts, x(h) = h(x), and an objection (h, +) is the example
    (h, 1): points with h(x) = 1 are right. Over ``rounds`` objections the guesses lose at most
    the learner's regret more than the data do, which is of order sqrt(d* T ln T), d* being the
    dual Littlestone dimension: no |X| in it. On finite tables ``HedgeGenerator`` is nearly
    always better; this one is for large domains with small d*.

    >>> from littlestone.concepts.classes.sparse_sets import Points
    >>> from littlestone.learners.sanitizers.queries import queries_of
    >>> queries = queries_of(Points(30))
    >>> generator = DualGenerator.for_gap(queries, gap=0.25)
    >>> generator.most_objections(queries, gap=0.25) < generator.rounds < 500
    True
    """

    rounds: int

    def __post_init__(self) -> None:
        require.integer(rounds=self.rounds, at_least=1)

    @classmethod
    def for_gap(cls, queries: FiniteQueries, *, gap: float) -> "DualGenerator":
        """With enough rounds for objections of at least ``gap`` to come to an end."""
        require.open_probability(gap=gap)
        rounds = 1
        while not cls(rounds=rounds).most_objections(queries, gap=gap) < rounds:
            rounds = max(rounds + 1, rounds * 5 // 4)
            if rounds > _LARGEST_ROUNDS:
                raise ValueError(f"gap must be larger: more than {rounds} rounds, got gap={gap!r}")
        return cls(rounds=rounds)

    def start(self, queries: FiniteQueries, /) -> "DualState":
        dual = _dual(queries)
        learner = ProperAgnostic(concepts=dual.points, rounds=self.rounds)
        return DualState(queries, dual.cells, learner.begin())

    def most_objections(self, queries: FiniteQueries, /, *, gap: float) -> float:
        regret = ProperAgnostic(
            concepts=_dual(queries).points, rounds=self.rounds
        ).expected_regret_bound()
        most = upwards(regret / gap) if gap > 0 else math.inf
        return most if most < self.rounds else math.inf  # (L3)


@dataclass(frozen=True, slots=True, eq=False)
class _Dual:
    points: FiniteClass
    cells: NDArray[np.int64]
    """For each distinct point, the first cell that it is."""


class DualState:
    """The learner's state, and its distribution as weights of the cells."""

    __slots__ = ("_cells", "_queries", "_state", "weights")

    def __init__(
        self, queries: FiniteQueries, cells: NDArray[np.int64], state: ProperAgnosticState
    ) -> None:
        self._queries, self._cells, self._state = queries, cells, state
        weights = np.zeros(queries.cells)
        for part, weight in state.weights.items():
            leaf = state.learner._game.leaf(part)
            weights[cells[leaf.concepts]] += weight * leaf.weights
        self.weights: Floats = weights / weights.sum()  # (L1)

    def after(self, number: int, sign: int, /) -> "DualState":
        label = 1 if sign > 0 else 0
        return DualState(self._queries, self._cells, self._state.after(number, label))  # (L2)


@lru_cache(maxsize=16)
def _dual(queries: FiniteQueries) -> _Dual:
    columns = np.array([queries.column(place) for place in range(queries.cells)], dtype=np.uint8)
    points = FiniteClass(columns)  # its rows are the distinct columns, sorted
    first: dict[bytes, int] = {}
    for place, column in enumerate(columns):
        first.setdefault(column.tobytes(), place)
    cells = np.array([first[row.tobytes()] for row in points.matrix], dtype=np.int64)
    return _Dual(points, cells)
