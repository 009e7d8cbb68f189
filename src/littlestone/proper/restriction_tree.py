"""Subclasses cut up until each part behaves, on few points, like one function: restriction trees.

All of it is deterministic and a function of the subclass alone. After [L25], in the role of the
ReduceTree of [GGKM21]; no tree needs to be optimal. irreducible.md has the lemmas.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from littlestone.concepts.classes.finite import FiniteClass, FiniteVersionSpace


@dataclass(frozen=True, slots=True)
class Node:
    """A subclass; with the point that it is cut at, or a leaf. Empty parts are left out."""

    members: int
    dimension: int
    depth: int
    point: int | None = None
    children: tuple["Node", ...] = ()

    def leaves(self) -> Iterator["Node"]:
        """From left to right."""
        if self.point is None:
            yield self
        for child in self.children:
            yield from child.leaves()


def dimension_of(concepts: FiniteClass, members: int) -> int:
    """The Littlestone dimension of a subclass; -1 when empty."""
    return FiniteVersionSpace(concepts, members).dimension


def keeping_labels(concepts: FiniteClass, members: int) -> bytes:
    """For each point 0 if that label keeps the dimension of the subclass, and 1 otherwise.

    The other label always lowers the dimension: if both kept it, it would be larger by one. Unlike
    the standard optimal algorithm, ties between two lower dimensions go to 1.
    """
    whole = dimension_of(concepts, members)
    return bytes(dimension_of(concepts, members & zeros) < whole for zeros, _ in concepts.sides)


def shrinking_points(concepts: FiniteClass, members: int, longest: int) -> list[int] | None:
    """The shortest list of points whose keeping labels, taken together, lower the dimension.

    None if no list of at most ``longest`` points does: the subclass is ``longest``-irreducible.
    The labels are those of ``members`` and stay fixed along the list.
    """
    whole = dimension_of(concepts, members)
    labels = keeping_labels(concepts, members)
    sides = [pair[label] for pair, label in zip(concepts.sides, labels, strict=True)]
    reached: dict[int, list[int]] = {members: []}
    seen = {members}
    for _ in range(min(longest, len(sides))):
        further: dict[int, list[int]] = {}
        for part, points in reached.items():
            for x, side in enumerate(sides):
                left = part & side
                if left in seen:
                    continue
                if dimension_of(concepts, left) < whole:
                    return [*points, x]
                seen.add(left)
                further[left] = [*points, x]
        reached = further
    return None


def restriction_tree(concepts: FiniteClass, members: int, *, reach: int) -> Node:
    """A valid tree of a subclass that is not empty.

    With d the dimension of ``concepts``, a leaf of dimension t is (reach * 2**(d-t))-irreducible
    and at depth at most reach * (2**(d-t) - 1).
    """
    whole = concepts.littlestone_dimension

    def build(part: int, depth: int) -> Node:
        dimension = dimension_of(concepts, part)
        points = shrinking_points(concepts, part, reach << whole - dimension)
        if points is None:
            return Node(part, dimension, depth)
        return cut(part, depth, points, keeping_labels(concepts, part))

    def cut(part: int, depth: int, points: list[int], labels: bytes) -> Node:
        """Cut along the list: what leaves it is built anew, and so is what has shrunk."""
        x, *rest = points
        leaving = part & concepts.sides[x][1 - labels[x]]
        staying = part & concepts.sides[x][labels[x]]
        children = [build(leaving, depth + 1)] if leaving else []
        if staying:
            along = cut(staying, depth + 1, rest, labels) if rest else build(staying, depth + 1)
            children.append(along)
        return Node(part, dimension_of(concepts, part), depth, x, tuple(children))

    return build(members, 0)


def top_functions(concepts: FiniteClass, members: int, *, reach: int) -> frozenset[bytes]:
    """The keeping labels of the leaves of largest dimension; none for the empty subclass."""
    if not members:
        return frozenset()
    leaves = irreducible_parts(concepts, members, reach=reach)
    degree = max(dimension_of(concepts, leaf) for leaf in leaves)
    top = (leaf for leaf in leaves if dimension_of(concepts, leaf) == degree)
    return frozenset(keeping_labels(concepts, leaf) for leaf in top)


def irreducible_parts(concepts: FiniteClass, members: int, *, reach: int) -> list[int]:
    """The leaves of the tree of a subclass that is not empty."""
    if reach >= len(concepts.sides):  # every part with two members can still be cut
        return [1 << i for i in range(members.bit_length()) if members >> i & 1]
    return [leaf.members for leaf in restriction_tree(concepts, members, reach=reach).leaves()]


def leaves_bound(*, dimension: int, reach: int) -> int:
    """A valid tree has at most the product over t of (reach * 2**(dimension-t) + 1) leaves.

    >>> leaves_bound(dimension=2, reach=10)
    231
    """
    return math.prod((reach << dimension - t) + 1 for t in range(1, dimension + 1))
