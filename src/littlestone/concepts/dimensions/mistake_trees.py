"""Shattered trees: certificates that a class has at least a certain Littlestone dimension."""

from dataclasses import dataclass
from typing import Any

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point, VersionSpace

_DEEPEST = 16  # a complete tree of this depth already has 65,535 vertices


@require.checked
@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of a path, with a concept that labels the points above as the path says."""

    concept: Hypothesis

    @property
    def depth(self) -> int:
        return 0

    def is_shattered_by(self, concepts: ConceptClass) -> bool:
        return _fits(self, concepts.version_space(), ())

    def text(self) -> str:
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
        """Whether the tree is complete and every path is what some concept says."""
        return _fits(self, concepts.version_space(), ())

    def text(self) -> str:
        """The tree, one line for each point and, at the ends of the paths, each concept."""
        zero = self.zero.text().replace("\n", "\n│    ")
        one = self.one.text().replace("\n", "\n     ")
        return f"{self.point}\n├─0─ {zero}\n└─1─ {one}"


MistakeTree = Leaf | Vertex


@require.checked
def shattered_tree(concepts: ConceptClass) -> MistakeTree:
    """A shattered tree as deep as the Littlestone dimension of ``concepts``.

    It needs nothing but the version spaces: the hardest mistake of the standard optimal
    hypothesis is at a point whose two labels both keep all but one of the dimension.

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
        return Leaf(concepts.consistent())  # refuses an empty class
    hardest = concepts.hardest_mistake(concepts.standard_optimal())
    if hardest is None:
        raise ValueError(f"{concepts!r} says it has dimension {depth} and allows no mistake")
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
