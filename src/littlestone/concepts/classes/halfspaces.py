"""Halfspaces with a margin: no exact dimension, but a learner that errs at most 1/margin² times."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count, product
from typing import Any

from littlestone import require
from littlestone.concepts.classes.version_spaces import Searched
from littlestone.concepts.domain import BallPoint, RationalBall
from littlestone.concepts.entry import ClassEntry
from littlestone.concepts.hypotheses.linear import LinearHypothesis, dot
from littlestone.concepts.keys import KeySet
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label, Point, Tally

_MOST_POINTS_SEARCHED = 16

Vector = tuple[Fraction, ...]


@require.checked
@dataclass(frozen=True, slots=True, init=False)
class MarginHalfspaces(ConceptClass):
    """Halfspaces through the origin, over the unit ball, with all examples ``margin`` away.

    A stream is realizable if some unit vector w has w·x >= margin on the points labelled 1 and
    w·x <= -margin on the others. The concepts are the halfspaces; the margin restricts their
    examples. A float margin means the decimal number that it prints as.

    >>> concepts = MarginHalfspaces(3, 0.25)
    >>> concepts.mistake_bound, concepts.vc_dimension
    (16, 3)
    >>> concepts.littlestone_dimension
    Traceback (most recent call last):
    ...
    ValueError: the Littlestone dimension of halfspaces with a margin has no known closed form; \
it is at least 3 and at most littlestone_dimension_upper_bound = 16, and Perceptron errs at most \
16 times
    """

    dimension: int
    margin: Fraction
    domain: RationalBall = field(repr=False, compare=False)

    def __init__(self, dimension: int, margin: Fraction | float) -> None:
        domain, margin = RationalBall(dimension), require.plain_number(margin)
        require.positive(margin=margin)
        if margin > 1:
            raise ValueError(f"margin must be at most 1, got margin={margin!r}")
        exact = Fraction(repr(margin) if isinstance(margin, float) else margin)
        require.settle(self, domain=domain, dimension=domain.dimension, margin=exact)

    @property
    def size(self) -> None:
        return None

    @property
    def mistake_bound(self) -> int:
        """The perceptron's mistake bound, floor(1 / margin²)."""
        return math.floor(1 / self.margin**2)

    @property
    def littlestone_dimension_upper_bound(self) -> int:
        """The perceptron's mistake bound, which bounds the dimension."""
        return self.mistake_bound

    @property
    def littlestone_dimension(self) -> int:
        raise ValueError(
            "the Littlestone dimension of halfspaces with a margin has no known closed form; it is "
            f"at least {self.vc_dimension} and at most littlestone_dimension_upper_bound = "
            f"{self.mistake_bound}, and Perceptron errs at most {self.mistake_bound} times"
        )

    @property
    def vc_dimension(self) -> int:
        """min(dimension, floor(1 / margin²)).

        That many axes are shattered, at distance 1/sqrt(k). For k shattered points some signs
        make their sum at most sqrt(k) long, and w times it is at least k·margin.
        """
        return min(self.dimension, self.mistake_bound)

    @property
    def dual_littlestone_dimension(self) -> int:
        raise ValueError(
            "the dual Littlestone dimension of halfspaces with a margin has no known closed form; "
            f"it is at least dual_vc_dimension = {self.dual_vc_dimension}"
        )

    @property
    def dual_vc_dimension(self) -> int:
        """Equal to the VC dimension, by the symmetry of w·x."""
        return self.vc_dimension

    def fits(self, concept: Hypothesis, x: Point, /) -> bool:
        """Return whether ``x`` lies outside the margin of a hyperplane."""
        if not isinstance(concept, LinearHypothesis):
            return True
        point = self.domain.check(x)
        length = sum(weight * weight for weight in concept.weights) * point[-1] ** 2
        return dot(concept.weights, point) ** 2 >= self.margin**2 * length

    def version_space(self) -> "MarginVersionSpace":
        return MarginVersionSpace(self, KeySet(), (), None)

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the best concept, if realizable or at most 16 different points."""
        check = self.domain.check
        examples = [((check(x), y), n) for x, two in tally.items() for y, n in enumerate(two) if n]
        everything = self.version_space()
        for (x, y), _ in examples:
            everything = everything.restrict(x, y)
        if not everything.is_empty:
            return 0
        if len(examples) > _MOST_POINTS_SEARCHED:
            raise ValueError(
                "the best halfspace in hindsight is hard to find: tally must be realizable or have "
                f"at most {_MOST_POINTS_SEARCHED} different examples, got {len(examples)}"
            )
        examples.sort(key=lambda example: -example[1])
        return _fewest_left_out(self.version_space(), examples)

    def concepts(self) -> Iterator[LinearHypothesis]:
        """Yield halfspaces by largest weight, then in the order of the weights; endless."""
        for largest in count(1):
            for weights in product(range(-largest, largest + 1), repeat=self.dimension):
                if max(map(abs, weights)) == largest and math.gcd(*weights) == 1:
                    yield LinearHypothesis(weights)


@dataclass(frozen=True, slots=True, eq=False)
class MarginVersionSpace(Searched):
    """The halfspaces whose margin no example violates.

    The largest possible margin is the distance from the origin to the convex hull of the points
    labelled 1 and the negated points labelled 0; ``corners`` are those that span its nearest
    point. Everything is exact: the distance is a rational number, squared.
    """

    concept_class: MarginHalfspaces
    examples: KeySet[Vector] | None
    """None when no halfspace fits."""
    corners: tuple[Vector, ...] = field(repr=False)
    normal: Vector | None = field(repr=False)
    """The nearest point; None before any example."""

    @property
    def is_empty(self) -> bool:
        return self.examples is None

    @property
    def dimension(self) -> int:
        if self.examples is None:
            return -1
        raise ValueError(
            "version spaces of halfspaces with a margin have no known dimension; "
            "learn with Perceptron instead of StandardOptimal"
        )

    @property
    def squared_margin(self) -> Fraction:
        """The largest squared margin of a halfspace; 1 before any example."""
        if self.examples is None:
            return Fraction(0)
        return Fraction(1) if self.normal is None else inner(self.normal, self.normal)

    def restrict(self, x: Any, y: Label, /) -> "MarginVersionSpace":
        point, label = self.concept_class.domain.check(x), require.label(y)
        *numerators, denominator = point
        sign = 1 if label else -1
        vector = tuple(Fraction(sign * part, denominator) for part in numerators)
        if self.examples is None or vector in self.examples:
            return self
        examples, corners, normal = self.examples.adding(vector), self.corners, self.normal
        if normal is None or inner(normal, vector) < inner(normal, normal):
            found, normal = nearest_to_origin(list(examples), corners)
            corners = tuple(found)
        if inner(normal, normal) < self.concept_class.margin**2:
            return MarginVersionSpace(self.concept_class, None, (), None)
        return MarginVersionSpace(self.concept_class, examples, corners, normal)

    def standard_optimal(self) -> LinearHypothesis:
        raise ValueError(
            "the standard optimal prediction needs dimensions that are not known for halfspaces "
            "with a margin; learn with Perceptron instead"
        )

    def consistent(self) -> LinearHypothesis:
        """Return the halfspace of the largest margin.

        Before any example, that of the first axis.
        """
        self._refuse_empty()
        normal = self.normal
        if normal is None:
            return LinearHypothesis((1, *(0 for _ in range(self.concept_class.dimension - 1))))
        scale = math.lcm(*(part.denominator for part in normal))
        return LinearHypothesis.towards(int(part * scale) for part in normal)

    def _left(self) -> Fraction:
        return self.squared_margin

    def __eq__(self, other: object) -> bool:
        """Compare without the corners, which depend on the order of the examples."""
        return (
            isinstance(other, MarginVersionSpace)
            and self.examples == other.examples
            and self.concept_class == other.concept_class
        )

    def __hash__(self) -> int:
        return hash((self.concept_class, self.examples))

    def _points(self, hypothesis: Hypothesis) -> Iterator[BallPoint]:
        """Yield the axes, and a point where the halfspace of largest margin differs.

        The family is finite; there are always more mistakes unless the margin is used up.
        """
        dimension = self.concept_class.dimension
        for axis in range(dimension):
            for sign in (1, -1):
                yield (*(sign if i == axis else 0 for i in range(dimension)), 1)
        if isinstance(hypothesis, LinearHypothesis):
            apart = self.consistent().disagreement(hypothesis)
            if apart is not None:
                yield apart


def _fewest_left_out(
    left: MarginVersionSpace,
    examples: list[tuple[tuple[BallPoint, Label], int]],
    enough: int | None = None,
) -> int:
    """Return the fewest examples, with multiplicity, whose removal leaves a halfspace.

    Return ``enough`` instead of any larger number.
    """
    if not examples or enough == 0:
        return 0
    ((x, y), times), *rest = examples
    narrowed = left.restrict(x, y)
    fewest = enough if narrowed.is_empty else _fewest_left_out(narrowed, rest, enough)
    if fewest is not None and fewest <= times:
        return fewest
    more = None if fewest is None else fewest - times
    without = times + _fewest_left_out(left, rest, more)
    return without if fewest is None else min(fewest, without)


CLASSES = (
    ClassEntry(
        name="halfspaces",
        build=MarginHalfspaces,
        example="halfspaces:3,1/4",
        summary="halfspaces with a margin; mistake-bounded by the perceptron",
        arguments=(int, Fraction),
        required=2,
    ),
)


def nearest_to_origin(
    vectors: Sequence[Vector], start: Iterable[Vector] = ()
) -> tuple[list[Vector], Vector]:
    """Return corners, and the point of the hull nearest to the origin, which is in theirs.

    Wolfe's algorithm (1976): finite, since each set of corners is visited at most once. ``start``
    may name the corners of an earlier answer.
    """
    corners = list(start) or [vectors[0]]
    weights = _affine_weights(corners)
    while True:
        point = combine(corners, weights)
        lowest = min(vectors, key=lambda vector: inner(point, vector))
        if inner(point, lowest) >= inner(point, point):
            return corners, point
        corners.append(lowest)
        weights.append(Fraction(0))
        corners, weights = _descend(corners, weights)


def combine(vectors: Sequence[Vector], weights: Sequence[Fraction]) -> Vector:
    """Return the weighted sum."""
    pairs = list(zip(vectors, weights, strict=True))
    return tuple(
        sum((weight * vector[i] for vector, weight in pairs), Fraction(0))
        for i in range(len(vectors[0]))
    )


def inner(left: Vector, right: Vector) -> Fraction:
    """Return the inner product, reduced once at the end."""
    above, below = 0, 1
    for a, b in zip(left, right, strict=True):
        product, scale = a.numerator * b.numerator, a.denominator * b.denominator
        above, below = above * scale + product * below, below * scale
    return Fraction(above, below)


def _descend(corners: list[Vector], weights: list[Fraction]) -> tuple[list[Vector], list[Fraction]]:
    """Drop corners until the nearest point of the affine hull lies inside the hull."""
    while True:
        wanted = _affine_weights(corners)
        if all(weight > 0 for weight in wanted):
            return corners, wanted
        # Move from the current point to the target until the first weight reaches 0.
        step = min(
            have / (have - want) for have, want in zip(weights, wanted, strict=True) if want <= 0
        )
        moved = [have + step * (want - have) for have, want in zip(weights, wanted, strict=True)]
        corners = [corner for corner, weight in zip(corners, moved, strict=True) if weight > 0]
        weights = [weight for weight in moved if weight > 0]


def _affine_weights(corners: Sequence[Vector]) -> list[Fraction]:
    """Return the affine weights (sum 1) of the nearest point of independent corners.

    They solve G·w = c·1 for the matrix G of 1 + inner products, up to the factor c. Elimination
    without fractions (Bareiss 1968): each division is exact, and no pivot of G is 0.
    """
    products = [[1 + inner(left, right) for right in corners] for left in corners]
    scale = math.lcm(*(value.denominator for row in products for value in row))
    rows = [[*(int(value * scale) for value in row), 1] for row in products]
    before = 1
    for i, chosen in enumerate(rows):
        pivot = chosen[i]
        for j, row in enumerate(rows):
            if j != i:
                rows[j] = [
                    (pivot * a - row[i] * b) // before for a, b in zip(row, chosen, strict=True)
                ]
        before = pivot
    total = sum(row[-1] for row in rows)
    return [Fraction(row[-1], total) for row in rows]
