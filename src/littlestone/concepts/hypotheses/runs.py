"""Process functions on a range of integers run by run instead of point by point."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.common import Written, shown
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import Hypothesis, Label

Run = tuple[int, int, Label]
"""First point, one past the last point, and the label of all of them."""

_BLOCK = 1 << 16


@runtime_checkable
class InRuns(Protocol):
    """A hypothesis that knows where its label changes."""

    def runs(self) -> Iterator[Run]:
        """Yield the maximal runs of equal labels, in order."""


def runs_of(hypothesis: Hypothesis, n: int) -> Iterator[Run]:
    """Yield the maximal runs of ``hypothesis`` on 0 .. n-1; visit points only if necessary.

    >>> list(runs_of(FiniteSupport.on(2, 3, 9), 8))
    [(0, 2, 0), (2, 4, 1), (4, 8, 0)]
    """
    if isinstance(hypothesis, InRuns):
        return hypothesis.runs()
    if isinstance(hypothesis, FiniteSupport):
        keys = sorted(x for x in hypothesis.positives if isinstance(x, int) and 0 <= x < n)
        return _joined(_around(keys, n))
    members = getattr(hypothesis, "members", None)
    if members is not None:  # a vote changes only where a member does
        cuts = sorted({start for member in set(members) for start, _, _ in runs_of(member, n)})
        return _labelled(hypothesis, cuts, n)
    return _joined(_scanned(hypothesis, n))


def first_difference(left: Hypothesis, right: Hypothesis, n: int) -> int | None:
    """Return the smallest point of 0 .. n-1 on which the two differ."""
    mine, theirs = runs_of(left, n), runs_of(right, n)
    (_, stop, label), (_, their_stop, their_label) = next(mine), next(theirs)
    start = 0
    while label == their_label:
        start = min(stop, their_stop)
        if start == n:
            return None
        if stop == start:
            _, stop, label = next(mine)
        if their_stop == start:
            _, their_stop, their_label = next(theirs)
    return start


def described_by_runs(hypothesis: Hypothesis, n: int) -> str:
    """Return where the hypothesis is 1, in words."""
    ones = [(start, stop - 1) for start, stop, label in runs_of(hypothesis, n) if label]
    if not ones or ones == [(0, n - 1)]:
        return f"{len(ones)} on all of 0-{n - 1}"
    words = [f"{low}-{high}" if low < high else f"{low}" for low, high in ones]
    return f"1 on {', '.join(shown(words))} out of 0-{n - 1}"


def _around(keys: list[int], n: int) -> Iterator[Run]:
    """Yield runs of length one for the keys, and the runs between them."""
    after = 0
    for key in keys:
        yield after, key, 0
        yield key, key + 1, 1
        after = key + 1
    yield after, n, 0


def _scanned(hypothesis: Hypothesis, n: int) -> Iterator[Run]:
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        yield from _labelled(hypothesis, range(start, stop), stop)


def _labelled(hypothesis: Hypothesis, starts: Iterable[int], stop: int) -> Iterator[Run]:
    """Yield the runs of a hypothesis that changes at most at ``starts``."""
    cuts = np.asarray(list(starts), dtype=np.int64)
    labels = hypothesis.many(cuts)
    changes = np.flatnonzero(np.diff(labels, prepend=1 - labels[:1]))
    begins = cuts[changes].tolist()
    return zip(begins, [*begins[1:], stop], labels[changes].tolist(), strict=True)


def _joined(runs: Iterable[Run]) -> Iterator[Run]:
    """Yield the same function in maximal runs."""
    begin, end, label = 0, 0, -1
    for start, stop, following in runs:
        if start == stop:
            continue
        if following != label:
            if begin < end:
                yield begin, end, label
            begin, label = start, following
        end = stop
    yield begin, end, label


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
        """Return the function that is 1 on these disjoint, increasing ranges (start, stop)."""
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
        """The points that have a label."""
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
        """Yield (start, stop, label) for each run of equal labels."""
        bounds = (0, *self.changes, self.n)
        label = self.first
        for start, stop in pairwise(bounds):
            yield start, stop, label
            label = 1 - label

    def disagreement(self, other: Hypothesis, /) -> int | None:
        """Return the smallest point on which the two differ."""
        return first_difference(self, other, self.n)

    def describe(self) -> str:
        return described_by_runs(self, self.n)
