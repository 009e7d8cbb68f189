"""Define events, and put them in order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from littlestone.concepts.protocols import Example


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


class Receipt(NamedTuple):
    """The result for an event: its round, and the number of the release in force after it.

    It is ``unread`` if its user has reached ``max_contributions``.
    """

    round: int
    release: int
    repeated: bool = False
    unread: bool = False


class Turn(NamedTuple):
    """Places of events: those to take, in order (None: all, in this order), and the early ones."""

    ready: list[int] | None
    early: list[int]


def in_turn(numbers: Sequence[int], before: int) -> Turn:
    """Sort numbered events, of which ``before`` were already taken.

    Of several with one number the first counts, whatever the others contain; events that were taken
    before are in neither list. Events after a gap are early.

    >>> in_turn([4, 5, 6], before=3)
    Turn(ready=None, early=[])
    >>> in_turn([6, 3, 4, 9, 4, 5, 9], before=3)
    Turn(ready=[2, 5, 0], early=[3])
    """
    last = before + len(numbers)
    if list(numbers) == list(range(before + 1, last + 1)):
        return Turn(None, [])
    ready, early, last = list[int](), list[int](), before
    newest = last
    for place in sorted(range(len(numbers)), key=numbers.__getitem__):
        number = numbers[place]
        if number == last + 1:
            ready.append(place)
            last = newest = number
        elif number > newest:
            early.append(place)
            newest = number
    return Turn(ready, early)


Item = TypeVar("Item")
Result = TypeVar("Result")


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
