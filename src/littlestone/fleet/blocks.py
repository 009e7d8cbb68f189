"""Blocks of events on their way through a queue: columns instead of rows, one block for a shard."""

import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import Domain, Example
from littlestone.errors import SnapshotError
from littlestone.learners import codec
from littlestone.learners.engine import single_rounds

Waiting = dict[bytes, tuple[list[int], list[Example | None]]]
"""For each key, by its label: numbers of events, and their examples in canonical form.

None stands for an example that is not read: its user has reached ``max_contributions``.
"""
_ALL_READ: Final = np.empty(0, dtype=np.uint8)


class Block(NamedTuple):
    """Events of several keys: which key each has, its number, point and label.

    ``unread`` is 1 where the example is not read, or empty if all are.
    """

    keys: list[bytes]
    which: NDArray[np.int64]
    seqs: NDArray[np.int64]
    points: Any
    labels: NDArray[np.uint8]
    unread: NDArray[np.uint8] = _ALL_READ

    def packed(self) -> bytes:
        """Numbers are written as narrowly as their largest allows."""
        return codec.dumps((self.keys, *map(_narrow, self[1:])))

    @classmethod
    def from_bytes(cls, data: bytes, domain: Domain) -> "Block":
        """A block that was packed; points are checked again, a database is not this library."""
        try:
            keys, which, seqs, points, labels, unread = codec.loads(data)
            block = cls(keys, _wide(which), _wide(seqs), domain.check_many(points), labels, unread)
            sizes = {len(block.which), len(block.seqs), len(block.points), len(block.labels)}
            sizes |= {len(block.unread)} if len(block.unread) else set()
            bits = {*np.unique(block.labels).tolist(), *np.unique(block.unread).tolist()}
            if len(sizes) != 1 or not bits <= {0, 1}:
                raise ValueError("its columns do not fit together")
        except (ValueError, TypeError) as problem:
            raise SnapshotError(f"a block of the queue is damaged: {problem}") from problem
        return block

    def by_shard(self, shards: int) -> Iterator[tuple[int, "Block"]]:
        """The parts of the block that belong to one shard each; the order within a key stays."""
        home = np.array([shard_of(key, shards) for key in self.keys], dtype=np.int64)[self.which]
        order = np.argsort(home, kind="stable")
        starts = np.flatnonzero(np.diff(home[order], prepend=-1))
        for places in np.split(order, starts[1:]):
            if len(places):
                yield int(home[places[0]]), self._at(places)

    def names(self) -> Iterator[tuple[bytes, int]]:
        """What each event is known by among all events of a fleet: its key and its number."""
        keys = map(self.keys.__getitem__, self.which.tolist())
        return zip(keys, self.seqs.tolist(), strict=True)

    def only(self, wanted: dict[bytes, set[int]]) -> "Block":
        """The events of these keys that have these numbers."""
        if not wanted:
            return self._at(np.empty(0, dtype=np.int64))
        pairs = zip(self.which.tolist(), self.seqs.tolist(), strict=True)
        none: set[int] = set()
        places = [
            place
            for place, (which, seq) in enumerate(pairs)
            if seq in wanted.get(self.keys[which], none)
        ]
        return self._at(np.array(places, dtype=np.int64))

    def _at(self, places: NDArray[np.int64]) -> "Block":
        used, which = np.unique(self.which[places], return_inverse=True)
        keys = [self.keys[at] for at in used.tolist()]
        points = _chosen(self.points, places)
        unread = self.unread[places] if len(self.unread) else self.unread
        return Block(keys, which, self.seqs[places], points, self.labels[places], unread)

    def add_to(self, waiting: Waiting) -> None:
        """Put the events into the line of their key."""
        order = np.argsort(self.which, kind="stable")
        examples: list[Example | None] = list(
            single_rounds(_chosen(self.points, order), self.labels[order])
        )
        for place in np.flatnonzero(self.unread[order] if len(self.unread) else self.unread):
            examples[place] = None
        seqs = self.seqs[order].tolist()
        start = 0
        for key, count in zip(
            self.keys, np.bincount(self.which, minlength=len(self.keys)).tolist(), strict=True
        ):
            numbers, known = waiting.setdefault(key, ([], []))
            numbers += seqs[start : start + count]
            known += examples[start : start + count]
            start += count


def shard_of(label: bytes, shards: int) -> int:
    """Where a key lives: the same everywhere and for ever."""
    return zlib.crc32(label) % shards


def _chosen(points: Any, places: NDArray[np.int64]) -> Any:
    if isinstance(points, np.ndarray):
        return points[places]
    return [points[place] for place in places.tolist()]


def _narrow(column: Any) -> Any:
    if not isinstance(column, np.ndarray):
        return column
    if column.dtype == object:  # whole numbers beyond 64 bits
        return column.tolist()
    if column.dtype.kind not in "iu" or not column.size or column.min() < 0:
        return column
    return column.astype(np.min_scalar_type(int(column.max())))


def _wide(column: Sequence[int]) -> NDArray[np.int64]:
    return np.asarray(column, dtype=np.int64)
