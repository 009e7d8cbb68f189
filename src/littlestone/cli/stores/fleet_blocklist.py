"""The commands ``littlestone fleet blocklist …``: one private list of keys, on many machines."""

import sys
import time
from typing import Annotated, Any

import typer

from littlestone.choose.request import Request
from littlestone.cli.asking import USUAL, Delta, Epsilon, MaxContributions, User
from littlestone.cli.options import Positive, Source
from littlestone.cli.stores import fleet_options as shared
from littlestone.errors import LittlestoneError
from littlestone.fleet import blocklist
from littlestone.fleet.database import connect
from littlestone.fleet.fleet_ledger import list_ledger
from littlestone.fleet.high_water import HighWater
from littlestone.fleet.secret_file import secret_of
from littlestone.fleet.terms import require_shards
from littlestone.fleet.user_shares import require_users
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.service.events import Columns, read
from littlestone.service.promises.users import promise_of
from littlestone.service.published import release_line
from littlestone.service.sources import BadRow

app = typer.Typer(
    name="blocklist",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="One private blocklist in PostgreSQL, its table in parts: "
    "init, put, work, status, releases.",
)


@app.command()
def init(
    dsn: shared.Dsn,
    secret: shared.Secret,
    rounds: Annotated[int, typer.Option(help="Events of the whole stream, at most.")],
    epsilon: Epsilon = USUAL["epsilon"],
    delta: Delta = USUAL["delta"],
    max_contributions: MaxContributions = USUAL["max_contributions"],
    parts: Annotated[int, typer.Option(help="As many workers can be busy at once.")] = 16,
    user: User = None,
    book: shared.BookFile = None,
) -> None:
    """Make a list: its tables, its first release (nobody is listed), its secret and the mark."""
    require_shards(parts=parts)
    require_users(user, max_contributions)
    budget: Any = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    asked = Request(over="keys", max_contributions=max_contributions, user=user, **budget)
    recipe = asked.recipe()
    assert isinstance(recipe, PrivateKeys)
    with (
        shared.new_secret(secret) as mine,
        shared.entered(book, secret, recipe.guarantee(), _promise(recipe, user)),
    ):
        identity = blocklist.create(dsn, recipe, fingerprint=mine, parts=parts, users=user)
    HighWater(shared.mark_of(secret), identity, create=True).close()


@app.command()
def put(
    source: Source,
    dsn: shared.Dsn,
    feature: Annotated[str, typer.Option(help="The column with the key, which is private.")],
    label: Annotated[str, typer.Option(help="The column with the label: 1 is a report.")],
    positive: Positive = None,
    first: Annotated[
        int | None,
        typer.Option(help="The round of the first row; else the one after the last that was put."),
    ] = None,
) -> None:
    """Queue the rows of a file as the coming rounds, all or none.

    With --first, rounds that were put before are dropped, whatever they say: so a file may be put
    again by whoever does not know whether it was.
    """
    with connect(dsn) as connection:
        terms = blocklist.terms_of(connection)
        recipe = terms.recipe
        columns = Columns(label=label, feature=feature, positive=positive, user=terms.users)
        xs, ys, users = list[Any](), list[int](), list[str | None]()
        for event in read(source, recipe.concepts, columns, standard_input=sys.stdin.buffer):
            if isinstance(event, BadRow):
                raise LittlestoneError(f"line {event.line}: {event}; nothing of {source} was put")
            assert event.example is not None  # every reader sets it
            xs.append(event.example[0])
            ys.append(event.y)
            users.append(event.user)
        typer.echo(f"{blocklist.put(connection, recipe, first, xs, ys, users):,} rounds put")


@app.command()
def work(
    dsn: shared.Dsn,
    secret: shared.Secret,
    until_empty: shared.UntilEmpty = False,
    adopt: shared.Adopt = False,
    pause: shared.Pause = 0.2,
) -> None:
    """Play the parts that nobody else has, and publish what all have passed."""
    with connect(dsn) as connection:
        terms = blocklist.terms_of(connection)
        known = secret_of(secret, terms.fingerprint)
        mark = HighWater(shared.mark_of(secret), terms.identity, create=adopt)
        worker = blocklist.PartWorker(connection, terms.recipe, known, mark)
        try:
            while True:
                if worker.work():
                    continue
                if until_empty and not blocklist.status(connection)["waiting"]:
                    break
                time.sleep(pause)
        except KeyboardInterrupt:
            pass
        finally:
            mark.close()
        typer.echo(f"{blocklist.status(connection)['rounds']:,} rounds published")


@app.command()
def status(dsn: shared.Dsn, as_json: shared.WithLedger = False) -> None:
    """Where the list stands, and what it promises."""
    with connect(dsn) as connection:
        terms, found = blocklist.terms_of(connection), blocklist.status(connection)
        promise = _promise(terms.recipe, terms.users)
        ledger = list_ledger(terms.recipe, promise, found, terms.users)
        shared.tell(found, promise, ledger, as_json)


@app.command()
def releases(dsn: shared.Dsn) -> None:
    """What was published, one line of JSON for each list: this is what may be shown."""
    with connect(dsn) as connection:
        for release in blocklist.releases(connection):
            typer.echo(release_line(release).decode())


def _promise(recipe: PrivateKeys, users: str | None) -> str:
    if users is not None:
        return f"{promise_of(recipe, users)}; their keys are protected, too"
    examples = recipe.max_contributions
    each = "one event" if examples == 1 else f"at most {examples} events"
    return f"{recipe.guarantee()} to a person with {each}, whose keys are protected, too"
