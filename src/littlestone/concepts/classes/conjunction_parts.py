"""The two shapes of a set of conjunctions that fit some examples."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from littlestone.concepts.domain import BooleanCube
from littlestone.concepts.hitting import (
    Family,
    bits,
    count_hitting,
    fewest_hitting,
    mask_of,
    minimal,
    point_of,
)
from littlestone.concepts.hypotheses.conjunction_rule import ConjunctionHypothesis
from littlestone.concepts.keys import KeySet
from littlestone.concepts.protocols import Hypothesis, Label

Point = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NoPositive:
    """The conjunctions that are 0 on the ``negatives``, and the empty concept.

    Its dimension is 1 + that of the largest subcube without negatives (0 if every point is one):
    a 1 at x leaves the dimension of the largest such subcube around x, which bounds it, and the
    conjunctions within the largest subcube, with the empty concept, reach it.
    """

    n: int
    negatives: KeySet[Point]

    @property
    def size(self) -> int:
        return 1 + _count_terms(frozenset(map(mask_of, self.negatives)), (1 << self.n) - 1)

    @property
    def dimension(self) -> int:
        shortest = self._shortest_term()
        return 0 if shortest is None else 1 + self.n - shortest[0].bit_count()

    def restrict(self, x: Point, y: Label) -> "NoPositive | AfterPositive | None":
        if y == 0:
            negatives = self.negatives.adding(x)
            return self if negatives is self.negatives else NoPositive(self.n, negatives)
        if x in self.negatives:
            return None
        values = mask_of(x)
        apart = minimal(mask_of(z) ^ values for z in self.negatives)
        return AfterPositive(self.n, (1 << self.n) - 1, values, apart)

    def most_specific(self) -> ConjunctionHypothesis:
        return ConjunctionHypothesis(self.n, None)

    def allows(self, x: Point, y: Label) -> bool:
        """Whether some concept here labels ``x`` with ``y``."""
        return not y or x not in self.negatives

    def near(self, hypothesis: Hypothesis) -> Iterator[Point]:
        """Points worth trying: a known negative, the best subcube, a point labelled 1."""
        yield from (z for z in self.negatives if hypothesis(z))
        shortest = self._shortest_term()
        if shortest is not None:
            yield point_of(shortest[1], self.n)
        if isinstance(hypothesis, ConjunctionHypothesis) and hypothesis.term is not None:
            values = dict(hypothesis.term)
            yield tuple(values.get(feature, 0) for feature in range(self.n))

    def _shortest_term(self) -> tuple[int, int] | None:
        """Features and values of a shortest term that is false on all negatives."""
        negatives = sorted(map(mask_of, self.negatives))
        for literals in range(self.n + 1):
            found = _excluding(negatives, (1 << self.n) - 1, literals)
            if found is not None:
                return found
        return None


@dataclass(frozen=True, slots=True)
class AfterPositive:
    """The conjunctions of some literals of a most specific one, at least one of each clause.

    ``features`` and ``values`` are the most specific conjunction, each clause the features of its
    literals that are false at a negative. The dimension is the number of literals less the
    fewest that meet every clause: those fixed, the others are free; and a 1 where the literals G
    are false leaves, by induction, that number less |G| for the literals outside G, which are no
    easier to meet all clauses with.
    """

    n: int
    features: int
    values: int
    clauses: Family

    @property
    def size(self) -> int:
        return count_hitting(self.clauses, self.features)

    @property
    def dimension(self) -> int:
        return self.features.bit_count() - fewest_hitting(self.clauses)

    def restrict(self, x: Point, y: Label) -> "AfterPositive | None":
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
        term = [
            (feature, self.values >> feature & 1)
            for feature in range(self.n)
            if self.features >> feature & 1
        ]
        return ConjunctionHypothesis(self.n, tuple(term))

    def allows(self, x: Point, y: Label) -> bool:
        """Whether some concept here labels ``x`` with ``y``."""
        false = self._false_at(x)
        return all(clause & ~false for clause in self.clauses) if y else false != 0

    def near(self, hypothesis: Hypothesis) -> Iterator[Point]:
        """Points worth trying: none, one or all of the literals false, and where the two differ.

        More false literals leave a subset of what fewer leave, so one is enough for a 1.
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
    """The points, in order, where some concept of ``part`` and the hypothesis differ."""
    points: Iterable[Point] = BooleanCube(part.n)
    if isinstance(part, AfterPositive) and isinstance(hypothesis, ConjunctionHypothesis):
        points = _descend((), part, hypothesis)
    return (x for x in points if part.allows(x, 1 - hypothesis(x)))


def _descend(
    prefix: Point, part: AfterPositive, hypothesis: ConjunctionHypothesis
) -> Iterator[Point]:
    """The points that begin with ``prefix``, without the branches that hold no wrong one."""
    if len(prefix) == part.n:
        yield prefix
    elif _holds_wrong_zero(prefix, part, hypothesis) or _holds_wrong_one(prefix, part, hypothesis):
        for value in (0, 1):
            yield from _descend((*prefix, value), part, hypothesis)


def _holds_wrong_one(prefix: Point, part: AfterPositive, hypothesis: ConjunctionHypothesis) -> bool:
    """Whether some completion has label 1 there and may be 0 here."""
    if hypothesis.term is None or _falsified(prefix, hypothesis):
        return False
    completed = [*prefix, *(1 - (part.values >> f & 1) for f in range(len(prefix), part.n))]
    for feature, value in hypothesis.term:
        completed[feature] = value
    return part.allows(tuple(completed), 0)


def _holds_wrong_zero(
    prefix: Point, part: AfterPositive, hypothesis: ConjunctionHypothesis
) -> bool:
    """Whether some completion has label 0 there and may be 1 here."""
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
    """Features and values of at most so many literals that are false on all negatives."""
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
    """How many terms over the free features are false on all negatives."""
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
