"""The game that each class plays: a random concept of it, or points that split it.

For a class G of Littlestone dimension l, a point is *critical* if exactly one of its labels keeps
the dimension. A distribution on G that errs rarely on every critical point makes G a leaf;
otherwise the other player's distribution on the critical points splits G into classes of smaller
dimension. A linear program finds one or the other; whole numbers then check what it found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.dimensions.littlestone import BitSetDimension
from littlestone.concepts.protocols import Label

PARTS: Final = 1 << 20
"""Probabilities are whole multiples of 1 / PARTS."""
SLACK: Final = Fraction(1, 1 << 12)
"""A leaf may err this much more often than a split is sure of: far beyond the program's error."""
_MEMO_ENTRIES: Final = 1 << 14

Shares = tuple[tuple[int, int], ...]
"""Pairs of a concept's number (or a class, as a bit set) and its share; the shares sum to PARTS."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """Concepts with shares: rarely wrong wherever the class is nearly certain."""

    concepts: Shares


@dataclass(frozen=True, slots=True)
class Split:
    """Classes of smaller dimension; each concept is in many of them, by weight."""

    children: Shares


class OneClassGame:
    """Solves the game of every class that is asked for, once each.

    ``rare`` is how often a concept of a leaf may err on a critical point. In a split every
    concept lies in children of weight at least ``rare``.
    """

    def __init__(self, table: FiniteClass, rare: Fraction) -> None:
        self.rare = rare
        self._table = table
        self._dimensions = BitSetDimension([ones for _, ones in table.sides])
        self._solved: dict[int, Leaf | Split] = {}

    def dimension(self, members: int) -> int:
        """The Littlestone dimension of a class, given as the bit set of its concepts."""
        return self._dimensions.dimension(members)

    def solve(self, members: int) -> Leaf | Split:
        """Whether a non-empty class is a leaf or is split, and how."""
        if members not in self._solved:
            if len(self._solved) >= _MEMO_ENTRIES:
                self._solved.clear()
            self._solved[members] = self._play(members)
        return self._solved[members]

    def critical(self, members: int) -> list[tuple[int, Label]]:
        """The points at which one label alone keeps the dimension, with that label.

        Points on which all concepts agree are left out: nobody errs there.
        """
        depth, found = self.dimension(members), []
        for x, (_, part) in enumerate(self._table.sides):
            ones = members & part
            if ones in (0, members):
                continue
            keeps = self._dimensions.at_least(ones, depth)
            if keeps != self._dimensions.at_least(members ^ ones, depth):
                found.append((x, int(keeps)))
        return found

    def _play(self, members: int) -> Leaf | Split:
        critical = self.critical(members)
        faultless = members
        for x, label in critical:
            faultless &= self._table.sides[x][label]
        if faultless:
            return Leaf(((_lowest(faultless), PARTS),))
        concepts = _numbers(members)
        points = [x for x, _ in critical]
        keeping = np.array([label for _, label in critical])
        errs = (self._table.matrix[np.ix_(concepts, points)] != keeping).astype(np.int64)
        mixture, pressure = _equilibrium(errs)
        if Fraction(int((mixture @ errs).max()), PARTS) <= self.rare + SLACK:
            return Leaf(tuple((concepts[i], int(mixture[i])) for i in np.flatnonzero(mixture)))
        if Fraction(int((errs @ pressure).min()), PARTS) >= self.rare:
            return Split(self._children(members, critical, pressure))
        raise ArithmeticError("the linear program of a class was not solved accurately")

    def _children(
        self, members: int, critical: Sequence[tuple[int, Label]], pressure: NDArray[np.int64]
    ) -> Shares:
        sides = self._table.sides
        shares: dict[int, int] = {}
        for (x, label), share in zip(critical, pressure.tolist(), strict=True):
            if share:
                child = members & sides[x][1 - label]
                shares[child] = shares.get(child, 0) + share
        return tuple(sorted(shares.items()))


def _equilibrium(errs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Optimal distributions on the rows (few errors) and the columns (many), as whole shares."""
    rows, columns = errs.shape
    solution = linprog(
        np.append(np.zeros(rows), 1.0),
        A_ub=np.column_stack([errs.T, -np.ones(columns)]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs",
    )
    if solution.x is None:
        raise ArithmeticError("the linear program of a class was not solved")
    return whole_shares(solution.x[:rows]), whole_shares(-solution.ineqlin.marginals)


def whole_shares(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """The nearest whole shares of PARTS; what rounding loses goes to the largest."""
    positive = np.maximum(weights, 0.0)
    shares: NDArray[np.int64] = np.rint(positive * (PARTS / positive.sum())).astype(np.int64)
    shares[shares.argmax()] += PARTS - shares.sum()
    return shares


def _lowest(members: int) -> int:
    return (members & -members).bit_length() - 1


def _numbers(members: int) -> list[int]:
    return [i for i in range(members.bit_length()) if members >> i & 1]
