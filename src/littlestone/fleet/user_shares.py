"""Which events of a user are read: the first that were put, and the same ones if put again.

The choice is made when events are put, in their order, and is kept with them in the queue. It
follows from whose each event is, and from the names of events: their keys and numbers, or their
rounds. No example is looked at, and no worker decides: one that is killed, or is slow, changes
nothing. A user is known by a keyed digest, and has one value for each event that is read.
"""

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.errors import StoreError
from littlestone.fleet.page_tree import EMPTY_ROOT, Fetch, PageTree
from littlestone.service.promises.users import canonical_user, digests_under

MOST_SHARES: Final = 1000
"""Of one user; they have to fit into one page."""
_KEY_BYTES, _NUMBER_BYTES = 10, 8
_NAME_BYTES: Final = _KEY_BYTES + _NUMBER_BYTES


class Counted(NamedTuple):
    """What a database keeps of its users, beside the pages: a key, and the root of the pages."""

    key: bytes
    root: bytes

    @classmethod
    def nobody(cls) -> "Counted":
        return cls(secrets.token_bytes(32), EMPTY_ROOT)


def require_users(column: str | None, max_contributions: int) -> None:
    """Refuse a column without a name, and more events of one user than can be told apart."""
    if column is None:
        return
    if not isinstance(column, str) or not column:
        raise ValueError(f"users must be the name of a column, got users={column!r}")
    require.integer(max_contributions=max_contributions, at_least=1)
    if max_contributions > MOST_SHARES:
        raise ValueError(
            f"max_contributions must be at most {MOST_SHARES} where users are counted, got "
            f"max_contributions={max_contributions}"
        )


def given_users(column: str | None, users: Sequence[Any] | None, count: int) -> Sequence[Any]:
    """The users of ``count`` events if they are counted, and else none."""
    given = [] if users is None else [user for user in users if user is not None]
    if column is None:
        if given:
            raise ValueError("users must be None where nobody is counted")
        return []
    if len(given) != count:
        raise ValueError(f"users must say whose each event is: the column {column!r} is counted")
    return given


def unread(
    counted: Counted,
    fetch: Fetch,
    users: Iterable[Any],
    events: Iterable[tuple[bytes, int]],
    *,
    most: int,
) -> tuple[NDArray[np.uint8], bytes, dict[str, bytes]]:
    """Which events are not read; then the new root of the users' pages, and those that changed.

    ``events`` are known by a key and a number: one that was put before gets the same answer.
    """
    who = _digests(users, counted.key)
    tree = PageTree(counted.root, fetch, key=counted.key, value_bytes=_NAME_BYTES, most_values=most)
    tree.load(set(who))
    out, full = np.zeros(len(who), dtype=np.uint8), most * _NAME_BYTES
    names = dict[bytes, bytes]()
    for place, (user, (key, number)) in enumerate(zip(who, events, strict=True)):
        had = tree.get(user)
        if had is None:
            raise StoreError(
                "the count of users in this database was put back or altered: nothing was put. "
                "Bring the newest table of pages back"
            )
        name = names.get(key) or names.setdefault(key, _name(key, counted.key))
        event = name + number.to_bytes(_NUMBER_BYTES)
        if had and _has(had, event):
            continue
        if len(had) < full:
            tree.add(user, event)
        else:
            out[place] = 1
    return out, *tree.sealed()


def _name(key: bytes, secret: bytes) -> bytes:
    return hashlib.blake2b(key, digest_size=_KEY_BYTES, key=secret).digest()


def _digests(users: Iterable[Any], key: bytes) -> list[bytes]:
    """What each user is known by; the same text is looked at once."""
    digest, known, who = digests_under(key), dict[str, bytes](), list[bytes]()
    for user in users:
        found = known.get(user) if type(user) is str else None
        if found is None:
            found = digest(canonical_user(user))
            if type(user) is str:
                known[user] = found
        who.append(found)
    return who


def _has(had: bytes, event: bytes) -> bool:
    at = had.find(event)
    while at % _NAME_BYTES and at > 0:
        at = had.find(event, at + 1)
    return at >= 0
