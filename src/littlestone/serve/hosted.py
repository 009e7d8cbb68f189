"""The runs of a service: a folder for each, with what was asked for and its durable store."""

import asyncio
import errno
import fcntl
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from littlestone.errors import LittlestoneError, RollbackError, StoreError
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.serve.asked import Asked
from littlestone.serve.owner import RunOwner, Unavailable
from littlestone.serve.visible import Visible
from littlestone.service.durable import DurableRun
from littlestone.service.promises.book import Book, enter
from littlestone.service.promises.users import promise_of
from littlestone.service.store import Reservation
from littlestone.service.store_file import sync_folder

ASKED: Final = "run.json"
STORE: Final = "store"
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
_LOG: Final = logging.getLogger("littlestone.serve")


class Runs:
    """All runs below one folder, each with its owner."""

    def __init__(
        self, folder: Path, book: Book | None = None, *, adopt: Collection[str] = ()
    ) -> None:
        """``adopt`` names runs of which the owner says that no other copy went on."""
        self.folder, self._book, self._adopt = folder, book, set(adopt)
        for name in adopt:
            if not (folder / name / ASKED).is_file():
                raise ValueError(f"adopt must name a run in {folder}, got {name!r}")
        self._owners: dict[str, RunOwner] = {}
        self._asked: dict[str, Asked] = {}
        self._recipes: dict[str, PrivateLearner] = {}
        self._adoptions: dict[str, list[str]] = {}
        self.unreadable: set[str] = set()
        """Runs of which it is not known any more what they were asked to be."""
        self._changing = asyncio.Lock()  # of which runs there are
        self._lock: int | None = None

    def open_all(self) -> None:
        """Begin to open every run that is here; each is ready when its replay is done."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for place in sorted(self.folder.iterdir()):
            if place.name.startswith(DRAFT):
                shutil.rmtree(place)  # of a service that was killed; it has read nothing
            elif (place / ASKED).is_file():
                self._open(place)

    def lock(self) -> None:
        """Until it is closed: two services would each know only of the runs that they have made."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            self._lock = None
            raise ValueError(
                f"store must be a folder of one service, and another uses {self.folder}"
            ) from None

    def _open(self, place: Path) -> None:
        try:
            known = json.loads((place / ASKED).read_text(encoding="utf-8"))
            form = known.pop(RECIPE)
            asked = Asked.from_json(known)
            if asked.name != place.name:  # a copied folder; two owners would open one store
                raise ValueError(f"name must be that of its folder, got {asked.name!r}")
            recipe = asked.request.kept(form)
        except _UNREADABLE as problem:
            # All of it is public; and the other runs are no worse for it.
            _LOG.error("run %s: %s cannot be read: %s", place.name, ASKED, problem)
            self.unreadable.add(place.name)
            return
        self._host(asked, recipe, self._owned(asked, recipe))

    async def create(self, asked: Asked) -> None:
        """Make a new run, ready to be used; everything is tried before anything is written."""
        recipe = await asyncio.to_thread(asked.recipe)  # some plans take long
        async with self._changing:
            known = asked.name in self._owners or asked.name in self.unreadable
            if known or _is_taken(self.folder / asked.name):
                raise FileExistsError(asked.name)
            owner: RunOwner | None = None
            try:
                await asyncio.to_thread(self._make, asked, recipe)
                owner = self._owned(asked, recipe)
                await owner.ready()
            except OSError as problem:
                _LOG.error("run %s cannot be made: %s", asked.name, problem)
                raise Unavailable("the run cannot be written; look at the server") from None
            finally:
                if owner is not None and owner.failure is not None:
                    await self._undo(asked.name, owner)  # nobody could send it anything
            self._host(asked, recipe, owner)

    def _make(self, asked: Asked, recipe: PrivateLearner) -> None:
        """Make the folder of a run under another name, whole, and rename it.

        The learner that was picked for it stays, whatever would be picked later.
        """
        place = self.folder / asked.name
        draft = Path(tempfile.mkdtemp("", DRAFT, self.folder))
        made = draft
        try:
            reserved = self._reserved(asked, recipe)
            run = DurableRun.start(
                recipe, draft / STORE, users=asked.request.user, reserved=reserved
            )
            run.close()
            with (draft / ASKED).open("x", encoding="utf-8") as stream:
                kept = {**asked.to_json(), RECIPE: canonical_form(recipe)}
                json.dump(kept, stream, indent=1)
                stream.flush()
                os.fsync(stream.fileno())
            made = draft.rename(place)  # in the place of an empty folder, too
            sync_folder(self.folder)  # a run that is lost could read the same events again
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            self._give_back(asked.name)
            raise

    async def remove(self, name: str) -> bool:
        """Delete a run that never read an event, and give back its reservation; False if it did."""
        async with self._changing:
            owner = self.usable(name)
            if not await owner.retire():
                return False
            await self._undo(name, owner)
            del self._owners[name], self._asked[name], self._recipes[name]
            self._adoptions.pop(name, None)
        return True

    async def _undo(self, name: str, owner: RunOwner) -> None:
        """Delete a run that has read nothing."""
        owner.visible.stop()
        await owner.close()
        await asyncio.to_thread(self._discard, name)

    def _discard(self, name: str) -> None:
        gone = Path(tempfile.mkdtemp("", DRAFT, self.folder))
        (self.folder / name).rename(gone)
        sync_folder(self.folder)
        shutil.rmtree(gone)
        self._give_back(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._owners)

    def owner(self, name: str) -> RunOwner:
        return self._owners[name]

    def asked(self, name: str) -> Asked:
        return self._asked[name]

    def recipe(self, name: str) -> PrivateLearner:
        return self._recipes[name]

    def adopted(self, name: str) -> list[str]:
        """When its owner said that no other copy of its files went on."""
        return self._adoptions.get(name, [])

    @property
    def opening(self) -> list[str]:
        """Runs that are being opened since the service has started."""
        return [name for name, owner in self._owners.items() if owner.opening]

    @property
    def broken(self) -> list[str]:
        """Runs that cannot be opened; the log says why."""
        failed = [name for name, one in self._owners.items() if one.failure and not one.opening]
        return sorted([*failed, *self.unreadable])

    def usable(self, name: str) -> RunOwner:
        """The owner of a run that is open."""
        if name in self.unreadable:
            raise Unavailable(f"run {name!r} cannot be read; look at the server")
        owner = self._owners[name]
        if owner.failure is not None:
            raise owner.unavailable()
        return owner

    async def close(self) -> None:
        for owner in self._owners.values():
            owner.visible.stop()
            await owner.close()
        lock, self._lock = self._lock, None
        if lock is not None:  # once: a second time the number may be that of another lock
            os.close(lock)

    def _host(self, asked: Asked, recipe: PrivateLearner, owner: RunOwner) -> None:
        self._owners[asked.name], self._asked[asked.name] = owner, asked
        self._recipes[asked.name] = recipe

    def _owned(self, asked: Asked, recipe: PrivateLearner) -> RunOwner:
        place = self.folder / asked.name
        store = place / STORE

        def opened() -> DurableRun:
            if not store.exists():  # another would learn from the same people again
                gone = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(store))
                raise StoreError(f"{store} is gone; bring it back, with its mark") from gone
            run = self._resumed(asked, recipe)
            if run.rounds or self._book is None:
                enter(self._book, run, store)
            return run

        visible = Visible(every=asked.publish_every, kept=place / SHOWN)
        # A run that has read nothing may be removed, and what was reserved for it given back.
        return RunOwner(
            asked.name, opened, visible, begun=lambda run: enter(self._book, run, store)
        )

    def _resumed(self, asked: Asked, recipe: PrivateLearner) -> DurableRun:
        """Open the store of a run; one that only its owner vouches for says so from then on."""
        place = self.folder / asked.name
        said = _lines(place / ADOPTED)
        try:
            run = DurableRun.resume(recipe, place / STORE, users=asked.request.user)
        except StoreError as refusal:
            if asked.name not in self._adopt or isinstance(refusal, RollbackError):
                raise
            now = datetime.now(UTC).isoformat(timespec="seconds")
            try:
                _write_lines(place / ADOPTED, [*said, now])
                run = DurableRun.resume(recipe, place / STORE, users=asked.request.user, adopt=True)
            except BaseException:
                _write_lines(place / ADOPTED, said)
                raise
            _LOG.warning("run %s: adopted, by the word of its owner", asked.name)
            self._adopt.discard(asked.name)
            said = [*said, now]
        self._adoptions[asked.name] = said
        self._enter_adoptions(run, place / STORE, said)
        return run

    def _enter_adoptions(self, run: DurableRun, store: Path, said: list[str]) -> None:
        """Enter in the book what the owner said: it costs nothing, and is entered once."""
        try:
            for number, when in enumerate(said if self._book is not None else (), start=1):
                assert self._book is not None
                words = f"adopted on {when}: its owner says that no other copy of it went on"
                nothing = PrivacyGuarantee(epsilon=0.0)
                self._book.register(f"{run.identity} adopted {number}", store, nothing, words)
        except BaseException:
            run.close()
            raise

    def _reserved(self, asked: Asked, recipe: PrivateLearner) -> Reservation | None:
        """Reserve room in the book for a store that is about to be made.

        What was left behind for an earlier run at this place is given back first: a copy of that
        one would bear the same identity.
        """
        if self._book is None:
            return None
        self._give_back(asked.name)
        promise = promise_of(recipe, asked.request.user)
        return self._book.reserve(self.folder / asked.name / STORE, recipe.guarantee(), promise)

    def _give_back(self, name: str) -> None:
        if self._book is not None:
            with suppress(StoreError):  # there is nothing to give back
                self._book.give_back(self.folder / name / STORE)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []


def _write_lines(path: Path, lines: list[str]) -> None:
    if not lines:
        path.unlink(missing_ok=True)
        return
    with path.open("w", encoding="ascii") as stream:
        stream.writelines(f"{line}\n" for line in lines)
        stream.flush()
        os.fsync(stream.fileno())


def _is_taken(place: Path) -> bool:
    """Whether there is anything but an empty folder."""
    return place.exists() and (not place.is_dir() or any(place.iterdir()))
