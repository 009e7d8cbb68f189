"""At most one key maps to 1: the simplest class of Littlestone dimension 1."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from littlestone import require
from littlestone.concepts.classes.sparse_sets import SparseSets
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.losses.answers import MOST_CELLS
from littlestone.concepts.losses.label_counts import Tallied
from littlestone.concepts.losses.loss_runs import LossRuns, point_runs
from littlestone.concepts.losses.on_lines import OnLines
from littlestone.concepts.losses.projection import Projection, project_points


@require.checked
@dataclass(frozen=True, slots=True)
class Points(SparseSets):
    """At most one key maps to 1: a key of 0 .. n-1, or any plain one when ``n`` is None.

    >>> everything = Points()
    >>> everything.littlestone_dimension
    1
    >>> everything.version_space().restrict("alice", 1).standard_optimal().describe()
    "1 on 'alice', 0 elsewhere"
    """

    k: int = field(default=1, init=False, repr=False)

    def concept(self, position: int, /) -> FiniteSupport:
        position = require.integer(position=position, at_least=0, at_most=self.n)
        return FiniteSupport(frozenset([position - 1] if position else []))

    def majority_of(self, chosen: Sequence[int], /) -> FiniteSupport:
        counts = Counter(require.integer(chosen=place, at_least=0) for place in chosen)
        ones = (i - 1 for i, count in counts.items() if i and 2 * count > len(chosen))
        return FiniteSupport(frozenset(ones))

    def on_lines(self) -> OnLines | None:
        if self.n is None or self.n > MOST_CELLS:
            return None
        ends = np.arange(self.n + 1)
        return OnLines.on_a_line(self.n, np.maximum(ends - 1, 0), ends)

    def loss_runs(self, tally: Tallied, /, *, deepest: int) -> LossRuns:
        del deepest  # all losses are exact
        if self.n is None:
            raise ValueError(f"concepts must be finitely many, got concepts={self!r}")
        return point_runs(self.n, tally, self.concept)

    def project(self, points: Any, /) -> Projection:
        return project_points(
            self.domain.check_many(points), lambda keys: FiniteSupport(frozenset(keys))
        )
