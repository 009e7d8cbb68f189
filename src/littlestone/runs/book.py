"""Keep one budget book for each source of data, which limits what all stores promise together.

The allowance is fixed when the book is created. A store whose promise would exceed it is rejected
before any part of it exists. Stores may be chosen one after another, each after looking at what the
others have published: the sum stays within the allowance in any case (docs/GUARANTEES.md, B).

The file is one line of JSON and a hash of that line, which covers every bit. A change replaces the
whole file under a lock: a killed process leaves the file before or after its change. So a book has
one name: a hard link would keep what it was before.
"""

import glob
import json
import math
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from littlestone.errors import BudgetExceededError, InUseError, StoreError
from littlestone.locks import lock, refuse_hard_links
from littlestone.privacy.composition import basic_composition
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.rounding import text_at_least
from littlestone.privacy.zcdp import ZeroConcentrated, compose_zero_concentrated
from littlestone.runs.files import sync_folder
from littlestone.runs.journal.places import place_of
from littlestone.runs.journal.protocol import Place, reporting_damage
from littlestone.runs.journal.records import digest_of

if TYPE_CHECKING:
    from littlestone.runs.durable import DurableRun

COMPOSITIONS: Final = ("basic", "concentrated")
_KIND: Final = b'{"littlestone-book": 1, '
_PATIENCE: Final = 10.0
_PAUSE: Final = 0.01
_DRAFT: Final = "[0-9a-f]" * 16


class Reservation(NamedTuple):
    """What a book has reserved for a store: the identity of the store, and the book."""

    identity: str
    book: str


class BookEntry(NamedTuple):
    """The promise of a store: reserved for a place, opened once the store exists, or returned.

    An entry that is ``noted`` is a remark about a store and promises nothing.
    """

    identity: str
    store: str
    promised: PrivacyGuarantee
    promise: str
    at: int
    state: Literal["reserved", "opened", "returned", "noted"]

    @property
    def opened(self) -> bool:
        """Return whether the store may have read something; such an entry is permanent."""
        return self.state in ("opened", "noted")


class Book:
    """Read and change the file of a book; changes are made under a lock."""

    def __init__(self, path: str | Path) -> None:
        """Open an existing book, and check that it is intact."""
        self.path = Path(os.path.realpath(path))
        with reporting_damage(self.path):
            record = self._record()
            self.allowance = PrivacyGuarantee(epsilon=record["epsilon"], delta=record["delta"])
            self.composition: str = record["composition"]
            self._entries()

    @classmethod
    def create(
        cls, path: str | Path, *, allowance: PrivacyGuarantee, composition: str = "basic"
    ) -> "Book":
        """Create an empty book.

        Args:
            path: The file to create.
            allowance: What all stores together may promise.
            composition: ``basic`` adds up epsilon and delta; ``concentrated`` adds up squares, and
                needs a positive delta to convert.
        """
        if composition not in COMPOSITIONS:
            raise ValueError(f"composition must be one of {COMPOSITIONS}, got {composition!r}")
        if not allowance.is_private or allowance.epsilon == 0:
            raise ValueError(f"epsilon must be positive and finite, got {allowance.epsilon!r}")
        if composition == "concentrated" and allowance.delta == 0:
            raise ValueError("delta must be positive for a concentrated book, got delta=0.0")
        target = Path(os.path.realpath(path))
        draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        with reporting_damage(target):
            try:
                _write(draft, _sealed(allowance, composition, []))
                os.link(draft, target)  # fails if the file exists
            except FileExistsError:
                raise StoreError(f"{target} exists already; choose another name") from None
            finally:
                draft.unlink(missing_ok=True)
            sync_folder(target.parent)
        return cls(target)

    def entries(self) -> list[BookEntry]:
        """Return the promises of all stores and the notes about them, in order."""
        with reporting_damage(self.path):
            return _counted(self._entries())

    def total(self, entries: Sequence[BookEntry] | None = None) -> PrivacyGuarantee:
        """Return what all stores promise together, by the composition of the book."""
        costs = [entry.promised for entry in (self.entries() if entries is None else entries)]
        if self.composition == "basic" or not costs:
            return basic_composition(costs)
        return _rho_of(costs).guarantee(delta=self.allowance.delta)

    def reserve(
        self, store: str | Path | Place, promised: PrivacyGuarantee, promise: str
    ) -> "Reservation":
        """Reserve budget for a store that is about to be created, and choose its identity.

        The identity is new each time. A reservation left behind for this place is returned first:
        its store, if it exists anywhere, has read nothing, because a store must be entered before
        it reads (``register``), and would then be added like any other.

        Raises:
            BudgetExceededError: The promise does not fit into the allowance.
        """
        place = str(place_of(store))
        identity = secrets.token_hex(16)
        with self._changing() as entries:
            _give_back(entries, lambda entry: entry.store == place)
            new = BookEntry(identity, place, promised, promise, int(time.time()), "reserved")
            self._add(entries, new)
        return Reservation(identity, str(self.path))

    @contextmanager
    def reserved(
        self, store: str | Path | Place, promised: PrivacyGuarantee, promise: str
    ) -> Iterator["Reservation"]:
        """Reserve budget while a store is created and entered; return it if that fails.

        If the store exists in spite of a failure, it is added again when it is entered.
        """
        mine = self.reserve(store, promised, promise)
        try:
            yield mine
        except BaseException:
            with suppress(StoreError), self._changing() as entries:
                _give_back(entries, lambda entry: entry.identity == mine.identity)
            raise

    def register(
        self, identity: str, store: str | Path | Place, promised: PrivacyGuarantee, promise: str
    ) -> None:
        """Enter a store that exists; free if entered or reserved, otherwise like a new one."""
        with self._changing() as entries:
            for number, entry in enumerate(entries):
                if entry.identity != identity or entry.state == "returned":
                    continue
                if not promised.within(entry.promised):
                    raise StoreError(
                        f"{store} is entered in {self.path} with {entry.promised}, but promises "
                        f"{promised}: its recipe was altered. Restore the original store"
                    )
                entries[number] = entry._replace(state="opened")
                return
            place = str(place_of(store))
            if any(entry.identity == identity for entry in entries):
                # Another process reserved this place in the meantime, but this store exists.
                _give_back(entries, lambda entry: entry.store == place)
            now = int(time.time())
            self._add(entries, BookEntry(identity, place, promised, promise, now, "opened"))

    def note(self, identity: str, store: str | Path | Place, words: str) -> None:
        """Record a remark about a store once; it costs nothing."""
        with self._changing() as entries:
            if all(entry.identity != identity for entry in entries):
                place, nothing = str(place_of(store)), PrivacyGuarantee(epsilon=0.0)
                now = int(time.time())
                entries.append(BookEntry(identity, place, nothing, words, now, "noted"))

    def give_back(self, store: str | Path | Place) -> list[BookEntry]:
        """Return the reservation of a store that was never entered and so has read nothing.

        The store itself must be deleted first, because a fleet continues without asking the book.
        What was entered is permanent: published results cannot be taken back.
        """
        found = place_of(store)
        place = str(found)
        with self._changing() as entries:
            here = [entry for entry in _counted(entries) if entry.store == place]
            reserved = [entry for entry in here if not entry.opened]
            if not reserved:
                state = "was opened, and may have published what it read" if here else "is unknown"
                raise StoreError(
                    f"{place} {state}: {self.path} has no reservation for it that could be returned"
                )
            if os.path.lexists(place) or found.exists():
                raise StoreError(
                    f"{place} exists and could be continued: delete it before its reservation in "
                    f"{self.path} is returned"
                )
            _give_back(entries, lambda entry: entry.store == place)
        return reserved

    def _add(self, entries: list[BookEntry], entry: BookEntry) -> None:
        """Add an entry; check the allowance with exact fractions before anything changes."""
        known, promised = _counted(entries), entry.promised
        if self.composition == "concentrated" and promised.delta:
            raise StoreError(
                f"{self.path} adds up squares, which needs promises without delta, got {promised}; "
                f"choose a learner without delta, or a basic book"
            )
        costs = [*(entry.promised for entry in known), promised]
        if self.composition == "basic":
            fits = basic_composition(costs).within(self.allowance)
        else:
            most = ZeroConcentrated.largest(
                epsilon=self.allowance.epsilon, delta=self.allowance.delta
            )
            fits = promised.is_private and _rho_of(costs).rho <= most.rho
        if not fits:
            raise BudgetExceededError(
                f"{self.path} allows {self.allowance}, of which {self.total(known)} is promised "
                f"already ({len(_stores(known))} in all): no room for {promised}; nothing was "
                f"created",
                requested=promised,
                spent=self.total(known),
                budget=self.allowance,
            )
        entries.append(entry)

    def explain(self) -> str:
        """Return one sentence with the allowance and what is promised so far."""
        entries = self.entries()
        count = len(_stores(entries))
        total = (
            f"{self.total(entries)} is promised to {count} {'store' if count == 1 else 'stores'}"
        )
        if self.composition == "concentrated" and entries:
            used = _rho_of([entry.promised for entry in entries]).rho
            total += f" (ρ = {text_at_least(used)})"
        return f"{self.path} allows {self.allowance} in all, and {total} ({self.composition})"

    def _entries(self) -> list[BookEntry]:
        """Return all entries, including returned ones."""
        return [
            BookEntry(identity, store, PrivacyGuarantee(epsilon=epsilon, delta=delta), *rest)
            for identity, store, epsilon, delta, *rest in self._record()["entries"]
        ]

    def _record(self) -> dict[str, Any]:
        """Return the content of the file after checking its hash."""
        if not self.path.is_file():
            raise StoreError(f"there is no book at {self.path}; littlestone budget init makes one")
        with self.path.open("rb") as file:
            kind = file.read(len(_KIND))
            if kind != _KIND:  # before the rest is read
                raise StoreError(
                    f"{self.path} is not a littlestone budget book; give the file that "
                    f"littlestone budget init made"
                )
            content = kind + file.read()
        line = content.partition(b"\n")[0]
        if content != _with_hash(line):
            raise StoreError(f"{self.path} is damaged: it does not match its hash. Restore it")
        record: dict[str, Any] = json.loads(line)
        return record

    @contextmanager
    def _changing(self) -> Iterator[list[BookEntry]]:
        """Yield the entries to change; write them to disk at the end unless the block raises."""
        with reporting_damage(self.path), self._locked():
            before = self._entries()
            entries = list(before)
            yield entries
            if entries == before:
                return
            draft = self.path.with_name(f".{self.path.name}.new")
            draft.unlink(missing_ok=True)  # left by a process that was killed
            content = _sealed(self.allowance, self.composition, entries)
            try:
                _write(draft, content, like=self.path.stat())
                draft.rename(self.path)
            except BaseException:
                draft.unlink(missing_ok=True)
                raise
            sync_folder(self.path.parent)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the current file, not one that was replaced in the meantime."""
        end = time.monotonic() + _PATIENCE
        while True:
            with self.path.open("r+b") as file:
                try:
                    lock(file)
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise InUseError(f"{self.path} is in use by another process") from None
                    time.sleep(_PAUSE)
                    continue
                if os.path.samestat(found := os.fstat(file.fileno()), self.path.stat()):
                    self._require_one_name(found)
                    yield
                    return

    def _require_one_name(self, found: os.stat_result) -> None:
        """Reject a book with hard links: each name would have its own allowance after a change."""
        if found.st_nlink == 1:
            return
        for draft in self.path.parent.glob(f".{glob.escape(self.path.name)}.{_DRAFT}"):
            if os.path.samestat(found, draft.lstat()):  # of a creation that was killed
                draft.unlink()
        refuse_hard_links(self.path)


def enter(book: Book | None, durable: "DurableRun", store: str | Path | Place) -> None:
    """Enter a store that exists and has read nothing after it was opened."""
    try:
        if book is None and durable.book is not None:
            raise StoreError(
                f"{store} belongs to the budget book {durable.book}: give it with --book, so that "
                f"the promise can be checked there"
            )
        if book is not None:
            promised = durable.run.recipe.guarantee()
            book.register(durable.identity, store, promised, durable.promise)
    except BaseException:
        durable.close()
        raise


def _rho_of(costs: Sequence[PrivacyGuarantee]) -> ZeroConcentrated:
    if any(cost.delta or not math.isfinite(cost.epsilon) for cost in costs):
        return ZeroConcentrated(rho=math.inf)
    return compose_zero_concentrated([ZeroConcentrated.from_pure(cost.epsilon) for cost in costs])


def _counted(entries: Sequence[BookEntry]) -> list[BookEntry]:
    return [entry for entry in entries if entry.state != "returned"]


def _stores(entries: Sequence[BookEntry]) -> list[BookEntry]:
    return [entry for entry in entries if entry.state != "noted"]


def _give_back(entries: list[BookEntry], which: Callable[[BookEntry], bool]) -> None:
    """Return reservations; the entries stay and are marked, because nothing is erased."""
    for number, entry in enumerate(entries):
        if entry.state == "reserved" and which(entry):
            entries[number] = entry._replace(state="returned")


def _sealed(allowance: PrivacyGuarantee, composition: str, entries: Sequence[BookEntry]) -> bytes:
    record = {
        "littlestone-book": 1,
        "epsilon": float(allowance.epsilon),
        "delta": float(allowance.delta),
        "composition": composition,
        "entries": [
            (*entry[:2], float(entry.promised.epsilon), float(entry.promised.delta), *entry[3:])
            for entry in entries
        ],
    }
    return _with_hash(json.dumps(record).encode())


def _with_hash(line: bytes) -> bytes:
    return line + b"\n" + digest_of(line).hex().encode() + b"\n"


def _write(draft: Path, content: bytes, *, like: os.stat_result | None = None) -> None:
    """Write a new file for its owner only, or with the owner and mode of another file."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    with open(os.open(draft, flags, 0o600), "wb") as file:
        if like is not None:
            with suppress(PermissionError):  # only root may restore the owner
                os.fchown(file.fileno(), like.st_uid, like.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(like.st_mode))
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
