"""Implement ``littlestone learn``, which publishes a rule from a stream of events, durably."""

import math
import re
import signal
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from littlestone import require
from littlestone.cli.check import check_first_rows
from littlestone.cli.config import (
    declared_space,
    given_options,
    loaded,
    stored_learner,
    stored_reading,
    written,
)
from littlestone.cli.options import (
    BookFile,
    Check,
    Complete,
    Label,
    ReadingOptions,
    RequestOptions,
    Source,
    options_of,
)
from littlestone.cli.output import Console
from littlestone.cli.progress import Progress
from littlestone.concepts.capabilities import Records
from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import LittlestoneError, StoreError
from littlestone.lab.class_floors import mistakes_floor
from littlestone.learners.run import PrivateLearner
from littlestone.runs.book import Book, enter
from littlestone.runs.durable import DurableRun
from littlestone.runs.files import refuse_overlap, write_whole
from littlestone.runs.frames import started
from littlestone.runs.intake.lines import Position
from littlestone.runs.intake.pace import Stopping
from littlestone.runs.intake.readers import Item, read_blocks, singly
from littlestone.runs.intake.sources import is_live
from littlestone.runs.journal.places import place_of, shown
from littlestone.runs.journal.protocol import reporting_damage
from littlestone.runs.journal.run_log import read_about
from littlestone.runs.learning import BadRowError, Policy, Publisher, Tally, learn
from littlestone.runs.ranges import PaidRanges, fields_in, paid_in, promise_with
from littlestone.runs.report import report

_UNITS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}

ADOPTED = (
    "adopted: {store} is continued from round {round}; you confirmed that no other copy of it was "
    "continued. If one was, the same noise is spent on two streams, what both have published can "
    "be compared, and the promise holds for neither"
)


@options_of(ReadingOptions, "file")
@options_of(RequestOptions, "options")
def run(
    ctx: typer.Context,
    source: Source,
    label: Label,
    store: Annotated[
        str,
        typer.Option(
            metavar="FILE|ADDRESS",
            help="The durable state; created, or continued with its options. A file, or "
            "postgresql://user@host/db#FILE, whose key and mark are in and beside FILE.",
        ),
    ],
    options: RequestOptions,
    file: ReadingOptions,
    identity: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="The column with the event's id; by default that of the store, or the line of "
            "the file.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Append the published rules here instead of printing.")
    ] = None,
    report_path: Annotated[
        Path | None, typer.Option("--report", help="Write a one-page HTML report.")
    ] = None,
    group: Annotated[
        int, typer.Option(help="Events in one commit; 1 for the shortest delay.")
    ] = 1000,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Publish at fixed times only, as in 1s, 500ms or 5m; by default after each group.",
        ),
    ] = None,
    bad_rows: Annotated[
        str | None,
        typer.Option(
            help="Rows that do not fit: stand-in (still a round, the default over a schema), "
            "reject or stop; the last two reveal that such rows exist."
        ),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(
            "--source",
            help="The name of the source, for rows without an id; by default that of the file.",
        ),
    ] = None,
    check: Check = 1000,
    complete: Complete = False,
    book: BookFile = None,
    other_data: Annotated[
        bool,
        typer.Option(
            "--other-data",
            help="Confirm that the schema's private ranges came from other people's rows.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    adopt: Annotated[
        bool,
        typer.Option(
            "--adopt", help="Confirm that no other copy of a store without a mark is in use."
        ),
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            is_eager=True, callback=loaded, help="A TOML file with options; options given here win."
        ),
    ] = None,
) -> None:
    """Read a file or a pipe; continue an existing store at its end."""
    del config  # its options are the defaults
    console = Console(stderr=True, quiet=quiet, markup=False, highlight=False)
    tables, concepts = declared_space(ctx, options.schema, options.concepts)
    place, store = place_of(store), shown(store)  # without a password from here on
    begun, given = place.exists(), given_options(ctx)
    about = read_about(place) if begun else {}
    over = concepts if tables is None else fields_in(tables)
    ranges = () if other_data else paid_in(tables)
    user = about.get("users") if begun and "user" not in given else options.user
    # By the options of the store, unless others are given for this file.
    with reporting_damage(store):
        meant = stored_reading(ctx, about.get("options", ""), store)
        ids = tomllib.loads(about.get("options", "")).get("id")
    recipe = None if begun else _new(options, tables, concepts, console)
    if recipe is not None:
        promise_with(recipe, user, ranges)  # rejects other users by name
        _policy(recipe.concepts, bad_rows)
    # Everything is checked before anything is created.
    require.integer(group=group, at_least=1)
    seconds = None if every is None else _seconds(every)
    in_class = (concepts or "").partition(":")[2].partition(",")[0]  # stumps:schema.toml,2
    inputs = {"the input": Path(source), "the schema": options.schema, "the class": Path(in_class)}
    inputs["the book"] = book
    refuse_overlap({"out": out, "report": report_path}, inputs, store=place.file)
    publisher = Publisher(sys.stdout.buffer if out is None else out)
    named = origin
    origin = Path(source).name.removesuffix(".gz") if origin is None else origin
    identity = meant.get("identity", identity)
    stored = {each.name: meant[each.name] for each in fields(file) if each.name in meant}
    file = replace(file, **stored)
    columns = file.columns(label, identity=identity, user=user, origin=origin)
    form, position = file.form(complete=complete), Position()

    def opened(space: ConceptClass) -> Iterable[Item]:
        pipe = _standard_input()
        check_first_rows(source, space.domain, columns, form, check, console)
        return read_blocks(
            source, space, columns, standard_input=pipe, form=form, position=position
        )

    known = None if book is None else Book(book)
    events: Iterable[Item]
    if recipe is None:
        durable = DurableRun.resume(
            stored_learner(over, given, store),
            place,
            users=user,
            adopt=adopt,
            witness=publisher.refuse_old_store,
        )
        if tables is not None:
            _refuse_other_ranges(durable, ranges, store)
        else:
            ranges = durable.ranges
        _enter_ranges(known, ranges, source, user, durable.run.recipe.max_contributions)
        enter(known, durable, place)
        # Lazily: a silent pipe must not delay what is still to be published.
        events = chain.from_iterable(map(opened, (durable.run.recipe.concepts,)))
    else:
        publisher.refuse_known()
        events = opened(recipe.concepts)
        recipe.refuse_to_start()
        _enter_ranges(known, ranges, source, user, recipe.max_contributions)
        said = written(ctx, tables)
        durable = started(recipe, place, known, users=user, ranges=ranges, options=said)
    try:
        if durable.adopted:
            _warn(ADOPTED.format(store=store, round=durable.rounds))
        console.print(f"{durable.promise}; store {store}, round {durable.rounds}")
        if known is not None:
            console.print(known.explain())
        with Stopping() as stopping, Progress(console, durable, position) as progress:
            waits = is_live(source) or seconds is not None
            tally = learn(
                durable,
                stopping.paced(singly(events), seconds) if waits else stopping.until(events),
                publisher,
                at_ticks=seconds is not None,
                group=group,
                policy=_policy(durable.run.recipe.concepts, bad_rows),
                named_by_line=identity is None,
                renamed=recipe is None and ids != identity,
                source=named,
                progress=progress.show,
            )
        if position.unfinished is not None:
            _warn(
                f"line {position.unfinished} of {source} has no line end and was not taken: it may "
                f"be half-written. Complete it and run this again, or give --complete"
            )
        _finish(console, durable, tally)
        if report_path is not None:
            page = page_of(durable, data=f"{origin} ({source})", tally=tally)
            write_whole(report_path, page)
            console.print(f"report: {report_path}")
        if stopping.signal is not None:
            console.print(
                f"stopped by {signal.Signals(stopping.signal).name}: all rows read are taken, "
                f"all rules are published, and {store} continues from round {durable.rounds}"
            )
            raise typer.Exit(128 + stopping.signal)
        complaint = tally.complaint(label)
        if complaint is not None:
            raise BadRowError(complaint)
    except (LittlestoneError, OSError):
        console.print(f"stopped; everything acknowledged is in {store}")
        raise
    finally:
        publisher.close()
        durable.close()


def _new(
    options: RequestOptions,
    tables: Mapping[str, Any] | None,
    concepts: str | None,
    console: Console,
) -> PrivateLearner:
    """Return the learner of a new store; if it was chosen automatically, print which."""
    if tables is None and concepts is None:
        raise ValueError(
            "schema must name a file that declares the columns (--schema): littlestone check FILE "
            "says which lines it may have, and littlestone schema FILE writes one to fill in; or "
            "give --class, as in thresholds:64"
        )
    request = options.request_over(None if tables is None else fields_in(tables), concepts)
    recipe = request.recipe()
    if request.learner == "auto":
        console.print(f"{type(recipe).__name__}, for {request.adversary} streams")
    return recipe


def _warn(text: str) -> None:
    typer.echo(text, err=True)


def _seconds(text: str) -> float:
    """Parse a time such as 1s, 500ms, 5m or 1h; a bare number is seconds."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *(ms|s|m|h|)", text.strip())
    seconds = 0.0 if found is None else float(found[1]) * _UNITS[found[2]]
    if not 0.01 <= seconds <= 86_400:
        raise ValueError(f"every must be from 10ms to 24h, as in 1s, got every={text!r}")
    return seconds


def _standard_input() -> IO[bytes]:
    """Open a separate reader: the thread that waits for rows may still hold it at the end."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except (OSError, ValueError):  # in tests it has no descriptor
        return sys.stdin.buffer


def _enter_ranges(
    book: Book | None, ranges: Sequence[PaidRanges], source: str, user: str | None, most: int
) -> None:
    """Enter ranges once for all stores that use them; ``schema --book`` may have done so."""
    if book is not None:
        for paid in ranges:
            paid.enter(book, source, users=user, most=most)


def _refuse_other_ranges(durable: DurableRun, ranges: Sequence[PaidRanges], store: str) -> None:
    if durable.ranges != tuple(ranges):
        counts = "counts" if durable.ranges else "does not count"
        durable.close()
        raise StoreError(
            f"{store} {counts} what was spent on the ranges of its schema: give the same as at the "
            f"first start (the tables private-ranges of the schema, --other-data)"
        )


def _policy(space: ConceptClass, bad_rows: str | None) -> Policy:
    """Return the policy: with stand-ins every row is a round, unless ``bad_rows`` differs."""
    records = isinstance(space.domain, Records)
    if bad_rows not in (None, "stand-in", "reject", "stop"):
        raise ValueError(f"bad-rows must be 'stand-in', 'reject' or 'stop', got {bad_rows!r}")
    if bad_rows == "stand-in" and not records:
        raise ValueError("bad-rows can be 'stand-in' only over a schema, which declares stand-ins")
    return bad_rows or ("stand-in" if records else "reject")  # type: ignore[return-value]


def _finish(console: Console, durable: DurableRun, tally: Tally) -> None:
    for line in tally.lines()[:20]:
        console.print(line)
    with_stand_ins = f" ({tally.stood_in} with stand-ins)" if tally.stood_in else ""
    over_limit = (
        f" ({tally.over_limit} not read: their users reached --max-contributions)"
        if tally.over_limit
        else ""
    )
    if tally.beside:
        _warn(
            f"rows have no ids (--id), and the lines of {', '.join(map(repr, tally.beside[:5]))} "
            f"were read before: a row that is in both files was read twice"
        )
    console.print(
        f"{tally.taken} events taken{with_stand_ins}{over_limit}, {tally.repeated} seen before, "
        f"{tally.rejected} rejected; {durable.run.status}"
    )
    if durable.rounds:
        console.print(f"{durable.mistakes:,} mistakes; for your eyes only, in hindsight:")
        for line in durable.hindsight().lines(durable.mistakes):
            console.print(f"  {line}")
    console.print(durable.run.ledger.explain())


def page_of(durable: DurableRun, *, data: str = "", tally: Tally | None = None) -> str:
    """Return the report, with the bounds that hold for the recipe."""
    recipe: Any = durable.run.recipe
    bound = float(recipe.mistake_bound(failure_probability=0.05))
    known = math.isfinite(bound) and bound < (recipe.rounds or math.inf)
    bounds = {"bound": bound if known else None, "floor": _floor(recipe)}
    return report(durable, **bounds, data=data, tally=tally)


def _floor(recipe: Any) -> float | None:
    """Return the mistakes that an adversary who knows the rule forces on every such learner."""
    cost = recipe.per_example
    if recipe.rounds is None or cost.epsilon == math.inf:
        return None
    floor = mistakes_floor(
        recipe.concepts, rounds=recipe.rounds, epsilon=cost.epsilon, delta=cost.delta
    )
    return None if floor is None else floor.mistakes
