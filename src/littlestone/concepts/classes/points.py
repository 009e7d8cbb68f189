"""At most one key maps to 1: the simplest class of Littlestone dimension 1."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from littlestone import require
from littlestone.concepts.classes.sparse_sets import SparseSets, SparseVersionSpace
from littlestone.concepts.domain import AnyHashable, IntegerRange
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.losses.answers import MOST_CELLS, Boxes
from littlestone.concepts.losses.label_counts import Tallied
from littlestone.concepts.losses.loss_runs import LossRuns, point_runs
from littlestone.concepts.losses.projection import Projection, project_points
from littlestone.concepts.protocols import ConceptClass, Tally
from littlestone.concepts.trackers import SparseTracker
from littlestone.concepts.witnesses import SparseWitnesses


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
        require.plain(self)
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

    def concept(self, position: int, /) -> FiniteSupport:
        return FiniteSupport(frozenset([position - 1] if position else []))

    def majority_of(self, chosen: Sequence[int], /) -> FiniteSupport:
        counts = Counter(chosen)
        ones = (i - 1 for i, count in counts.items() if i and 2 * count > len(chosen))
        return FiniteSupport(frozenset(ones))

    def answers(self) -> Boxes | None:
        if self.n is None or self.n > MOST_CELLS:
            return None
        ends = np.arange(self.n + 1)
        return Boxes.on_a_line(self.n, np.maximum(ends - 1, 0), ends)

    def loss_runs(self, tally: Tallied, /, *, deepest: int) -> LossRuns:
        del deepest  # all losses are exact
        if self.n is None:
            raise ValueError(f"concepts must be finitely many, got concepts={self!r}")
        return point_runs(self.n, tally, self.concept)

    def project(self, points: Any, /) -> Projection:
        return project_points(points, lambda keys: FiniteSupport(frozenset(keys)))

    def tracker(self) -> SparseTracker:
        return self._sets.tracker()

    def witnesses(self) -> SparseWitnesses | None:
        return self._sets.witnesses()

    @property
    def most_ones(self) -> int:
        return 1

    def differences(self) -> ConceptClass:
        return self._sets.differences()
