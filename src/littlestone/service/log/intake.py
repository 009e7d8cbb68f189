"""What arrives: events, checked and put into the form in which they are logged."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

from littlestone import require
from littlestone.concepts.protocols import Domain, Example
from littlestone.service.entries import (
    Taken,
    as_point,
    body_of,
    canonical_body,
    refuse_unwritable,
)
from littlestone.service.promises.users import NAMELESS, canonical_user


class Event(NamedTuple):
    """One labelled example with an identity of its own; ``x`` must be JSON.

    ``line`` says where it came from, for messages only; ``user`` is whose it is, where users are
    counted. A reader that has checked ``x`` (made of what JSON gives back unchanged) leaves the
    canonical ``example``, which is not checked again, and the canonical ``user``.
    """

    id: str
    x: Any
    y: int
    line: int | None = None
    example: Example | None = None
    user: str | None = None


class Receipt(NamedTuple):
    """What an event got: its round, and the number of the release in force after it.

    It was ``unread`` if its user had had as many events as are read of anybody.
    """

    round: int
    release: int
    repeated: bool = False
    unread: bool = False


class Intake:
    """Checks events over a domain; with ``digests``, what is kept of a user's name."""

    def __init__(self, domain: Domain, digests: Callable[[str], bytes] | None) -> None:
        self._domain, self._digests = domain, digests

    def checked(self, events: Sequence[Event], *, first: int) -> list[Taken]:
        """The events as they are logged, or a refusal that names the first bad one."""
        if len(events) == 1 and type(events[0].x) is int:  # needs no block, and no JSON to be read
            (event,) = events
            refuse_unwritable([event.id])
            canonical = (self._domain.check(event.x), require.label(event.y))
            body, digest = body_of(*canonical)
            (user,) = self._users(events)
            return [Taken(first, event.id, digest, body, first, None, user, canonical)]
        self._domain.check_many([as_point(event.x) for event in events if event.example is None])
        ids = [event.id for event in events]
        refuse_unwritable(ids)
        bodies = [
            body_of(event.x, require.label(event.y))
            if event.example is None or event.example[0] is not event.x
            else canonical_body(*event.example)
            for event in events
        ]
        return [
            Taken(place, event_id, digest, body, first, None, user, event.example)
            for place, event_id, (body, digest), user, event in zip(
                count(first), ids, bodies, self._users(events), events, strict=False
            )
        ]

    def _users(self, events: Sequence[Event]) -> Sequence[bytes | None]:
        """Digests of the events' users, where they are counted."""
        users = [event.user for event in events]
        if self._digests is None:
            if any(users):
                raise ValueError("user must be None where nobody is counted")
            return [None] * len(events)
        if None in users:
            raise ValueError("user must be given where users are counted, got user=None")
        digest = self._digests
        return [
            digest(canonical_user(event.user) if event.example is None else event.user or NAMELESS)
            for event in events
        ]
