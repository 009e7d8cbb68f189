"""Implement ``littlestone fleet …``: a learner for each key, in PostgreSQL."""

import sys
from functools import partial
from typing import Annotated

import typer

from littlestone.cli import fleet_blocklist, fleet_spark
from littlestone.cli import fleet_options as shared
from littlestone.cli.check import check_first_rows
from littlestone.cli.options import (
    Check,
    Complete,
    Label,
    ReadingOptions,
    Source,
    options_of,
)
from littlestone.cli.output import Console
from littlestone.runs.files import secret_of
from littlestone.runs.fleet import database
from littlestone.runs.fleet.commits import HighWater
from littlestone.runs.fleet.terms import recipe_of, require_shards
from littlestone.runs.fleet.worker import Worker
from littlestone.runs.intake.lines import Position
from littlestone.runs.published import release_line

app = shared.group(
    "fleet", "Run a learner for each of millions of keys, or one blocklist, on PostgreSQL or Spark."
)
app.add_typer(fleet_spark.app)
app.add_typer(fleet_blocklist.app)


@app.command()
@shared.of_a_new_fleet
def init(
    dsn: shared.Dsn,
    fleet: shared.NewFleet,
    shards: Annotated[int, typer.Option(help="How many workers can be busy at once.")] = 64,
) -> None:
    """Create a fleet: its tables, its secret, and the mark beside the secret."""
    require_shards(shards=shards)
    fleet.make(partial(database.create, dsn, shards=shards))


@app.command()
@options_of(ReadingOptions, "file")
def put(
    source: Source,
    dsn: shared.Dsn,
    key: shared.Key,
    label: Label,
    file: ReadingOptions,
    sequence: Annotated[
        str | None,
        typer.Option(
            help="The column with the event's number within its key; by default in order."
        ),
    ] = None,
    check: Check = 1000,
    complete: Complete = False,
) -> None:
    """Queue the events of a file, all or none. Events that were put before are dropped by number.

    A fleet that was created with --user also reads the column named there.
    """
    from littlestone.runs.fleet.rows import numbered

    with shared.connected(dsn) as connection:
        terms = database.terms_of(connection)
        recipe = recipe_of(terms)
        columns = file.columns(label, identity=key, user=terms.users)
        form, position = file.form(complete=complete), Position()
        check_first_rows(source, recipe.concepts.domain, columns, form, check, Console(stderr=True))
        parts = numbered(
            source,
            recipe.concepts,
            columns,
            sequence=sequence,
            standard_input=sys.stdin.buffer,
            form=form,
            position=position,
        )
        typer.echo(f"{database.put_many(connection, recipe, parts):,} events put")
        shared.warn_of_unfinished_line(position, source, again="put the file again")


@app.command()
def work(
    dsn: shared.Dsn,
    secret: shared.Secret,
    until_empty: shared.UntilEmpty = False,
    adopt: shared.Adopt = False,
    pause: shared.Pause = 0.2,
) -> None:
    """Take events from the queue; start as many workers as there are cores, on any machine."""
    with shared.connected(dsn) as connection:
        terms = database.terms_of(connection)
        recipe, known = recipe_of(terms), secret_of(secret, terms.fingerprint)
        mark = HighWater(shared.mark_of(secret), terms.identity, create=adopt)
        worker, reported = Worker(connection, terms, recipe, known, mark), set[str]()

        def turn() -> int:
            taken = worker.work()
            for name in worker.refused.keys() - reported:
                typer.echo(worker.refused[name], err=True)
            reported.clear()
            reported.update(worker.refused)
            return taken

        status = partial(database.status, connection)
        taken = shared.work_on(turn, status, mark, until_empty=until_empty, pause=pause)
        typer.echo(f"{taken:,} events taken")
        worker.raise_refused()


@app.command()
def status(dsn: shared.Dsn, as_json: shared.WithLedger = False) -> None:
    """Show the status of the fleet, and what it promises to whom."""
    with shared.connected(dsn) as connection:
        terms, found = database.terms_of(connection), database.status(connection)
        shared.print_progress(terms, found, as_json)


@app.command()
def releases(
    dsn: shared.Dsn, key: Annotated[str | None, typer.Option(help="Print this key only.")] = None
) -> None:
    """Print what was published, one line of JSON for each release: this may be shown."""
    with shared.connected(dsn) as connection:
        for release in database.releases(connection, key):
            typer.echo(release_line(release).decode())
