"""Count how often each example was played; memory grows with distinct examples, not with rounds."""

from collections import defaultdict
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.protocols import Domain, Example, Point

_LARGEST_TABLE: Final = 1 << 20


class ExampleCounts:
    """Counts of examples in canonical form, added one by one or block by block."""

    def __init__(self, domain: Domain) -> None:
        self.singles: defaultdict[Example, int] = defaultdict(int)
        """For the loop to add to."""
        self._check = domain.check
        self._waiting: list[NDArray[np.int64]] = []
        self._many_waiting = 0
        small = isinstance(domain, IntegerRange) and domain.n <= _LARGEST_TABLE
        # Entry 2x + y of the table counts (x, y); other domains do without one.
        self._table = np.zeros(2 * (domain.size or 0) if small else 0, dtype=np.int64)

    def add_block(self, points: Any, labels: NDArray[np.uint8]) -> None:
        if len(self._table):
            self._waiting.append(2 * points + labels)
            self._many_waiting += len(labels)
            # Adding to the table costs as much as it is long, so that many examples wait for it.
            if self._many_waiting >= len(self._table):
                self._enter()
            return
        check = self._check
        for x, y in zip(points, labels.tolist(), strict=True):
            self.singles[check(x), y] += 1

    def tally(self) -> dict[Point, tuple[int, int]]:
        """How often each point came with label 0 and with label 1."""
        counts: dict[Point, tuple[int, int]] = {}
        for (x, y), times in self.singles.items():
            zeros, ones = counts.get(x, (0, 0))
            counts[x] = (zeros, ones + times) if y else (zeros + times, ones)
        self._enter()
        by_point = self._table.reshape(-1, 2)
        for x in np.flatnonzero(by_point.any(axis=1)).tolist():
            zeros, ones = counts.get(x, (0, 0))
            more_zeros, more_ones = by_point[x].tolist()
            counts[x] = zeros + more_zeros, ones + more_ones
        return counts

    def _enter(self) -> None:
        if self._waiting:
            codes = np.concatenate(self._waiting)
            self._table += np.bincount(codes, minlength=len(self._table))
            self._waiting, self._many_waiting = [], 0
