"""A subclass as a game: concepts against the points where one label alone keeps the dimension.

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


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A subclass that predicts with a distribution over its members."""

    concepts: NDArray[np.int64]
    """Numbers of concepts, each with positive probability."""
    weights: NDArray[np.float64]
    ones: NDArray[np.float64]
    """For each point, how likely a drawn concept labels it 1."""


class CriticalPoints:
    """Where the subclasses of one finite class, as bit sets, are nearly certain.

    A point x is critical for a subclass G if exactly one label y keeps the dimension of
    ``G | x -> y`` at that of G; never do both.
    """

    def __init__(self, concepts: FiniteClass) -> None:
        self.concepts = concepts

    def dimension(self, members: int) -> int:
        """The Littlestone dimension of a subclass."""
        return self.concepts._dimensions.dimension(members)

    def restrict(self, members: int, x: int, y: Label) -> int:
        return members & self.concepts.sides[x][y]

    def critical(self, members: int) -> list[tuple[int, Label]]:
        """The critical points, each with the label that keeps the dimension.

        Points on which all concepts agree are left out: nobody errs there.
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
        """The first concept that never errs on a critical point, if there is one."""
        for x, y in critical:
            members = self.restrict(members, x, y)
        return (members & -members).bit_length() - 1 if members else None

    def errors(
        self, members: int, critical: list[tuple[int, Label]]
    ) -> tuple[list[int], NDArray[np.bool_]]:
        """The concepts of the subclass, and which of them (rows) err on which critical points."""
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
    """A distribution over the rows whose largest expected loss over the columns is smallest.

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
    """The solved program: a distribution over the rows, then the value of the game."""
    from scipy.optimize import linprog  # noqa: PLC0415 (half a second, for those who need it)

    rows, columns = losses.shape
    return linprog(
        np.append(np.zeros(rows), 1.0),
        A_ub=np.hstack([losses.T, -np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None],
        b_eq=[1.0],
        method="highs",
    )


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
