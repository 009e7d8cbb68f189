"""Store what a durable run must not lose, as numbered entries, in any implementation.

A *journal* stores entries of four kinds, each under its own number, and does not interpret them.
All checks are above it, once for all implementations (``run_log.py``): hashes, gaps, repeats,
releases. What a journal promises:

- ``write`` stores all of its entries or none, and returns when they survive a power failure;
- an entry is never replaced, and there is one writer at a time;
- an old copy is rejected (``enter``): its mark, stored elsewhere, knows how far it had come.

CONTRIBUTING.md, "A journal of your own", says how to write one and which tests check this.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, NamedTuple, Protocol, runtime_checkable

from littlestone.errors import InUseError, LittlestoneError, StoreError
from littlestone.runs.journal.mark import RESTORE, StorePosition, vouch

GROUPS: Final = "groups"
"""Events that were taken together after the checkpoint; the number is the last round."""
BLOCKS: Final = "blocks"
"""All events between two checkpoints, without their examples; the number is the last round."""
RELEASES: Final = "releases"
"""What was published, by its number: the only kind that is not secret."""
CHECKPOINTS: Final = "checkpoints"
"""The state of the learner; the number is the round. There is at most one."""
KINDS: Final = (GROUPS, BLOCKS, RELEASES, CHECKPOINTS)


class Entry(NamedTuple):
    """Some bytes under a number."""

    kind: str
    number: int
    body: bytes


@runtime_checkable
class Reading(Protocol):
    """What can be read, even while another process writes."""

    def __str__(self) -> str:
        """Return the place for messages, without a password."""

    def about(self) -> dict[str, str]:
        """Return what the journal was created with."""

    def read(self, kind: str, *, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield the entries of a kind with larger numbers, in order."""

    def get(self, kind: str, number: int) -> bytes | None:
        """Return the entry with this number."""

    def last(self, kind: str) -> tuple[int, bytes] | None:
        """Return the entry with the largest number."""


@runtime_checkable
class Journal(Reading, Protocol):
    """An open journal; no other process has it until it is closed."""

    @property
    def key(self) -> bytes:
        """Return the secret from which all noise of the run is derived."""

    def enter(self, round_number: int, *, adopt: bool) -> bool:
        """Begin to write, after ``round_number``, the last of all groups and blocks.

        Returns:
            True if only ``adopt`` vouches for this copy.

        Raises:
            RollbackError: The mark knows later entries than these.
            StoreError: No mark vouches for this copy, and ``adopt`` is False.
        """

    def write(
        self, new: Sequence[Entry], *, drop: Sequence[tuple[str, int]] = (), round_number: int
    ) -> None:
        """Store new entries, drop those of a kind up to a number, then move the mark.

        After an error the journal must be opened again before anything else is written.
        """

    def close(self) -> None:
        """Release the journal. Idempotent."""


@runtime_checkable
class Place(Protocol):
    """Where a journal is, or is to be."""

    def __str__(self) -> str: ...

    def exists(self) -> bool:
        """Return whether there is a journal."""

    def create(self, about: Mapping[str, str], key: bytes, first: Entry) -> Journal:
        """Create a journal with its first release, entered; create nothing on failure.

        ``about`` has the ``identity`` of the run. A place whose journal was lost is rejected.
        """

    def open(self, *, adopt: bool = False) -> Journal:
        """Open the journal, locked and not entered yet."""

    def look(self) -> AbstractContextManager[Reading]:
        """Read the journal while another process may write it; change nothing."""


@contextmanager
def reporting_damage(where: object) -> Iterator[None]:
    """Report any other error while a store is read as damage that no hash has noticed."""
    try:
        yield
    except LittlestoneError:
        raise
    except OSError as problem:
        raise StoreError(f"{where} cannot be used: {problem}") from problem
    except Exception as problem:
        raise StoreError(f"{where} is damaged: {problem!r}. {RESTORE}") from problem


class MemoryPlace:
    """Entries of one run in dictionaries; the mark is separate, as everywhere."""

    def __init__(self, name: str = "memory") -> None:
        self._name = name
        self.key = b""
        self.entries: dict[str, dict[int, bytes]] = {}
        self.description: dict[str, str] = {}
        self.branch = ""
        self.mark: StorePosition | None = None
        self.held = False

    def __str__(self) -> str:
        return self._name

    def exists(self) -> bool:
        """Return whether there is a journal."""
        return bool(self.description)

    def create(self, about: Mapping[str, str], key: bytes, first: Entry) -> "MemoryJournal":
        """Create a journal with its first release."""
        if self.description:
            raise StoreError(f"{self} exists already; open it, or choose another name")
        if self.mark is not None:
            raise StoreError(
                f"{self} is gone, but its mark knows it at round {self.mark.round}. Restore it"
            )
        self.key, self.description, self.branch = key, dict(about), secrets.token_hex(16)
        self.entries = {kind: {} for kind in KINDS}
        self.entries[first.kind][first.number] = first.body
        journal = MemoryJournal(self)
        journal.enter(0, adopt=True)
        return journal

    def open(self, *, adopt: bool = False) -> "MemoryJournal":
        """Open the journal."""
        if not self.description:
            raise StoreError(f"there is no store at {self}")
        if self.mark is None and not adopt:
            raise StoreError(
                f"nothing says that {self} is the newest: its mark is missing. Restore it, or "
                f"adopt the store"
            )
        return MemoryJournal(self)

    @contextmanager
    def look(self) -> Iterator["MemoryReading"]:
        """Yield the journal for reading."""
        if not self.description:
            raise StoreError(f"there is no store at {self}")
        yield MemoryReading(self)


class MemoryReading:
    """The entries of a place, for reading."""

    def __init__(self, place: MemoryPlace) -> None:
        self._place = place

    def __str__(self) -> str:
        return str(self._place)

    def about(self) -> dict[str, str]:
        """Return what the journal was created with."""
        return dict(self._place.description)

    def read(self, kind: str, *, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """Return the entries of a kind with larger numbers, in order."""
        known = self._place.entries[kind]
        return iter([(number, known[number]) for number in sorted(known) if number > after])

    def get(self, kind: str, number: int) -> bytes | None:
        """Return the entry with this number."""
        return self._place.entries[kind].get(number)

    def last(self, kind: str) -> tuple[int, bytes] | None:
        """Return the entry with the largest number."""
        return max(self._place.entries[kind].items(), default=None)


class MemoryJournal(MemoryReading):
    """The entries of a place, held until closed."""

    def __init__(self, place: MemoryPlace) -> None:
        super().__init__(place)
        if place.held:
            raise InUseError(f"{place} is in use; close it first")
        self._open, place.held = True, True
        self._position: StorePosition

    @property
    def key(self) -> bytes:
        """Return the secret of the noise."""
        return self._place.key

    def enter(self, round_number: int, *, adopt: bool) -> bool:
        """Begin to write after ``round_number``."""
        place, coming = self._place, secrets.token_hex(16)
        here = StorePosition(
            place.description["identity"], place.branch, coming, id(place), round_number
        )
        adopted = vouch(place.mark, here, adopt=adopt, place=str(place), mark="its mark")
        place.branch = coming
        self._position = place.mark = here._replace(branch=coming)
        return adopted

    def write(
        self, new: Sequence[Entry], *, drop: Sequence[tuple[str, int]] = (), round_number: int
    ) -> None:
        """Store new entries, drop old ones, then move the mark."""
        place = self._place
        if place.branch != self._position.branch:
            raise StoreError(f"{place} was replaced while it was in use. {RESTORE}")
        if any(number in place.entries[kind] for kind, number, _ in new):
            raise StoreError(f"{place} already has an entry that is to be written")
        for kind, number, body in new:
            place.entries[kind][number] = bytes(body)
        for kind, last in drop:
            for number in [known for known in place.entries[kind] if known <= last]:
                del place.entries[kind][number]
        self._position = place.mark = self._position._replace(round=round_number)

    def close(self) -> None:
        """Release the journal. Idempotent."""
        if self._open:
            self._open = self._place.held = False
