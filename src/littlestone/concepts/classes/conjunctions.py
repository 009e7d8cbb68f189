"""Conjunctions of literals over Boolean features, with the empty concept."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from littlestone import require
from littlestone.concepts.classes.version_spaces import (
    Family,
    InParts,
    bits,
    count_hitting,
    fewest_hitting,
    mask_of,
    minimal,
    point_of,
)
from littlestone.concepts.domain import BooleanCube
from littlestone.concepts.entry import ClassEntry
from littlestone.concepts.hypotheses.cube import ConjunctionHypothesis
from littlestone.concepts.keys import KeySet
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label, Tally
from littlestone.concepts.witness_systems import CubeSystem, LiteralSystem

Point = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NoPositive:
    """The conjunctions that are 0 on the ``negatives``, and the empty concept.

    Its dimension is 1 + that of the largest subcube without negatives (0 if every point is
    negative). Upper bound: a 1 at x leaves the dimension of the largest such subcube around x.
    Lower bound: the conjunctions within the largest subcube, with the empty concept.
    """

    n: int
    negatives: KeySet[Point]

    @property
    def size(self) -> int:
        """The number of concepts."""
        return 1 + _count_terms(frozenset(map(mask_of, self.negatives)), (1 << self.n) - 1)

    @property
    def dimension(self) -> int:
        """The Littlestone dimension of the remaining concepts; -1 if none."""
        shortest = self._shortest_term()
        return 0 if shortest is None else 1 + self.n - shortest[0].bit_count()

    def restrict(self, x: Point, y: Label) -> "NoPositive | AfterPositive | None":
        """Return the concepts that also label ``x`` with ``y``."""
        if y == 0:
            negatives = self.negatives.adding(x)
            return self if negatives is self.negatives else NoPositive(self.n, negatives)
        if x in self.negatives:
            return None
        values = mask_of(x)
        apart = minimal(mask_of(z) ^ values for z in self.negatives)
        return AfterPositive(self.n, (1 << self.n) - 1, values, apart)

    def most_specific(self) -> ConjunctionHypothesis:
        """Return the concept that is 1 at the fewest points."""
        return ConjunctionHypothesis(self.n, None)

    def allows(self, x: Point, y: Label) -> bool:
        """Return whether some concept here labels ``x`` with ``y``."""
        return not y or x not in self.negatives

    def near(self, hypothesis: Hypothesis) -> Iterator[Point]:
        """Yield points worth trying: a known negative, the best subcube, a point labelled 1."""
        yield from (z for z in self.negatives if hypothesis(z))
        shortest = self._shortest_term()
        if shortest is not None:
            yield point_of(shortest[1], self.n)
        if isinstance(hypothesis, ConjunctionHypothesis) and hypothesis.term is not None:
            values = dict(hypothesis.term)
            yield tuple(values.get(feature, 0) for feature in range(self.n))

    def _shortest_term(self) -> tuple[int, int] | None:
        """Return features and values of a shortest term that is false on all negatives."""
        negatives = sorted(map(mask_of, self.negatives))
        for literals in range(self.n + 1):
            found = _excluding(negatives, (1 << self.n) - 1, literals)
            if found is not None:
                return found
        return None


@dataclass(frozen=True, slots=True)
class AfterPositive:
    """The conjunctions of some literals of a most specific one, with at least one of each clause.

    ``features`` and ``values`` are the most specific conjunction, each clause the features of its
    literals that are false at a negative. The dimension is the number of literals minus the size
    of a smallest set of them that meets every clause. Lower bound: fix such a set; the other
    literals are free. Upper bound, by induction: a 1 at a point where the literals G are false
    leaves the literals outside G, and no smaller set of these meets every clause.
    """

    n: int
    features: int
    values: int
    clauses: Family

    @property
    def size(self) -> int:
        """The number of concepts."""
        return count_hitting(self.clauses, self.features)

    @property
    def dimension(self) -> int:
        """The Littlestone dimension of the remaining concepts; -1 if none."""
        return self.features.bit_count() - fewest_hitting(self.clauses)

    def restrict(self, x: Point, y: Label) -> "AfterPositive | None":
        """Return the concepts that also label ``x`` with ``y``."""
        false = self._false_at(x)
        if y == 0:
            clauses = minimal((*self.clauses, false)) if false else None
            return self if clauses == self.clauses else self._with(self.features, clauses)
        if not false:
            return self
        features = self.features & ~false
        clauses = minimal(clause & features for clause in self.clauses)
        return self._with(features, None if 0 in clauses else clauses)

    def most_specific(self) -> ConjunctionHypothesis:
        """Return the concept that is 1 at the fewest points."""
        term = [
            (feature, self.values >> feature & 1)
            for feature in range(self.n)
            if self.features >> feature & 1
        ]
        return ConjunctionHypothesis(self.n, tuple(term))

    def allows(self, x: Point, y: Label) -> bool:
        """Return whether some concept here labels ``x`` with ``y``."""
        false = self._false_at(x)
        return all(clause & ~false for clause in self.clauses) if y else false != 0

    def near(self, hypothesis: Hypothesis) -> Iterator[Point]:
        """Yield points worth trying: none, one or all of the literals false, and a difference.

        More false literals leave a subset of the concepts, so one is enough for a 1.
        """
        for flipped in (0, *bits(self.features), self.features):
            yield point_of(self.values ^ flipped, self.n)
        if isinstance(hypothesis, ConjunctionHypothesis):
            apart = hypothesis.disagreement(self.most_specific())
            if apart is not None:
                yield apart

    def _false_at(self, x: Point) -> int:
        return (mask_of(x) ^ self.values) & self.features

    def _with(self, features: int, clauses: Family | None) -> "AfterPositive | None":
        if clauses is None:
            return None
        return AfterPositive(self.n, features, self.values & features, clauses)


def wrong_points(part: NoPositive | AfterPositive, hypothesis: Hypothesis) -> Iterator[Point]:
    """Yield the points, in order, where some concept of ``part`` and the hypothesis differ."""
    points: Iterable[Point] = BooleanCube(part.n)
    if isinstance(part, AfterPositive) and isinstance(hypothesis, ConjunctionHypothesis):
        points = _descend((), part, hypothesis)
    return (x for x in points if part.allows(x, 1 - hypothesis(x)))


def _descend(
    prefix: Point, part: AfterPositive, hypothesis: ConjunctionHypothesis
) -> Iterator[Point]:
    """Yield the wrong points that begin with ``prefix``, skipping branches without any."""
    if len(prefix) == part.n:
        yield prefix
    elif _holds_wrong_zero(prefix, part, hypothesis) or _holds_wrong_one(prefix, part, hypothesis):
        for value in (0, 1):
            yield from _descend((*prefix, value), part, hypothesis)


def _holds_wrong_one(prefix: Point, part: AfterPositive, hypothesis: ConjunctionHypothesis) -> bool:
    """Return whether some completion has label 1 there and may be 0 here."""
    if hypothesis.term is None or _falsified(prefix, hypothesis):
        return False
    completed = [*prefix, *(1 - (part.values >> f & 1) for f in range(len(prefix), part.n))]
    for feature, value in hypothesis.term:
        completed[feature] = value
    return part.allows(tuple(completed), 0)


def _holds_wrong_zero(
    prefix: Point, part: AfterPositive, hypothesis: ConjunctionHypothesis
) -> bool:
    """Return whether some completion has label 0 there and may be 1 here."""
    completed = [*prefix, *(part.values >> f & 1 for f in range(len(prefix), part.n))]
    if not part.allows(tuple(completed), 1):
        return False  # the other completions make fewer literals true
    if hypothesis.term is None or _falsified(prefix, hypothesis):
        return True
    for feature, value in hypothesis.term:
        if feature >= len(prefix):
            changed = tuple(1 - value if f == feature else v for f, v in enumerate(completed))
            if part.allows(changed, 1):
                return True
    return False


def _falsified(prefix: Point, hypothesis: ConjunctionHypothesis) -> bool:
    term = hypothesis.term or ()
    return any(prefix[feature] != value for feature, value in term if feature < len(prefix))


def _excluding(negatives: list[int], free: int, literals: int) -> tuple[int, int] | None:
    """Return features and values of at most ``literals`` literals, false on all negatives."""
    if not negatives:
        return 0, 0
    if literals == 0:
        return None
    for bit in bits(free):
        value = ~negatives[0] & bit
        rest = [z for z in negatives if z & bit == value]
        found = _excluding(rest, free & ~bit, literals - 1)
        if found is not None:
            return found[0] | bit, found[1] | value
    return None


@cache
def _count_terms(negatives: Family, free: int) -> int:
    """Return how many terms over the free features are false on all negatives."""
    if not negatives:
        return int(3 ** free.bit_count())
    if not free:
        return 0
    bit = free & -free
    rest = free & ~bit
    total = _count_terms(frozenset(z & rest for z in negatives), rest)
    for value in (0, bit):
        total += _count_terms(frozenset(z & rest for z in negatives if z & bit == value), rest)
    return total


_MOST_FEATURES_AT_ONCE = 13  # 3**13 sums of eight bytes
_MOST_FEATURES_DRAWN = 32
_MOST_FEATURES_SCANNED = 8


@require.checked
@dataclass(frozen=True, slots=True)
class Conjunctions(ConceptClass):
    """Conjunctions of literals over ``n`` Boolean features, and 0 everywhere.

    The Littlestone dimension is n + 1. At most: a 1 leaves the subsets of the n literals that are
    true there, of dimension n. At least, by induction: after a 0 at x the conjunctions with one
    literal that is false at x are those over the other n - 1 features.

    >>> concepts = Conjunctions(20)
    >>> concepts.littlestone_dimension, concepts.size
    (21, 3486784402)
    """

    n: int
    domain: BooleanCube = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        object.__setattr__(self, "domain", BooleanCube(self.n))

    @property
    def size(self) -> int:
        return int(3**self.n) + 1

    @property
    def littlestone_dimension(self) -> int:
        return self.n + 1

    @property
    def vc_dimension(self) -> int:
        """n, except for n = 1, where all four functions are concepts.

        To shatter n + 1 >= 3 points, each point needs a literal that is false there and true at
        the others. Two of these literals are about the same feature, but they can be neither
        equal nor opposite.
        """
        return max(2, self.n)

    @property
    def dual_littlestone_dimension(self) -> int:
        """n: the 2**n points give the single literals every pattern."""
        return self.n

    @property
    def dual_vc_dimension(self) -> int:
        return self.n

    def agreed(self) -> tuple[Example, int]:
        """Return the dimension of the conjunctions that hold where all features are 1."""
        return ((1,) * self.n, 1), self.n

    def witness_system(self) -> LiteralSystem:
        """Return the system that starts with all 2n literals; a conjunction has at most n."""
        literals = tuple(product(range(self.n), (0, 1)))
        return LiteralSystem(literals, label=1, rule=self._of_literals)

    def placed_system(self) -> CubeSystem | None:
        """Return the system that first finds a point, or None for too many features."""
        return CubeSystem(self.n, self._of_literals) if self.n <= _MOST_FEATURES_DRAWN else None

    def _of_literals(self, left: int) -> ConjunctionHypothesis:
        """Return the conjunction of the literals left, encoded as two bits per feature."""
        both = [(f, left >> 2 * f & 3) for f in range(self.n) if left >> 2 * f & 3]
        if any(bits == 3 for _, bits in both):
            return ConjunctionHypothesis(self.n, None)
        return ConjunctionHypothesis(self.n, tuple((f, bits >> 1) for f, bits in both))

    def version_space(self) -> "ConjunctionVersionSpace":
        return ConjunctionVersionSpace(self, NoPositive(self.n, KeySet()))

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the best concept: all ones minus the best subcube's gain.

        Exponential in n, at worst 3**n.
        """
        gains = {self.domain.check(x): ones - zeros for x, (zeros, ones) in tally.items()}
        search = _best_sum_at_once if self.n <= _MOST_FEATURES_AT_ONCE else _best_sum
        return sum(ones for _, ones in tally.values()) - max(0, search(gains, self.n))

    def concepts(self) -> Iterator[ConjunctionHypothesis]:
        """Yield 0 everywhere, then the conjunctions, features without a literal first."""
        yield ConjunctionHypothesis(self.n, None)
        for values in product((None, 0, 1), repeat=self.n):
            term = tuple((f, v) for f, v in enumerate(values) if v is not None)
            yield ConjunctionHypothesis(self.n, term)


@dataclass(frozen=True, slots=True)
class ConjunctionVersionSpace(InParts):
    """The conjunctions that fit the examples.

    The standard optimal prediction is the most specific of them, hence 0 before any positive.
    A tree shattered by those with label 1 at x uses, after the first positive, only literals
    that are true at x; adding to each conjunction the literals that are false at x changes none
    of its labels and makes the label at x 0. Before it, label 1 at x leaves the dimension q of
    the largest subcube around x without negatives, and label 0 leaves at least a face of it, of
    dimension q - 1, on which all conjunctions and the empty concept have dimension q.
    Size and dimension are exact and take exponential time at worst.
    """

    concept_class: Conjunctions
    part: NoPositive | AfterPositive | None

    def standard_optimal(self) -> ConjunctionHypothesis:
        return self.consistent()

    def consistent(self) -> ConjunctionHypothesis:
        """Return the most specific conjunction left."""
        most_specific: ConjunctionHypothesis = self._some_part().most_specific()
        return most_specific

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        """Yield the mistakes in the order of the points."""
        if self.part is None:
            return
        points = wrong_points(self.part, hypothesis)
        yield from ((x, 1 - hypothesis(x)) for x in points)

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        """Return the hardest mistake, exactly up to 8 features or for the optimal hypothesis.

        Beyond that, other hypotheses are tried on a fixed family of points. Among equals, the
        first.
        """
        if self.part is None:
            return None
        scanned = self.concept_class.n <= _MOST_FEATURES_SCANNED
        points = self.concept_class.domain if scanned else self.part.near(hypothesis)
        best, hardest = (-1, 0), next(self.mistakes_of(hypothesis), None)
        for x in points:
            y = 1 - hypothesis(x)
            left = self.part.restrict(x, y)
            rank = (-1, 0) if left is None else (left.dimension, left.size)
            if rank > best:
                best, hardest = rank, (x, y)
        return hardest


def _best_sum_at_once(gains: Mapping[Any, int], n: int) -> int:
    """Return the largest sum over a subcube; a third value on each axis stands for both."""
    sums = np.zeros((2,) * n, dtype=np.int64)
    for x, gain in gains.items():
        sums[x] = gain
    for axis in range(n):
        sums = np.concatenate([sums, sums.sum(axis=axis, keepdims=True)], axis=axis)
    return int(sums.max())


def _best_sum(gains: Mapping[Any, int], n: int) -> int:
    """Return the same by branch and bound, for many features and few points."""
    best = 0

    def search(left: list[tuple[Any, int]], feature: int) -> None:
        nonlocal best
        best = max(best, sum(gain for _, gain in left))
        if feature == n or sum(gain for _, gain in left if gain > 0) <= best:
            return
        for value in (0, 1):
            part = [(x, gain) for x, gain in left if x[feature] == value]
            if len(part) < len(left):
                search(part, feature + 1)
        search(left, feature + 1)

    search(list(gains.items()), 0)
    return best


CLASSES = (
    ClassEntry(
        name="conjunctions",
        build=Conjunctions,
        example="conjunctions:5",
        summary="conjunctions of literals over n Boolean features, and the empty concept",
    ),
)
