"""Base classes and small searches that several version spaces share."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from littlestone import require
from littlestone.concepts.protocols import Example, Hypothesis, Label, Point, VersionSpace


class Remaining(VersionSpace, ABC):
    """The concepts that fit some examples, perhaps none."""

    __slots__ = ()

    def _refuse_empty(self) -> None:
        if self.is_empty:
            raise ValueError(
                "the version space is empty: no concept fits the examples; use an agnostic "
                "learner if "
                "labels may be wrong"
            )


class Searched(Remaining):
    """A version space whose mistakes are searched among some points."""

    __slots__ = ()

    @abstractmethod
    def _points(self, hypothesis: Hypothesis) -> Iterable[Point]:
        """Return the points to search: all of a small domain, a family of a large one."""

    @abstractmethod
    def _left(self) -> Any:
        """Return a number that measures the remaining concepts."""

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        """Yield all mistakes on a small domain; on a large one, those of the family."""
        for x in () if self.is_empty else dict.fromkeys(self._points(hypothesis)):
            y = 1 - hypothesis(x)
            if not self.restrict(x, y).is_empty:
                yield x, y

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        """Return the mistake that leaves most; among equals, the first."""
        found = self.mistakes_of(hypothesis)
        return max(found, key=lambda example: self.restrict(*example)._left(), default=None)


@dataclass(frozen=True, slots=True)
class InParts(Remaining):
    """A version space of one of several shapes, each with its own closed forms."""

    concept_class: Any
    part: Any
    """None when no concept is left."""

    @property
    def is_empty(self) -> bool:
        return self.part is None

    @property
    def size(self) -> int:
        """The number of concepts left."""
        return 0 if self.part is None else int(self.part.size)

    @property
    def dimension(self) -> int:
        """The Littlestone dimension of the remaining concepts; -1 if none."""
        return -1 if self.part is None else int(self.part.dimension)

    def restrict(self, x: Any, y: Label, /) -> Self:
        point, label = self.concept_class.domain.check(x), require.label(y)
        part = None if self.part is None else self.part.restrict(point, label)
        return self if part is self.part else type(self)(self.concept_class, part)

    def _some_part(self) -> Any:
        self._refuse_empty()
        return self.part


@dataclass(frozen=True, slots=True, repr=False)
class BitSetSpace(Remaining):
    """Some concepts of a finite class, as the set of their positions in one integer."""

    concept_class: Any
    members: int

    @property
    def is_empty(self) -> bool:
        return self.members == 0

    @property
    def size(self) -> int:
        """The number of concepts left."""
        return self.members.bit_count()

    @property
    def dimension(self) -> int:
        """The dimension, exact; ValueError if that takes too large a table."""
        return int(self.concept_class._dimensions.dimension(self.members))

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        """Yield mistakes by point; if there are too many points, one or two per concept."""
        return ((x, y) for x, y, _ in self._mistakes(hypothesis))

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        """Return the hardest mistake, the first among equals; by size if dimensions are costly."""
        found = sorted(self._mistakes(hypothesis), key=lambda mistake: -mistake[2].bit_count())
        deepest = self.dimension if found and self._has_dimension else 0
        # Largest first, so the first of the best depth is also the largest.
        for depth in range(deepest, 0, -1):
            for x, y, members in found:
                if self.concept_class._dimensions.at_least(members, depth):
                    return x, y
        return found[0][:2] if found else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.size} of {self.concept_class.size} concepts)"

    @property
    def _has_dimension(self) -> bool:
        return True

    @abstractmethod
    def _mistakes(self, hypothesis: Hypothesis) -> Iterator[tuple[Point, Label, int]]:
        """Yield each wrong label that is possible, with the concepts that it leaves."""

    def _first(self) -> int:
        """Return the position of the first concept left."""
        self._refuse_empty()
        return (self.members & -self.members).bit_length() - 1


Family = frozenset[int]


def minimal(family: Iterable[int]) -> Family:
    """Return the members that contain no other member; the same sets hit all of them."""
    found: list[int] = []
    for part in sorted(set(family), key=int.bit_count):
        if not any(small & part == small for small in found):
            found.append(part)
    return frozenset(found)


@cache
def fewest_hitting(family: Family) -> int:
    """Return the size of a smallest hitting set; exponential in it at worst.

    >>> fewest_hitting(frozenset({0b0011, 0b0110, 0b1100}))
    2
    """
    size = 0
    while not _can_hit(tuple(sorted(family, key=lambda part: (part.bit_count(), part))), size):
        size += 1
    return size


def _can_hit(family: tuple[int, ...], size: int) -> bool:
    if not family:
        return True
    if size == 0:
        return False
    smallest, allowed = family[0], -1
    for bit in bits(smallest):
        rest = tuple(part & allowed for part in family if not part & bit)
        if all(rest) and _can_hit(rest, size - 1):
            return True
        allowed &= ~bit  # all sets with this element were tried
    return False


@cache
def count_hitting(family: Family, elements: int, most: int | None = None) -> int:
    """Count the subsets of ``elements`` (a mask), of size at most ``most``, that hit every member.

    >>> count_hitting(frozenset({0b011}), 0b111), count_hitting(frozenset({0b011}), 0b111, 1)
    (6, 2)
    """
    if 0 in family or most == -1:
        return 0
    if not family:
        free = elements.bit_count()
        return 1 << free if most is None else subsets_up_to(free, most)
    bit = next(bits(min(family, key=lambda part: (part.bit_count(), part))))
    rest = elements & ~bit
    with_it = minimal(part for part in family if not part & bit)
    without = minimal(part & ~bit for part in family)
    fewer = None if most is None else most - 1
    return count_hitting(with_it, rest, fewer) + count_hitting(without, rest, most)


def subsets_up_to(size: int, most: int) -> int:
    """Return how many subsets of ``size`` things have at most ``most`` elements.

    >>> subsets_up_to(5, 2), subsets_up_to(5, 0), subsets_up_to(2, 5)
    (16, 1, 4)
    """
    return sum(math.comb(size, count) for count in range(min(size, most) + 1))


def bits(mask: int) -> Iterator[int]:
    """Yield the single bits of a mask, lowest first."""
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


def mask_of(x: tuple[int, ...]) -> int:
    """Return the features of a point that are 1, as bits."""
    return sum(value << feature for feature, value in enumerate(x))


def point_of(mask: int, n: int) -> tuple[int, ...]:
    """Return the point whose features are the bits of the mask."""
    return tuple(mask >> feature & 1 for feature in range(n))
