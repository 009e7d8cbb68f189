"""Functions on a range of integers, walked run by run instead of point by point."""

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

import numpy as np

from littlestone.concepts.hypotheses.scan import shown
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import Hypothesis, Label

Run = tuple[int, int, Label]
"""First point, one past the last point, and the label of all of them."""

_BLOCK = 1 << 16


@runtime_checkable
class InRuns(Protocol):
    """A hypothesis that knows where its label changes."""

    def runs(self) -> Iterator[Run]:
        """The maximal runs of equal labels, in order."""


def runs_of(hypothesis: Hypothesis, n: int) -> Iterator[Run]:
    """The maximal runs of ``hypothesis`` on 0 .. n-1; points are visited only if they must be.

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
    """The smallest point of 0 .. n-1 on which the two differ."""
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
    """Where the hypothesis is 1, in words."""
    ones = [(start, stop - 1) for start, stop, label in runs_of(hypothesis, n) if label]
    if not ones or ones == [(0, n - 1)]:
        return f"{len(ones)} on all of 0-{n - 1}"
    words = [f"{low}-{high}" if low < high else f"{low}" for low, high in ones]
    return f"1 on {', '.join(shown(words))} out of 0-{n - 1}"


def _around(keys: list[int], n: int) -> Iterator[Run]:
    """Runs of length one for the keys, and what lies between them."""
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
    """The runs of a hypothesis that changes at most at ``starts``."""
    cuts = np.asarray(list(starts), dtype=np.int64)
    labels = hypothesis.many(cuts)
    changes = np.flatnonzero(np.diff(labels, prepend=1 - labels[:1]))
    begins = cuts[changes].tolist()
    return zip(begins, [*begins[1:], stop], labels[changes].tolist(), strict=True)


def _joined(runs: Iterable[Run]) -> Iterator[Run]:
    """The same function in maximal runs."""
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
