"""Host the runs of a service: their terms, their folders, and one thread for each."""

import asyncio
import errno
import json
import logging
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from littlestone.choose.request import Request
from littlestone.errors import LittlestoneError, RollbackError, StoreError
from littlestone.http.run_thread import RunThread, Unavailable, event_reader
from littlestone.http.visible import Visible
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner
from littlestone.locks import lock
from littlestone.runs.book import Book, Reservation, enter
from littlestone.runs.durable import DurableRun
from littlestone.runs.files import sync_folder, write_whole
from littlestone.runs.intake.readers import point_reader
from littlestone.runs.intake.users import promise_of
from littlestone.runs.journal.places import LocalPlace, home_of
from littlestone.runs.journal.protocol import Place
from littlestone.runs.journal.records import release_body

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTerms:
    """The terms of a run: public, and fixed before any data arrives."""

    name: str
    request: Request
    publish_every: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            raise ValueError(
                f"name must be at most 64 of a-z, 0-9, - and _, got {self.name!r:.100}"
            )
        if self.publish_every is not None and not 0.01 <= self.publish_every <= 86_400:
            raise ValueError(
                f"publish_every must be from 0.01 to 86400 seconds, got {self.publish_every!r}"
            )

    @classmethod
    def from_json(cls, terms: Mapping[str, Any]) -> "RunTerms":
        """Parse the terms of a request; reject what clients may not set, such as server files."""
        own = {name: terms[name] for name in ("name", "publish_every") if name in terms}
        rest = {name: value for name, value in terms.items() if name not in own}
        return cls(request=Request.from_json(rest, files=False), **own)

    def to_json(self) -> dict[str, Any]:
        """Return the terms as JSON."""
        return {"name": self.name, "publish_every": self.publish_every, **self.request.to_json()}

    def recipe(self) -> PrivateLearner:
        """Return the learner that the request describes, after starting it once.

        Raises:
            ValueError: The learner cannot start; for some classes this only shows at the start.
        """
        try:
            recipe = self.request.recipe()
            release_body(recipe.start().hypothesis, run="", number=1, round_number=0)
            point_reader(recipe.concepts.domain, "x")
        except LittlestoneError as refusal:  # about the request: there is no data yet
            raise ValueError(str(refusal)) from refusal
        return recipe


TERMS: Final = "run.json"
SHOWN: Final = "shown"
ADOPTED: Final = "adopted"
DRAFT: Final = ".new-"
RECIPE: Final = "recipe"
_UNREADABLE: Final = (
    OSError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    OverflowError,
    RecursionError,
    LittlestoneError,
)
_LOG: Final = logging.getLogger("littlestone.http")


class Hosted(NamedTuple):
    """A run of the service."""

    terms: RunTerms
    recipe: PrivateLearner
    thread: RunThread
    adopted: list[str]
    """When the owner confirmed that no other copy of its files is in use."""


class Runs:
    """Hold all runs of one store, each with its thread."""

    def __init__(
        self, store: str | Path, book: Book | None = None, *, adopt: Collection[str] = ()
    ) -> None:
        """Open a store, with the arguments of ``application``, without opening its runs."""
        self.folder, self._store_in = home_of(store)
        self._book, self._adopt = book, set(adopt)
        for name in adopt:
            if not (self.folder / name / TERMS).is_file():
                raise ValueError(f"adopt must name a run in {self.folder}, got {name!r}")
        self.hosted: dict[str, Hosted] = {}
        self.unreadable: set[str] = set()
        """Folders whose terms cannot be read."""
        self._changing = asyncio.Lock()  # guards the set of runs
        self._lock: int | None = None

    def open_all(self) -> None:
        """Start to open every run of the store; each is ready when its replay is done."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for place in sorted(self.folder.iterdir()):
            if place.name.startswith(DRAFT):
                self._delete(place)  # left by a service that was killed; it has read nothing
            elif _has_terms(place):
                self._open(place)

    def lock(self) -> None:
        """Lock the store until it is closed, so that no second service uses it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = os.open(self.folder, os.O_RDONLY)
        try:
            lock(self._lock)
        except BlockingIOError:
            os.close(self._lock)
            self._lock = None
            raise ValueError(
                f"store must belong to one service, and another one is using {self.folder}"
            ) from None

    def _open(self, place: Path) -> None:
        try:
            known = json.loads((place / TERMS).read_text(encoding="utf-8"))
            form = known.pop(RECIPE)
            terms = RunTerms.from_json(known)
            if terms.name != place.name:  # a copied folder; two threads would open one store
                raise ValueError(
                    f"name must be that of its folder {place}, got {terms.name!r}; a copied folder "
                    f"cannot be a second run"
                )
            recipe = terms.request.stored_recipe(form)
        except _UNREADABLE as problem:
            # The terms are public, and the other runs are not affected.
            _LOG.error("run %s: %s cannot be read: %s", place.name, TERMS, problem)
            self.unreadable.add(place.name)
            return
        self.hosted[terms.name] = self._host(terms, recipe)

    async def create(self, terms: RunTerms) -> None:
        """Create a run that is ready for events; try every step before writing anything."""
        recipe = await asyncio.to_thread(terms.recipe)  # some plans take long
        async with self._changing:
            known = terms.name in self.hosted or terms.name in self.unreadable
            if known or _is_taken(self.folder / terms.name):
                raise FileExistsError(terms.name)
            made: Hosted | None = None
            try:
                await asyncio.to_thread(self._make, terms, recipe)
                made = self._host(terms, recipe)
                await made.thread.ready()
            except OSError as problem:
                _LOG.error("run %s cannot be created: %s", terms.name, problem)
                raise Unavailable("the run cannot be written; see the log of the service") from None
            finally:
                if made is not None and made.thread.failure is not None:
                    await self._undo(terms.name, made.thread)  # it was never visible: no events
            self.hosted[terms.name] = made

    def _make(self, terms: RunTerms, recipe: PrivateLearner) -> None:
        """Create the folder of a run under a draft name, complete, and rename it.

        The chosen learner is stored, so that a later version of the chooser does not change it.
        """
        place = self.folder / terms.name
        draft = Path(tempfile.mkdtemp("", DRAFT, self.folder))
        made = draft
        try:
            reserved = self._reserved(terms, recipe)
            run = DurableRun.start(
                recipe, self._store_in(draft), users=terms.request.user, reserved=reserved
            )
            run.close()
            content = {**terms.to_json(), RECIPE: canonical_form(recipe)}
            write_whole(draft / TERMS, json.dumps(content, indent=1))
            sync_folder(draft)  # a run without its terms would not be opened
            made = draft.rename(place)  # also replaces an empty folder
            sync_folder(self.folder)  # a lost run could read the same events again
        except BaseException:
            self._delete(made)
            self._give_back(terms.name)
            raise

    async def remove(self, name: str) -> bool:
        """Delete a run that has read no event, and release its reservation; False if it has."""
        async with self._changing:
            thread = self.usable(name)
            if not await thread.retire():
                return False
            try:
                await self._undo(name, thread)
            except Unavailable:  # the run is still there, but its thread is closed
                self.hosted[name] = self._host(self.hosted[name].terms, self.hosted[name].recipe)
                raise
            del self.hosted[name]
        return True

    async def _undo(self, name: str, thread: RunThread) -> None:
        """Delete a run that has read no event."""
        thread.visible.stop()
        await thread.close()
        try:
            await asyncio.to_thread(self._discard, name)
        except OSError as problem:
            _LOG.error("run %s cannot be deleted: %s", name, problem)
            raise Unavailable("the run cannot be deleted; see the log of the service") from None

    def _discard(self, name: str) -> None:
        gone = self.folder / f"{DRAFT}{secrets.token_hex(8)}"
        (self.folder / name).rename(gone)
        with suppress(OSError):  # if the run comes back, it asks the book again
            sync_folder(self.folder)
        self._delete(gone)
        self._give_back(name)

    def _delete(self, place: Path) -> None:
        """Delete the folder of a run that has read no event, and its rows in a database."""
        with suppress(LittlestoneError, OSError):  # what remains holds no example
            self._store_in(place).discard()
        shutil.rmtree(place, ignore_errors=True)

    def _store(self, name: str) -> LocalPlace:
        return self._store_in(self.folder / name)

    @property
    def names(self) -> list[str]:
        """Return the names of all runs, also of those that cannot be read."""
        return sorted([*self.hosted, *self.unreadable])

    @property
    def opening(self) -> list[str]:
        """Return the runs that the service is still opening after its start."""
        return [name for name, one in self.hosted.items() if one.thread.opening]

    @property
    def broken(self) -> list[str]:
        """Return the runs that cannot be opened; the log says why."""
        threads = {name: one.thread for name, one in self.hosted.items()}
        failed = [name for name, one in threads.items() if one.failure and not one.opening]
        return sorted([*failed, *self.unreadable])

    def usable(self, name: str) -> RunThread:
        """Return the thread of an open run, or raise ``Unavailable``."""
        if name in self.unreadable:
            raise Unavailable(f"run {name!r} cannot be read; see the log of the service")
        thread = self.hosted[name].thread
        if thread.failure is not None:
            raise thread.unavailable()
        return thread

    async def close(self) -> None:
        """Close every run, then release the lock of the store."""
        for one in self.hosted.values():
            one.thread.visible.stop()
            await one.thread.close()
        lock, self._lock = self._lock, None
        if lock is not None:  # the descriptor may be reused, so close it once
            os.close(lock)

    def _host(self, terms: RunTerms, recipe: PrivateLearner) -> Hosted:
        """Start the thread of a run."""
        place, store, adopted = self.folder / terms.name, self._store(terms.name), list[str]()

        def opened() -> DurableRun:
            if not store.exists():  # a new store would learn from the same people again
                gone = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(store))
                raise StoreError(f"{store} is missing; restore it together with its mark") from gone
            run = self._resumed(terms, recipe, adopted)
            if run.rounds or self._book is None:
                enter(self._book, run, store)
            return run

        visible = Visible(every=terms.publish_every, file=place / SHOWN)
        # A run that has read nothing may be deleted, and its reservation released.
        thread = RunThread(
            terms.name,
            opened,
            visible,
            read=event_reader(recipe, users=terms.request.user is not None),
            begun=lambda run: enter(self._book, run, store),
        )
        return Hosted(terms, recipe, thread, adopted)

    def _resumed(self, terms: RunTerms, recipe: PrivateLearner, adopted: list[str]) -> DurableRun:
        """Open the store of a run; record an adoption that only the owner confirms."""
        place, store = self.folder / terms.name, self._store(terms.name)
        said = _lines(place / ADOPTED)
        try:
            run = DurableRun.resume(recipe, store, users=terms.request.user)
        except StoreError as refusal:
            if terms.name not in self._adopt or isinstance(refusal, RollbackError):
                raise
            now = datetime.now(UTC).isoformat(timespec="seconds")
            try:
                _write_lines(place / ADOPTED, [*said, now])
                run = DurableRun.resume(recipe, store, users=terms.request.user, adopt=True)
            except BaseException:
                _write_lines(place / ADOPTED, said)
                raise
            _LOG.warning("run %s: adopted, as its owner confirmed", terms.name)
            self._adopt.discard(terms.name)
            said = [*said, now]
        adopted[:] = said
        self._enter_adoptions(run, store, said)
        return run

    def _enter_adoptions(self, run: DurableRun, store: Place, said: list[str]) -> None:
        """Enter the adoptions of a run in the book."""
        try:
            for number, when in enumerate(said if self._book is not None else (), start=1):
                assert self._book is not None
                words = f"adopted on {when}: its owner says that no other copy of it was continued"
                self._book.note(f"{run.identity} adopted {number}", store, words)
        except BaseException:
            run.close()
            raise

    def _reserved(self, terms: RunTerms, recipe: PrivateLearner) -> Reservation | None:
        """Reserve budget in the book for a store that is about to be created.

        First release what is still reserved for an earlier run at this place: a copy of that run
        would have the same identity.
        """
        if self._book is None:
            return None
        self._give_back(terms.name)
        promise = promise_of(recipe, terms.request.user)
        return self._book.reserve(self._store(terms.name), recipe.guarantee(), promise)

    def _give_back(self, name: str) -> None:
        if self._book is not None:
            with suppress(StoreError):  # there is nothing to release
                self._book.give_back(self._store(name))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []


def _write_lines(path: Path, lines: list[str]) -> None:
    if not lines:
        path.unlink(missing_ok=True)
        return
    write_whole(path, "".join(f"{line}\n" for line in lines))
    sync_folder(path.parent)


def _has_terms(place: Path) -> bool:
    """Return whether a folder is that of a run, as far as its name tells if it is closed."""
    try:
        return (place / TERMS).is_file()
    except OSError:  # of another user, as lost+found is, or on a disk that fails
        return NAME.fullmatch(place.name) is not None


def _is_taken(place: Path) -> bool:
    """Tell whether a path holds anything but an empty folder."""
    return place.exists() and (not place.is_dir() or any(place.iterdir()))
