"""At most one key maps to 1: the simplest class of Littlestone dimension 1."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from littlestone.concepts.classes.sparse_sets import SparseSets, SparseVersionSpace
from littlestone.concepts.domain import AnyHashable, IntegerRange
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import Tally


@dataclass(frozen=True, slots=True)
class Points:
    """At most one key maps to 1: a key of 0 .. n-1, or any plain one when ``n`` is None.

    >>> everything = Points()
    >>> everything.littlestone_dimension
    1
    >>> everything.version_space().restrict("alice", 1).standard_optimal().describe()
    "1 on 'alice', 0 elsewhere"
    """

    n: int | None = None
    _sets: SparseSets = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_sets", SparseSets(1, self.n))

    @property
    def domain(self) -> IntegerRange | AnyHashable:
        return self._sets.domain

    @property
    def spec(self) -> str:
        return "points" if self.n is None else f"points:{self.n}"

    @property
    def size(self) -> int | None:
        return self._sets.size

    @property
    def littlestone_dimension(self) -> int:
        return 1

    @property
    def vc_dimension(self) -> int:
        return 1

    @property
    def dual_littlestone_dimension(self) -> int:
        return self._sets.dual_littlestone_dimension

    @property
    def dual_vc_dimension(self) -> int:
        return self._sets.dual_vc_dimension

    def version_space(self) -> SparseVersionSpace:
        return self._sets.version_space()

    def fewest_mistakes(self, tally: Tally, /) -> int:
        return self._sets.fewest_mistakes(tally)

    def concepts(self) -> Iterator[FiniteSupport]:
        """The empty set, then the single keys."""
        return self._sets.concepts()
