"""Dimensions and counts of finite classes: dual, covering, randomized, and shattered trees."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point, VersionSpace


@require.checked
def dual(concepts: FiniteClass) -> FiniteClass:
    """Return the dual class: points as concepts over the concepts, without duplicates.

    >>> dual(FiniteClass([[0, 0, 1], [0, 1, 1]])).matrix.tolist()
    [[0, 0], [0, 1], [1, 1]]
    """
    return concepts.dual()


@require.checked
def dual_littlestone_dimension(concepts: ConceptClass) -> int:
    """Return the Littlestone dimension of the dual class."""
    return concepts.dual_littlestone_dimension


@require.checked
def dual_vc_dimension(concepts: ConceptClass) -> int:
    """Return the VC dimension of the dual class."""
    return concepts.dual_vc_dimension


@require.checked
def growth_function(concepts: FiniteClass, points: int) -> int:
    """Return the most ways in which ``concepts`` labels a set of this many points.

    >>> growth_function(FiniteClass([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]), 2)
    3
    """
    require.integer(points=points, at_least=0)
    members = concepts.version_space().members
    ones = sorted({members & part for _, part in concepts.sides} - {0, members})
    return _most_cells(ones, [members], min(points, len(ones)), 0)


def _most_cells(ones: Sequence[int], cells: list[int], points: int, best: int) -> int:
    """Return the most cells after splitting by ``points`` more points, at least ``best``."""
    if points == 0:
        return max(best, len(cells))
    most = sum(min(cell.bit_count(), 1 << points) for cell in cells)
    for number in range(len(ones) - points + 1):
        if best >= most:
            break
        part = ones[number]
        halves = [half for cell in cells for half in (cell & part, cell & ~part) if half]
        best = _most_cells(ones[number + 1 :], halves, points - 1, best)
    return best


@require.checked
def covering_number(concepts: FiniteClass, depth: int) -> int:
    """Return the 0-covering number N(0, H, depth) on the worst tree of points of this depth.

    It is the size of the smallest set of 0/1 trees that follows every concept along every path.

    A cover needs separate trees for each label a of the root x, and the trees for a serve both
    subtrees at once: N(H, T) = Σₐ max_b N(H_{x→a}, T_b). The two subtrees may be chosen one for
    each label, so the worst tree costs max_x Σₐ N(H_{x→a}, depth − 1).

    >>> covering_number(FiniteClass([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]), 2)
    4
    """
    require.integer(depth=depth, at_least=0)
    known: dict[tuple[int, int], int] = {}

    def cover(members: int, left: int) -> int:
        size = members.bit_count()
        if size <= 1 or left == 0:
            return min(size, 1)
        found = known.get((members, left))
        if found is None:
            splits = {members & part for _, part in concepts.sides} - {0, members}
            found = max(cover(s, left - 1) + cover(members ^ s, left - 1) for s in splits)
            known[members, left] = found
        return found

    return cover(concepts.version_space().members, depth)


@require.checked
def randomized_littlestone_dimension(concepts: FiniteClass) -> Fraction:
    """Return half the largest expected length of a random path in a shattered tree.

    The tree need not be complete [FHMM23]. A learner that predicts 1 with probability p at x pays
    p + R₀ on label 0 and 1 − p + R₁ on label 1; the best p makes that (1 + R₀ + R₁)/2 unless one
    side alone is worth more, and then a later point is at least as hard for the learner.
    Time grows with the number of version spaces that can arise: for small classes only.

    >>> randomized_littlestone_dimension(FiniteClass([[0, 0], [0, 1], [1, 1]]))
    Fraction(3, 4)
    """
    known: dict[int, Fraction] = {}

    def value(members: int) -> Fraction:
        found = known.get(members)
        if found is None:
            sides = {(members & zeros, members & ones) for zeros, ones in concepts.sides}
            splits = (pair for pair in sides if all(pair))
            found = max(((1 + value(a) + value(b)) / 2 for a, b in splits), default=Fraction(0))
            known[members] = found
        return found

    return value(concepts.version_space().members)


_DEEPEST = 16  # a complete tree of this depth already has 65,535 vertices


@require.checked
@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of a path, with a concept that labels the points above as the path says."""

    concept: Hypothesis

    @property
    def depth(self) -> int:
        """0: a leaf has no vertex below it."""
        return 0

    def is_shattered_by(self, concepts: ConceptClass) -> bool:
        """Return whether the class has the concept of the leaf."""
        return _fits(self, concepts.version_space(), ())

    def text(self) -> str:
        """Describe the concept of the leaf."""
        return self.concept.describe()


@require.checked
@dataclass(frozen=True, slots=True)
class Vertex:
    """A point, and the trees that follow its label 0 and its label 1."""

    point: Point
    zero: "MistakeTree"
    one: "MistakeTree"

    @property
    def depth(self) -> int:
        """How many points each path passes."""
        return 1 + self.zero.depth

    def is_shattered_by(self, concepts: ConceptClass) -> bool:
        """Return whether the tree is complete and some concept follows each path."""
        return _fits(self, concepts.version_space(), ())

    def text(self) -> str:
        """Return the tree as text: one line per point, and a concept at the end of each path."""
        zero = self.zero.text().replace("\n", "\n│    ")
        one = self.one.text().replace("\n", "\n     ")
        return f"{self.point}\n├─0─ {zero}\n└─1─ {one}"


MistakeTree = Leaf | Vertex


@require.checked
def shattered_tree(concepts: ConceptClass) -> MistakeTree:
    """Return a shattered tree as deep as the Littlestone dimension of ``concepts``.

    Uses only version spaces: at the hardest mistake of the standard optimal hypothesis, both labels
    keep all but one of the dimension.

    >>> from littlestone.concepts.classes.finite import FiniteClass
    >>> thresholds = FiniteClass([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]])
    >>> tree = shattered_tree(thresholds)
    >>> tree.depth, tree.is_shattered_by(thresholds)
    (2, True)
    >>> print(tree.text())
    1
    ├─0─ 2
    │    ├─0─ 0 on all of 0-2
    │    └─1─ 1 on 2 out of 0-2
    └─1─ 0
         ├─0─ 1 on 1-2 out of 0-2
         └─1─ 1 on all of 0-2
    """
    everything = concepts.version_space()
    depth = everything.dimension
    if depth > _DEEPEST:
        raise ValueError(f"a tree of depth {depth} is too large to build; at most {_DEEPEST}")
    return _build(everything, depth)


def _build(concepts: VersionSpace, depth: int) -> MistakeTree:
    if depth <= 0:
        return Leaf(concepts.consistent())  # raises for an empty class
    hardest = concepts.hardest_mistake(concepts.standard_optimal())
    if hardest is None:
        raise ValueError(f"{concepts!r} has dimension {depth} but allows no mistake")
    x, _ = hardest
    zero = _build(concepts.restrict(x, 0), depth - 1)
    return Vertex(x, zero, _build(concepts.restrict(x, 1), depth - 1))


def _fits(tree: MistakeTree, concepts: VersionSpace, path: tuple[tuple[Any, int], ...]) -> bool:
    if concepts.is_empty:
        return False
    if isinstance(tree, Leaf):
        return all(tree.concept(x) == y for x, y in path)
    sides = (tree.zero, tree.one)
    return tree.zero.depth == tree.one.depth and all(
        _fits(side, concepts.restrict(tree.point, y), (*path, (tree.point, y)))
        for y, side in enumerate(sides)
    )
