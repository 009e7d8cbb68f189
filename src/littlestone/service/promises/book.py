"""One book for each source of data: what all stores that read it promise together, and no more.

The allowance is fixed when the book is made, and a store whose promise would exceed it is refused
before anything of it exists. Stores may be chosen one after another, each after looking at what the
others have published: the sum stays within the allowance whatever was seen (docs/GUARANTEES.md, B).
"""

import json
import math
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from littlestone.errors import BudgetExceededError, StoreError
from littlestone.privacy.composition import basic_composition
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.rounding import text_at_least
from littlestone.privacy.zcdp import ZeroConcentrated, compose_zero_concentrated
from littlestone.service.entries import digest_of
from littlestone.service.store import Reservation
from littlestone.service.store_file import finding_damage, refusing

if TYPE_CHECKING:
    from littlestone.service.durable import DurableRun

FORMAT: Final = 1
APPLICATION: Final = 0x4C53424B
COMPOSITIONS: Final = ("basic", "concentrated")

SCHEMA: Final = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (
    number INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, store TEXT NOT NULL,
    epsilon TEXT NOT NULL, delta TEXT NOT NULL, promise TEXT NOT NULL, at INTEGER NOT NULL,
    seal BLOB NOT NULL, opened INTEGER NOT NULL
);
"""
_PATIENCE: Final = 10.0
_RETURNED: Final = "returned "
"""Before the identity of an entry that was given back, in a line of its own: nothing is erased."""


class Entry(NamedTuple):
    """A store's promise; ``opened`` once the store exists, else it is reserved for that place."""

    identity: str
    store: str
    promised: PrivacyGuarantee
    promise: str
    at: int
    opened: bool


class Book:
    """The file; every question to it is a transaction, so that two processes see each other."""

    def __init__(self, path: str | Path) -> None:
        """An existing book, if it is whole."""
        self.path = Path(os.path.realpath(path))
        with finding_damage(self.path):
            self._refuse_foreign()
            with self._transaction() as db:
                about = dict(db.execute("SELECT name, value FROM about"))
                found = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
                self._read(db)
            if found != "ok" or about.pop("seal") != _seal_of(about):
                raise StoreError(f"{self.path} is damaged: its first lines do not match their hash")
            self.allowance = PrivacyGuarantee(
                epsilon=float(about["epsilon"]), delta=float(about["delta"])
            )
            self.composition = about["composition"]

    @classmethod
    def create(
        cls, path: str | Path, *, allowance: PrivacyGuarantee, composition: str = "basic"
    ) -> "Book":
        """A new, empty book; ``concentrated`` adds up squares, and needs a delta to convert."""
        if composition not in COMPOSITIONS:
            raise ValueError(f"composition must be one of {COMPOSITIONS}, got {composition!r}")
        if not allowance.is_private or allowance.epsilon == 0:
            raise ValueError(f"epsilon must be positive and finite, got {allowance.epsilon!r}")
        if composition == "concentrated" and allowance.delta == 0:
            raise ValueError("delta must be positive for a concentrated book, got delta=0.0")
        target = Path(os.path.realpath(path))
        about = {
            "epsilon": repr(allowance.epsilon),
            "delta": repr(allowance.delta),
            "composition": composition,
        }
        about["seal"] = _seal_of(about)
        draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        with refusing(target):
            try:
                os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
                with closing(sqlite3.connect(draft, isolation_level=None)) as db:
                    db.executescript(SCHEMA)
                    db.executemany("INSERT INTO about VALUES (?, ?)", about.items())
                os.link(draft, target)  # fails if there is anything already
            except FileExistsError:
                raise StoreError(f"{target} exists already; choose another name") from None
            finally:
                draft.unlink(missing_ok=True)
        return cls(target)

    def entries(self) -> list[Entry]:
        """Every store that was promised something for, in order."""
        with finding_damage(self.path), self._transaction() as db:
            return self._read(db)

    def total(self, entries: Sequence[Entry] | None = None) -> PrivacyGuarantee:
        """What all stores promise together, by the composition that was chosen beforehand."""
        costs = [entry.promised for entry in (self.entries() if entries is None else entries)]
        if self.composition == "basic" or not costs:
            return basic_composition(costs)
        return _rho_of(costs).guarantee(delta=self.allowance.delta)

    def reserve(self, store: str | Path, promised: PrivacyGuarantee, promise: str) -> "Reservation":
        """For a store that is about to be created: the identity it shall have, or a refusal.

        A reservation that was left behind for this place and this promise is taken up again. The
        store remembers that it has a book, and ``learn`` continues it with one only: so one that
        was created and not entered yet has read nothing.
        """
        place = os.path.realpath(store)
        with finding_damage(self.path), self._transaction() as db:
            known = self._read(db)
            for entry in known:
                if not entry.opened and (entry.store, entry.promised) == (place, promised):
                    return Reservation(entry.identity, str(self.path))
            identity = secrets.token_hex(16)
            self._add(db, known, Entry(identity, place, promised, promise, _now(), opened=False))
        return Reservation(identity, str(self.path))

    def register(
        self, identity: str, store: str | Path, promised: PrivacyGuarantee, promise: str
    ) -> None:
        """For a store that exists: free if it is known, else as for a new one."""
        with finding_damage(self.path), self._transaction() as db:
            known = self._read(db)
            if self._is_returned(db, identity):
                raise StoreError(
                    f"what was reserved for {store} was given back to {self.path}; it has read "
                    f"nothing: delete it, and start a new store"
                )
            for entry in known:
                if entry.identity == identity and not promised.within(entry.promised):
                    raise StoreError(
                        f"{store} is entered in {self.path} with {entry.promised}, and promises "
                        f"{promised} now: its recipe was altered. Bring back the store as it was"
                    )
            if any(entry.identity == identity for entry in known):
                db.execute("UPDATE entries SET opened = 1 WHERE identity = ?", (identity,))
                return
            place = os.path.realpath(store)
            self._add(db, known, Entry(identity, place, promised, promise, _now(), opened=True))

    def give_back(self, store: str | Path) -> list[Entry]:
        """Return what was reserved for a store that has read nothing: it was never entered as made.

        Should it be made after all, ``register`` refuses it, before it reads anything. What stands
        at its place goes first: nobody asks the book when a fleet goes on. What was entered stays
        for ever: nobody can take back what was seen.
        """
        place = os.path.realpath(store)
        with finding_damage(self.path), self._transaction() as db:
            here = [entry for entry in self._read(db) if entry.store == place]
            reserved = [entry for entry in here if not entry.opened]
            if not reserved:
                state = "was opened, and may have published what it read" if here else "is unknown"
                raise StoreError(
                    f"{place} {state}: {self.path} has no reservation for it to give back"
                )
            if os.path.lexists(place):
                raise StoreError(
                    f"{place} exists, and may be gone on with: it must be deleted before what was "
                    f"reserved for it is given back to {self.path}"
                )
            for entry in reserved:
                returned = entry._replace(identity=_RETURNED + entry.identity, at=_now())
                self._append(db, returned)
        return reserved

    def _add(self, db: sqlite3.Connection, known: list[Entry], entry: Entry) -> None:
        self._refuse_excess(known, entry.promised)
        self._append(db, entry)

    def _append(self, db: sqlite3.Connection, entry: Entry) -> None:
        newest = "SELECT number, seal FROM entries ORDER BY number DESC LIMIT 1"
        number, seal = db.execute(newest).fetchone() or (0, b"")
        row = _fields(entry)
        db.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number + 1, *row, _sealed(seal, row), entry.opened),
        )

    def _refuse_excess(self, known: list[Entry], promised: PrivacyGuarantee) -> None:
        """By whole numbers and fractions, before anything changes."""
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
                f"already ({len(known)} in all): no room for {promised}; nothing was created",
                requested=promised,
                spent=self.total(known),
                budget=self.allowance,
            )

    def explain(self) -> str:
        """One sentence: what is allowed, and what is promised already."""
        entries = self.entries()
        stores = "store" if len(entries) == 1 else "stores"
        told = f"{self.total(entries)} is promised to {len(entries)} {stores}"
        if self.composition == "concentrated" and entries:
            used = _rho_of([entry.promised for entry in entries]).rho
            told += f" (ρ = {text_at_least(used)})"
        return f"{self.path} allows {self.allowance} in all, and {told} ({self.composition})"

    def _read(self, db: sqlite3.Connection) -> list[Entry]:
        """All that count: neither what was given back nor the lines that say so."""
        entries, before = dict[str, Entry](), b""
        written = db.execute("SELECT * FROM entries ORDER BY number")
        for place, (number, *row, seal, opened) in enumerate(written, start=1):
            before = _sealed(before, row)
            if seal != before or number != place:
                raise StoreError(f"entry {number} of {self.path} does not match its hash")
            identity, store, epsilon, delta, promise, at = row
            promised = PrivacyGuarantee(epsilon=float(epsilon), delta=float(delta))
            if identity.startswith(_RETURNED):
                del entries[identity.removeprefix(_RETURNED)]
            else:
                entries[identity] = Entry(identity, store, promised, promise, at, bool(opened))
        return list(entries.values())

    def _is_returned(self, db: sqlite3.Connection, identity: str) -> bool:
        found = "SELECT 1 FROM entries WHERE identity = ?"
        return db.execute(found, (_RETURNED + identity,)).fetchone() is not None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """The file is opened for each: nobody holds it, and nobody else writes meanwhile."""
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=_PATIENCE)
        with refusing(self.path), closing(connection) as db:
            db.execute("PRAGMA synchronous = FULL")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def _refuse_foreign(self) -> None:
        if not self.path.is_file():
            raise StoreError(f"there is no book at {self.path}; littlestone budget init makes one")
        with self.path.open("rb") as file:
            header = file.read(100)
        if header[68:72] != APPLICATION.to_bytes(4, "big"):
            raise StoreError(f"{self.path} is not a littlestone budget book")
        if (known := int.from_bytes(header[60:64], "big")) != FORMAT:
            raise StoreError(f"{self.path} has format {known}, expected {FORMAT}")


def enter(book: Book | None, durable: "DurableRun", store: Path) -> None:
    """The store exists, and has read nothing since it was opened: now or never."""
    try:
        if book is None and durable.book is not None:
            raise StoreError(
                f"{store} belongs to the budget book {durable.book}: say --book, so that it can be "
                f"seen there"
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


def _fields(entry: Entry) -> list[str | int]:
    epsilon, delta = repr(entry.promised.epsilon), repr(entry.promised.delta)
    return [entry.identity, entry.store, epsilon, delta, entry.promise, entry.at]


def _sealed(before: bytes, row: Sequence[str | int]) -> bytes:
    return digest_of(before + json.dumps(list(row)).encode())


def _seal_of(about: dict[str, str]) -> str:
    return digest_of(json.dumps(about, sort_keys=True).encode()).hex()


def _now() -> int:
    return int(time.time())
