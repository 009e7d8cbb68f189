"""Monotone disjunctions of at most k features, the class that Winnow learns."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass, listed_class
from littlestone.concepts.classes.version_spaces import (
    Family,
    Searched,
    bits,
    count_hitting,
    fewest_hitting,
    mask_of,
    minimal,
    point_of,
    subsets_up_to,
)
from littlestone.concepts.domain import BooleanCube
from littlestone.concepts.entry import ClassEntry
from littlestone.concepts.hypotheses.cube import WeightedFeatures
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label, Tally
from littlestone.concepts.witness_systems import LiteralSystem

_LARGEST_TABLE = 1 << 16
_MOST_FEATURES_SCANNED = 10

Point = tuple[int, ...]


@require.checked
@dataclass(frozen=True, slots=True)
class MonotoneDisjunctions(ConceptClass):
    """1 where at least one of at most ``k`` chosen features, out of ``n``, is 1.

    >>> concepts = MonotoneDisjunctions(2, 6)
    >>> concepts.size, concepts.littlestone_dimension
    (22, 4)
    >>> MonotoneDisjunctions(3, 1000).littlestone_dimension
    Traceback (most recent call last):
    ...
    ValueError: the Littlestone dimension of MonotoneDisjunctions(k=3, n=1000) is not known in \
closed form; it is at most littlestone_dimension_upper_bound = 27, and Winnow has a mistake_bound
    """

    k: int
    n: int
    domain: BooleanCube = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        object.__setattr__(self, "domain", BooleanCube(self.n))
        require.integer(k=self.k, at_least=1, at_most=self.n)

    @property
    def size(self) -> int:
        return subsets_up_to(self.n, self.k)

    @property
    def littlestone_dimension_upper_bound(self) -> int:
        """The mistake bound of halving, log₂ of the size."""
        return self.size.bit_length() - 1

    @property
    def littlestone_dimension(self) -> int:
        """Exact for k = 1, k = n and small classes; ValueError otherwise."""
        if self.k in (1, self.n):
            return self.littlestone_dimension_upper_bound
        return self._as_finite("Littlestone").littlestone_dimension

    @property
    def vc_dimension(self) -> int:
        if self.k in (1, self.n):
            return self.littlestone_dimension_upper_bound
        return self._as_finite("VC").vc_dimension

    @property
    def dual_littlestone_dimension(self) -> int:
        """n: the 2**n points give the single features every pattern."""
        return self.n

    @property
    def dual_vc_dimension(self) -> int:
        return self.n

    def agreed(self) -> tuple[Example, int]:
        """Return the point without features, with label 0, and the depth of a tree below it.

        The tree splits the features into k parts and asks, bit by bit, which feature of each part
        the concept has, 0 for none.
        """
        return ((0,) * self.n, 0), self.k * ((self.n // self.k + 1).bit_length() - 1)

    def witness_system(self) -> LiteralSystem:
        """Return the system of the negation, a conjunction of "this feature is 0"."""
        literals = tuple((feature, 0) for feature in range(self.n))
        return LiteralSystem(literals, label=0, rule=self._of_features)

    def _of_features(self, left: int) -> WeightedFeatures:
        return disjunction(left, self.n)

    def version_space(self) -> "DisjunctionVersionSpace":
        return DisjunctionVersionSpace(self, (1 << self.n) - 1, frozenset())

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the best concept by branch and bound; exponential in k."""
        check = self.domain.check
        counts = [(mask_of(check(x)), zeros, ones) for x, (zeros, ones) in tally.items()]
        counts.sort(key=lambda entry: -entry[2])
        return _Search(counts, self.k).fewest()

    def concepts(self) -> Iterator[WeightedFeatures]:
        """Yield the concepts, those with few features first."""
        for size in range(self.k + 1):
            for chosen in combinations(range(self.n), size):
                yield disjunction(sum(1 << feature for feature in chosen), self.n)

    def _as_finite(self, name: str) -> FiniteClass:
        if self.size << self.n > _LARGEST_TABLE:
            raise ValueError(
                f"the {name} dimension of {self!r} is not known in closed form; it is at most "
                f"littlestone_dimension_upper_bound = {self.littlestone_dimension_upper_bound}, "
                f"and Winnow has a mistake_bound"
            )
        return listed_class(self)


@dataclass(frozen=True, slots=True)
class DisjunctionVersionSpace(Searched):
    """The sets of at most k features, all from ``features``, that meet every clause.

    Spaces are equal if their features and clauses are; unequal ones may still have the same sets.
    """

    concept_class: MonotoneDisjunctions
    features: int
    clauses: Family

    def __post_init__(self) -> None:
        if self.is_empty or fewest_hitting(self.clauses) > self.concept_class.k:
            # A single empty version space, so that equal spaces compare equal.
            require.settle(self, features=0, clauses=frozenset({0}))

    @property
    def is_empty(self) -> bool:
        return 0 in self.clauses

    @property
    def size(self) -> int:
        """The number of concepts."""
        return count_hitting(self.clauses, self.features, self.concept_class.k)

    @property
    def dimension(self) -> int:
        """The dimension, exact for small classes; ValueError beyond."""
        concepts = self.concept_class
        if self.is_empty:
            return -1
        left = concepts._as_finite("Littlestone").version_space()
        for x in concepts.domain:
            for y in (0, 1):
                if self.restrict(x, y) == self:
                    left = left.restrict(_number(x), y)
        return left.dimension

    def restrict(self, x: Any, y: Label, /) -> "DisjunctionVersionSpace":
        point, label = mask_of(self.concept_class.domain.check(x)), require.label(y)
        if self.is_empty:
            return self
        if label:
            features = self.features
            clauses = minimal((*self.clauses, point & features))
        else:
            features = self.features & ~point
            clauses = minimal(clause & features for clause in self.clauses)
        if (features, clauses) == (self.features, self.clauses):
            return self
        return DisjunctionVersionSpace(self.concept_class, features, clauses)

    def standard_optimal(self) -> Hypothesis:
        raise ValueError(
            "the standard optimal prediction has no closed form for monotone disjunctions; learn "
            "with Winnow, or use FiniteClass.from_class(concepts) when there are few features"
        )

    def consistent(self) -> WeightedFeatures:
        """Return a smallest disjunction left; among those, the first."""
        self._refuse_empty()
        chosen, clauses = 0, self.clauses
        for bit in bits(self.features):
            rest = minimal(clause for clause in clauses if not clause & bit)
            if clauses and fewest_hitting(rest) < fewest_hitting(clauses):
                chosen, clauses = chosen | bit, rest
        return disjunction(chosen, self.concept_class.n)

    def _left(self) -> int:
        return self.size

    def _points(self, hypothesis: Hypothesis) -> Iterator[Point]:
        """Yield all points up to 10 features; beyond, those near all-0 and all-1."""
        del hypothesis
        n = self.concept_class.n
        if n <= _MOST_FEATURES_SCANNED:
            yield from self.concept_class.domain
            return
        everything = (1 << n) - 1
        for mask in (0, *bits(everything), *(everything ^ bit for bit in bits(everything))):
            yield point_of(mask, n)
        yield (1,) * n


class _Search:
    """The best disjunction of at most k features in hindsight."""

    def __init__(self, counts: list[tuple[int, int, int]], k: int) -> None:
        self._counts = counts
        self._k = k
        self._fewest = sum(ones for _, _, ones in counts)

    def fewest(self) -> int:
        self._extend(0, 0)
        return self._fewest

    def _extend(self, chosen: int, barred: int) -> None:
        """Try all supersets of ``chosen`` without the features in ``barred``."""
        lost = sum(
            zeros if point & chosen else ones if not point & ~barred else 0
            for point, zeros, ones in self._counts
        )
        if lost >= self._fewest:
            return
        open_points = (
            point & ~barred
            for point, _, ones in self._counts
            if ones and not point & chosen and point & ~barred
        )
        point = next(open_points, None)
        if point is None:
            self._fewest = lost
            return
        if chosen.bit_count() < self._k:
            tried = barred
            for bit in bits(point):
                self._extend(chosen | bit, tried)
                tried |= bit
        self._extend(chosen, barred | point)


def disjunction(mask: int, n: int) -> WeightedFeatures:
    """Return the disjunction of the features in the mask."""
    return WeightedFeatures(point_of(mask, n), 1)


def _number(x: Point) -> int:
    """Return the index of a point in the order of the cube."""
    return int("".join(map(str, x)), 2)


CLASSES = (
    ClassEntry(
        name="disjunctions",
        build=MonotoneDisjunctions,
        example="disjunctions:3,20",
        summary="x_i or x_j or … of at most k of n Boolean features",
        arguments=(int, int),
        required=2,
    ),
)
