"""One SQLite file that holds a durable run: events taken, releases made, and the secrets between.

What is in it is private: the key of the noise, the examples since the last checkpoint, and the
state of the learner. Only the releases are public. Everything in it is covered by a hash, so damage
is noticed when it is opened, and the mark beside it tells whether it is the newest.
"""

import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from littlestone import __version__
from littlestone.errors import StoreError
from littlestone.service.entries import (
    Checkpoint,
    Log,
    Release,
    check_chain,
    curve_seal,
)
from littlestone.service.log.event_log import EventLog
from littlestone.service.mark import Mark, Standing, inode_of
from littlestone.service.store_file import (
    LAID_OUT,
    TABLES,
    about_seal,
    beside,
    connect,
    copied,
    finding_damage,
    place,
    real_path,
    refusal,
    refuse_foreign,
    refusing,
)

# Whoever altered a body may have made it a text; its hash shall tell, not its type.
_RELEASES: Final = "SELECT number, round, CAST(body AS BLOB), chain FROM releases "


T = TypeVar("T")

Witness = Callable[["Store"], None]
"""Looks at a store that is about to be continued, and raises if it knows better."""


Asked = Callable[[Mapping[str, str]], str]
"""The form of the recipe that a store is opened with, by what the store says of itself."""


class Reservation(NamedTuple):
    """What a book has set aside for a store: the identity it shall have, and which book."""

    identity: str
    book: str


class Store:
    """The file, opened by one process at a time."""

    def __init__(
        self,
        path: Path,
        mark: Mark,
        *,
        recipe: Asked,
        users: str | None,
        adopt: bool = False,
        witness: Witness | None = None,
    ) -> None:
        """For ``create`` and ``open``, which hold the mark."""
        beside(path, "-journal").unlink(missing_ok=True)  # of somebody else: a store has none
        self.path, self._name = path, str(path)
        self._mark = mark
        self._standing: Standing
        self._db = connect(path)
        try:
            self._about = self._checked_about(recipe, users)
            self.events = EventLog(self._db, self.key, users=users is not None)
            self._check_whole()
            if witness is not None:
                witness(self)
            self.adopted = self._enter(adopt)
        except BaseException:
            self._db.close()
            raise

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        identity: str,
        recipe: str,
        key: bytes,
        first: Release,
        promise: str,
        users: str | None = None,
        book: str | None = None,
        ranges: str | None = None,
        options: str = "",
    ) -> "Store":
        """A new store; the key of all noise is on disk before the first example arrives.

        ``users`` names whose events are counted; ``promise`` is what it says of itself, and
        ``book`` where that is entered; ``ranges`` what was spent on its schema; ``options`` what it
        was asked for with.
        """
        target = real_path(path)
        with refusing(target):
            if target.exists():  # before a mark is made beside what may be anything
                raise StoreError(f"{target} exists already; open it, or choose another name")
            mark = Mark(target, create=True)
            try:
                if target.exists():
                    raise StoreError(f"{target} was just created by another process")
                mark.refuse_known()
                about = {"identity": identity, "recipe": recipe, "key": key.hex()}
                about["promise"] = promise
                about |= {} if users is None else {"users": users}
                about |= {} if book is None else {"book": book}
                about |= {} if ranges is None else {"ranges": ranges}
                created = datetime.now(UTC).isoformat(timespec="seconds")
                about |= {"options": options, "created": created, "version": __version__}
                about |= {"seal": about_seal(about), "branch": secrets.token_hex(16)}
                place(target, mark, about, first)
                return cls(target, mark, recipe=lambda about: recipe, users=users)
            except BaseException:
                if not target.exists():
                    mark.forget()
                mark.close()
                raise

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        recipe: Asked,
        users: str | None = None,
        adopt: bool = False,
        witness: Witness | None = None,
    ) -> "Store":
        """The existing store of ``recipe``, if it is whole and the successor of its mark.

        One whose mark is lost, and a copy of both, is opened only to ``adopt`` it as the newest.
        """
        target = real_path(path)
        with finding_damage(target):
            refuse_foreign(target)
            mark = Mark(target, create=adopt)
            try:
                return cls(target, mark, recipe=recipe, users=users, adopt=adopt, witness=witness)
            except BaseException:
                if adopt:
                    mark.forget()
                mark.close()
                raise

    def close(self) -> None:
        self._db.close()
        self._mark.close()

    def committed(self, change: Callable[[], T]) -> T:
        """What ``change`` gives, when all of it is on disk; refused if the store is not ours."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._recheck()
            result = change()
            self._db.execute("COMMIT")
        except BaseException as problem:
            with suppress(sqlite3.Error):  # SQLite may have undone it already
                self._db.execute("ROLLBACK")
            if isinstance(problem, sqlite3.Error | OSError):
                raise refusal(self.path, problem) from problem
            raise
        return result

    @property
    def identity(self) -> str:
        """The public name of the run, which every published line bears."""
        return self._about["identity"]

    @property
    def key(self) -> bytes:
        """The secret from which all noise of the run is stretched."""
        return bytes.fromhex(self._about["key"])

    @property
    def users(self) -> str | None:
        """Whose events are counted, if anybody's are."""
        return self._about.get("users")

    @property
    def book(self) -> str | None:
        """Where its promise is entered, if it was created with a book."""
        return self._about.get("book")

    @property
    def ranges(self) -> str | None:
        """What was spent on the ranges of its schema, and is part of its promise."""
        return self._about.get("ranges")

    @property
    def created(self) -> str:
        """When, in words."""
        return self._about["created"]

    def add_release(self, release: Release) -> None:
        """Log a release before it is published."""
        self._db.execute("INSERT INTO releases VALUES (?, ?, ?, ?)", release)

    def releases(self, *, after: int = 0) -> Iterator[Release]:
        """The releases with larger numbers, in order."""
        rows = self._db.execute(_RELEASES + "WHERE number > ? ORDER BY number", (after,))
        return (Release(*row) for row in rows)

    def release_at(self, round_number: int) -> Release:
        """What was published when ``round_number`` events had been taken."""
        newest = "WHERE round <= ? ORDER BY number DESC LIMIT 1"
        return Release(*self._db.execute(_RELEASES + newest, (round_number,)).fetchone())

    def checkpoint(self) -> Checkpoint | None:
        """The newest snapshot, where it was taken."""
        found = "SELECT round, mistakes, snapshot, baselines, seal FROM checkpoint"
        row = self._db.execute(found).fetchone()
        if row is None:
            return None
        saved = Checkpoint(*row[:4])
        if saved.seal() != row[4]:
            raise StoreError(f"the checkpoint in {self.path} does not match its hash")
        return saved

    def set_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Replace the snapshot and drop the examples that it covers."""
        row = (*checkpoint, checkpoint.seal())
        self._db.execute("INSERT OR REPLACE INTO checkpoint VALUES (1, ?, ?, ?, ?, ?)", row)
        self.events.seal(checkpoint.round)

    def add_to_curve(self, round_number: int, mistakes: int) -> None:
        """Remember the mistakes so far, for the owner's eyes only."""
        newest = "SELECT seal FROM curve ORDER BY round DESC LIMIT 1"
        (before,) = self._db.execute(newest).fetchone() or (b"",)
        seal = curve_seal(before, round_number, mistakes)
        self._db.execute("INSERT INTO curve VALUES (?, ?, ?)", (round_number, mistakes, seal))

    def curve(self) -> list[tuple[int, int]]:
        """Rounds and mistakes so far: private, since it is computed from the labels."""
        return list(self._db.execute("SELECT round, mistakes FROM curve ORDER BY round"))

    def mark(self, round_number: int) -> None:
        """Remember beside the store how far it has come (survives a killed process)."""
        self._mark.advance(round_number)

    def _enter(self, adopt: bool) -> bool:
        """Begin a branch of its own, on the mark first; True if only ``adopt`` speaks for it."""
        branch = self._about["branch"]
        inode = self.path.stat().st_ino
        before = Standing(self.identity, branch, secrets.token_hex(16), inode, self.events.rounds)
        adopted = self._mark.vouch(before, adopt=adopt)
        self._mark.write(before, sync=True)
        self._db.execute("UPDATE about SET value = ? WHERE name = 'branch'", (before.coming,))
        self._standing = before._replace(branch=before.coming)
        self._mark.write(self._standing, sync=True)
        return adopted

    def _recheck(self) -> None:
        """Whoever put another file in place may have continued that one meanwhile."""
        row = self._db.execute("SELECT value FROM about WHERE name = 'branch'").fetchone()
        if row != (self._standing.branch,) or inode_of(self._name) != self._standing.inode:
            raise StoreError(
                f"{self.path} was removed or replaced while it was in use. Refusing to go on"
            )

    def _checked_about(self, form: Asked, users: str | None) -> dict[str, str]:
        plain = sqlite3.connect(":memory:")
        plain.executescript(TABLES)
        expected = plain.execute(LAID_OUT).fetchall()
        plain.close()
        if self._db.execute(LAID_OUT).fetchall() != expected:
            raise StoreError(f"{self.path} is damaged: its tables are not those of a store")
        about = dict(self._db.execute("SELECT name, value FROM about"))
        if about["seal"] != about_seal(about):
            raise StoreError(f"the first lines of {self.path} do not match their hash")
        recipe = form(_told(about))
        if about["recipe"] != recipe:
            raise StoreError(
                f"{self.path} belongs to another recipe: {about['recipe']}, not {recipe}. Use the "
                f"same arguments as at the first start, or another store (and another budget)"
            )
        if (known := about.get("users")) != users:
            counts = "counts nobody's events" if known is None else f"counts events by {known!r}"
            asked = "nobody's" if users is None else f"those of {users!r}"
            raise StoreError(
                f"{self.path} {counts}, as it promises, not {asked}. Say the same as at the first "
                f"start (--user), or use another store (and another budget)"
            )
        return about

    def _check_whole(self) -> None:
        """Compare everything that is stored with its hashes."""
        for check in ("quick_check(1)", "integrity_check(about)"):
            found = self._db.execute(f"PRAGMA {check}").fetchone()[0]
            if found != "ok":
                raise StoreError(f"{self.path} is damaged: {' '.join(found.split())}")
        saved, here = self.checkpoint(), str(self.path)
        covered = 0 if saved is None else saved.round
        self.events.check(covered=covered, of=here)
        check_chain(self.releases(), of=here)
        before = b""
        for *point, seal in self._db.execute("SELECT * FROM curve ORDER BY round"):
            before = curve_seal(before, *point)
            if seal != before:
                raise StoreError(f"the curve of mistakes in {self.path} does not match its hash")


def read_about(path: str | Path) -> dict[str, str]:
    """What a store says of itself, whoever uses it; not its key."""
    target = real_path(path)
    with finding_damage(target), _look(target) as connection:
        about = dict(connection.execute("SELECT name, value FROM about"))
        if about["seal"] != about_seal(about):
            raise StoreError(f"the first lines of {target} do not match their hash")
        return _told(about)


def _told(about: Mapping[str, str]) -> dict[str, str]:
    """All but the key."""
    return {name: value for name, value in about.items() if name != "key"}


def read_log(path: str | Path) -> Log:
    """What a store has published, whoever uses it."""
    target = real_path(path)
    with finding_damage(target), _look(target) as connection:
        identity = "SELECT value FROM about WHERE name = 'identity'"
        (name,) = connection.execute(identity).fetchone()
        rows = connection.execute(_RELEASES + "ORDER BY number")
        log = Log(name, [Release(*row) for row in rows])
        check_chain(log.releases, of=str(target))
        return log


def read_progress(path: str | Path) -> tuple[int, int]:
    """How many rounds a store has taken, and the mistakes by the last point of its curve."""
    target = real_path(path)
    with finding_damage(target), _look(target) as connection:
        (rounds,) = connection.execute("SELECT max(round) FROM events").fetchone()
        (mistakes,) = connection.execute("SELECT max(mistakes) FROM curve").fetchone()
        return rounds or 0, mistakes or 0


@contextmanager
def _look(path: Path) -> Iterator[sqlite3.Connection]:
    refuse_foreign(path)
    with closing(copied(path)) as connection:
        yield connection
