"""What the version spaces of several classes have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from littlestone import require
from littlestone.concepts.protocols import Example, Hypothesis, Label, Point


class Remaining(ABC):
    """The concepts that fit some examples, perhaps none."""

    __slots__ = ()

    @property
    @abstractmethod
    def is_empty(self) -> bool: ...

    @abstractmethod
    def standard_optimal(self) -> Hypothesis: ...

    def _refuse_empty(self) -> None:
        if self.is_empty:
            raise ValueError("the version space is empty: no concept fits the examples")


class Searched(Remaining):
    """A version space whose mistakes are looked for among some points."""

    __slots__ = ()

    @abstractmethod
    def restrict(self, x: Any, y: Label, /) -> Self: ...

    @abstractmethod
    def _points(self, hypothesis: Hypothesis) -> Iterable[Point]:
        """Where it is worth looking: all points of a small domain, a family of a large one."""

    @abstractmethod
    def _left(self) -> Any:
        """What is left here, as a number to compare."""

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        """All of them where there are few points; else those of a family, in its order."""
        for x in () if self.is_empty else dict.fromkeys(self._points(hypothesis)):
            y = 1 - hypothesis(x)
            if not self.restrict(x, y).is_empty:
                yield x, y

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        """The one of ``mistakes_of`` that leaves most; among equals, the first."""
        found = self.mistakes_of(hypothesis)
        return max(found, key=lambda example: self.restrict(*example)._left(), default=None)


@dataclass(frozen=True, slots=True)
class InParts(Remaining):
    """A version space of one of several shapes, each of which knows its own closed forms."""

    concept_class: Any
    part: Any
    """None when no concept is left."""

    @property
    def is_empty(self) -> bool:
        return self.part is None

    @property
    def size(self) -> int:
        """How many concepts are left."""
        return 0 if self.part is None else int(self.part.size)

    @property
    def dimension(self) -> int:
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
        """How many concepts are left."""
        return self.members.bit_count()

    @property
    def dimension(self) -> int:
        """Exact; ValueError where that takes too large a table."""
        return int(self.concept_class._dimensions.dimension(self.members))

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        """In the order of the points; where they are too many, one or two for each concept."""
        return ((x, y) for x, y, _ in self._mistakes(hypothesis))

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        """Among equals, the first. With too many points for dimensions, the size alone counts."""
        found = sorted(self._mistakes(hypothesis), key=lambda mistake: -mistake[2].bit_count())
        deepest = self.dimension if found and self._has_dimension else 0
        # Largest first, so the first one that reaches the best depth is also the largest there.
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
        """Each wrong label that is possible, with the concepts that it leaves."""

    def _first(self) -> int:
        """The position of the first concept left."""
        self._refuse_empty()
        return (self.members & -self.members).bit_length() - 1
