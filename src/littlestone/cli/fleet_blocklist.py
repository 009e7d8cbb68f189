"""Implement ``littlestone fleet blocklist …``: one private list of keys, on many machines."""

import sys
from functools import partial
from typing import Annotated, Any

import typer

from littlestone.choose.request import Request
from littlestone.cli import fleet_options as shared
from littlestone.cli.options import (
    USUAL,
    BookFile,
    Complete,
    EventDelta,
    EventEpsilon,
    FormOptions,
    MaxContributions,
    Positive,
    Source,
    User,
    options_of,
)
from littlestone.errors import LittlestoneError
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.runs.files import secret_of
from littlestone.runs.fleet import blocklist
from littlestone.runs.fleet.commits import HighWater
from littlestone.runs.fleet.over_limit import require_users
from littlestone.runs.fleet.terms import list_ledger, require_shards
from littlestone.runs.intake.form import BadRow
from littlestone.runs.intake.lines import Position
from littlestone.runs.intake.readers import Columns, read_blocks, singly
from littlestone.runs.intake.users import promise_of
from littlestone.runs.published import release_line

app = shared.group(
    "blocklist",
    "Run one private blocklist in PostgreSQL, split into parts: init, put, work, status, releases.",
)


@app.command()
def init(
    dsn: shared.Dsn,
    secret: shared.Secret,
    rounds: Annotated[int, typer.Option(help="The most events of the whole stream.")],
    epsilon: EventEpsilon = USUAL["epsilon"],
    delta: EventDelta = USUAL["delta"],
    max_contributions: MaxContributions = USUAL["max_contributions"],
    parts: Annotated[int, typer.Option(help="How many workers can be busy at once.")] = 16,
    user: User = None,
    book: BookFile = None,
) -> None:
    """Create a list: its tables, its first release (an empty list), its secret and the mark."""
    require_shards(parts=parts)
    require_users(user, max_contributions)
    budget: Any = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    request = Request(over="keys", max_contributions=max_contributions, user=user, **budget)
    recipe = request.recipe()
    assert isinstance(recipe, PrivateKeys)
    with (
        shared.refusing_errors(),
        shared.new_secret(secret) as mine,
        shared.entered(book, secret, recipe.guarantee(), _promise(recipe, user)),
    ):
        identity = blocklist.create(dsn, recipe, fingerprint=mine, parts=parts, users=user)
    HighWater(shared.mark_of(secret), identity, create=True).close()


@app.command()
@options_of(FormOptions, "file")
def put(
    source: Source,
    dsn: shared.Dsn,
    feature: Annotated[str, typer.Option(help="The column with the key, which is private.")],
    label: Annotated[str, typer.Option(help="The column with the label: 1 is a report.")],
    file: FormOptions,
    positive: Positive = None,
    first: Annotated[
        int | None, typer.Option(help="The round of the first row; by default the next round.")
    ] = None,
    complete: Complete = False,
) -> None:
    """Queue the rows of a file as the next rounds, all or none.

    With --first, rounds that were put before are dropped, whatever they contain: so it is safe to
    put a file again after a failure.
    """
    with shared.connected(dsn) as connection:
        terms = blocklist.terms_of(connection)
        recipe = terms.recipe
        columns = Columns(label=label, feature=feature, positive=positive, user=terms.users)
        xs, ys, users = list[Any](), list[int](), list[str | None]()
        position = Position()
        items = read_blocks(
            source,
            recipe.concepts,
            columns,
            standard_input=sys.stdin.buffer,
            form=file.form(complete=complete),
            position=position,
        )
        for event in singly(items):
            if isinstance(event, BadRow):
                raise LittlestoneError(f"line {event.line}: {event}; nothing of {source} was put")
            assert event.example is not None  # every reader sets it
            xs.append(event.example[0])
            ys.append(event.y)
            users.append(event.user)
        typer.echo(f"{blocklist.put(connection, recipe, first, xs, ys, users):,} rounds put")
        again = "put the file again with --first, the round of its first row"
        shared.warn_of_unfinished_line(position, source, again=again)


@app.command()
def work(
    dsn: shared.Dsn,
    secret: shared.Secret,
    until_empty: shared.UntilEmpty = False,
    adopt: shared.Adopt = False,
    pause: shared.Pause = 0.2,
) -> None:
    """Play the parts that no other worker has, and publish what all parts have passed."""
    with shared.connected(dsn) as connection:
        terms = blocklist.terms_of(connection)
        known = secret_of(secret, terms.fingerprint)
        mark = HighWater(shared.mark_of(secret), terms.identity, create=adopt)
        worker = blocklist.PartWorker(connection, terms.recipe, known, mark)
        status = partial(blocklist.status, connection)
        shared.work_on(worker.work, status, mark, until_empty=until_empty, pause=pause)
        typer.echo(f"{status()['rounds']:,} rounds published")


@app.command()
def status(dsn: shared.Dsn, as_json: shared.WithLedger = False) -> None:
    """Show the status of the list, and what it promises."""
    with shared.connected(dsn) as connection:
        terms, found = blocklist.terms_of(connection), blocklist.status(connection)
        promise = _promise(terms.recipe, terms.users)
        ledger = list_ledger(terms.recipe, promise, found, terms.users)
        shared.print_status(found, promise, ledger, as_json)


@app.command()
def releases(dsn: shared.Dsn) -> None:
    """Print what was published, one line of JSON for each list: this may be shown."""
    with shared.connected(dsn) as connection:
        for release in blocklist.releases(connection):
            typer.echo(release_line(release).decode())


def _promise(recipe: PrivateKeys, users: str | None) -> str:
    if users is not None:
        return f"{promise_of(recipe, users)}; their keys are protected, too"
    examples = recipe.max_contributions
    each = "one event" if examples == 1 else f"at most {examples} events"
    return f"{recipe.guarantee()} to a person with {each}, whose keys are protected, too"
