"""Log what a run has taken and published: each event once, all of it covered by hashes.

Each group of events has the hash of itself and all before it. At a checkpoint the groups after the
last one become a *block*, without examples, and the chain of hashes continues from that. The hashes
are computed from what was taken, never from what is read back, so they do not seal in damage that
happens in between. They detect damage and careless changes, not forgery.
"""

import hashlib
import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.errors import StoreError
from littlestone.runs.files import fingerprint
from littlestone.runs.journal.mark import RESTORE
from littlestone.runs.journal.places import place_of
from littlestone.runs.journal.protocol import (
    BLOCKS,
    CHECKPOINTS,
    GROUPS,
    RELEASES,
    Entry,
    Journal,
    Place,
    Reading,
    reporting_damage,
)
from littlestone.runs.journal.records import (
    DIGEST_BYTES,
    HASH_BYTES,
    Block,
    Checkpoint,
    Group,
    Log,
    Release,
    Taken,
    check_chain,
    checked_about,
    digest_of,
    release_entry,
    release_from,
)

_IDS: Final = json.JSONEncoder(ensure_ascii=False).encode


_HASHES: Final = np.dtype("<u4")
_SHIFT: Final = 32
_ROUND: Final = (1 << _SHIFT) - 1
_MANY: Final = 50_000
_SEVERAL: Final = 2
_SHARE: Final = 64  # merging for each 64th of the names amortizes well


class RunLog:
    """The log of a run in an open journal; altered entries are rejected."""

    def __init__(self, journal: Journal) -> None:
        self._journal, self.key = journal, journal.key
        self.about = checked_about(journal)
        if self.about["fingerprint"] != fingerprint(self.key).hex():
            raise StoreError(f"the key of {journal} does not match its fingerprint. {RESTORE}")
        self._known = KnownIds(self.key)
        self._seal = self._block_seal = bytes.fromhex(self.about["seal"])
        self.rounds = 0
        self._lasts = array("Q")  # the last round of each block
        self._published = array("Q")  # the round of each release
        # Of the events after the last block.
        self._ids, self._digests, self._users = list[str](), bytearray(), bytearray()
        self._block: Block | None = None  # the block that was read last
        self.counted = b"".join(self._blocks())
        """Digests of the users of all events in blocks, joined."""
        self.checkpoint = self._checkpoint()
        self.mistakes = 0 if self.checkpoint is None else self.checkpoint.mistakes
        """Mistakes up to the last entry."""
        self.missing = list(self._groups())
        """The groups after the checkpoint, which still have to be replayed."""
        check_chain(self._noted_releases(), of=str(journal))

    def __str__(self) -> str:
        return str(self._journal)

    @property
    def identity(self) -> str:
        """Return the public name of the run."""
        return self.about["identity"]

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def hashes_if_new(self, ids: Sequence[str]) -> bytes | None:
        """Return what ``append`` needs of new ids; None if an id was taken or occurs twice."""
        suspects, hashes = self._known.suspects(ids)
        if (suspects and any(map(self.find, suspects))) or len(set(ids)) < len(ids):
            return None
        return hashes

    def find(self, event_id: str) -> Taken | None:
        """Return the taken event with this id, without its example; None if there is none."""
        for place in self._known.places(event_id):
            event = self._at(place)
            if event.id == event_id:
                return event
        return None

    def ids_ending(self, text: str) -> list[str]:
        """Return the ids that end with a text, in the order in which they were taken."""
        blocks = (Block(body).ids() for _, body in self._journal.read(BLOCKS))
        return [name for name in chain(*blocks, self._ids) if name.endswith(text)]

    def only_run(self, digests: bytes) -> list[Taken]:
        """Return the events that were taken in a row with these digests; none if there are several.

        Where few examples differ, rows are like others by chance, and more than once.
        """
        rest, start, found = b"", 1, list[int]()
        blocks = (Block(body).digests for _, body in self._journal.read(BLOCKS))
        for column in chain(blocks, [bytes(self._digests)]):
            known = rest + column
            at = known.find(digests)
            while at >= 0 and len(found) < _SEVERAL:
                if at % DIGEST_BYTES == 0:
                    found.append(start + at // DIGEST_BYTES)
                at = known.find(digests, at + 1)
            rest = known[max(0, len(known) - len(digests) + DIGEST_BYTES) :]
            start += (len(known) - len(rest)) // DIGEST_BYTES
        if len(found) != 1:
            return []
        return [self._at(found[0] + place) for place in range(len(digests) // DIGEST_BYTES)]

    def append(
        self,
        group: Group,
        hashes: bytes,
        releases: Sequence[Release],
        mistakes: int,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        """Log a group, its releases, and perhaps the state after it, in one commit."""
        users = self._noted(group, hashes)
        self.rounds = group.first + len(group.ids) - 1
        drop: Sequence[tuple[str, int]] = ()
        if checkpoint is None:
            # One line each: the first round and the mistakes, ids, how many bytes the users take,
            # and the examples; behind them the users.
            bodies, size = "\n".join(group.bodies), len(users) or ""
            text = f"{group.first} {mistakes}\n{_IDS(group.ids)}\n{size}\n{bodies}"
            new = [self._sealed(GROUPS, text.encode() + users)]
        else:
            block = Block.packed(
                self.rounds, self._known.seal(), self._digests, self._users, self._ids
            )
            new = [self._sealed(BLOCKS, block)]
            state = checkpoint.packed()
            new.append(Entry(CHECKPOINTS, self.rounds, digest_of(self._seal + state) + state))
            drop = (GROUPS, self.rounds), (CHECKPOINTS, self.rounds - 1)
            self._block_ends(self.rounds)
        for release in releases:
            new.append(release_entry(release))
            self._published.append(release.round)
        self._journal.write(new, drop=drop, round_number=self.rounds)

    def _noted(self, group: Group, hashes: bytes) -> bytes:
        """Remember the events of a group; return its users, joined."""
        self._known.add(group.ids, hashes)
        users = b"".join(group.users)
        self._ids += group.ids
        self._digests += b"".join(group.digests)
        self._users += users
        return users

    def releases(self, *, after: int = 0) -> Iterator[Release]:
        """Yield the releases with larger numbers, in order."""
        return (release_from(*entry) for entry in self._journal.read(RELEASES, after=after))

    def number_at(self, round_number: int) -> int:
        """Return the number of the release in force after ``round_number`` events."""
        return bisect_right(self._published, round_number)

    def release_at(self, round_number: int) -> Release:
        """Return the release in force after ``round_number`` events."""
        number = self.number_at(round_number)
        return release_from(number, self._journal.get(RELEASES, number) or b"")

    def _at(self, place: int) -> Taken:
        """Return the event of a round, without its example."""
        covered = self._lasts[-1] if self._lasts else 0
        if place > covered:
            at = place - covered - 1
            part = slice(DIGEST_BYTES * at, DIGEST_BYTES * (at + 1))
            user = bytes(self._users[part]) or None
            return Taken(place, self._ids[at], bytes(self._digests[part]), user)
        if self._block is None or not self._block.first <= place <= self._block.last:
            last = self._lasts[bisect_right(self._lasts, place - 1)]
            self._block = Block(self._journal.get(BLOCKS, last) or b"")
        return self._block.event(place)

    def _sealed(self, kind: str, content: bytes) -> Entry:
        """Return an entry that continues the chain: a block follows the block before it."""
        before = self._seal if kind == GROUPS else self._block_seal
        self._seal = hashlib.blake2b(before + content, digest_size=DIGEST_BYTES).digest()
        if kind == BLOCKS:
            self._block_seal = self._seal
        return Entry(kind, self.rounds, self._seal + content)

    def _block_ends(self, last: int) -> None:
        self._lasts.append(last)
        self._ids, self._digests, self._users = [], bytearray(), bytearray()

    def _blocks(self) -> Iterator[bytes]:
        """Yield the users in each block, after checking its hash."""
        sealed = []
        for number, body in self._journal.read(BLOCKS):
            block = Block(body)
            first, self.rounds = self.rounds + 1, number
            whole = self._sealed(BLOCKS, block.content).body == body
            if not whole or (block.first, block.last) != (first, number):
                raise StoreError(f"one of the events {first} to {number} {_altered(self)}")
            self._lasts.append(number)
            sealed.append(block.hashes)
            yield block.users
        self._known.restore(sealed)

    def _checkpoint(self) -> Checkpoint | None:
        found = list(self._journal.read(CHECKPOINTS))
        if [number for number, _ in found] != self._lasts[-1:].tolist():
            raise StoreError(
                f"{self} is damaged: its blocks of events are not those of the last commit. "
                f"{RESTORE}"
            )
        if not found:
            return None
        ((number, body),) = found
        content = body[DIGEST_BYTES:]
        if digest_of(self._seal + content) != body[:DIGEST_BYTES]:
            raise StoreError(f"the checkpoint in {self} does not match its hash. {RESTORE}")
        return Checkpoint.from_bytes(number, content)

    def _groups(self) -> Iterator[Group]:
        for number, body in self._journal.read(GROUPS):
            first, self.rounds = self.rounds + 1, number
            content = bytes(body[DIGEST_BYTES:])
            if self._sealed(GROUPS, content).body != body:
                raise StoreError(f"one of the events {first} to {number} {_altered(self)}")
            group, self.mistakes = _group(content, first)
            if group.last != number:
                raise StoreError(
                    f"{self} is damaged: events before round {number} are missing. {RESTORE}"
                )
            self._noted(group, self._known.hashes(group.ids))
            yield group

    def _noted_releases(self) -> Iterator[Release]:
        for release in self.releases():
            self._published.append(release.round)
            yield release


def read_about(store: str | Path | Place) -> dict[str, str]:
    """Return what a store says about itself, even if it is in use."""
    with _looking_at(store) as reading:
        return checked_about(reading)


def read_log(store: str | Path | Place) -> Log:
    """Return what a store has published, even if it is in use."""
    with _looking_at(store) as reading:
        releases = [release_from(*entry) for entry in reading.read(RELEASES)]
        check_chain(releases, of=str(reading))
        return Log(checked_about(reading)["identity"], releases)


def read_progress(store: str | Path | Place) -> tuple[int, int]:
    """Return how many rounds a store has taken, and the mistakes so far."""
    with _looking_at(store) as reading:
        group, state = reading.last(GROUPS), reading.last(CHECKPOINTS)
        if group is not None:
            return group[0], _head(group[1][DIGEST_BYTES:])[1]
        if state is not None:
            return state[0], Checkpoint.from_bytes(state[0], state[1][DIGEST_BYTES:]).mistakes
        return 0, 0


@contextmanager
def _looking_at(store: str | Path | Place) -> Iterator[Reading]:
    place = place_of(store)
    with reporting_damage(place), place.look() as reading:
        yield reading


def _head(content: bytes) -> tuple[int, int]:
    first, mistakes = content[: content.index(b"\n")].split()
    return int(first), int(mistakes)


def _group(content: bytes, first: int) -> tuple[Group, int]:
    """Return the events of a group, and the mistakes after it."""
    if (head := _head(content))[0] != first:
        raise ValueError(f"a group begins with round {head[0]}, not {first}")
    _, ids, size, rest = content.split(b"\n", 3)
    end = len(rest) - int(size or 0)
    bodies, users = rest[:end].split(b"\n"), rest[end:]
    single = len(bodies) == 1 and b"\\" not in ids  # most of those that come one by one
    names = [ids[2:-2].decode()] if single else json.loads(ids)
    digests = [users[at : at + DIGEST_BYTES] for at in range(0, len(users), DIGEST_BYTES)]
    if len(names) != len(bodies) or (digests and len(digests) != len(bodies)):
        raise ValueError("the lines of a group do not fit together")
    texts = list(map(bytes.decode, bodies))
    return Group(first, names, list(map(digest_of, bodies)), texts, digests), head[1]


def _altered(log: RunLog) -> str:
    return f"in {log} does not match its hash: the log of events was altered or damaged. {RESTORE}"


class KnownIds:
    """Index ids by round, from the first without a gap: in memory, eight bytes each.

    An index in the file would have to be checked against the log, entry by entry, whenever a store
    is opened: a missing entry would let a known event be taken again. Here the log is the only
    source. The newest ids are stored by name, all others by 32 bits of a hash and their round; the
    log tells ids with equal hashes apart. The hash is keyed: nobody can choose ids that collide.
    """

    def __init__(self, key: bytes) -> None:
        own = hashlib.blake2b(b"ids of events", key=key, digest_size=hashlib.blake2b.SALT_SIZE)
        self._hash = hashlib.blake2b(digest_size=HASH_BYTES, salt=own.digest())
        self._recent: dict[str, int] = {}
        self._hashes = bytearray()  # of the recent ids, in order
        self._sealed = 0  # bytes of it that were returned by ``seal``
        self._restored(np.empty(0, np.uint64))

    def hashes(self, ids: Sequence[str]) -> bytes:
        """Return the hashes of ids, joined."""
        fresh, found = self._hash.copy, list[bytes]()
        for name in ids:
            each = fresh()
            each.update(name.encode())
            found.append(each.digest())
        return b"".join(found)

    def add(self, ids: Sequence[str], hashes: bytes) -> None:
        """Add new ids, of the rounds that follow."""
        first = len(self._keys) + len(self._recent) + 1
        self._recent.update(zip(ids, range(first, first + len(ids)), strict=True))
        self._hashes += hashes

    def seal(self) -> bytes:
        """Return the hashes of the ids after the last call, to be stored."""
        hashes = bytes(self._hashes[self._sealed :])
        self._sealed = len(self._hashes)
        if len(self._recent) >= max(_MANY, len(self._keys) // _SHARE):
            self._merge()
        return hashes

    def _merge(self) -> None:
        keys = _keys(bytes(self._hashes), first=len(self._keys) + 1)
        keys.sort()
        merged = np.concatenate([self._keys, keys])
        merged.sort(kind="stable")  # two sorted runs are merged in one pass
        self._restored(merged)
        self._recent.clear()
        self._hashes.clear()
        self._sealed = 0

    def restore(self, sealed: Sequence[bytes]) -> None:
        """Restore what ``seal`` returned, all of it in order."""
        keys = _keys(b"".join(sealed), first=1)
        keys.sort()
        self._restored(keys)

    def places(self, name: str) -> Iterator[int]:
        """Yield rounds that include the one of the id, if it was taken."""
        recent = self._recent.get(name)
        if recent is not None:
            yield recent
            return
        wanted = int.from_bytes(self.hashes([name]), "little")
        view = self._view
        for place in range(bisect_left(view, wanted << _SHIFT), len(view)):
            if view[place] >> _SHIFT != wanted:
                return
            yield view[place] & _ROUND

    def suspects(self, ids: Sequence[str]) -> tuple[Sequence[str], bytes]:
        """Return the ids that may have been taken, all that were and few others; and all hashes."""
        hashes = self.hashes(ids)
        if len(ids) == 1:
            wanted = int.from_bytes(hashes, "little")
            place = bisect_left(self._view, wanted << _SHIFT)
            alike = place < len(self._view) and self._view[place] >> _SHIFT == wanted
            return ids if alike or ids[0] in self._recent else (), hashes
        found = list[str]()
        if not self._recent.keys().isdisjoint(ids):
            found = [name for name in ids if name in self._recent]
        if len(self._keys):
            shift = np.uint64(_SHIFT)
            keys = np.frombuffer(hashes, _HASHES).astype(np.uint64) << shift
            order = np.argsort(keys)  # in order they are found several times as fast
            keys = keys[order]
            places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            alike_ones = order[self._keys[places] >> shift == keys >> shift]
            found += [ids[place] for place in alike_ones.tolist()]
        return found, hashes

    def _restored(self, keys: NDArray[np.uint64]) -> None:
        self._keys, self._view = keys, keys.data  # the view returns Python integers, for speed


def _keys(hashes: bytes, *, first: int) -> NDArray[np.uint64]:
    """Combine hashes above with rounds below: sorted, equal hashes lie together."""
    above = np.frombuffer(hashes, _HASHES).astype(np.uint64) << np.uint64(_SHIFT)
    if first + len(above) > _ROUND:
        raise StoreError(f"a store has room for {_ROUND} events; use another (and its budget)")
    return above | np.arange(first, first + len(above), dtype=np.uint64)
