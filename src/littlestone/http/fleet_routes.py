"""Serve a fleet: queue events of any key, and read what its workers publish.

The service computes nothing and holds no secret: the workers do both, wherever they run. The keys
and the number of rounds of each are public (see the promise of ``PerKey``). A release is visible as
soon as a worker has committed it, so the time of its appearance may reveal when its events arrived.
"""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec
import psycopg
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.errors import HorizonExceededError
from littlestone.http import wire
from littlestone.http.limits import body_of
from littlestone.http.openapi import Endpoint
from littlestone.http.routes import PAGE, labels_of, number_of, tagged
from littlestone.http.run_thread import Refused, Unavailable, event_reader
from littlestone.http.service import Role, Service
from littlestone.http.visible import Shown
from littlestone.http.wire import answered, decoded
from littlestone.runs.fleet import database
from littlestone.runs.fleet.keyed import key_name, label_of
from littlestone.runs.fleet.over_limit import given_users
from littlestone.runs.fleet.per_key import PerKey
from littlestone.runs.fleet.terms import recipe_of
from littlestone.runs.intake.users import canonical_user
from littlestone.runs.journal.postgresql import PASSING
from littlestone.runs.journal.records import Release
from littlestone.runs.published import release_line

Answer = TypeVar("Answer")
Key = Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]


class KeyedEventIn(msgspec.Struct, forbid_unknown_fields=True):
    """A labelled example of a key, with its number among the events of that key, from 1."""

    key: Key
    number: Annotated[int, msgspec.Meta(ge=1, le=2**62)]
    x: Any
    y: wire.Label
    user: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)] | None = None
    """The user whose event it is, if the fleet counts users."""


class KeyedIn(msgspec.Struct, forbid_unknown_fields=True):
    """Events of any keys; sending an event again changes nothing."""

    events: Annotated[list[KeyedEventIn], msgspec.Meta(min_length=1, max_length=wire.MOST_EVENTS)]


class Misfit(msgspec.Struct):
    """The position of a rejected event in the request, from 0, and the reason."""

    place: int
    error: str


class QueuedOut(msgspec.Struct):
    """How many events are on disk and wait for a worker, and which events were rejected."""

    queued: int
    refused: list[Misfit]


class FleetOut(msgspec.Struct):
    """The promise of the fleet, and its status."""

    promise: str
    learner: str
    rounds: int | None
    max_keys: int
    status: dict[str, int]


class FleetRoutes:
    """Query the database of a fleet in one thread, which nothing else waits for."""

    endpoints: ClassVar[tuple[Endpoint, ...]]
    """The routes that a fleet adds; they need tokens that hold for every run."""

    def __init__(self, dsn: str) -> None:
        self._dsn, self._thread = dsn, ThreadPoolExecutor(1, "fleet")
        self._connection: psycopg.Connection[Any] | None = None
        self.terms = self._answered(database.terms_of)
        self.recipe = recipe_of(self.terms)
        self.read = event_reader(self.recipe)

    async def ask(self, question: "Callable[[psycopg.Connection[Any]], Answer]") -> Answer:
        """Run a query on the database in its thread, and return its result."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._answered, question)

    async def newest(self, request: Request) -> Shown:
        """Return the rule in force of the requested key."""
        key = key_of(request)
        release = known(await self.ask(lambda db: database.newest_of(db, self.terms, key)))
        return Shown(release, hypothesis_from_json(json.loads(release.body)["hypothesis"]))

    def close(self) -> None:
        """Close the connection to the database when the current query has ended."""
        self._thread.shutdown(cancel_futures=True)
        if self._connection is not None:
            self._connection.close()

    def _answered(self, question: "Callable[[psycopg.Connection[Any]], Answer]") -> Answer:
        try:
            if self._connection is None or self._connection.closed:
                self._connection = database.connect(self._dsn)
                # While a large file is loaded, only the sender of an event waits for the lock.
                self._connection.execute("SET lock_timeout = '1s'")
            return question(self._connection)
        except PASSING:
            if self._connection is not None:
                self._connection.close()
            # Events have numbers, so sending them again changes nothing.
            raise Unavailable("the fleet's database does not answer; try again") from None


def fleet_of(service: Service) -> FleetRoutes:
    """Return the fleet of a service."""
    fleet = service.fleet
    assert isinstance(fleet, FleetRoutes)  # the routes below exist only with a fleet
    return fleet


def known(release: Release | None) -> Release:
    """Return the newest release of a key, or raise 404 if there is none."""
    if release is None:
        raise HTTPException(
            404, "nothing is published for this key; its events may wait for a worker"
        )
    return release


def key_of(request: Request) -> str:
    """Return the key in the query of a request, or raise 422."""
    key = request.query_params.get("key", "")
    if not key:
        raise HTTPException(422, "key must be given, as in ?key=store-7")
    try:
        key_name(key)
    except ValueError as problem:
        raise HTTPException(422, str(problem)) from None
    return key


async def show_fleet(service: Service, _: Request) -> Response:
    """Return the promise of the fleet and its status."""
    fleet = fleet_of(service)
    status = await fleet.ask(database.status)
    terms = fleet.terms
    promise = PerKey(learner=fleet.recipe, max_keys=terms.max_keys, users=terms.users).promise
    learner, rounds = type(fleet.recipe).__name__, fleet.recipe.rounds
    return answered(FleetOut(promise, learner, rounds, terms.max_keys, status))


async def queue_events(service: Service, request: Request) -> Response:
    """Queue the events that fit, in one transaction; reject each of the others by itself."""
    fleet = fleet_of(service)
    body = await body_of(request)
    sent = wire.each_in(body, KeyedEventIn)
    if sent is None:
        decoded(body, KeyedIn)  # says what is wrong
        raise HTTPException(422, "the body must be one list under events and nothing else")
    good, refused = list[tuple[str, int, Any, int, str | None]](), list[Misfit]()
    for place, one in enumerate(sent):
        try:
            if isinstance(one, str):
                raise ValueError(one)
            if fleet.recipe.rounds is not None and one.number > fleet.recipe.rounds:
                raise HorizonExceededError(rounds=fleet.recipe.rounds)
            label_of(one.key)  # rejects an invalid key
            given_users(fleet.terms.users, [one.user], 1)
            user = None if one.user is None else canonical_user(one.user)
            [event] = fleet.read([""], [wire.EventIn(one.x, one.y)])
            if isinstance(event, Refused):
                raise ValueError(event.reason)
            point, label = event.example or (None, 0)
            good.append((one.key, one.number, point, label, user))
        except (ValueError, HorizonExceededError) as problem:
            refused.append(Misfit(place, str(problem)))
    if not good:
        return answered(QueuedOut(0, refused), 422)
    columns = [list(column) for column in zip(*good, strict=True)]
    queued = await fleet.ask(lambda db: database.put(db, fleet.recipe, *columns))
    return answered(QueuedOut(queued, refused))


async def key_hypothesis(service: Service, request: Request) -> Response:
    """Return the newest release of a key."""
    shown = await fleet_of(service).newest(request)
    return tagged(request, shown.tag, lambda: answered(release_line(shown.release)))


async def key_releases(service: Service, request: Request) -> Response:
    """Return a page of the releases of a key after a number."""
    fleet, key = fleet_of(service), key_of(request)
    after = number_of(request.query_params.get("after"))

    def found(db: "psycopg.Connection[Any]") -> tuple[list[Release], Release | None]:
        page = database.releases_of(db, fleet.terms, key, after=after, most=PAGE)
        return page, database.newest_of(db, fleet.terms, key)

    page, newest = await fleet.ask(found)
    return answered(wire.release_page(page, known(newest).number))


async def key_predict(service: Service, request: Request) -> Response:
    """Predict by the published rule of a key."""
    fleet = fleet_of(service)
    shown = await fleet.newest(request)
    labels = await labels_of(request, fleet.recipe, shown.hypothesis)
    return answered(wire.PredictionsOut(shown.release.number, labels, shown.rule))


FleetRoutes.endpoints = (
    Endpoint("GET", "/fleet", Role.READER, show_fleet, gives=FleetOut),
    Endpoint("POST", "/fleet/events", Role.WRITER, queue_events, KeyedIn, QueuedOut),
    Endpoint(
        "GET", "/fleet/hypothesis", Role.READER, key_hypothesis, statuses=(304,), query=("key",)
    ),
    Endpoint("GET", "/fleet/releases", Role.READER, key_releases, query=("key", "after")),
    Endpoint(
        "POST",
        "/fleet/predict",
        Role.READER,
        key_predict,
        wire.PointsIn,
        wire.PredictionsOut,
        query=("key",),
    ),
)
