"""Encode what a store keeps: events, releases and checkpoints, each with a hash over all before.

The hashes detect damage and careless changes, not forgery: a process that can write to a store can
compute them again.
"""

import hashlib
import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final, NamedTuple

import numpy as np

from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.errors import StoreError
from littlestone.runs.files import fingerprint
from littlestone.runs.journal.mark import RESTORE
from littlestone.runs.journal.protocol import RELEASES, Entry, Reading

DIGEST_BYTES: Final = 16
HASH_BYTES: Final = 4
"""The bytes of the hash by which an id is known."""
Buffer = bytes | bytearray
_BLOCK: Final = struct.Struct("<QI?")
_RELEASE: Final = struct.Struct(">Q32s")

_INTS: Final = {int}
_DEEPEST: Final = 100
_BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|([\[{\]}])')
_BODY: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


class Release(NamedTuple):
    """What was published after ``round`` events, and the hash that chains it to all before."""

    number: int
    round: int
    body: bytes
    chain: bytes


class Taken(NamedTuple):
    """An event as the log knows it: ``user`` is a keyed digest, where users are counted."""

    round: int
    id: str
    digest: bytes
    user: bytes | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Events that are logged together, of the rounds from ``first`` on, as columns.

    ``users`` has keyed digests, where users are counted by the log, and is empty elsewhere.
    ``points`` and ``labels`` are the bodies in canonical form, one by one or as a block, if they
    are known; they are not stored. The bodies are dropped at the next checkpoint.
    """

    first: int
    ids: Sequence[str]
    digests: Sequence[bytes]
    bodies: Sequence[str]
    users: Sequence[bytes] = ()
    points: Any = None
    labels: Any = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def last(self) -> int:
        """The round of the last event."""
        return self.first + len(self.ids) - 1

    def events(self) -> Iterator[Taken]:
        """Yield the events, without their bodies."""
        users: Sequence[bytes | None] = self.users or [None] * len(self)
        columns = self.ids, self.digests, users
        return map(Taken._make, zip(range(self.first, self.last + 1), *columns, strict=True))

    def at(self, places: Sequence[int]) -> "Group":
        """Return the events at some places, numbered without gaps."""

        def chosen(column: Any) -> Any:
            if isinstance(column, np.ndarray):
                return column[places]
            return [column[place] for place in places] if column else column

        columns = self.ids, self.digests, self.bodies, self.users, self.points, self.labels
        return Group(self.first, *map(chosen, columns))


class Checkpoint(NamedTuple):
    """A snapshot of the run after ``round`` events, with the mistakes and baselines so far.

    ``curve`` has rounds and mistakes at points that get further apart.
    """

    round: int
    mistakes: int
    curve: list[tuple[int, int]]
    snapshot: bytes
    baselines: bytes

    def packed(self) -> bytes:
        """Encode everything except the round."""
        head = json.dumps([self.mistakes, self.curve, len(self.snapshot)])
        return head.encode() + b"\n" + self.snapshot + self.baselines

    @classmethod
    def from_bytes(cls, round_number: int, content: bytes) -> "Checkpoint":
        """Decode a checkpoint."""
        head, _, states = content.partition(b"\n")
        mistakes, curve, size = json.loads(head)
        points = [(place, wrong) for place, wrong in curve]
        return cls(round_number, mistakes, points, states[:size], states[size:])


class Log(NamedTuple):
    """What a store has published, and the identity of its run."""

    identity: str
    releases: list[Release]


def digest_of(content: bytes) -> bytes:
    """Return the digest of some bytes."""
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()


def chained(before: bytes, body: bytes) -> bytes:
    """Return the hash that ties a release to everything published before it."""
    return hashlib.sha256(before + hashlib.sha256(body).digest()).digest()


def check_chain(releases: Iterable[Release], *, of: str) -> None:
    """Check that the log of releases has no gap and matches its hashes."""
    before, newest = b"", 0
    for newest, release in enumerate(releases, start=1):
        before = chained(before, release.body)
        place = f'"release": {newest}, "round": {release.round}, "rule": '.encode()
        if before != release.chain or release.number != newest or place not in release.body:
            raise StoreError(
                f"release {newest} in {of} does not match its hash: the log of releases was "
                f"altered or damaged. {RESTORE}"
            )
    if not newest:
        raise StoreError(f"{of} is damaged: it has no release. {RESTORE}")


def body_of(x: Any, label: Label) -> tuple[str, bytes]:
    """Return an example as JSON, and its digest; reject a point that JSON cannot hold."""
    # The JSON encoder has a fixed cost, and most points are integers.
    kind = type(x)
    if kind is int:
        point = str(x)
    elif kind is tuple and set(map(type, x)) == _INTS:  # cells of a record
        point = f"[{','.join(map(str, x))}]"
    else:
        try:
            point = _BODY.encode(x)
        except (TypeError, RecursionError):
            point = ""
        if not point or _is_deep(point):
            raise ValueError(
                f"x must be JSON, which can be stored: text, a number, true, false, null, or a "
                f"list or an object of these, at most {_DEEPEST} deep, got a {kind.__name__} that "
                f"is not"
            )
    body = f"[{point},{label}]"
    return body, digest_of(body.encode())


def _is_deep(point: str) -> bool:
    """Return whether brackets are nested so deeply that a parser may run out of stack."""
    if point.count("[") + point.count("{") <= _DEEPEST:
        return False
    steps = (1 if part in "[{" else -1 for part in _BRACKETS.findall(point) if part)
    return max(accumulate(steps), default=0) > _DEEPEST


# Equal points in canonical form look alike within a domain (only one of 1, 1.0 and True is valid),
# and there are few. Another domain of the process may use another of these.
canonical_body = lru_cache(maxsize=1 << 14, typed=True)(body_of)


def release_body(hypothesis: Hypothesis, *, run: str, number: int, round_number: int) -> bytes:
    """Return what is published as one line of JSON, without the hash that is appended."""
    record = {
        "run": run,
        "release": number,
        "round": round_number,
        "rule": hypothesis.describe(),
        "hypothesis": hypothesis.to_json(),
    }
    return json.dumps(record, sort_keys=True, ensure_ascii=False).encode()


def as_point(x: Any) -> Any:
    """Convert lists to tuples, at every depth."""
    return tuple(as_point(part) for part in x) if isinstance(x, list) else x


class Block:
    """Events between two checkpoints, as columns: each can be read by itself."""

    def __init__(self, body: bytes) -> None:
        self.content = content = bytes(body[DIGEST_BYTES:])
        self.first, size, users = _BLOCK.unpack_from(content)
        self.last = self.first + size - 1
        start = _BLOCK.size
        self.hashes = content[start : (start := start + HASH_BYTES * size)]
        self.digests = content[start : (start := start + DIGEST_BYTES * size)]
        self.users = content[start : (start := start + DIGEST_BYTES * size * users)]
        self._ends = np.cumsum(np.frombuffer(content, "<u4", size, start), dtype=np.int64)
        self._names = content[start + 4 * size :]
        if self._ends[-1] != len(self._names):
            raise ValueError("a block of events is not whole")

    @staticmethod
    def packed(
        last: int, hashes: bytes, digests: Buffer, users: Buffer, ids: Sequence[str]
    ) -> bytes:
        """Encode the columns of a block."""
        names = "".join(ids).encode()
        texts = ids if names.isascii() else [name.encode() for name in ids]
        head = _BLOCK.pack(last - len(ids) + 1, len(ids), bool(users))
        lengths = np.fromiter(map(len, texts), "<u4", len(ids)).tobytes()
        return b"".join([head, hashes, digests, users, lengths, names])

    def event(self, place: int) -> Taken:
        """Return the event of a round, without its example."""
        at = place - self.first
        part = slice(DIGEST_BYTES * at, DIGEST_BYTES * (at + 1))
        start = int(self._ends[at - 1]) if at else 0
        name = self._names[start : int(self._ends[at])].decode()
        return Taken(place, name, self.digests[part], self.users[part] or None)

    def ids(self) -> Iterator[str]:
        """Yield the ids, in order."""
        start = 0
        for end in self._ends.tolist():
            yield self._names[start:end].decode()
            start = end


def sealed_about(about: Mapping[str, str], key: bytes) -> dict[str, str]:
    """Return what a journal is created with, a fingerprint of its key, and a hash over all."""
    described = {**about, "fingerprint": fingerprint(key).hex()}
    return {**described, "seal": about_seal(described)}


def checked_about(journal: Reading) -> dict[str, str]:
    """Return what a journal was created with, after checking its hash."""
    about = journal.about()
    if about["seal"] != about_seal(about):
        raise StoreError(f"the first lines of {journal} do not match their hash. {RESTORE}")
    return about


def release_entry(release: Release) -> Entry:
    """Return the entry of a release."""
    number, round_number, body, seal = release
    return Entry(RELEASES, number, _RELEASE.pack(round_number, seal) + body)


def release_from(number: int, body: bytes) -> Release:
    """Decode a release."""
    round_number, seal = _RELEASE.unpack_from(body)
    return Release(number, round_number, body[_RELEASE.size :], seal)


def about_seal(about: Mapping[str, str]) -> str:
    """Return the hash over what a journal was created with."""
    fixed = {name: value for name, value in about.items() if name != "seal"}
    return digest_of(json.dumps(fixed, sort_keys=True).encode()).hex()
