"""The game that each class plays: a random concept of it, or points that split it.

A distribution on a class G that errs rarely on every critical point makes G a leaf;
otherwise the other player's distribution on the critical points splits G into classes of smaller
dimension. A linear program finds one or the other; whole numbers then check what it found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.protocols import Label
from littlestone.online.critical_game import CriticalPoints, equilibrium

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


class OneClassGame(CriticalPoints):
    """Solves the game of every class that is asked for, once each.

    ``rare`` is how often a concept of a leaf may err on a critical point. In a split every
    concept lies in children of weight at least ``rare``.
    """

    def __init__(self, table: FiniteClass, rare: Fraction) -> None:
        super().__init__(table)
        self.rare = rare
        self._solved: dict[int, Leaf | Split] = {}

    def solve(self, members: int) -> Leaf | Split:
        """Whether a non-empty class is a leaf or is split, and how."""
        if members not in self._solved:
            if len(self._solved) >= _MEMO_ENTRIES:
                self._solved.clear()
            self._solved[members] = self._play(members)
        return self._solved[members]

    def _play(self, members: int) -> Leaf | Split:
        critical = self.critical(members)
        faultless = self.faultless(members, critical)
        if faultless is not None:
            return Leaf(((faultless, PARTS),))
        concepts, wrong = self.errors(members, critical)
        errs = wrong.astype(np.int64)
        solution = equilibrium(errs)
        if solution.x is None:
            raise ArithmeticError("the linear program of a class was not solved")
        mixture = whole_shares(solution.x[: len(concepts)])
        pressure = whole_shares(-solution.ineqlin.marginals)
        if Fraction(int((mixture @ errs).max()), PARTS) <= self.rare + SLACK:
            return Leaf(tuple((concepts[i], int(mixture[i])) for i in np.flatnonzero(mixture)))
        if Fraction(int((errs @ pressure).min()), PARTS) >= self.rare:
            return Split(self._children(members, critical, pressure))
        raise ArithmeticError("the linear program of a class was not solved accurately")

    def _children(
        self, members: int, critical: Sequence[tuple[int, Label]], pressure: NDArray[np.int64]
    ) -> Shares:
        shares: dict[int, int] = {}
        for (x, label), share in zip(critical, pressure.tolist(), strict=True):
            if share:
                child = self.restrict(members, x, 1 - label)
                shares[child] = shares.get(child, 0) + share
        return tuple(sorted(shares.items()))


def whole_shares(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """The nearest whole shares of PARTS; what rounding loses goes to the largest."""
    positive = np.maximum(weights, 0.0)
    shares: NDArray[np.int64] = np.rint(positive * (PARTS / positive.sum())).astype(np.int64)
    shares[shares.argmax()] += PARTS - shares.sum()
    return shares
