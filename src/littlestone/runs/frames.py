"""Learn from a data frame as ``littlestone learn`` does from a file."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from littlestone import require
from littlestone.concepts.records.columns import (
    Unreadable,
    eager_frame,
    frame_columns,
    is_frame,
    listed,
)
from littlestone.errors import StoreError
from littlestone.learners.run import PrivateLearner
from littlestone.runs.book import Book, enter
from littlestone.runs.durable import DurableRun
from littlestone.runs.files import refuse_overlap
from littlestone.runs.intake.checking import examine
from littlestone.runs.intake.form import Form, Row
from littlestone.runs.intake.readers import Columns, blocks_of, needed_columns
from littlestone.runs.journal.places import place_of
from littlestone.runs.journal.protocol import Place, reporting_damage
from littlestone.runs.journal.run_log import read_about
from littlestone.runs.learning import BadRowError, Policy, Publisher, Tally, learn
from littlestone.runs.ranges import PaidRanges, promise_with
from littlestone.type_checks import is_a

_MEANING: Final = ("label", "positive", "at_least", "feature")
_ID: Final = "id"


@require.checked
def learn_frame(
    frame: Any,
    learner: PrivateLearner,
    *,
    store: str | Path,
    out: str | Path,
    label: str,
    source: str | None = None,
    identity: str | None = None,
    user: str | None = None,
    feature: str | None = None,
    positive: str | None = None,
    at_least: float | None = None,
    book: str | Path | None = None,
    check: int = 1000,
) -> Tally:
    """Learn from the rows of a data frame, durably, and publish the rules.

    The store is created, or continued; rows that it has taken before are not read again. The
    commands ``status``, ``report``, ``predict``, ``export`` and ``verify`` read what this writes.

    Args:
        frame: A frame of pandas, polars or pyarrow, or a relation of DuckDB.
        learner: What learns, as ``Request(over=schema).recipe()`` returns it.
        store: The durable state, a file or the address of a database.
        out: The file to which published rules are appended.
        label: The column with the label.
        source: The name of these rows; it distinguishes their lines from those of other frames.
        identity: In place of ``source``, the column with the id of an event.
        user: The column of the user, of whose events at most ``max_contributions`` are read.
        feature: The column with the point, for a class without a schema.
        positive: The label that counts as 1, and every other as 0.
        at_least: The least number that counts as 1, where labels are numbers.
        book: The budget book of the data.
        check: How many rows are looked at before anything is spent.

    Returns:
        What happened, for the owner's eyes only.

    Raises:
        BadRowError: Most of the first rows do not fit; nothing was spent.
        StoreError: The store learns something else, or is not the newest copy.
    """
    if not is_frame(frame):
        raise ValueError(f"frame must be a data frame, got a {type(frame).__name__}")
    if (source is None) == (identity is None):
        raise ValueError("either source, the name of the rows, or identity must be given")
    columns = Columns(
        label=label,
        feature=feature,
        identity=identity,
        positive=positive,
        at_least=at_least,
        user=user,
        origin=source or "",
    )
    rows = list(_rows(frame, needed_columns(learner.concepts.domain, columns)))
    _look_first(rows, learner, columns, check)
    place, target = place_of(str(store)), Path(out)
    refuse_overlap({"out": target}, {}, store=place.file)
    publisher = Publisher(target)
    made = _made(place)
    durable = _opened(
        learner, place, columns, publisher, None if book is None else Book(Path(book)), made
    )
    try:
        events = blocks_of(iter(rows), learner.concepts, columns, at_once=True)
        policy: Policy = "stand-in" if hasattr(learner.concepts.domain, "fields") else "reject"
        return learn(
            durable,
            events,
            publisher,
            policy=policy,
            named_by_line=identity is None,
            renamed=made is not None and made.get(_ID) != identity,
            source=source,
            to_continue=_in_arguments,
        )
    finally:
        publisher.close()
        durable.close()


def _rows(frame: Any, needed: list[str]) -> Iterator[Row]:
    """Yield the values of the needed columns, row by row; rows are counted from 1."""
    table = frame_columns(eager_frame(frame, list(dict.fromkeys(needed))))
    missing = [name for name in needed if name not in table]
    if missing:
        raise ValueError(
            f"there is no column {missing[0]!r}; there are: {', '.join(map(str, table))}"
        )
    columns = [map(_present, listed(table[name])) for name in needed]
    return enumerate(zip(*columns, strict=True), start=1)


def _present(value: Any) -> Any:
    """Return a plain value; None for what is there in place of a missing one: NaN, NaT or NA."""
    # What a subclass raises later would end the run and lose the rows after it.
    if is_a(value, str):
        return str.__str__(value)
    if is_a(value, Decimal):
        value = Decimal(value)
    if is_a(value, np.bool_ | np.number) and not is_a(value, np.timedelta64):
        value = value.item()  # of a column with a mask
    try:
        _ = value.__class__
    except Exception:  # of a proxy whose object is gone
        return Unreadable()
    try:
        return None if value != value else value
    except Exception:  # NA equals nothing, arrays have no single answer, a signalling NaN raises
        return None if type(value).__name__ == "NAType" else value


def _look_first(rows: list[Row], learner: PrivateLearner, columns: Columns, most: int) -> None:
    found = examine(islice(rows, most), learner.concepts.domain, columns, form=Form())
    refusal = found.refusal(columns.label) if most else None
    if refusal is not None:
        raise BadRowError(f"{_in_python(refusal)}. Nothing was spent; check=0 learns anyway")


def _in_python(advice: str) -> str:
    """Return advice for files as advice for frames: arguments, and types in place of marks."""
    text = re.sub("--positive (?=['N])", "positive=", advice)
    text = re.sub("--at-least (?=['N])", "at_least=", text)
    text = text.replace("(--positive says", "(positive says")
    text = text.replace("--positive and the one", "positive= and the one")
    marks = '--(decimal|thousands|units|date-format|encoding) ("[^"]*"|[^ ]*)'
    return re.sub(f"{marks}( {marks})*", "a column of numbers or dates, in place of text", text)


def _in_arguments(name: str | None, named: bool) -> str:
    way = "the column of those ids as identity"
    if name is not None:
        way = f"source={name!r}{' and no identity' * named}"
    return f"Give {way}; if they are other rows, use another store (and another budget)"


def _opened(
    learner: PrivateLearner,
    place: Place,
    columns: Columns,
    publisher: Publisher,
    book: Book | None,
    made: Mapping[str, Any] | None,
) -> DurableRun:
    """Start the run, or continue one that was ``made`` with these options."""
    written = _written(columns)
    if made is not None:
        if columns.identity is None and _ID in made:
            raise StoreError(
                f"{place} was created with identity={made[_ID]!r}: by their lines its rows would "
                f"be read a second time. Give the column of ids again"
            )
        meant, meaning = _meaning(made), _meaning(tomllib.loads(written))
        if meant != meaning:
            raise StoreError(
                f"{place} was created with {meant}, not {meaning}: one rule cannot learn two "
                f"meanings of a label"
            )
        durable = DurableRun.resume(
            learner, place, users=columns.user, witness=publisher.refuse_old_store
        )
        enter(book, durable, place)
        return durable
    publisher.refuse_known()
    learner.refuse_to_start()
    return started(learner, place, book, users=columns.user, options=written)


def started(
    recipe: PrivateLearner,
    place: Place,
    book: Book | None,
    *,
    users: str | None,
    ranges: Sequence[PaidRanges] = (),
    options: str,
) -> DurableRun:
    """Start a run for whose promise the book, if there is one, has room, and enter it there."""
    promised, promise = recipe.guarantee(), promise_with(recipe, users, ranges)
    with nullcontext() if book is None else book.reserved(place, promised, promise) as reserved:
        durable = DurableRun.start(
            recipe, place, users=users, reserved=reserved, ranges=ranges, options=options
        )
        enter(book, durable, place)
    return durable


def _written(columns: Columns) -> str:
    """Return what the label means, and which column has the ids, as TOML.

    The options of the command are stored in the same way.
    """
    given = {name: getattr(columns, name) for name in _MEANING} | {_ID: columns.identity}
    text = "".join(
        f"{name.replace('_', '-')} = {json.dumps(value, ensure_ascii=False)}\n"
        for name, value in given.items()
        if value is not None
    )
    return text.replace("\x7f", "\\u007f")  # which TOML does not allow, and JSON does


def _made(place: Place) -> dict[str, Any] | None:
    """Return the options that a store was created with; None if there is no store."""
    if not place.exists():
        return None
    with reporting_damage(place):
        return tomllib.loads(read_about(place)["options"])


def _meaning(options: Mapping[str, Any]) -> dict[str, Any]:
    keys = [name.replace("_", "-") for name in _MEANING]
    return {key: options[key] for key in keys if key in options}
