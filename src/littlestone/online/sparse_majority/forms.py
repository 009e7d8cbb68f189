"""How the sparse-majority learner stands: weights on leaves, or one version space."""

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.classes.finite import tabulated
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label, Point, VersionSpace
from littlestone.online.sparse_majority.class_game import PARTS, Leaf, OneClassGame
from littlestone.online.sparse_majority.jury import choose_jury, jury_size_upper_bound

_LARGEST_TABLE: Final = 1 << 22
_VOTES_REMEMBERED: Final = 1 << 12
_MOST_MISTAKES_TRIED: Final = 1 << 12

ProperPosition = VersionSpace | None
"""What is left; None when nothing is."""
LeafPosition = tuple[tuple[int, int], ...]
"""Leaves (bit sets of concepts) with whole weights without a common factor; () if none is left."""


class ProperOptimal:
    """The standard optimal algorithm of a class that holds all its predictors: one vote."""

    votes = 1

    def __init__(self, concepts: ConceptClass) -> None:
        self._whole = concepts.version_space()
        self._dimension = concepts.littlestone_dimension

    def mistake_bound(self, factor: float) -> int:
        del factor
        return self._dimension

    def start(self) -> ProperPosition:
        return self._whole

    def hypothesis(self, position: Any) -> Hypothesis:
        space: VersionSpace = self._whole if position is None else position
        return space.standard_optimal()

    def after_mistake(self, position: Any, x: Point, y: Label) -> ProperPosition:
        left: VersionSpace = position.restrict(x, y)
        return None if left.is_empty else left


class LeafWeights:
    """Weights on the leaves of all splits, for classes that fit in a table.

    A weight is multiplied by shares and by powers of ``rare``, at most once for each dimension
    that is lost; so exact weights stay short.
    """

    def __init__(self, concepts: ConceptClass, margin: Fraction, rare: Fraction) -> None:
        _refuse_large(concepts)
        table, self._members, self._columns = tabulated(concepts)
        self._game = OneClassGame(table, rare)
        self._labels: NDArray[np.uint8] = table.matrix
        self._sides = table.sides
        self._margin = margin
        self._predictors: dict[LeafPosition, Hypothesis] = {}
        self._everything = (1 << len(self._members)) - 1
        self._depth = self._game.dimension(self._everything)
        distinct = len(set(table.sides))
        self.votes = jury_size_upper_bound(points=distinct, margin=margin)
        self._bound: int | None = None

    def mistake_bound(self, factor: float) -> int:
        """``factor`` for each dimension, or what a look at all states finds if they are few."""
        if self._bound is None:
            proved, found = math.floor(factor * self._depth), self.most_mistakes()
            self._bound = proved if found is None else min(proved, found)
        return self._bound

    def start(self) -> LeafPosition:
        weights: dict[int, int] = {}
        self._add(weights, self._everything, PARTS**self._depth)
        return _reduced(weights)

    def hypothesis(self, position: Any) -> Hypothesis:
        if position not in self._predictors:
            if len(self._predictors) >= _VOTES_REMEMBERED:
                self._predictors.clear()
            self._predictors[position] = self._majority(position or self.start())
        return self._predictors[position]

    def after_mistake(self, position: Any, x: Point, y: Label) -> LeafPosition:
        """Every leaf keeps what is consistent, and ``rare`` of its weight for each dimension."""
        side = self._sides[self._columns[x]][y]
        weights: dict[int, int] = {}
        numerator, denominator = self._game.rare.as_integer_ratio()
        for leaf, weight in position:
            left = leaf & side
            if left:
                lost = self._game.dimension(leaf) - self._game.dimension(left)
                # Scaled so that every leaf stays whole, whatever it still will be divided by.
                kept = numerator**lost * denominator ** (self._depth - lost)
                self._add(weights, left, weight * kept * PARTS**self._depth)
        return _reduced(weights)

    def most_mistakes(self) -> int | None:
        """The longest chain of mistakes until no leaf is left; None if too long to find out.

        On streams that some concept fits a leaf is always left, so none has more mistakes.
        """
        known: dict[LeafPosition, int | None] = {}
        left = _MOST_MISTAKES_TRIED

        def longest(position: LeafPosition) -> int | None:
            nonlocal left
            if position in known:
                return known[position]  # None for one that leads back to itself
            known[position] = None
            hypothesis, best = self.hypothesis(position), 0
            for x in self._columns:
                left -= 1
                told = self.after_mistake(position, x, 1 - hypothesis(x))
                more = longest(told) if told and left > 0 else -1
                if more is None or left <= 0:
                    return None
                best = max(best, more + 1)
            known[position] = best
            return best

        return longest(self.start())

    def _add(self, weights: dict[int, int], members: int, weight: int) -> None:
        solved = self._game.solve(members)
        if isinstance(solved, Leaf):
            weights[members] = weights.get(members, 0) + weight
            return
        for child, share in solved.children:
            self._add(weights, child, weight // PARTS * share)

    def _majority(self, position: LeafPosition) -> Hypothesis:
        shares = self._mixture(position)
        jury = choose_jury(shares, self._labels, margin=self._margin)
        return MajorityVote(self._members[number] for number in jury)

    def _mixture(self, position: LeafPosition) -> dict[int, int]:
        """The weight of each concept, in whole numbers."""
        shares: dict[int, int] = {}
        for leaf, weight in position:
            solved = self._game.solve(leaf)
            assert isinstance(solved, Leaf)
            for concept, share in solved.concepts:
                shares[concept] = shares.get(concept, 0) + weight * share
        return shares


def _reduced(weights: dict[int, int]) -> LeafPosition:
    common = math.gcd(*weights.values()) or 1
    return tuple((leaf, weight // common) for leaf, weight in sorted(weights.items()))


def _refuse_large(concepts: ConceptClass) -> None:
    size, points = concepts.size, concepts.domain.size
    if size is None or points is None or size * points > _LARGEST_TABLE:
        raise ValueError(
            f"concepts must be thresholds, points, sparse sets, or have at most {_LARGEST_TABLE} "
            f"labels in all (concepts × points), got {size} × {points} for concepts={concepts!r}"
        )
