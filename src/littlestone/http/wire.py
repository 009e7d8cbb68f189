"""Define all messages of the service; everything public is built here and nowhere else.

What readers get is a function of a visible release and of the recipe, which was public before the
first example. A release is exactly the line that ``littlestone learn`` writes.
"""

import json
import re
from contextlib import suppress
from itertools import pairwise
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

import msgspec
import numpy as np
from starlette.exceptions import HTTPException
from starlette.responses import Response

from littlestone.http.hosted import RunTerms
from littlestone.http.visible import Shown
from littlestone.learners.run import PrivateLearner
from littlestone.runs.intake.users import promise_of
from littlestone.runs.journal.records import Release
from littlestone.runs.published import release_line

MOST_EVENTS: Final = 10_000
Identity = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
User = Annotated[str, msgspec.Meta(min_length=1, max_length=256)] | int
Label = Annotated[str, msgspec.Meta(max_length=256)] | int
"""0 or 1, or one of the labels that the schema declares."""
State = Literal["open", "opening", "broken"]


class EventIn(msgspec.Struct, forbid_unknown_fields=True):
    """One labelled example; sending the same id again changes nothing and returns the same receipt.

    ``user`` names the user, in a run that counts users and in no other.
    """

    x: Any
    y: Label
    id: Identity | None = None
    user: User | None = None


class Sent(msgspec.Struct, forbid_unknown_fields=True):
    """One event; or several under ``events``, which is the only field then."""

    x: Any = msgspec.UNSET
    y: Label | msgspec.UnsetType = msgspec.UNSET
    id: Identity | None = None
    user: User | None = None
    events: (
        Annotated[list[EventIn], msgspec.Meta(min_length=1, max_length=MOST_EVENTS)]
        | msgspec.UnsetType
    ) = msgspec.UNSET


One = TypeVar("One")
Decoded = TypeVar("Decoded")


class _Listed(msgspec.Struct, Generic[One], forbid_unknown_fields=True):
    events: Annotated[list[One], msgspec.Meta(min_length=1, max_length=MOST_EVENTS)]


_LIST: Final = re.compile(rb'\s*\{\s*"events"\s*:\s*\[')
_END: Final = re.compile(rb"\]\s*\}\s*")
_ESCAPED: Final = re.compile(rb"\\.", re.DOTALL)
_NAMES: Final = re.compile(
    b'"%b"' % b"".join(rb"(?:%c|\\u00(?i:%x))" % (letter, letter) for letter in b"events")
)
_UNFIT: Final = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


def each_in(body: bytes, kind: type[One]) -> list[One | str] | None:
    """Decode the events of a list one by one: each as an event, or as what is wrong with it.

    The same decoder reads one event and a whole body, so no event decides how another is read. What
    is a list depends on what surrounds the events: ``{"events": [`` and ``]}``, nothing else.

    Returns:
        None if the body is not a list of events, or the list is too long.
    """
    if _LIST.match(body) is None:
        return None
    if len(_NAMES.findall(body)) == 1:  # of two lists a decoder takes the last
        with suppress(*_UNFIT):
            listed: list[One | str] = msgspec.json.decode(body, type=_Listed[kind]).events  # type: ignore[valid-type]
            return listed
    written = _elements(body)
    if not written:
        return None
    return [alone(one, kind) for one in written]


def _elements(body: bytes) -> list[bytes] | None:
    """Return the elements of the list under ``events`` as they are written; None if too many.

    Brackets are counted: a parser rejects a whole body for one event that is nested too deeply, or
    whose text is not Unicode. All letters are looked at together, since a body has millions.
    """
    head = _LIST.match(body)
    if head is None:
        return None
    start = head.end()
    letters = np.frombuffer(_ESCAPED.sub(b"__", body), np.uint8)[start:]
    outside = np.cumsum(letters == ord('"'), dtype=np.uint8) % 2 == 0
    closed = outside & ((letters == ord("]")) | (letters == ord("}")))
    opened = outside & ((letters == ord("[")) | (letters == ord("{")))
    depth = np.cumsum(opened.astype(np.int32) - closed, dtype=np.int32)
    ends = np.flatnonzero(depth < 0)
    if not len(ends) or not _END.fullmatch(body, start + int(ends[0])):
        return None
    commas = np.flatnonzero(outside & (letters == ord(",")) & (depth == 0))
    cuts = [-1, *commas[commas < ends[0]].tolist(), int(ends[0])]
    if len(cuts) - 1 > MOST_EVENTS:
        return None
    found = [body[start + low + 1 : start + high] for low, high in pairwise(cuts)]
    return found if len(found) > 1 or found[0].strip() else []


def alone(written: bytes, kind: type[One]) -> One | str:
    """Decode one event, or return what is wrong with it."""
    try:
        return msgspec.json.decode(written, type=kind)
    except _UNFIT as problem:
        return f"the event does not fit: {_reason(problem)}"


class PointsIn(msgspec.Struct, forbid_unknown_fields=True):
    """Points to predict by the visible rule."""

    points: Annotated[list[Any], msgspec.Meta(max_length=100_000)]


class RunIn(msgspec.Struct, forbid_unknown_fields=True, rename={"concepts": "class"}):
    """A run to create. Give class or schema; schema maps fields to grids or values.

    With ``user``, a word for whose events are counted, each event must name its user, and at most
    ``max_contributions`` events of each user are read.
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

    def terms(self) -> RunTerms:
        """Return the terms; fields that are not given have the defaults of every request."""
        content: dict[str, Any] = msgspec.to_builtins(self)
        return RunTerms.from_json(content)


class EventOut(msgspec.Struct, omit_defaults=True):
    """A receipt with the round of the event, or the reason why it was rejected."""

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
    """When the owner confirmed that no other copy of the files is in use."""
    release: int | None = None
    round: int | None = None
    rule: str | None = None


class RemovedOut(msgspec.Struct):
    """The name of a deleted run, which may be used again."""

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
    """Labels, 0 or 1 or as the schema declares them, and the rule in words.

    The rule is the steady one at this release, or the last.
    """

    release: int
    labels: list[str | int]
    rule: str


class ErrorOut(msgspec.Struct):
    """Why a request was rejected."""

    error: str


encode = msgspec.json.encode
Receipts = dict[str, Any]  # an EventOut or an EventsOut; msgspec distinguishes structs by tags only


def run_out(
    terms: RunTerms, recipe: PrivateLearner, shown: Shown | None, state: State, adopted: list[str]
) -> RunOut:
    """Describe a run from its terms, its learner and its visible release."""
    over = terms.request.over
    return RunOut(
        name=terms.name,
        state=state,
        concepts=over if isinstance(over, str) else type(recipe.concepts).__name__,
        learner=type(recipe).__name__,
        promise=promise_of(recipe, terms.request.user),
        rounds=recipe.rounds,
        publish_every=terms.publish_every,
        user=terms.request.user,
        adopted=adopted,
        release=None if shown is None else shown.release.number,
        round=None if shown is None else shown.release.round,
        rule=None if shown is None else shown.rule,
    )


def guarantee_out(terms: RunTerms, recipe: PrivateLearner) -> GuaranteeOut:
    """Describe the guarantee of a learner."""
    promised, each = recipe.guarantee(), recipe.max_contributions
    one = "one event" if each == 1 else f"all of at most {each} events of one user"
    return GuaranteeOut(
        epsilon=promised.epsilon,
        delta=promised.delta,
        protects=f"one user, of whom at most {each} events are read" if terms.request.user else one,
        neighbours="replace-one: the same number of events, any of them replaced by another",
        adversary="sees every release and chooses the next event",
        best_guess=promised.best_guess,
        promise=promise_of(recipe, terms.request.user),
    )


def release_page(releases: list[Release], newest: int) -> bytes:
    """Return a page of releases; each is the line that is published everywhere."""
    lines = b",".join(release_line(release) for release in releases)
    following = releases[-1].number if releases else newest
    return b'{"releases":[' + lines + f'],"next":{following},"newest":{newest}}}'.encode()


def server_sent(release: Release) -> bytes:
    """Format a release as a server-sent event, whose id a reader may resume from."""
    return b"id: %d\nevent: release\ndata: %b\n\n" % (release.number, release_line(release))


def listed_keys(shown: Shown) -> list[Any] | None:
    """Return the published keys; None if the release is not a list of keys."""
    published = json.loads(shown.release.body)["hypothesis"]
    keys = published.get("positives") if isinstance(published, dict) else None
    return keys if isinstance(keys, list) else None


def answered(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a JSON response; bytes are sent as they are."""
    body = content if isinstance(content, bytes) else encode(content)
    return Response(body, status, headers, media_type="application/json")


async def refused(_: Any, problem: Exception) -> Response:
    """Answer a request that was rejected by an ``HTTPException``."""
    assert isinstance(problem, HTTPException)
    headers = dict(problem.headers or {})
    return answered(ErrorOut(str(problem.detail)), problem.status_code, headers)


def decoded(body: bytes, kind: type[Decoded]) -> Decoded:
    """Decode a JSON body, or raise 422 with the reason."""
    try:
        return msgspec.json.decode(body, type=kind)
    except _UNFIT as problem:
        raise HTTPException(422, f"the body does not fit: {_reason(problem)}") from None


def _reason(problem: Exception) -> str:
    return "is nested too deeply" if isinstance(problem, RecursionError) else str(problem)
