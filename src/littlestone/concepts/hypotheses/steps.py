"""A hypothesis on a range of integers, as the list of points where its label changes."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.runs import Run, described_by_runs, first_difference
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.concepts.written import Written


@dataclass(frozen=True, slots=True)
class StepFunction(Written):
    """The function on 0 .. n-1 that starts with label ``first`` and changes at ``changes``.

    >>> rule = StepFunction(n=100, first=0, changes=(10, 20))
    >>> rule(9), rule(10), rule(20), rule.describe()
    (0, 1, 0, '1 on 10-19 out of 0-99')
    >>> rule.disagreement(StepFunction(n=100, first=0, changes=(10, 30)))
    20
    """

    kind: ClassVar[str] = "steps"
    n: int
    first: Label
    changes: tuple[int, ...]

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(n=self.n, at_least=1)
        require.label(self.first)
        require.integer(**{f"changes[{i}]": change for i, change in enumerate(self.changes)})
        bounds = (0, *self.changes, self.n)
        if any(low >= high for low, high in pairwise(bounds)):
            raise ValueError(
                f"changes must increase strictly within 1 .. {self.n - 1}, "
                f"got changes={self.changes}"
            )

    @classmethod
    def from_runs(cls, n: int, ones: Iterable[tuple[int, int]]) -> Self:
        """1 exactly on these disjoint, increasing ranges (start, stop), some perhaps empty."""
        cuts: list[int] = []
        for start, stop in ones:
            if start >= stop:
                continue
            if cuts and cuts[-1] == start:
                cuts[-1] = stop
            else:
                cuts += [start, stop]
        first = int(bool(cuts) and cuts[0] == 0)
        return cls(n, first, tuple(cut for cut in cuts if 0 < cut < n))

    @property
    def domain(self) -> IntegerRange:
        return IntegerRange(self.n)

    def __call__(self, x: Any, /) -> Label:
        point = x if type(x) is int and 0 <= x < self.n else self.domain.check(x)
        return self.first ^ (bisect_right(self.changes, point) & 1)

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        passed = np.searchsorted(
            np.array(self.changes, dtype=np.int64), self.domain.check_many(xs), side="right"
        )
        return ((passed & 1) ^ self.first).astype(np.uint8)

    def runs(self) -> Iterator[Run]:
        bounds = (0, *self.changes, self.n)
        label = self.first
        for start, stop in pairwise(bounds):
            yield start, stop, label
            label = 1 - label

    def disagreement(self, other: Hypothesis, /) -> int | None:
        """The smallest point on which the two differ."""
        return first_difference(self, other, self.n)

    def describe(self) -> str:
        return described_by_runs(self, self.n)
