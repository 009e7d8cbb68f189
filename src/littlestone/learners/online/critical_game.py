"""A subclass as a game: concepts against the points where only one label keeps the dimension.

The value of the game says whether some distribution over the concepts predicts nearly what the
standard optimal algorithm does. If so, the subclass is a leaf and predicts with it; if not, few
points split the subclass into parts of smaller dimension.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.protocols import Label
from littlestone.errors import optional


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A subclass that predicts with a distribution over its members."""

    concepts: NDArray[np.int64]
    """Numbers of concepts, each with positive probability."""
    weights: NDArray[np.float64]
    ones: NDArray[np.float64]
    """For each point, how likely a drawn concept labels it 1."""


class CriticalPoints:
    """The critical points of subclasses, which are bit sets of one finite class.

    A point x is critical for a subclass G if exactly one label y keeps the dimension of ``G | x ->
    y`` at that of G; both never do.
    """

    def __init__(self, concepts: FiniteClass) -> None:
        self.concepts = concepts

    def dimension(self, members: int) -> int:
        """Return the Littlestone dimension of a subclass."""
        return self.concepts._dimensions.dimension(members)

    def restrict(self, members: int, x: int, y: Label) -> int:
        """Return the members that label ``x`` with ``y``."""
        return members & self.concepts.sides[x][y]

    def critical(self, members: int) -> list[tuple[int, Label]]:
        """Return the critical points, each with the label that keeps the dimension.

        Points on which all concepts agree are left out: no concept errs there.
        """
        depth, at_least = self.dimension(members), self.concepts._dimensions.at_least
        found = []
        for x, (_, part) in enumerate(self.concepts.sides):
            ones = members & part
            if ones not in (0, members):
                keeps = at_least(ones, depth)
                if keeps != at_least(members ^ ones, depth):
                    found.append((x, int(keeps)))
        return found

    def faultless(self, members: int, critical: list[tuple[int, Label]]) -> int | None:
        """Return the first concept that never errs on a critical point, or None."""
        for x, y in critical:
            members = self.restrict(members, x, y)
        return (members & -members).bit_length() - 1 if members else None

    def errors(
        self, members: int, critical: list[tuple[int, Label]]
    ) -> tuple[list[int], NDArray[np.bool_]]:
        """Return the concepts of the subclass, and which of them (rows) err on which points."""
        rows = [i for i in range(members.bit_length()) if members >> i & 1]
        places, labels = (np.array(part) for part in zip(*critical, strict=True))
        return rows, self.concepts.matrix[rows][:, places] != labels


class CriticalGame(CriticalPoints):
    """The games of all subclasses of one finite class, each solved once.

    With ``tolerance`` z, a leaf errs on a critical point with probability at most z.
    """

    def __init__(self, concepts: FiniteClass, tolerance: float) -> None:
        super().__init__(concepts)
        require.positive(tolerance=tolerance)
        self.tolerance = tolerance
        self._leaves: dict[int, Leaf] = {}
        self._covers: dict[int, tuple[int, ...]] = {}

    def leaves_of(self, members: int) -> list[tuple[int, float]]:
        """Return the leaves below a non-empty subclass, each with its prior probability.

        A leaf has itself; any other subclass divides its probability evenly among its cover.
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
        """Return subclasses of smaller dimension whose union is this one; none for a leaf."""
        if members not in self._leaves and members not in self._covers:
            self._solve(members)
        return self._covers.get(members, ())

    def leaf(self, members: int) -> Leaf:
        """Return how a leaf predicts."""
        if self.cover(members):
            raise ValueError("this subclass is not a leaf: it has a cover")
        return self._leaves[members]

    def _solve(self, members: int) -> None:
        critical = self.critical(members)
        faultless = self.faultless(members, critical)
        if faultless is not None:  # the value is 0
            self._leaves[members] = self._predicting([faultless], np.ones(1))
            return
        rows, wrong = self.errors(members, critical)
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
    """Return the distribution over rows with the smallest largest expected loss over columns.

    >>> minimax(np.eye(4)).round(3).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    rows, _ = losses.shape
    solved = equilibrium(losses)
    if solved.x is None:
        return np.full(rows, 1.0 / rows)  # any distribution is allowed; this one is fair
    weights = np.maximum(solved.x[:rows], 0.0)
    distribution: NDArray[np.float64] = weights / weights.sum()
    return distribution


def equilibrium(losses: NDArray[Any]) -> Any:
    """Solve the game's linear program: a distribution over the rows, then the value."""
    solver = optional("scipy.optimize", "this learner")  # takes half a second to import
    rows, columns = losses.shape
    return solver.linprog(
        np.append(np.zeros(rows), 1.0),
        A_ub=np.hstack([losses.T, -np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None],
        b_eq=[1.0],
        method="highs",
    )


def greedy_cover(hits: NDArray[np.bool_]) -> list[int]:
    """Return columns that hit every row, each time the one that hits most of the rest.

    If some distribution over the columns hits each row with probability above z, each column taken
    hits at least the share z of the rest: at most ln(rows) / z + 1 columns.
    """
    left, chosen = np.ones(len(hits), dtype=bool), []
    while left.any():
        column = int(hits[left].sum(axis=0).argmax())
        chosen.append(column)
        left &= ~hits[:, column]
    return chosen
