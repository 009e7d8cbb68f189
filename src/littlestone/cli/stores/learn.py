"""The command ``littlestone learn`` publishes a rule from a stream of events, durably."""

import math
import re
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from typing import IO, Annotated, Any

import typer
from rich.console import Console

from littlestone import require
from littlestone.cli.asking import Asked, options_of
from littlestone.cli.options import Encoding, Feature, Label, NoHeader, Positive, Source
from littlestone.cli.stores.choosing import going_on, said
from littlestone.cli.stores.config import declared_space, loaded, written
from littlestone.cli.stores.progress import Progress
from littlestone.concepts.capabilities import Records
from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import LittlestoneError, StoreError
from littlestone.learners.run import PrivateLearner
from littlestone.service.durable import DurableRun
from littlestone.service.events import Columns, read
from littlestone.service.learning import BadRowError, Policy, Publisher, Tally, learn
from littlestone.service.log.intake import Event
from littlestone.service.outputs import refuse_overlap, write_whole
from littlestone.service.pace import Stopping
from littlestone.service.promises.book import Book, enter
from littlestone.service.promises.ranges import PaidRanges, fields_in, paid_in, promise_with
from littlestone.service.report import report
from littlestone.service.sources import BadRow, Form, Position, is_live
from littlestone.service.store import Reservation, read_about
from littlestone.theory.floors import points_floor

_UNITS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}

ADOPTED = (
    "adopted: {store} is continued from round {round} on your word that no other copy of it went "
    "further. If one did, the same noise is now spent on two streams, what both have published can "
    "be compared, and the promise holds for neither"
)


@options_of(Asked, "asked")
def run(
    ctx: typer.Context,
    source: Source,
    label: Label,
    store: Annotated[
        Path, typer.Option(help="The durable state; created, or continued as it was made.")
    ],
    asked: Asked,
    feature: Feature = None,
    identity: Annotated[
        str | None,
        typer.Option("--id", help="The column with the event's id; else the line of the file."),
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
            help="Publish at fixed times only, as in 1s, 500ms or 5m; else with each group.",
        ),
    ] = None,
    bad_rows: Annotated[
        str | None,
        typer.Option(
            help="Rows that do not fit: stand-in (a round all the same, as always over a schema), "
            "reject or stop; the last two show that they were there."
        ),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(
            "--source", help="Without --id: what the lines belong to; else the file's name."
        ),
    ] = None,
    positive: Positive = None,
    delimiter: Annotated[
        str | None, typer.Option(help="Between the values of a CSV; else as the header has it.")
    ] = None,
    encoding: Encoding = "utf-8-sig",
    no_header: NoHeader = False,
    complete: Annotated[
        bool,
        typer.Option("--complete", help="Take the last line even if it has no line end."),
    ] = False,
    book: Annotated[
        Path | None,
        typer.Option(help="The budget book of the data; a store that exceeds it is refused."),
    ] = None,
    other_data: Annotated[
        bool,
        typer.Option(
            "--other-data",
            help="Vouch that the schema's private ranges came from other people's rows: not added.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    adopt: Annotated[
        bool,
        typer.Option("--adopt", help="Vouch that no other copy of a store without mark went on."),
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            is_eager=True, callback=loaded, help="A TOML file with options; those given here win."
        ),
    ] = None,
) -> None:
    """From a file or a pipe; a store that exists is continued where it stands."""
    del config  # its options have come as defaults
    console = Console(stderr=True, quiet=quiet, markup=False, highlight=False)
    tables, concepts = declared_space(ctx, asked.schema, asked.concepts)
    begun, told = store.exists(), said(ctx)
    over = concepts if tables is None else fields_in(tables)
    ranges = () if other_data else paid_in(tables)
    user = read_about(store).get("users") if begun and "user" not in told else asked.user
    recipe = None if begun else _new(asked, tables, concepts, console)
    promise = "" if recipe is None else promise_with(recipe, user, ranges)  # refused by name
    if recipe is not None:
        _policy(recipe.concepts, bad_rows)
    # Everything is looked at before anything is created.
    require.integer(group=group, at_least=1)
    seconds = None if every is None else _seconds(every)
    in_class = (concepts or "").partition(":")[2].partition(",")[0]  # stumps:schema.toml,2
    inputs = {"the input": Path(source), "the schema": asked.schema, "the class": Path(in_class)}
    inputs["the book"] = book
    refuse_overlap({"out": out, "report": report_path}, inputs, store=store)
    publisher = Publisher(sys.stdout.buffer if out is None else out)
    name_said = origin is not None
    origin = Path(source).name.removesuffix(".gz") if origin is None else origin
    columns = Columns(
        label=label,
        feature=feature,
        identity=identity,
        positive=positive,
        user=user,
        origin=origin,
    )
    form = Form(delimiter=delimiter, encoding=encoding, header=not no_header, complete=complete)
    position = Position()

    def opened(space: ConceptClass) -> Iterable[Event | BadRow]:
        pipe = _standard_input()
        return read(source, space, columns, standard_input=pipe, form=form, position=position)

    known = None if book is None else Book(book)
    events: Iterable[Event | BadRow]
    if recipe is None:
        durable = DurableRun.resume(
            going_on(over, told, store),
            store,
            users=user,
            adopt=adopt,
            witness=publisher.testify,
        )
        if tables is not None:
            _refuse_other_ranges(durable, ranges, store)
        else:
            ranges = durable.ranges
        _enter_ranges(known, ranges, source, user, durable.run.recipe.max_contributions)
        enter(known, durable, store)
        # When rows are asked for: a silent pipe must not delay what is still to be published.
        events = chain.from_iterable(map(opened, (durable.run.recipe.concepts,)))
    else:
        publisher.refuse_known()
        events = opened(recipe.concepts)
        recipe.refuse_to_start()
        _enter_ranges(known, ranges, source, user, recipe.max_contributions)
        with _room_for(recipe, store, promise, known) as reserved:
            durable = DurableRun.start(
                recipe,
                store,
                users=user,
                reserved=reserved,
                ranges=ranges,
                options=written(ctx, tables),
            )
            enter(known, durable, store)
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
                stopping.paced(events, seconds) if waits else stopping.until(events),
                publisher,
                at_ticks=seconds is not None,
                group=group,
                policy=_policy(durable.run.recipe.concepts, bad_rows),
                named_by_line=identity is None,
                name_said=name_said,
                progress=progress.show,
            )
        if position.unfinished is not None:
            _warn(
                f"line {position.unfinished} of {source} has no line end and was not taken: it may "
                f"be half-written. Complete it and run this again, or say --complete"
            )
        _finish(console, durable, tally)
        if report_path is not None:
            page = page_of(durable, data=f"{origin} ({source})", tally=tally)
            write_whole(report_path, page)
            console.print(f"report: {report_path}")
        if stopping.signal is not None:
            console.print(
                f"stopped by {signal.Signals(stopping.signal).name}: what had been read was taken, "
                f"what was learned is published, and {store} goes on from round {durable.rounds}"
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
    asked: Asked, tables: Mapping[str, Any] | None, concepts: str | None, console: Console
) -> PrivateLearner:
    """The learner of a new store; if it was picked, say which."""
    request = asked.request_over(None if tables is None else fields_in(tables), concepts)
    recipe = request.recipe()
    if request.learner == "auto":
        console.print(f"{type(recipe).__name__}, for {request.adversary} streams")
    return recipe


def _warn(text: str) -> None:
    typer.echo(text, err=True)


def _seconds(text: str) -> float:
    """A time such as 1s, 500ms, 5m or 1h; a bare number is seconds."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *(ms|s|m|h|)", text.strip())
    seconds = 0.0 if found is None else float(found[1]) * _UNITS[found[2]]
    if not 0.01 <= seconds <= 86_400:
        raise ValueError(f"every must be from 10ms to 24h, as in 1s, got every={text!r}")
    return seconds


def _standard_input() -> IO[bytes]:
    """A reader of its own: the thread that waits for rows may still hold it when all is over."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except (OSError, ValueError):  # in tests it has no number
        return sys.stdin.buffer


def _room_for(
    recipe: PrivateLearner, store: Path, promise: str, book: Book | None
) -> AbstractContextManager[Reservation | None]:
    """In the book, if there is one, until the store is entered there or cannot be made."""
    return nullcontext() if book is None else book.reserved(store, recipe.guarantee(), promise)


def _enter_ranges(
    book: Book | None, ranges: Sequence[PaidRanges], source: str, user: str | None, most: int
) -> None:
    """Once for all stores that use them: what ``schema --book`` has entered is known."""
    if book is not None:
        for paid in ranges:
            paid.enter(book, source, users=user, most=most)


def _refuse_other_ranges(durable: DurableRun, ranges: Sequence[PaidRanges], store: Path) -> None:
    if durable.ranges != tuple(ranges):
        counts = "counts" if durable.ranges else "does not count"
        durable.close()
        raise StoreError(
            f"{store} {counts} what was spent on the ranges of its schema: say the same as at the "
            f"first start (the tables private-ranges of the schema, --other-data)"
        )


def _policy(space: ConceptClass, asked: str | None) -> Policy:
    """Where there are stand-ins every row is a round, unless it is asked for otherwise."""
    records = isinstance(space.domain, Records)
    if asked not in (None, "stand-in", "reject", "stop"):
        raise ValueError(f"bad-rows must be 'stand-in', 'reject' or 'stop', got {asked!r}")
    if asked == "stand-in" and not records:
        raise ValueError("bad-rows can be 'stand-in' over a schema only: it declares them")
    return asked or ("stand-in" if records else "reject")  # type: ignore[return-value]


def _finish(console: Console, durable: DurableRun, tally: Tally) -> None:
    for line in tally.lines()[:20]:
        console.print(line)
    with_stand_ins = f" ({tally.stood_in} with stand-ins)" if tally.stood_in else ""
    unread = f" ({tally.unread} unread: their users had had their share)" if tally.unread else ""
    console.print(
        f"{tally.taken} events taken{with_stand_ins}{unread}, {tally.repeated} seen before, "
        f"{tally.rejected} rejected; {durable.run.status}"
    )
    if durable.rounds:
        console.print(f"{durable.mistakes:,} mistakes; for your eyes only, in hindsight:")
        for line in durable.hindsight().lines(durable.mistakes):
            console.print(f"  {line}")
    console.print(durable.run.ledger.explain())


def page_of(durable: DurableRun, *, data: str = "", tally: Tally | None = None) -> str:
    """The report, with the bounds that hold for the recipe."""
    recipe: Any = durable.run.recipe
    bound = float(recipe.mistake_bound(failure_probability=0.05))
    known = math.isfinite(bound) and bound < (recipe.rounds or math.inf)
    bounds = {"bound": bound if known else None, "floor": _floor(recipe)}
    return report(durable, **bounds, data=data, tally=tally)


def _floor(recipe: Any) -> float | None:
    """Mistakes that some stream forces on every learner: half the dimension at least."""
    space, cost = recipe.concepts, recipe.per_example
    try:
        floor = float(space.littlestone_dimension / 2)
    except ValueError:  # the class does not know its dimension
        return None
    if space.domain.size is not None:
        return floor
    return max(floor, points_floor(rounds=recipe.rounds, epsilon=cost.epsilon, delta=cost.delta))
