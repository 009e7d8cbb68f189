"""The protocols of hypotheses, domains, version spaces and concept classes."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Point = Hashable
Label = int
Example = tuple[Point, Label]
Tally = Mapping[Point, tuple[int, ...]]
"""For each point, the counts of label 0, label 1 and so on."""


@runtime_checkable
class Hypothesis(Protocol):
    """A total function from the domain to its labels, mostly {0, 1}, as a value.

    Two hypotheses over one domain are equal exactly if they are the same function.
    """

    __slots__ = ()

    def __call__(self, x: Any, /) -> Label: ...

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        """Return the labels of a sequence or array of points."""

    def disagreement(self, other: "Hypothesis", /) -> Point | None:
        """Return a point on which the two differ, a function of the pair only; None if equal."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object with a ``kind``; ``hypothesis_from_json`` reads it back."""

    def describe(self) -> str:
        """Return the rule in words, on one line."""

    def __hash__(self) -> int:
        return object.__hash__(self)


class Domain(Protocol):
    """The set of points."""

    __slots__ = ()

    @property
    def size(self) -> int | None:
        """How many points there are; None when unbounded."""

    def check(self, x: Any, /) -> Point:
        """Return the canonical form of ``x`` or raise a ValueError that names it."""

    def check_many(self, xs: Any, /) -> Any:
        """Return ``check`` of each point, as a block that ``Hypothesis.many`` takes.

        Raises if ``check`` raises for one of them; no point decides how another is read.
        """

    def sample(self, count: int, generator: np.random.Generator, /) -> Sequence[Point]:
        """Return random points for experiments (no privacy), uniform where possible."""

    def __iter__(self) -> Iterator[Point]:
        """Yield the points in a fixed order; endless when unbounded."""


class VersionSpace(Protocol):
    """The concepts consistent with some examples: immutable, hashable."""

    __slots__ = ()

    @property
    def is_empty(self) -> bool:
        """Whether no concept fits the examples."""

    @property
    def dimension(self) -> int:
        """The Littlestone dimension; -1 when empty."""

    def restrict(self, x: Any, y: Label, /) -> Self:
        """Return the concepts that also label ``x`` with ``y``."""

    def standard_optimal(self) -> Hypothesis:
        """Return the hypothesis of the standard optimal algorithm (ties go to 0)."""

    def consistent(self) -> Hypothesis:
        """Return some concept in it, always the same one; ValueError when empty."""

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        """Yield examples that some concept here fits and ``hypothesis`` mispredicts.

        In a fixed order, each example at most once, without scanning an unbounded domain:
        empty exactly when every concept here equals ``hypothesis``.
        """

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        """Return the one of ``mistakes_of`` that keeps the dimension (then the size) largest."""

    def __hash__(self) -> int:
        return object.__hash__(self)


class OnlineClass(Protocol):
    """A set of functions from a domain to its labels; a frozen, public value.

    The domain says how many labels there are (``schema.label_values``). More than two suffice for
    games without privacy; everything private takes a ``ConceptClass``.
    """

    __slots__ = ()

    @property
    def domain(self) -> Domain:
        """The points of the class."""

    @property
    def size(self) -> int | None:
        """How many concepts there are; None when infinite."""

    @property
    def littlestone_dimension(self) -> int:
        """The Littlestone dimension."""

    def version_space(self) -> VersionSpace:
        """Return all concepts, before any example."""

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the best concept in hindsight."""

    def concepts(self) -> Iterator[Hypothesis]:
        """Yield the concepts in a fixed order; endless when infinite."""

    def __hash__(self) -> int:
        return object.__hash__(self)


class ConceptClass(OnlineClass, Protocol):
    """A set of functions from a domain to {0, 1}."""

    __slots__ = ()

    @property
    def vc_dimension(self) -> int:
        """The VC dimension."""

    @property
    def dual_littlestone_dimension(self) -> int:
        """The Littlestone dimension of the dual class."""

    @property
    def dual_vc_dimension(self) -> int:
        """The VC dimension of the dual class."""
