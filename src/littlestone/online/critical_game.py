"""A subclass as a game: concepts against the points where one label alone keeps the dimension.

The value of the game says whether some distribution over the concepts predicts nearly what the
standard optimal algorithm does. If so, the subclass is a leaf and predicts with it; if not, few
points split the subclass into parts of smaller dimension.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass, FiniteVersionSpace
from littlestone.concepts.protocols import Label


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A subclass that predicts with a distribution over its members."""

    concepts: NDArray[np.int64]
    """Numbers of concepts, each with positive probability."""
    weights: NDArray[np.float64]
    ones: NDArray[np.float64]
    """For each point, how likely a drawn concept labels it 1."""


class CriticalGame:
    """The games of all subclasses of one finite class, each solved once.

    A point x is critical for a subclass G if exactly one label y keeps the dimension of
    ``G | x -> y`` at that of G; never do both. With ``tolerance`` z, a leaf errs on a critical
    point with probability at most z.
    """

    def __init__(self, concepts: FiniteClass, tolerance: float) -> None:
        require.positive(tolerance=tolerance)
        self.concepts = concepts
        self.tolerance = tolerance
        self._leaves: dict[int, Leaf] = {}
        self._covers: dict[int, tuple[int, ...]] = {}

    def leaves_of(self, members: int) -> list[tuple[int, float]]:
        """The leaves below a subclass that is not empty, each with its prior probability.

        A leaf is its own; any other subclass shares its probability evenly among its cover.
        """
        found: dict[int, float] = {}
        waiting = [(members, 1.0)]
        while waiting:
            part, share = waiting.pop()
            cover = self.cover(part)
            if not cover:
                found[part] = found.get(part, 0.0) + share
            waiting += [(child, share / len(cover)) for child in cover]
        return list(found.items())

    def cover(self, members: int) -> tuple[int, ...]:
        """Subclasses of smaller dimension whose union is this one; none for a leaf."""
        if members not in self._leaves and members not in self._covers:
            self._solve(members)
        return self._covers.get(members, ())

    def leaf(self, members: int) -> Leaf:
        """How a leaf predicts."""
        if self.cover(members):
            raise ValueError("this subclass is not a leaf: it has a cover")
        return self._leaves[members]

    def dimension(self, members: int) -> int:
        return FiniteVersionSpace(self.concepts, members).dimension

    def restrict(self, members: int, x: int, y: Label) -> int:
        return members & self.concepts.sides[x][y]

    def critical(self, members: int) -> list[tuple[int, Label]]:
        """The critical points, each with the label that keeps the dimension."""
        whole = self.dimension(members)
        kept = []
        for x in range(len(self.concepts.sides)):
            for y in (0, 1):
                part = self.restrict(members, x, y)
                if part == members or self.dimension(part) == whole:
                    kept.append((x, y))
        return kept

    def _solve(self, members: int) -> None:
        critical = self.critical(members)
        agreeing = members
        for x, y in critical:
            agreeing = self.restrict(agreeing, x, y)
        if agreeing:  # someone never errs on a critical point: the value is 0
            first = (agreeing & -agreeing).bit_length() - 1
            self._leaves[members] = self._predicting([first], np.ones(1))
            return
        rows = [i for i in range(self.concepts.size) if members >> i & 1]
        places, labels = (np.array(part) for part in zip(*critical, strict=True))
        wrong = self.concepts.matrix[rows][:, places] != labels
        weights = minimax(wrong.astype(np.float64))
        if (weights @ wrong).max() <= self.tolerance:
            self._leaves[members] = self._predicting(rows, weights)
        else:
            chosen = [critical[place] for place in greedy_cover(wrong)]
            self._covers[members] = tuple(self.restrict(members, x, 1 - y) for x, y in chosen)

    def _predicting(self, rows: list[int], weights: NDArray[np.float64]) -> Leaf:
        numbers = np.array(rows, dtype=np.int64)[weights > 0]
        positive = weights[weights > 0]
        return Leaf(numbers, positive, positive @ self.concepts.matrix[numbers])


def minimax(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """A distribution over the rows whose largest expected loss over the columns is smallest.

    >>> minimax(np.eye(4)).round(3).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    rows, columns = losses.shape
    solved = linprog(
        np.append(np.zeros(rows), 1.0),
        A_ub=np.hstack([losses.T, -np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None],
        b_eq=[1.0],
        method="highs",
    )
    if solved.x is None:
        return np.full(rows, 1.0 / rows)  # any distribution is allowed; this one is fair
    weights = np.maximum(solved.x[:rows], 0.0)
    distribution: NDArray[np.float64] = weights / weights.sum()
    return distribution


def greedy_cover(hits: NDArray[np.bool_]) -> list[int]:
    """Columns that together hit every row, the one that hits most of the rest each time.

    If some distribution over the columns hits each row with probability above z, each column taken
    hits at least the share z of the rest: at most ln(rows) / z + 1 columns.
    """
    left, chosen = np.ones(len(hits), dtype=bool), []
    while left.any():
        column = int(hits[left].sum(axis=0).argmax())
        chosen.append(column)
        left &= ~hits[:, column]
    return chosen
