"""A fleet behind the service: events of any key are queued, what its workers publish is read.

The service computes nothing and has no secret: workers do and have, wherever they run. Keys, and
how many rounds each has had, are public (see the promise of ``PerKey``); a release is seen as soon
as a worker has committed it, so when it appears may tell when its events came.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Final, TypeVar

import msgspec
import psycopg
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.errors import HorizonExceededError
from littlestone.fleet import database
from littlestone.fleet.keyed import key_name, label_of
from littlestone.fleet.per_key import PerKey
from littlestone.fleet.terms import recipe_of
from littlestone.fleet.user_shares import given_users
from littlestone.serve import wire
from littlestone.serve.desk import Service, answered, decoded, event_reader
from littlestone.serve.guarding import body_of
from littlestone.serve.openapi import Endpoint
from littlestone.serve.owner import Unavailable
from littlestone.serve.routes.readers import PAGE, labels_of, number_of, tagged
from littlestone.serve.tokens import Role
from littlestone.serve.visible import Shown
from littlestone.service.entries import Release
from littlestone.service.published import release_line

Answer = TypeVar("Answer")
Key = Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]


class KeyedEventIn(msgspec.Struct, forbid_unknown_fields=True):
    """A labelled example of a key, with its number among the events of the key, from 1 on."""

    key: Key
    number: Annotated[int, msgspec.Meta(ge=1, le=2**62)]
    x: Any
    y: Annotated[int, msgspec.Meta(ge=0, le=1)]
    user: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)] | None = None
    """Whose it is, where the fleet counts users."""


class KeyedIn(msgspec.Struct, forbid_unknown_fields=True):
    """Events of any keys; one that was sent before may be sent again and changes nothing."""

    events: Annotated[list[KeyedEventIn], msgspec.Meta(min_length=1, max_length=wire.MOST_EVENTS)]


class Misfit(msgspec.Struct):
    """Which of the events that were sent did not fit, counted from 0, and why."""

    place: int
    error: str


class QueuedOut(msgspec.Struct):
    """How many events are on disk and wait for a worker, and which were refused."""

    queued: int
    refused: list[Misfit]


class FleetOut(msgspec.Struct):
    """What the fleet promises to whom, and where it stands."""

    promise: str
    learner: str
    rounds: int | None
    max_keys: int
    status: dict[str, int]


class FleetDesk:
    """The database of a fleet, asked by one thread at a time."""

    endpoints: ClassVar[tuple[Endpoint, ...]]
    """Besides the routes of runs; tokens must be those of every run."""

    def __init__(self, dsn: str) -> None:
        self._dsn, self._lock = dsn, threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None
        self.terms = self._answered(database.terms_of)
        self.recipe = recipe_of(self.terms)
        self.read = event_reader(self.recipe)

    async def ask(self, question: "Callable[[psycopg.Connection[Any]], Answer]") -> Answer:
        return await asyncio.to_thread(self._answered, question)

    async def newest(self, request: Request) -> Shown:
        """The rule of the key that was asked for, as it is in force."""
        key = key_of(request)
        release = await self.ask(lambda db: database.newest_of(db, self.terms, key))
        if release is None:
            raise HTTPException(404, "nothing was published of this key")
        return Shown(release, hypothesis_from_json(json.loads(release.body)["hypothesis"]))

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()

    def _answered(self, question: "Callable[[psycopg.Connection[Any]], Answer]") -> Answer:
        with self._lock:
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = database.connect(self._dsn)
                    # While somebody puts a whole file, nobody waits behind an event but its sender.
                    self._connection.execute("SET lock_timeout = '1s'")
                return question(self._connection)
            except (psycopg.OperationalError, psycopg.InterfaceError):
                if self._connection is not None:
                    self._connection.close()
                # Whatever was put has a number: sent again it changes nothing.
                raise Unavailable("the fleet's database does not answer; try again") from None


def desk_of(service: Service) -> FleetDesk:
    fleet = service.fleet
    assert isinstance(fleet, FleetDesk)  # the routes below exist with one only
    return fleet


def key_of(request: Request) -> str:
    key = request.query_params.get("key", "")
    if not key:
        raise HTTPException(422, "key must be given, as in ?key=store-7")
    try:
        key_name(key)
    except ValueError as problem:
        raise HTTPException(422, str(problem)) from None
    return key


async def show_fleet(service: Service, _: Request) -> Response:
    fleet = desk_of(service)
    status = await fleet.ask(database.status)
    terms = fleet.terms
    promise = PerKey(learner=fleet.recipe, max_keys=terms.max_keys, users=terms.users).promise
    learner, rounds = type(fleet.recipe).__name__, fleet.recipe.rounds
    return answered(FleetOut(promise, learner, rounds, terms.max_keys, status))


async def queue_events(service: Service, request: Request) -> Response:
    """Those that fit are queued together; a bad one fails alone."""
    fleet = desk_of(service)
    body = await body_of(request)
    sent: Sequence[KeyedEventIn | str]
    try:
        sent = decoded(body, KeyedIn).events
    except HTTPException:
        each = wire.each_in(body, KeyedEventIn)
        if each is None:
            raise
        sent = each
    good, refused = list[tuple[str, int, Any, int, str | None]](), list[Misfit]()
    for place, one in enumerate(sent):
        try:
            if isinstance(one, str):
                raise ValueError(one)
            if fleet.recipe.rounds is not None and one.number > fleet.recipe.rounds:
                raise HorizonExceededError(rounds=fleet.recipe.rounds)
            label_of(one.key)  # refuses what no key can be
            given_users(fleet.terms.users, [one.user], 1)
            point, _ = fleet.read("", wire.EventIn(one.x, one.y)).example or (None, None)
            good.append((one.key, one.number, point, one.y, one.user))
        except (ValueError, HorizonExceededError) as problem:
            refused.append(Misfit(place, str(problem)))
    if not good:
        return answered(QueuedOut(0, refused), 422)
    columns = [list(column) for column in zip(*good, strict=True)]
    queued = await fleet.ask(lambda db: database.put(db, fleet.recipe, *columns))
    return answered(QueuedOut(queued, refused))


async def key_hypothesis(service: Service, request: Request) -> Response:
    shown = await desk_of(service).newest(request)
    return tagged(request, shown.tag, lambda: answered(release_line(shown.release)))


async def key_releases(service: Service, request: Request) -> Response:
    """A page of what was published of a key, after a number."""
    fleet, key = desk_of(service), key_of(request)
    after = number_of(request.query_params.get("after"))

    def found(db: "psycopg.Connection[Any]") -> tuple[list[Release], Release | None]:
        page = database.releases_of(db, fleet.terms, key, after=after, most=PAGE)
        return page, database.newest_of(db, fleet.terms, key)

    page, newest = await fleet.ask(found)
    if newest is None:
        raise HTTPException(404, "nothing was published of this key")
    return answered(wire.release_page(page, newest.number))


async def key_predict(service: Service, request: Request) -> Response:
    """By the published rule of a key."""
    fleet = desk_of(service)
    shown = await fleet.newest(request)
    labels = await labels_of(request, fleet.recipe, shown.hypothesis)
    return answered(wire.PredictionsOut(shown.release.number, labels))


OF_A_KEY: Final = (404, 422)
FleetDesk.endpoints = (
    Endpoint("GET", "/fleet", Role.READER, show_fleet, gives=FleetOut),
    Endpoint(
        "POST",
        "/fleet/events",
        Role.WRITER,
        queue_events,
        KeyedIn,
        QueuedOut,
        (413, 415, 422),
    ),
    Endpoint(
        "GET",
        "/fleet/hypothesis",
        Role.READER,
        key_hypothesis,
        statuses=(304, *OF_A_KEY),
        query=("key",),
    ),
    Endpoint(
        "GET",
        "/fleet/releases",
        Role.READER,
        key_releases,
        statuses=OF_A_KEY,
        query=("key", "after"),
    ),
    Endpoint(
        "POST",
        "/fleet/predict",
        Role.READER,
        key_predict,
        wire.PointsIn,
        wire.PredictionsOut,
        (413, 415, *OF_A_KEY),
        query=("key",),
    ),
)
