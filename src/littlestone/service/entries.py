"""What a store keeps: events, releases and checkpoints, each covered by a hash over all before it.

The hashes find damage and careless changes, not forgery: whoever can write to a store can compute
them anew.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from littlestone.concepts.protocols import Example, Hypothesis, Label
from littlestone.errors import StoreError

DIGEST_BYTES: Final = 16

_BODY: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


class Release(NamedTuple):
    """What was published after ``round`` events, and the hash that chains it to all before."""

    number: int
    round: int
    body: bytes
    chain: bytes


class Taken(NamedTuple):
    """An event as it is stored; its body is dropped at the next checkpoint.

    ``batch`` is the first round of the group it came in: a replay must group events alike,
    because a block and single rounds have the same law but not the same noise. The last of a group
    bears the ``seal`` of all events so far. ``user`` is a digest under a key, where users are
    counted, and the log is what they are counted by. ``example`` is the body in canonical form,
    where that is known; it is not stored.
    """

    round: int
    id: str
    digest: bytes
    body: str | None
    batch: int
    seal: bytes | None = None
    user: bytes | None = None
    example: Example | None = None


class Checkpoint(NamedTuple):
    """A snapshot of the run after ``round`` events, and the mistakes and baselines by then."""

    round: int
    mistakes: int
    snapshot: bytes
    baselines: bytes

    def seal(self) -> bytes:
        numbers = f"{self.round} {self.mistakes} {len(self.snapshot)} ".encode()
        return digest_of(numbers + self.snapshot + self.baselines)


class Log(NamedTuple):
    """What a store has published, under which name."""

    identity: str
    releases: list[Release]


def digest_of(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()


def curve_seal(before: bytes, round_number: int, mistakes: int) -> bytes:
    return digest_of(before + f" {round_number} {mistakes}".encode())


def chained(before: bytes, body: bytes) -> bytes:
    """The hash that ties a release to everything published before it."""
    return hashlib.sha256(before + hashlib.sha256(body).digest()).digest()


def check_chain(releases: Iterable[Release], *, of: str) -> None:
    """Whether the log of releases has no gap and matches its hashes."""
    before, newest = b"", 0
    for newest, release in enumerate(releases, start=1):
        before = chained(before, release.body)
        place = f'"release": {newest}, "round": {release.round}, "rule": '.encode()
        if before != release.chain or release.number != newest or place not in release.body:
            raise StoreError(
                f"release {newest} in {of} does not match its hash: the log of releases was "
                f"altered or damaged. Refusing to go on"
            )
    if not newest:
        raise StoreError(f"{of} is damaged: it has no release")


def body_of(x: Any, label: Label) -> tuple[str, bytes]:
    """An example as JSON, and its digest."""
    # The encoder takes its time to begin; most points are whole numbers.
    body = f"[{x if type(x) is int else _BODY.encode(x)},{label}]"
    return body, digest_of(body.encode())


# Equal points in canonical form look alike (of 1, 1.0 and True only one is), and there are few.
canonical_body = lru_cache(maxsize=1 << 14)(body_of)


def release_body(hypothesis: Hypothesis, *, run: str, number: int, round_number: int) -> bytes:
    """What is published, apart from the hash that ties it to all before: one line of JSON."""
    record = {
        "run": run,
        "release": number,
        "round": round_number,
        "rule": hypothesis.describe(),
        "hypothesis": hypothesis.to_json(),
    }
    return json.dumps(record, sort_keys=True, ensure_ascii=False).encode()


def as_point(x: Any) -> Any:
    return tuple(as_point(part) for part in x) if isinstance(x, list) else x


def refuse_unwritable(ids: Sequence[Any]) -> None:
    """Half of a surrogate pair cannot be stored, nor found again."""
    try:
        if all(ids):
            "".join(ids).encode()
            return
    except (TypeError, UnicodeEncodeError):
        pass
    bad = next(name for name in ids if not isinstance(name, str) or not name or _halved(name))
    raise ValueError(f"id must be a non-empty string, got id={bad!r}")


def _halved(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)
