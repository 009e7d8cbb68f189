"""Count the events of users, and decide which of them are read.

It is decided when events are put, in their order: the first ones of a user are read, and the same
ones if put again. The decision is stored with them in the queue. It depends on the user of each
event and on the names of events (their keys and numbers, or their rounds), never on an example, and
no worker decides it: a killed or slow worker changes nothing. A user is identified by a keyed
digest, and has one value in the pages for each event that is read.
"""

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.errors import StoreError
from littlestone.runs.fleet.commits import EMPTY_ROOT, LARGEST_LEAF, Fetch, PageTree
from littlestone.runs.intake.users import canonical_user, canonical_users, user_digests

MOST_SHARES: Final = 1000
"""The most events of one user; they have to fit into one page."""
_NAME_BYTES: Final = 10
_NAMES: Final = 1 << 8 * _NAME_BYTES


class Counted(NamedTuple):
    """What a database stores about its users besides the pages: a key, and the root."""

    key: bytes
    root: bytes

    @classmethod
    def without_users(cls) -> "Counted":
        """Return the state without users, with a fresh key."""
        return cls(secrets.token_bytes(32), EMPTY_ROOT)


def require_users(column: str | None, max_contributions: int) -> None:
    """Reject a column without a name, and a share that does not fit into a page."""
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
    """Return the users of ``count`` events if users are counted; otherwise none."""
    given = [] if users is None else [user for user in users if user is not None]
    if column is None:
        if given:
            raise ValueError("users must be None where users are not counted")
        return []
    if len(given) != count:
        raise ValueError(f"users must name the user of each event, from the column {column!r}")
    return given


def events_over_limit(
    counted: Counted,
    fetch: Fetch,
    users: Iterable[Any],
    events: Iterable[tuple[bytes, int]],
    *,
    most: int,
) -> tuple[NDArray[np.uint8], bytes, dict[str, bytes]]:
    """Return which events are not read, the new root of the users, and the changed pages.

    ``events`` are identified by a key and a number: an event that was put before gets the same
    answer.
    """
    who = _digests(users, counted.key)
    most_bytes = _NAME_BYTES * most
    largest = max(LARGEST_LEAF, most_bytes)
    tree = PageTree(counted.root, fetch, key=counted.key, largest=largest, bits=2)
    had, changed = tree.load(set(who)), dict[bytes, bytes]()
    out = np.zeros(len(who), dtype=np.uint8)
    names, keyed = dict[bytes, int](), hashlib.blake2b(digest_size=_NAME_BYTES, key=counted.key)
    for place, (user, (key, number)) in enumerate(zip(who, events, strict=True)):
        name = names.get(key)
        if name is None:
            hashed = keyed.copy()  # faster than one with the key each time
            hashed.update(key)
            name = names[key] = int.from_bytes(hashed.digest())
        # Events of one key differ; those of two keys are equal with probability 2**-80.
        event = ((name + number) % _NAMES).to_bytes(_NAME_BYTES)
        known = had[user]
        if known is None:
            raise StoreError(
                "the count of users in this database was rolled back or altered: nothing was put. "
                "Restore the newest table of pages"
            )
        at = known.find(event)
        while at > 0 and at % _NAME_BYTES:  # across two events
            at = known.find(event, at + 1)
        if at < 0 and len(known) < most_bytes:
            had[user] = changed[user] = known + event
        elif at < 0:
            out[place] = 1
    return out, *tree.sealed(changed)


def _digests(users: Iterable[Any], key: bytes) -> list[bytes]:
    """Return the digest of each user; each text is normalized once."""
    names = [user if type(user) is str else canonical_user(user) for user in users]
    texts = list(dict.fromkeys(names))
    found = dict(zip(texts, user_digests(key)(canonical_users(texts)), strict=True))
    return [found[name] for name in names]
