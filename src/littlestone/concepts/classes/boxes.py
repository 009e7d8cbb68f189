"""Axis-parallel boxes on a grid: no exact dimension, but a witness system of small rank."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations_with_replacement, islice, product
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass, listed_class
from littlestone.concepts.classes.gaps import gaps_dimension
from littlestone.concepts.classes.version_spaces import BitSetSpace, Searched
from littlestone.concepts.domain import Grid
from littlestone.concepts.entry import ClassEntry
from littlestone.concepts.hypotheses.common import Written, first_seen_difference
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label, Tally
from littlestone.concepts.trackers import BoxTracker
from littlestone.concepts.witness_boxes import MOST_DIMENSIONS, BoxSystem
from littlestone.concepts.witness_lines import IntervalSystem

Point = tuple[int, ...]
Bounds = tuple[tuple[int, int], ...]
"""The first and the last coordinate in each dimension."""

_LARGEST_TABLE: Final = 1 << 16
_MOST_SCANNED: Final = 1 << 10
_MOST_TRIED: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class BoxHypothesis(Written):
    """1 where every coordinate lies within its bounds; 0 everywhere when ``bounds`` is None.

    >>> rule = BoxHypothesis(2, 10, ((3, 7), (0, 4)))
    >>> rule((3, 4)), rule((3, 5)), rule.describe()
    (1, 0, '3 <= x0 <= 7 and 0 <= x1 <= 4')
    >>> rule.disagreement(BoxHypothesis(2, 10, ((3, 9), (0, 4))))
    (9, 0)
    """

    kind: ClassVar[str] = "box"
    k: int
    n: int
    bounds: Bounds | None

    def __post_init__(self) -> None:
        require.plain(self)
        domain = self.domain
        if self.bounds is None:
            return
        low, high = (domain.check([pair[side] for pair in self.bounds]) for side in (0, 1))
        if any(first > last for first, last in zip(low, high, strict=True)):
            raise ValueError(
                f"bounds must be in order, first <= last below n={self.n}, got bounds={self.bounds}"
            )

    @property
    def domain(self) -> Grid:
        """The points that have a label."""
        return Grid(self.k, self.n)

    def __call__(self, x: Any, /) -> Label:
        point = self.domain.check(x)
        return int(self.bounds is not None and inside(point, self.bounds))

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        points = self.domain.check_many(xs)
        if self.bounds is None:
            return np.zeros(len(points), dtype=np.uint8)
        low, high = np.array(self.bounds, dtype=np.int64).T
        labels: NDArray[np.uint8] = ((points >= low) & (points <= high)).all(axis=1).view(np.uint8)
        return labels

    def disagreement(self, other: Hypothesis, /) -> Point | None:
        """Return a point on which the two differ; in closed form between boxes."""
        if not isinstance(other, BoxHypothesis) or other.domain != self.domain:
            point: Point | None = first_seen_difference(self, other, self.domain)
        else:
            point = self._beyond(other) or other._beyond(self)
        return point

    def describe(self) -> str:
        if self.bounds is None:
            return "0 everywhere"
        return " and ".join(f"{a} <= x{i} <= {b}" for i, (a, b) in enumerate(self.bounds))

    def _beyond(self, other: "BoxHypothesis") -> Point | None:
        """Return a point with label 1 here and 0 there."""
        if self.bounds is None:
            return None
        corner = [first for first, _ in self.bounds]
        if other.bounds is None or not inside(tuple(corner), other.bounds):
            return tuple(corner)
        for i, ((_, mine), (_, its)) in enumerate(zip(self.bounds, other.bounds, strict=True)):
            if mine > its:
                return (*corner[:i], mine, *corner[i + 1 :])
        return None


@require.checked
@dataclass(frozen=True, slots=True)
class Boxes(ConceptClass):
    """1[a_i <= x_i <= b_i for all i] on the points of a grid, k coordinates 0 .. n-1; 0 everywhere.

    At most four dimensions; for one dimension, ``Intervals`` has all closed forms.

    >>> concepts = Boxes(2, 2**20)
    >>> concepts.size > 2**78, concepts.vc_dimension, concepts.littlestone_dimension_upper_bound
    (True, 4, 78)
    >>> Boxes(2, 4).littlestone_dimension
    6
    >>> seen = concepts.version_space().restrict((500, 9), 1).restrict((600, 7), 1)
    >>> seen.consistent().describe(), seen.restrict((550, 8), 0).is_empty
    ('500 <= x0 <= 600 and 7 <= x1 <= 9', True)
    """

    k: int
    n: int
    domain: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        object.__setattr__(self, "domain", Grid(self.k, self.n))
        require.integer(k=self.k, at_most=MOST_DIMENSIONS)

    @property
    def size(self) -> int:
        return int((self.n * (self.n + 1) // 2) ** self.k + 1)

    @property
    def littlestone_dimension_upper_bound(self) -> int:
        """The mistake bound of halving, log₂ of the size."""
        return self.size.bit_length() - 1

    @property
    def littlestone_dimension_lower_bound(self) -> int:
        """From any point, each of the 2k ends is an independent threshold."""
        return self.k * IntervalSystem(self.n, self._box).rank

    @property
    def littlestone_dimension(self) -> int:
        """Exact on a line, and where the class is small."""
        if self.k == 1:
            return gaps_dimension(self.n)
        return self._as_finite("Littlestone").littlestone_dimension

    @property
    def vc_dimension(self) -> int:
        """The 2k neighbours of a point are shattered, and no 2k + 1 points are."""
        return 2 * self.k if self.n >= 3 else self._as_finite("VC").vc_dimension

    @property
    def dual_littlestone_dimension(self) -> int:
        """Boxes that start at the lower ends halve each coordinate, down to single points."""
        most = self.domain.size.bit_length() - 1
        if self.k * (self.n.bit_length() - 1) == most:
            return most
        return self._as_finite("dual Littlestone").dual_littlestone_dimension

    @property
    def dual_vc_dimension(self) -> int:
        return self._as_finite("dual VC").dual_vc_dimension

    def agreed(self) -> tuple[Example, int]:
        """Return a point inside; from it, the 2k ends are independent thresholds."""
        line = IntervalSystem(self.n, self._box)
        return ((line.deepest,) * self.k, 1), self.k * line.rank

    def witness_system(self) -> BoxSystem | IntervalSystem:
        """Return the witness system, or None if it has too many keys."""
        line = self.k == 1
        return IntervalSystem(self.n, self._box) if line else BoxSystem(self.k, self.n, self._box)

    def _box(self, bounds: Bounds | None) -> BoxHypothesis:
        return BoxHypothesis(self.k, self.n, bounds)

    def tracker(self) -> BoxTracker:
        """Return a tracker of the bounding box."""
        return BoxTracker()

    def version_space(self) -> "BoxVersionSpace":
        return BoxVersionSpace(self, None, frozenset())

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the best box, exactly; for tallies with few points."""
        counts = {self.domain.check(x): ones - zeros for x, (zeros, ones) in tally.items()}
        if not counts:
            return 0
        points, gains = np.array(list(counts)), np.array(list(counts.values()), dtype=np.int64)
        sides = [sorted({x[i] for x in counts}) for i in range(self.k - 1)]
        if math.prod(len(side) * (len(side) + 1) // 2 for side in sides) > _MOST_TRIED:
            raise ValueError(
                "the best box in hindsight is hard to find: tally must have few different points, "
                f"got {len(counts)}"
            )
        best = 0
        for bounds in product(*(combinations_with_replacement(side, 2) for side in sides)):
            low, high = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
            within = ((points[:, :-1] >= low) & (points[:, :-1] <= high)).all(axis=1)
            best = max(best, _best_stretch(points[within, -1], gains[within]))
        return sum(ones for _, ones in tally.values()) - best

    def concepts(self) -> Iterator[BoxHypothesis]:
        """Yield 0 everywhere, then all boxes ordered by their bounds."""
        yield self._box(None)
        for bounds in _every_bounds(self.k, self.n):
            yield self._box(bounds)

    def _as_finite(self, name: str) -> FiniteClass:
        if self.size * self.domain.size > _LARGEST_TABLE:
            raise ValueError(
                f"the {name} dimension of {self!r} has no known closed form; the Littlestone "
                f"dimension is at least {self.littlestone_dimension_lower_bound} and at most "
                f"littlestone_dimension_upper_bound = {self.littlestone_dimension_upper_bound}"
            )
        return listed_class(self)


@dataclass(frozen=True, slots=True)
class BoxVersionSpace(Searched):
    """The boxes that contain the ``core``, the hull of all positives, and no negative.

    Redundant negatives are dropped, and negatives with the same hull are represented by one point,
    so that equal spaces compare equal. Without a positive the core is None; in an empty space the
    negatives are None.
    """

    concept_class: Boxes
    core: Bounds | None
    negatives: frozenset[Point] | None

    @property
    def is_empty(self) -> bool:
        return self.negatives is None

    @property
    def size(self) -> int:
        """The number of boxes left, exact for small classes; ValueError beyond."""
        return 0 if self.negatives is None else self._listed(self.negatives).size

    @property
    def dimension(self) -> int:
        """The dimension, exact for small classes; ValueError beyond."""
        return -1 if self.negatives is None else self._listed(self.negatives).dimension

    def _listed(self, negatives: frozenset[Point]) -> BitSetSpace:
        concepts = self.concept_class
        left = concepts._as_finite("Littlestone").version_space()
        numbers = {x: number for number, x in enumerate(concepts.domain)}
        for corner in product(*self.core) if self.core else ():
            left = left.restrict(numbers[corner], 1)
        for x in negatives:
            left = left.restrict(numbers[x], 0)
        return left

    def restrict(self, x: Any, y: Label, /) -> "BoxVersionSpace":
        point, label = self.concept_class.domain.check(x), require.label(y)
        if self.negatives is None:
            return self
        wider, core = hull(self.core, point), self.core
        if label:
            if wider == core:
                return self
            core, negatives = wider, _nearest(wider, self.negatives)
        else:
            if any(inside(z, wider) for z in self.negatives):
                return self  # every box with this point also contains the negative
            rest = (z for z in self.negatives if not inside(point, hull(core, z)))
            negatives = frozenset((*rest, _folded(core, point)))
        lost = core is not None and any(inside(z, core) for z in negatives)
        return BoxVersionSpace(self.concept_class, *((None, None) if lost else (core, negatives)))

    def standard_optimal(self) -> Hypothesis:
        self._refuse_empty()
        raise ValueError(
            "the standard optimal prediction has no closed form for boxes; learn with "
            "PrivateWitnesses, or use FiniteClass.from_class(concepts) on a small grid"
        )

    def consistent(self) -> BoxHypothesis:
        """Return the smallest box left."""
        self._refuse_empty()
        return self.concept_class._box(self.core)

    def _left(self) -> float:
        """Estimate the logarithm of the number of boxes left, treating the ends as independent."""
        n, k = self.concept_class.n, self.concept_class.k
        if self.core is None:
            return 2 * k * math.log(n + 1)
        return sum(math.log(reach + 1) for pair in self._reaches(self.core) for reach in pair)

    def _reaches(self, core: Bounds) -> list[tuple[int, int]]:
        """Return how far the core can be extended in each direction alone."""
        found = []
        for i, (first, last) in enumerate(core):
            blocks = [z[i] for z in self.negatives or () if _beside(z, core, i)]
            below = max((z for z in blocks if z < first), default=-1)
            above = min((z for z in blocks if z > last), default=self.concept_class.n)
            found.append((first - below - 1, above - last - 1))
        return found

    def _points(self, hypothesis: Hypothesis) -> Iterator[Point]:
        """Return points that include a mistake if there is one."""
        concepts = self.concept_class
        if concepts.domain.size <= _MOST_SCANNED:
            yield from concepts.domain
            return
        bounds = getattr(hypothesis, "bounds", None)
        if bounds is not None:
            yield from product(*bounds)
        if self.core is None:
            yield from self._outside_negatives()
        else:
            yield from self._around(self.core, bounds or self.core)
        apart = hypothesis.disagreement(self.consistent())
        if apart is not None:
            yield tuple(apart)  # type: ignore[arg-type]

    def _outside_negatives(self) -> Iterator[Point]:
        """Yield the middle, or the first point that may have either label."""
        concepts, negatives = self.concept_class, self.negatives or frozenset()
        middle = ((concepts.n - 1) // 2,) * concepts.k
        free = (x for x in chain([middle], concepts.domain) if x not in negatives)
        return islice(free, 1)

    def _around(self, core: Bounds, bounds: Bounds) -> Iterator[Point]:
        """Yield points on the axes through a corner of the core: both ends, and midpoints."""
        corner, n = [first for first, _ in core], self.concept_class.n
        for i, ((first, last), (low, high)) in enumerate(zip(core, bounds, strict=True)):
            below, above = self._reaches(core)[i]
            places = (first - 1, last + 1, low - 1, low, high, high + 1)
            halfway = (first - (below + 1) // 2, last + (above + 1) // 2)
            for place in (*places, *halfway):
                if 0 <= place < n:
                    yield (*corner[:i], place, *corner[i + 1 :])


def inside(x: Point, bounds: Bounds) -> bool:
    """Return whether the point lies in the box."""
    return all(first <= place <= last for place, (first, last) in zip(x, bounds, strict=True))


def hull(core: Bounds | None, x: Point) -> Bounds:
    """Return the smallest box around both."""
    if core is None:
        return tuple((place, place) for place in x)
    pairs = zip(core, x, strict=True)
    return tuple((min(first, place), max(last, place)) for (first, last), place in pairs)


def _beside(x: Point, core: Bounds, i: int) -> bool:
    """Return whether the point lies within the core in every coordinate except i."""
    return all(core[j][0] <= x[j] <= core[j][1] for j in range(len(x)) if j != i)


def _nearest(core: Bounds, negatives: Iterable[Point]) -> frozenset[Point]:
    """Return the negatives whose hull with the core contains no other negative."""
    found: list[Point] = []
    folded = {_folded(core, z) for z in negatives}
    for z in sorted(folded, key=lambda z: _distance(z, core)):
        around = hull(core, z)
        if not any(inside(other, around) for other in found):
            found.append(z)
    return frozenset(found)


def _folded(core: Bounds | None, x: Point) -> Point:
    """Return one representative of all points with the same hull with the core."""
    if core is None:
        return x
    return tuple(a if a <= place <= b else place for place, (a, b) in zip(x, core, strict=True))


def _distance(x: Point, core: Bounds) -> tuple[int, Point]:
    """Return the L1 distance to the core; points inside a hull are nearer than its corner."""
    far = sum(max(a - place, place - b, 0) for place, (a, b) in zip(x, core, strict=True))
    return far, x


def _best_stretch(places: NDArray[np.int64], gains: NDArray[np.int64]) -> int:
    """Return the largest sum of gains over consecutive places."""
    saved = best = 0
    for place in sorted(set(places.tolist())):
        saved = max(0, saved + int(gains[places == place].sum()))
        best = max(best, saved)
    return best


def _every_bounds(k: int, n: int) -> Iterator[Bounds]:
    if k == 0:
        yield ()
        return
    for first in range(n):
        for last in range(first, n):
            for rest in _every_bounds(k - 1, n):
                yield ((first, last), *rest)


CLASSES = (
    ClassEntry(
        name="boxes",
        build=Boxes,
        example="boxes:2,64",
        summary="axis-parallel boxes in k <= 4 dimensions, coordinates 0 .. n-1, and the empty box",
        arguments=(int, int),
        required=2,
    ),
)
