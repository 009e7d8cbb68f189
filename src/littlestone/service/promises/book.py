"""One book for each source of data: what all stores that read it promise together, and no more.

The allowance is fixed when the book is made, and a store whose promise would exceed it is refused
before anything of it exists. Stores may be chosen one after another, each after looking at what the
others have published: the sum stays within the allowance whatever was seen (docs/GUARANTEES.md, B).

The file is one line of JSON and a hash of that line, so every bit of it is covered. A change
replaces the whole file, under a lock: a killed process leaves the file before or after its change.
"""

import fcntl
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
from littlestone.privacy.composition import basic_composition
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.rounding import text_at_least
from littlestone.privacy.zcdp import ZeroConcentrated, compose_zero_concentrated
from littlestone.service.entries import digest_of
from littlestone.service.store import Reservation
from littlestone.service.store_file import finding_damage, refusing, sync_folder

if TYPE_CHECKING:
    from littlestone.service.durable import DurableRun

COMPOSITIONS: Final = ("basic", "concentrated")
_KIND: Final = b'{"littlestone-book": 1, '
_PATIENCE: Final = 10.0
_PAUSE: Final = 0.01


class Entry(NamedTuple):
    """A store's promise: reserved for a place, opened once the store exists, or returned."""

    identity: str
    store: str
    promised: PrivacyGuarantee
    promise: str
    at: int
    state: Literal["reserved", "opened", "returned"]

    @property
    def opened(self) -> bool:
        """Whether the store may have read something: such an entry stays for ever."""
        return self.state == "opened"


class Book:
    """The file; who changes it is alone with it, so that two processes see each other."""

    def __init__(self, path: str | Path) -> None:
        """An existing book, if it is whole."""
        self.path = Path(os.path.realpath(path))
        with finding_damage(self.path):
            record = self._record()
            self.allowance = PrivacyGuarantee(epsilon=record["epsilon"], delta=record["delta"])
            self.composition: str = record["composition"]
            self._entries()

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
        draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        with refusing(target):
            try:
                _write(draft, _sealed(allowance, composition, []))
                os.link(draft, target)  # fails if there is anything already
            except FileExistsError:
                raise StoreError(f"{target} exists already; choose another name") from None
            finally:
                draft.unlink(missing_ok=True)
            sync_folder(target.parent)
        return cls(target)

    def entries(self) -> list[Entry]:
        """Every store that something is promised for, in order."""
        with finding_damage(self.path):
            return _counted(self._entries())

    def total(self, entries: Sequence[Entry] | None = None) -> PrivacyGuarantee:
        """What all stores promise together, by the composition that was chosen beforehand."""
        costs = [entry.promised for entry in (self.entries() if entries is None else entries)]
        if self.composition == "basic" or not costs:
            return basic_composition(costs)
        return _rho_of(costs).guarantee(delta=self.allowance.delta)

    def reserve(self, store: str | Path, promised: PrivacyGuarantee, promise: str) -> "Reservation":
        """For a store that is about to be created: the identity it shall have, or a refusal.

        The identity is a new one each time. A reservation that was left behind for this place is
        returned first: the store of that one, if it exists anywhere, has read nothing, because it
        must be entered before (``register``), and would then be added as any other.
        """
        place = os.path.realpath(store)
        identity = secrets.token_hex(16)
        with self._changing() as entries:
            _give_back(entries, lambda entry: entry.store == place)
            new = Entry(identity, place, promised, promise, _now(), "reserved")
            self._add(entries, new)
        return Reservation(identity, str(self.path))

    @contextmanager
    def reserved(
        self, store: str | Path, promised: PrivacyGuarantee, promise: str
    ) -> Iterator["Reservation"]:
        """Reserve while a store is made and entered; whatever fails meanwhile gives it back.

        Should the store exist all the same, it is added again when it is entered.
        """
        mine = self.reserve(store, promised, promise)
        try:
            yield mine
        except BaseException:
            with suppress(StoreError), self._changing() as entries:
                _give_back(entries, lambda entry: entry.identity == mine.identity)
            raise

    def register(
        self, identity: str, store: str | Path, promised: PrivacyGuarantee, promise: str
    ) -> None:
        """For a store that exists: free if it is entered or reserved for, else as for a new one."""
        with self._changing() as entries:
            for number, entry in enumerate(entries):
                if entry.identity != identity or entry.state == "returned":
                    continue
                if not promised.within(entry.promised):
                    raise StoreError(
                        f"{store} is entered in {self.path} with {entry.promised}, and promises "
                        f"{promised} now: its recipe was altered. Bring back the store as it was"
                    )
                entries[number] = entry._replace(state="opened")
                return
            place = os.path.realpath(store)
            if any(entry.identity == identity for entry in entries):
                # Another has reserved for this place meanwhile, but here is what was made.
                _give_back(entries, lambda entry: entry.store == place)
            self._add(entries, Entry(identity, place, promised, promise, _now(), "opened"))

    def give_back(self, store: str | Path) -> list[Entry]:
        """Return what was reserved for a store that has read nothing: it was never entered as made.

        What stands at its place goes first: nobody asks the book when a fleet goes on. What was
        entered stays for ever: nobody can take back what was seen.
        """
        place = os.path.realpath(store)
        with self._changing() as entries:
            here = [entry for entry in _counted(entries) if entry.store == place]
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
            _give_back(entries, lambda entry: entry.store == place)
        return reserved

    def _add(self, entries: list[Entry], entry: Entry) -> None:
        self._refuse_excess(_counted(entries), entry.promised)
        entries.append(entry)

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

    def _entries(self) -> list[Entry]:
        """All of them, whatever became of them."""
        return [
            Entry(identity, store, PrivacyGuarantee(epsilon=epsilon, delta=delta), *rest)
            for identity, store, epsilon, delta, *rest in self._record()["entries"]
        ]

    def _record(self) -> dict[str, Any]:
        """What the file holds, all of it under its hash."""
        if not self.path.is_file():
            raise StoreError(f"there is no book at {self.path}; littlestone budget init makes one")
        with self.path.open("rb") as file:
            kind = file.read(len(_KIND))
            if kind != _KIND:  # before all of it is read
                raise StoreError(f"{self.path} is not a littlestone budget book")
            content = kind + file.read()
        line = content.partition(b"\n")[0]
        if content != _with_hash(line):
            raise StoreError(f"{self.path} is damaged: it does not match its hash")
        record: dict[str, Any] = json.loads(line)
        return record

    @contextmanager
    def _changing(self) -> Iterator[list[Entry]]:
        """The entries, to be altered; they are on disk when the block ends, unless it raises."""
        with finding_damage(self.path), self._locked():
            before = self._entries()
            entries = list(before)
            yield entries
            if entries == before:
                return
            draft = self.path.with_name(f".{self.path.name}.new")
            draft.unlink(missing_ok=True)  # of a process that was killed
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
        """Alone with the file that has the name, not with one that was replaced meanwhile."""
        end = time.monotonic() + _PATIENCE
        while True:
            with self.path.open("r+b") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise InUseError(f"{self.path} is in use by another process") from None
                    time.sleep(_PAUSE)
                    continue
                if os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                    yield
                    return


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


def _counted(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.state != "returned"]


def _give_back(entries: list[Entry], which: Callable[[Entry], bool]) -> None:
    """Of what is only reserved; the entry stays and says so, because nothing is erased."""
    for number, entry in enumerate(entries):
        if entry.state == "reserved" and which(entry):
            entries[number] = entry._replace(state="returned")


def _sealed(allowance: PrivacyGuarantee, composition: str, entries: Sequence[Entry]) -> bytes:
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
    """A new file for its owner alone, or with the owner and the mode of another; on disk."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    with open(os.open(draft, flags, 0o600), "wb") as file:
        if like is not None:
            with suppress(PermissionError):  # only root may hand it back to whose it was
                os.fchown(file.fileno(), like.st_uid, like.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(like.st_mode))
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _now() -> int:
    return int(time.time())
