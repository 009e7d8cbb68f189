"""The state of the sparse-majority learner: weights on leaves, or one version space.

*The game of a class.* A distribution on a class G that errs rarely on every critical point makes G
a leaf; otherwise the other player's distribution on the critical points splits G into classes of
smaller dimension. A linear program finds one or the other; whole numbers then check what it found.

*The jury.* Where a distribution Q gives some label more than 1/2 + margin, the majority of the jury
must give that label. The jury is chosen greedily: each point counts r for each vote against its
label and 1/r for each vote for it, r = 1 + 2 * margin, and the next member is the concept of Q that
makes the sum over the points smallest. A random concept of Q multiplies a point by at most (1/2 +
margin)/r + (1/2 - margin) r = 1 - 2 margin**2 on average, so the best one shrinks the sum by that;
a point with a wrong majority counts at least r. So the greedy choice ends, after at most
``jury_size_upper_bound`` members, without any randomness.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass, tabulated
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label, Point, VersionSpace
from littlestone.learners.online.critical_game import CriticalPoints, equilibrium

PARTS: Final = 1 << 20
"""Probabilities are whole multiples of 1 / PARTS."""
SLACK: Final = Fraction(1, 1 << 12)
"""A leaf may err this much more than ``rare``: far above the linear program's error."""
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
    """Solve the game of each requested class once.

    ``rare`` is how often a concept of a leaf may err on a critical point. In a split every
    concept lies in children of weight at least ``rare``.
    """

    def __init__(self, table: FiniteClass, rare: Fraction) -> None:
        super().__init__(table)
        self.rare = rare
        self._solved: dict[int, Leaf | Split] = {}

    def solve(self, members: int) -> Leaf | Split:
        """Return whether a non-empty class is a leaf or split, and how."""
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
            raise ArithmeticError(
                "the linear program of a class was not solved; learn a smaller class"
            )
        mixture = whole_shares(solution.x[: len(concepts)])
        pressure = whole_shares(-solution.ineqlin.marginals)
        if Fraction(int((mixture @ errs).max()), PARTS) <= self.rare + SLACK:
            return Leaf(tuple((concepts[i], int(mixture[i])) for i in np.flatnonzero(mixture)))
        if Fraction(int((errs @ pressure).min()), PARTS) >= self.rare:
            return Split(self._children(members, critical, pressure))
        raise ArithmeticError(
            "the linear program of a class was not solved accurately; learn a smaller class"
        )

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
    """Round to whole shares of PARTS; the largest share takes the rounding error."""
    positive = np.maximum(weights, 0.0)
    shares: NDArray[np.int64] = np.rint(positive * (PARTS / positive.sum())).astype(np.int64)
    shares[shares.argmax()] += PARTS - shares.sum()
    return shares


_GRID: Final = 64  # the margin is rounded down to 64ths, to keep the numbers short


def jury_size_upper_bound(*, points: int, margin: Fraction) -> int:
    """Return the smallest odd m with points * (1 - 2 margin**2)**m < 1 + 2 margin.

    >>> jury_size_upper_bound(points=1, margin=Fraction(1, 8))
    1
    >>> jury_size_upper_bound(points=100, margin=Fraction(1, 8))
    139
    """
    require.integer(points=points, at_least=1)
    gain = coarse(margin)
    shrink, least = 1 - 2 * gain**2, 1 + 2 * gain
    near = int((math.log(points) - math.log(least)) / -math.log(shrink))
    size = max(1, near - 4) | 1  # the logarithms are off by less
    while points * shrink**size >= least:
        size += 2
    return size


def coarse(margin: Fraction) -> Fraction:
    """Return the margin in 64ths, rounded down; a smaller margin only asks for more."""
    return Fraction(math.floor(margin * _GRID), _GRID)


def choose_jury(
    shares: Mapping[int, int], labels: NDArray[np.uint8], *, margin: Fraction
) -> list[int]:
    """Return the members, an odd number of row numbers with repetitions.

    Args:
        shares: The weights of rows.
        labels: One row for each concept, one column for each point.
        margin: How far above 1/2 a label's share must be to bind the jury.
    """
    rows = sorted(shares)
    votes = labels[rows]
    wanted, sure = _wanted(votes, [shares[row] for row in rows], margin)
    right = np.unique((votes == wanted)[:, sure], axis=1)
    return [rows[member] for member in _greedy(right, margin)]


def _wanted(
    votes: NDArray[np.uint8], shares: Sequence[int], margin: Fraction
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the likelier label of each point, and whether its share exceeds 1/2 + margin."""
    total = sum(shares)
    bar = (Fraction(1, 2) + margin) * total
    wanted, sure = [], []
    for column in votes.T:
        ones = sum(share for share, vote in zip(shares, column.tolist(), strict=True) if vote)
        wanted.append(2 * ones > total)
        sure.append(max(ones, total - ones) > bar)
    return np.array(wanted, dtype=np.bool_), np.array(sure, dtype=np.bool_)


def _greedy(right: NDArray[np.bool_], margin: Fraction) -> list[int]:
    """Add members until every point has more votes for its label than against it."""
    up, down = (1 + 2 * coarse(margin)).as_integer_ratio()
    # Scaled by up * down at each vote: a wrong vote counts up**2, a right one down**2.
    counts = [1] * right.shape[1]
    ahead = np.zeros(right.shape[1], dtype=np.int64)
    factors = [[down * down if vote else up * up for vote in row] for row in right.tolist()]
    jury: list[int] = []
    while len(jury) % 2 == 0 or (ahead <= 0).any():
        sums = [sum(map(int.__mul__, counts, row)) for row in factors]
        best = min(range(len(sums)), key=sums.__getitem__)
        jury.append(best)
        counts = list(map(int.__mul__, counts, factors[best]))
        ahead += np.where(right[best], 1, -1)
    return jury


_LARGEST_TABLE: Final = 1 << 22
_VOTES_REMEMBERED: Final = 1 << 12
_MOST_MISTAKES_TRIED: Final = 1 << 12

ProperPosition = VersionSpace | None
"""The remaining version space; None when it is empty."""
LeafPosition = tuple[tuple[int, int], ...]
"""Leaves (bit sets of concepts) with whole weights without a common factor; () if none is left."""


class ProperOptimal:
    """The standard optimal algorithm of a class that contains all its predictors: one vote."""

    votes = 1

    def __init__(self, concepts: ConceptClass) -> None:
        self._whole = concepts.version_space()
        self._dimension = concepts.littlestone_dimension

    def mistake_bound(self, factor: float) -> int:
        """Return the Littlestone dimension."""
        del factor
        return self._dimension

    def start(self) -> ProperPosition:
        """Return the whole class."""
        return self._whole

    def hypothesis(self, position: Any) -> Hypothesis:
        """Return the standard optimal predictor of what is left."""
        space: VersionSpace = self._whole if position is None else position
        return space.standard_optimal()

    def after_mistake(self, position: Any, x: Point, y: Label) -> ProperPosition:
        """Return what is left after a mistake; None if nothing is."""
        left: VersionSpace = position.restrict(x, y)
        return None if left.is_empty else left


class LeafWeights:
    """Weights on the leaves of all splits, for classes that fit in a table.

    A weight is multiplied by shares and by powers of ``rare``, at most once for each lost
    dimension, so exact weights stay short.
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
        """Return ``factor`` times the dimension, or the maximum over all states if they are few."""
        if self._bound is None:
            proved, found = math.floor(factor * self._depth), self.most_mistakes()
            self._bound = proved if found is None else min(proved, found)
        return self._bound

    def start(self) -> LeafPosition:
        """Return the leaves of the whole class with their weights."""
        weights: dict[int, int] = {}
        self._add(weights, self._everything, PARTS**self._depth)
        return _reduced(weights)

    def hypothesis(self, position: Any) -> Hypothesis:
        """Return the jury's majority for these weights."""
        if position not in self._predictors:
            if len(self._predictors) >= _VOTES_REMEMBERED:
                self._predictors.clear()
            self._predictors[position] = self._majority(position or self.start())
        return self._predictors[position]

    def after_mistake(self, position: Any, x: Point, y: Label) -> LeafPosition:
        """Keep what is consistent of each leaf, and ``rare`` of its weight per lost dimension."""
        side = self._sides[self._columns[x]][y]
        weights: dict[int, int] = {}
        numerator, denominator = self._game.rare.as_integer_ratio()
        for leaf, weight in position:
            left = leaf & side
            if left:
                lost = self._game.dimension(leaf) - self._game.dimension(left)
                # Scaled so that later divisions leave whole numbers.
                scale = numerator**lost * denominator ** (self._depth - lost)
                self._add(weights, left, weight * scale * PARTS**self._depth)
        return _reduced(weights)

    def most_mistakes(self) -> int | None:
        """Return the longest chain of mistakes until no leaf is left; None if too long to find.

        On realizable streams a leaf is always left, so none has more mistakes.
        """
        known: dict[LeafPosition, int | None] = {}
        left = _MOST_MISTAKES_TRIED

        def longest(position: LeafPosition) -> int | None:
            nonlocal left
            if position in known:
                return known[position]  # None for a position that leads back to itself
            known[position] = None
            hypothesis, best = self.hypothesis(position), 0
            for x in self._columns:
                left -= 1
                child = self.after_mistake(position, x, 1 - hypothesis(x))
                more = longest(child) if child and left > 0 else -1
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
        """Return the weight of each concept, in whole numbers."""
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
