"""What goes over the wire, both ways; everything public is made here and nowhere else.

What readers get is a function of a visible release and of the recipe, which was public before the
first example. A release is the very line that ``littlestone learn`` writes.
"""

import json
import math
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from littlestone.concepts.capabilities import Records
from littlestone.learners.run import PrivateLearner
from littlestone.serve.asked import Asked
from littlestone.serve.owner import Outcome, Refused
from littlestone.serve.visible import Shown
from littlestone.service.entries import Release
from littlestone.service.promises.users import promise_of
from littlestone.service.published import release_line

MOST_EVENTS: Final = 10_000
Identity = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
User = Annotated[str, msgspec.Meta(min_length=1, max_length=256)] | int
State = Literal["open", "opening", "broken"]


class EventIn(msgspec.Struct, forbid_unknown_fields=True):
    """One labelled example; the same id again changes nothing and gets the same receipt.

    ``user`` says whose it is, in a run that counts users and in no other.
    """

    x: Any
    y: Annotated[int, msgspec.Meta(ge=0, le=1)]
    id: Identity | None = None
    user: User | None = None


class Sent(msgspec.Struct, forbid_unknown_fields=True):
    """One event, or several under ``events``."""

    x: Any = msgspec.UNSET
    y: Annotated[int, msgspec.Meta(ge=0, le=1)] | msgspec.UnsetType = msgspec.UNSET
    id: Identity | None = None
    user: User | None = None
    events: (
        Annotated[list[EventIn], msgspec.Meta(min_length=1, max_length=MOST_EVENTS)]
        | msgspec.UnsetType
    ) = msgspec.UNSET

    def listed(self) -> list[EventIn] | None:
        """All events, whichever way they were sent; None if neither or both were."""
        if self.events is msgspec.UNSET:
            if self.x is msgspec.UNSET or isinstance(self.y, msgspec.UnsetType):
                return None
            return [EventIn(self.x, self.y, self.id, self.user)]
        alone = (self.x, self.y, self.id, self.user) == (msgspec.UNSET, msgspec.UNSET, None, None)
        return self.events if alone and isinstance(self.events, list) else None


One = TypeVar("One")


def each_in(body: bytes, kind: type[One]) -> list[One | str] | None:
    """The events of a list, of which some do not fit: each alone, or what is wrong with it.

    None if the body is no list of events, or one of too many. Python reads more than JSON (NaN,
    half of a pair of letters), so that an event that holds it is refused alone.
    """
    try:
        sent = json.loads(body, parse_int=_whole)
    except (ValueError, RecursionError):
        return None
    listed = sent.get("events") if isinstance(sent, dict) and len(sent) == 1 else None
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_EVENTS:
        return None
    return [_alone(one, kind) for one in listed]


def _whole(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # too many of them
        return math.nan


def _alone(one: Any, kind: type[One]) -> One | str:
    try:
        json.dumps(one, allow_nan=False, ensure_ascii=False).encode()
        return msgspec.convert(one, type=kind)
    except (msgspec.ValidationError, ValueError, RecursionError) as problem:
        return f"the event does not fit: {problem}"


class PointsIn(msgspec.Struct, forbid_unknown_fields=True):
    """Points to predict by the rule that is visible now."""

    points: Annotated[list[Any], msgspec.Meta(max_length=100_000)]


class RunIn(msgspec.Struct, forbid_unknown_fields=True, rename={"concepts": "class"}):
    """A run to create. One of class and schema is needed; schema maps fields to grids or values.

    With ``user``, a word for whose events are counted, each event must say whose it is, and
    ``max_contributions`` of each user are read.
    """

    name: str
    concepts: str | msgspec.UnsetType = msgspec.UNSET
    schema: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    learner: str | msgspec.UnsetType = msgspec.UNSET
    setting: str | msgspec.UnsetType = msgspec.UNSET
    adversary: str | msgspec.UnsetType = msgspec.UNSET
    rounds: int | msgspec.UnsetType | None = msgspec.UNSET
    epsilon: float | msgspec.UnsetType = msgspec.UNSET
    delta: float | msgspec.UnsetType = msgspec.UNSET
    max_contributions: int | msgspec.UnsetType = msgspec.UNSET
    user: str | msgspec.UnsetType | None = msgspec.UNSET
    publish_every: float | msgspec.UnsetType | None = msgspec.UNSET

    def asked(self) -> Asked:
        """What is not said is as in every other request."""
        content: dict[str, Any] = msgspec.to_builtins(self)
        return Asked.from_json(content)


class EventOut(msgspec.Struct, omit_defaults=True):
    """A receipt with the event's round, or the reason why it was refused."""

    id: str
    round: int | None = None
    repeated: bool = False
    error: str | None = None


class EventsOut(msgspec.Struct):
    """The receipts, in the order of the events."""

    taken: int
    refused: int
    events: list[EventOut]


class RunOut(msgspec.Struct, rename={"concepts": "class"}):
    """A run as readers see it."""

    name: str
    state: State
    concepts: str | None = None
    learner: str | None = None
    promise: str | None = None
    rounds: int | None = None
    publish_every: float | None = None
    user: str | None = None
    adopted: list[str] = []
    """When its owner said that no other copy of its files went on."""
    release: int | None = None
    round: int | None = None
    rule: str | None = None


class RemovedOut(msgspec.Struct):
    """The name of a run that was deleted, and may be used again."""

    removed: str


class GuaranteeOut(msgspec.Struct):
    """What is promised, for whom, and what it means for an attacker who guesses."""

    epsilon: float
    delta: float
    protects: str
    neighbours: str
    adversary: str
    best_guess: float
    promise: str


class ChainOut(msgspec.Struct):
    """The newest visible release and the hash over everything published up to it."""

    release: int
    chain: str


class PredictionsOut(msgspec.Struct):
    """Labels by the rule of this release."""

    release: int
    labels: list[int]


class ErrorOut(msgspec.Struct):
    error: str


encode = msgspec.json.encode
Receipts = dict[str, Any]  # an EventOut or an EventsOut; msgspec tells structs apart by tags only


def receipt(identity: str, outcome: Outcome) -> EventOut:
    """For whoever sent the event, and only for them.

    It names no release: with a clock, nobody learns of one before it strikes.
    """
    if isinstance(outcome, Refused):
        return EventOut(identity, error=outcome.reason)
    return EventOut(identity, round=outcome.round, repeated=outcome.repeated)


def run_out(
    asked: Asked, recipe: PrivateLearner, shown: Shown | None, state: State, adopted: list[str]
) -> RunOut:
    return RunOut(
        name=asked.name,
        state=state,
        concepts=_named(asked.request.over) or type(recipe.concepts).__name__,
        learner=type(recipe).__name__,
        promise=promise_of(recipe, asked.request.user),
        rounds=recipe.rounds,
        publish_every=asked.publish_every,
        user=asked.request.user,
        adopted=adopted,
        release=None if shown is None else shown.release.number,
        round=None if shown is None else shown.release.round,
        rule=None if shown is None else shown.rule,
    )


def _named(over: Any) -> str | None:
    return over if isinstance(over, str) else None


def guarantee_out(asked: Asked, recipe: PrivateLearner) -> GuaranteeOut:
    promised, each = recipe.guarantee(), recipe.max_contributions
    one = "one event" if each == 1 else f"all of at most {each} events of one user"
    return GuaranteeOut(
        epsilon=promised.epsilon,
        delta=promised.delta,
        protects=f"one user, of whom at most {each} events are read" if asked.request.user else one,
        neighbours="replace-one: the same number of events, any of them replaced by another",
        adversary="sees every release and chooses the next event",
        best_guess=best_guess(promised.epsilon, promised.delta),
        promise=promise_of(recipe, asked.request.user),
    )


def best_guess(epsilon: float, delta: float) -> float:
    """How often an attacker is right, at best, who saw everything and had fifty-fifty before."""
    if epsilon > 700:
        return 1.0
    return min(1.0, (math.exp(epsilon) + delta) / (1 + math.exp(epsilon)))


def release_page(releases: list[Release], newest: int) -> bytes:
    """Releases as a page: each is the line that is published everywhere."""
    lines = b",".join(release_line(release) for release in releases)
    following = releases[-1].number if releases else newest
    return b'{"releases":[' + lines + f'],"next":{following},"newest":{newest}}}'.encode()


def server_sent(release: Release) -> bytes:
    """A release as a server-sent event, whose id a reader may come back with."""
    return b"id: %d\nevent: release\ndata: %b\n\n" % (release.number, release_line(release))


def listed_keys(shown: Shown) -> list[Any] | None:
    """The keys on a published list; None if what is published is no list of keys."""
    published = json.loads(shown.release.body)["hypothesis"]
    keys = published.get("positives") if isinstance(published, dict) else None
    return keys if isinstance(keys, list) else None


def record_fields(recipe: PrivateLearner) -> list[str] | None:
    """The names of the fields, where a point is a record."""
    domain = recipe.concepts.domain
    return [part.name for part in domain.fields] if isinstance(domain, Records) else None
