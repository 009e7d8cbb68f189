"""Benches for the journals of the library, and for one from outside: a file of JSON lines."""

import base64
import copy
import json
import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from littlestone.errors import StoreError
from littlestone.runs.journal.mark import NOWHERE, Mark, StorePosition, inode_of
from littlestone.runs.journal.protocol import Entry, MemoryJournal, MemoryPlace
from littlestone.runs.journal.sqlite import SqliteJournal, SqlitePlace


class MemoryBench:
    make: Callable[[], MemoryPlace] = MemoryPlace

    def place(self) -> MemoryPlace:
        return type(self).make()

    def copied(self, place: MemoryPlace) -> Any:
        return copy.deepcopy((place.entries, place.description, place.branch, place.key))

    def put_back(self, place: MemoryPlace, copied: Any) -> None:
        place.entries, place.description, place.branch, place.key = copy.deepcopy(copied)

    def lose_mark(self, place: MemoryPlace) -> None:
        place.mark = None

    def alter(
        self, place: MemoryPlace, kind: str, number: int, change: Callable[[bytes], bytes | None]
    ) -> None:
        entries = place.entries[kind]
        changed = change(entries.pop(number, b""))
        if changed is not None:
            entries[number] = changed

    def alter_about(self, place: MemoryPlace, name: str, value: str) -> None:
        place.description[name] = value

    def abandon(self, journal: MemoryJournal) -> None:
        journal._place.held = False


class FileBench:
    """Of journals that are a file with its mark beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._numbers = folder, count()

    def path(self) -> Path:
        return self.folder / f"run-{next(self._numbers)}"

    def copied(self, place: Any) -> bytes | None:
        return place.path.read_bytes() if place.path.exists() else None

    def put_back(self, place: Any, copied: bytes | None) -> None:
        for ending in ("-wal", "-shm"):
            Path(f"{place.path}{ending}").unlink(missing_ok=True)
        if copied is None:
            place.path.unlink()
        else:
            place.path.write_bytes(copied)  # the file stays the one that the mark knows

    def lose_mark(self, place: Any) -> None:
        Path(f"{place.path}.mark").unlink()


class SqliteBench(FileBench):
    def place(self) -> SqlitePlace:
        return SqlitePlace(self.path())

    def alter(
        self, place: SqlitePlace, kind: str, number: int, change: Callable[[bytes], bytes | None]
    ) -> None:
        with closing(sqlite3.connect(place.path, isolation_level=None)) as db:
            query = f"SELECT body FROM {kind} WHERE number = ?"
            (body,) = db.execute(query, (number,)).fetchone() or (b"",)
            db.execute(f"DELETE FROM {kind} WHERE number = ?", (number,))
            changed = change(body)
            if changed is not None:
                db.execute(f"INSERT INTO {kind} VALUES (?, ?)", (number, changed))

    def alter_about(self, place: SqlitePlace, name: str, value: str) -> None:
        with closing(sqlite3.connect(place.path, isolation_level=None)) as db:
            db.execute("UPDATE about SET value = ? WHERE name = ?", (value, name))

    def abandon(self, journal: SqliteJournal) -> None:
        shutil.copyfile(f"{journal.path}-wal", f"{journal.path}-kept")
        SqliteJournal.close(journal)  # it would tidy up; what a kill leaves is this:
        os.replace(f"{journal.path}-kept", f"{journal.path}-wal")


class LinesPlace:
    """A journal from outside: a file with one line of JSON for each write, and the mark beside it.

    A line is there whole or was never written: what follows the last line end is not read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        return self.path.exists()

    def create(self, about: Mapping[str, str], key: bytes, first: Entry) -> "LinesJournal":
        mark = Mark(self.path, create=True)
        try:
            if self.path.exists():
                raise StoreError(f"{self} exists already")
            mark.refuse_known()
            branch, draft = secrets.token_hex(16), self.path.with_name(f"{self.path.name}.new")
            head = {"about": dict(about), "key": key.hex(), "branch": branch}
            draft.write_text(json.dumps(head) + "\n" + _line([first], ()))
            inode = draft.stat().st_ino
            mark.write(StorePosition(about["identity"], NOWHERE, branch, inode, 0), sync=True)
            draft.rename(self.path)
            journal = LinesJournal(self.path, mark)
            journal.enter(0, adopt=False)
            return journal
        except BaseException:
            mark.close()
            raise

    def open(self, *, adopt: bool = False) -> "LinesJournal":
        if not self.exists():
            raise StoreError(f"there is no store at {self}")
        mark = Mark(self.path, create=adopt)
        try:
            return LinesJournal(self.path, mark)
        except BaseException:
            mark.close()
            raise

    @contextmanager
    def look(self) -> Iterator["LinesReading"]:
        yield LinesReading(self.path)


class LinesReading:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._head: dict[str, Any] = {}
        self._entries: dict[str, dict[int, bytes]] = {}
        content = path.read_bytes()
        for line in content[: content.rfind(b"\n") + 1].splitlines():
            record = json.loads(line)
            if "new" not in record:
                self._head |= record
                continue
            self._keep(
                [
                    Entry(kind, number, base64.b64decode(body))
                    for kind, number, body in record["new"]
                ],
                record["drop"],
            )

    def __str__(self) -> str:
        return str(self.path)

    def about(self) -> dict[str, str]:
        return dict(self._head["about"])

    def read(self, kind: str, *, after: int = 0) -> Iterator[tuple[int, bytes]]:
        known = sorted(self._entries.get(kind, {}).items())
        return iter([entry for entry in known if entry[0] > after])

    def get(self, kind: str, number: int) -> bytes | None:
        return self._entries.get(kind, {}).get(number)

    def last(self, kind: str) -> tuple[int, bytes] | None:
        return max(self._entries.get(kind, {}).items(), default=None)

    def _keep(self, new: Sequence[Entry], drop: Sequence[tuple[str, int]]) -> None:
        for kind, number, body in new:
            self._entries.setdefault(kind, {})[number] = bytes(body)
        for kind, last in drop:
            known = self._entries.get(kind, {})
            self._entries[kind] = {number: body for number, body in known.items() if number > last}


class LinesJournal(LinesReading):
    def __init__(self, path: Path, mark: Mark) -> None:
        super().__init__(path)
        self._mark, self._position = mark, StorePosition("", "", "", 0, 0)
        content = path.read_bytes()
        os.truncate(path, content.rfind(b"\n") + 1)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND)

    @property
    def key(self) -> bytes:
        return bytes.fromhex(self._head["key"])

    def enter(self, round_number: int, *, adopt: bool) -> bool:
        head, inode, coming = self._head, os.fstat(self._file).st_ino, secrets.token_hex(16)
        here = StorePosition(head["about"]["identity"], head["branch"], coming, inode, round_number)
        self._position, adopted = self._mark.enter(
            here, lambda branch: self._append(json.dumps({"branch": branch}) + "\n"), adopt=adopt
        )
        self._size = os.fstat(self._file).st_size
        return adopted

    def write(
        self, new: Sequence[Entry], *, drop: Sequence[tuple[str, int]] = (), round_number: int
    ) -> None:
        if any(self.get(entry.kind, entry.number) is not None for entry in new):
            raise StoreError(f"{self} has such an entry already")
        if inode_of(self.path) != self._position.copy or os.stat(self.path).st_size != self._size:
            raise StoreError(f"{self} was replaced while it was in use")
        self._append(_line(new, drop))
        self._size = os.fstat(self._file).st_size
        self._keep(new, drop)
        self._mark.advance(round_number)

    def close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)
        self._mark.close()

    def _append(self, line: str) -> None:
        os.write(self._file, line.encode())
        os.fdatasync(self._file)


def _line(new: Sequence[Entry], drop: Sequence[tuple[str, int]]) -> str:
    entries = [(kind, number, base64.b64encode(body).decode()) for kind, number, body in new]
    return json.dumps({"new": entries, "drop": drop}) + "\n"


class LinesBench(FileBench):
    def place(self) -> LinesPlace:
        return LinesPlace(self.path())

    def alter(
        self, place: LinesPlace, kind: str, number: int, change: Callable[[bytes], bytes | None]
    ) -> None:
        reading = LinesReading(place.path)
        lines = place.path.read_text()
        changed = change(reading.get(kind, number) or b"")
        with place.path.open("w") as file:
            file.write(lines)
            if changed is not None:
                file.write(_line([Entry(kind, number, changed)], ()))
                return
            rest = [
                Entry(kind, other, body) for other, body in reading.read(kind) if other != number
            ]
            file.write(_line([], [(kind, 2**62)]) + _line(rest, ()))

    def alter_about(self, place: LinesPlace, name: str, value: str) -> None:
        about = LinesReading(place.path).about()
        with place.path.open("a") as file:
            file.write(json.dumps({"about": {**about, name: value}}) + "\n")

    def abandon(self, journal: LinesJournal) -> None:
        LinesJournal.close(journal)
