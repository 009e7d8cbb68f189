"""The runs of a service: a folder for each, with what was asked for and its durable store."""

import asyncio
import errno
import fcntl
import json
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from littlestone.choose.request import NAMES, Request
from littlestone.errors import LittlestoneError, StoreError
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner, recipe_from_form
from littlestone.serve.owner import RunOwner, Unavailable
from littlestone.serve.visible import Visible
from littlestone.service.durable import DurableRun
from littlestone.service.promises.book import Book, enter
from littlestone.service.store import Reservation
from littlestone.service.store_file import sync_folder

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
ASKED: Final = "run.json"
STORE: Final = "store"
DRAFT: Final = ".new-"
RECIPE: Final = "recipe"
_UNREADABLE: Final = (
    OSError,
    ValueError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
    LittlestoneError,
)
_LOG: Final = logging.getLogger("littlestone.serve")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a run was asked to be: all of it public, and chosen before any data."""

    name: str
    concepts: str | None = None
    schema: dict[str, Any] | None = None
    learner: str = "auto"
    setting: str = "agnostic"
    adversary: str = "oblivious"
    rounds: int | None = None
    epsilon: float = 1.0
    delta: float = 1e-6
    max_contributions: int = 1
    publish_every: float | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(
                f"name must be small letters, digits, - and _, at most 64, got {self.name!r}"
            )
        if (self.concepts is None) == (self.schema is None):
            raise ValueError("exactly one of class and schema must be given")
        if self.publish_every is not None and not 0.01 <= self.publish_every <= 86_400:
            raise ValueError(
                f"publish_every must be from 0.01 to 86400 seconds, got {self.publish_every!r}"
            )

    def recipe(self) -> PrivateLearner:
        said = {name: getattr(self, name) for name in NAMES if name != "user"}
        over = {"schema": self.schema, "class": self.concepts}
        return Request.from_json({**over, **said}, files=False).recipe()


class Runs:
    """All runs below one folder, each with its owner."""

    def __init__(self, folder: Path, book: Book | None = None) -> None:
        self.folder, self._book = folder, book
        self._owners: dict[str, RunOwner] = {}
        self._asked: dict[str, Asked] = {}
        self._recipes: dict[str, PrivateLearner] = {}
        self.unreadable: set[str] = set()
        """Runs of which it is not known any more what they were asked to be."""
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
            asked = Asked(**known)
            if asked.name != place.name:  # a copied folder; two owners would open one store
                raise ValueError(f"name must be that of its folder, got {asked.name!r}")
            recipe = recipe_from_form(form)
        except _UNREADABLE as problem:
            # All of it is public; and the other runs are no worse for it.
            _LOG.error("run %s: %s cannot be read: %s", place.name, ASKED, problem)
            self.unreadable.add(place.name)
            return
        self._own(asked, recipe, fresh=not (place / STORE).exists())

    async def create(self, asked: Asked) -> RunOwner:
        """A new run, ready to be used; everything is looked at before anything is made."""
        recipe = await asyncio.to_thread(asked.recipe)  # some plans take long
        known = asked.name in self._owners or asked.name in self.unreadable
        if known or _is_taken(self.folder / asked.name):
            raise FileExistsError(asked.name)
        recipe.refuse_to_start()
        self._reserved(recipe, asked.name)
        try:
            self._place(asked, recipe)
        except FileExistsError:
            raise
        except OSError as problem:
            _LOG.error("run %s cannot be made: %s", asked.name, problem)
            raise Unavailable("the run cannot be written; look at the server") from None
        owner = self._own(asked, recipe, fresh=True)
        await owner.ready()
        return owner

    def _place(self, asked: Asked, recipe: PrivateLearner) -> None:
        """The folder of a run appears with all that it was asked to be, or not at all.

        The learner that was picked for it stays, whatever would be picked later.
        """
        place, draft = self.folder / asked.name, Path(tempfile.mkdtemp("", DRAFT, self.folder))
        try:
            with (draft / ASKED).open("x", encoding="utf-8") as stream:
                kept = {**asdict(asked), RECIPE: canonical_form(recipe)}
                json.dump(kept, stream, indent=1)
                stream.flush()
                os.fsync(stream.fileno())
            draft.rename(place)  # in the place of an empty folder, too
        except OSError as problem:
            shutil.rmtree(draft, ignore_errors=True)
            if _is_taken(place):
                raise FileExistsError(asked.name) from problem
            raise
        sync_folder(self.folder)  # a run that is lost with all that it has read could begin again

    def __iter__(self) -> Iterator[str]:
        return iter(self._owners)

    def owner(self, name: str) -> RunOwner:
        return self._owners[name]

    def asked(self, name: str) -> Asked:
        return self._asked[name]

    def recipe(self, name: str) -> PrivateLearner:
        return self._recipes[name]

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

    def _own(self, asked: Asked, recipe: PrivateLearner, *, fresh: bool) -> RunOwner:
        store, begun = self.folder / asked.name / STORE, False

        def opened() -> DurableRun:
            nonlocal begun
            if store.exists():
                run = DurableRun.resume(recipe, store)
            elif begun:  # another would learn from the same people again
                gone = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(store))
                raise StoreError(f"{store} is gone; bring it back, with its mark") from gone
            else:
                run = DurableRun.start(recipe, store, reserved=self._reserved(recipe, asked.name))
            enter(self._book, run, store)
            begun = True
            return run

        visible = Visible(every=asked.publish_every, fresh=fresh)
        owner = RunOwner(asked.name, opened, visible)
        self._owners[asked.name], self._asked[asked.name] = owner, asked
        self._recipes[asked.name] = recipe
        return owner

    def _reserved(self, recipe: PrivateLearner, name: str) -> Reservation | None:
        """Room in the book for a store that is about to be made; asking twice takes it once."""
        if self._book is None:
            return None
        return self._book.reserve(self.folder / name / STORE, recipe.guarantee(), recipe.promise)


def _is_taken(place: Path) -> bool:
    """Whether there is anything but an empty folder."""
    return place.exists() and (not place.is_dir() or any(place.iterdir()))
