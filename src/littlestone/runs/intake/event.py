"""Define events, and isolate those that do not fit."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import Example

Item = TypeVar("Item")
Result = TypeVar("Result")


class Event(NamedTuple):
    """One labelled example with its own id; ``x`` must be JSON, ``y`` is the index of a label.

    ``line`` is the line of the source, for messages only; ``user`` is its user, where users are
    counted. A reader that has checked ``x`` (made of what JSON returns unchanged) sets the
    canonical ``example``, which is not checked again, and the canonical ``user``.
    """

    id: str
    x: Any
    y: int
    line: int | None = None
    example: Example | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class EventBlock(Sequence[Event]):
    """Events over a schema that a reader has checked, as columns: the same events, in less time.

    ``points`` has a row of cells for each event. ``users`` is None where users are not counted.
    """

    ids: list[str]
    points: NDArray[np.int64]
    labels: NDArray[np.uint8]
    lines: list[int]
    users: list[str] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Event]:
        points, labels = list(zip(*self.points.T.tolist(), strict=True)), self.labels.tolist()
        examples = zip(points, labels, strict=True)
        users: Sequence[str | None] = self.users or [None] * len(self)
        columns = self.ids, points, labels, self.lines, examples, users
        return map(Event._make, zip(*columns, strict=True))

    @overload
    def __getitem__(self, place: int, /) -> Event: ...
    @overload
    def __getitem__(self, place: slice, /) -> "EventBlock": ...
    def __getitem__(self, place: int | slice, /) -> "Event | EventBlock":
        if isinstance(place, int):
            at = range(len(self))[place]
            return next(iter(self[at : at + 1]))
        users = None if self.users is None else self.users[place]
        return EventBlock(
            self.ids[place], self.points[place], self.labels[place], self.lines[place], users
        )

    @staticmethod
    def of(events: "Sequence[Event]") -> "EventBlock":
        """Return events over a schema that a reader has checked as a block."""
        ids, _, labels, lines, examples, users = map(list, zip(*events, strict=True))
        points = [point for point, _ in examples]
        return EventBlock(
            ids,
            np.array(points, dtype=np.int64),
            np.array(labels, dtype=np.uint8),
            lines,
            None if None in users else users,
        )

    @staticmethod
    def joined(blocks: "Sequence[EventBlock]") -> "EventBlock":
        """Return the events of blocks of one source, in order."""
        if len(blocks) == 1:
            return blocks[0]
        users = None
        if blocks[0].users is not None:
            users = list(chain.from_iterable(block.users or () for block in blocks))
        return EventBlock(
            list(chain.from_iterable(block.ids for block in blocks)),
            np.concatenate([block.points for block in blocks]),
            np.concatenate([block.labels for block in blocks]),
            list(chain.from_iterable(block.lines for block in blocks)),
            users,
        )


class Receipt(NamedTuple):
    """The result for an event: its round, and the number of the release in force after it.

    ``over_limit`` says that its user has reached ``max_contributions``, so it was not read.
    """

    round: int
    release: int
    repeated: bool = False
    over_limit: bool = False


def by_halving(
    items: Sequence[Item],
    take: Callable[[Sequence[Item]], Iterable[Result]],
    refused: Callable[[Sequence[Item], Exception], Iterable[Result]],
    *,
    refusals: tuple[type[Exception], ...],
    least: int = 1,
) -> Iterator[Result]:
    """Yield what ``take`` returns for all items, in order; halve a part that it rejects.

    Args:
        items: The items, which are taken together if possible.
        take: A function that takes some items, all of them or none.
        refused: Returns the result for a rejected part that is not longer than ``least``.
        refusals: What ``take`` raises if an item does not fit.
        least: The size of parts that are not halved.

    >>> def total(some):
    ...     return [sum(some)]
    >>> list(by_halving([1, 2, "x", 4], total, lambda bad, why: bad, refusals=(TypeError,)))
    [3, 'x', 4]
    """
    if not items:
        return
    try:
        found = take(items)
    except refusals as refusal:
        if len(items) <= least:
            yield from refused(items, refusal)
            return
        middle = len(items) // 2
        for half in (items[:middle], items[middle:]):
            yield from by_halving(half, take, refused, refusals=refusals, least=least)
    else:
        yield from found
