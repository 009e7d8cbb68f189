"""Share the options of all fleets: how a learner is chosen, and where the mark lies."""

import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import psycopg
import typer

from littlestone.cli.options import BookFile, RequestOptions, options_of
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.runs.book import Book
from littlestone.runs.files import (
    create_secret,
    fingerprint,
    refuse_beside,
    refuse_secret,
    sync_folder,
)
from littlestone.runs.fleet.commits import HighWater
from littlestone.runs.fleet.per_key import PerKey
from littlestone.runs.fleet.terms import Terms, fleet_ledger, recipe_of
from littlestone.runs.intake.lines import Position
from littlestone.runs.journal.postgresql import connect, refusing

Dsn = Annotated[str, typer.Option(help="The database, as in postgresql://user@host/name.")]
Secret = Annotated[Path, typer.Option(help="The file of the secret; its mark lies beside it.")]
MaxKeys = Annotated[int, typer.Option(help="The most keys that one person appears under.")]
Key = Annotated[str, typer.Option(help="The column with the key, which is public.")]
UntilEmpty = Annotated[bool, typer.Option("--until-empty", help="Stop when no event is waiting.")]
Adopt = Annotated[
    bool,
    typer.Option(
        "--adopt", help="Confirm that nothing was restored from an old copy; creates a mark."
    ),
]
Pause = Annotated[float, typer.Option(help="The least seconds between two looks for events.")]
WithLedger = Annotated[bool, typer.Option("--json", help="Print JSON, including the ledger.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFleet(RequestOptions):
    """The options of ``init`` on every engine."""

    secret: Secret
    max_keys: MaxKeys = 1
    book: BookFile = None

    def make(self, create: Callable[..., Terms]) -> None:
        """Enter the fleet in the book, create its secret, call ``create``, and create the mark.

        ``create`` gets the recipe and the parts of its terms that all engines have.
        """
        request = self.request()
        recipe, options = request.recipe(), request.to_json()
        stated: Any = {"max_keys": self.max_keys, "users": self.user, "options": options}
        fleet = PerKey(learner=recipe, max_keys=self.max_keys, users=self.user)
        with (
            refusing_errors(),
            new_secret(self.secret) as mine,
            entered(self.book, self.secret, fleet.guarantee(), fleet.promise),
        ):
            terms = create(recipe, fingerprint=mine, **stated)
        HighWater(mark_of(self.secret), terms.identity, create=True).close()


of_a_new_fleet = options_of(NewFleet, "fleet")
"""Decorates a command whose argument ``fleet`` is built from the options of ``NewFleet``."""


@contextmanager
def refusing_errors() -> Iterator[None]:
    """Report an error of the database in one line, without data."""
    try:
        yield
    except psycopg.Error:
        with refusing("the database"):
            raise


@contextmanager
def connected(dsn: str) -> "Iterator[psycopg.Connection[Any]]":
    """Connect to a database, and report its errors in one line."""
    with refusing_errors(), connect(dsn) as connection:
        yield connection


def group(name: str, words: str) -> typer.Typer:
    """Return a group of commands; ``words`` is its help."""
    return typer.Typer(
        name=name,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        help=words,
    )


def work_on(
    work: Callable[[], int],
    status: Callable[[], Mapping[str, int]],
    mark: HighWater,
    *,
    until_empty: bool,
    pause: float,
) -> int:
    """Work until Ctrl-C, or until no event is waiting; close the mark; return how much was done."""
    done = 0
    try:
        while True:
            done += (some := work())
            if some:
                continue
            if until_empty and not status()["waiting"]:
                break
            time.sleep(pause)
    except KeyboardInterrupt:
        pass
    finally:
        mark.close()
    return done


def print_progress(terms: Terms, found: dict[str, int], as_json: bool) -> None:
    """Print the status of a fleet, and what it promises to whom."""
    fleet = PerKey(learner=recipe_of(terms), max_keys=terms.max_keys, users=terms.users)
    print_status(found, fleet.promise, fleet_ledger(fleet, found), as_json)


def print_status(
    found: dict[str, int], promise: str, ledger: dict[str, Any], as_json: bool
) -> None:
    """Print a status with its promise, or JSON with the ledger."""
    if as_json:
        typer.echo(json.dumps({"status": found, "ledger": ledger}, ensure_ascii=False))
        return
    typer.echo(promise)
    for name, number in found.items():
        typer.echo(f"{name:>14} {number:>15,}")


def warn_of_unfinished_line(position: Position, source: str, *, again: str) -> None:
    """Warn of a last line that was not put because it has no line end."""
    if position.unfinished is not None:
        typer.echo(
            f"line {position.unfinished} of {source} has no line end and was not put: it may be "
            f"half-written. Complete it and {again}, or give --complete",
            err=True,
        )


@contextmanager
def entered(
    book: Path | None, secret: Path, promised: PrivacyGuarantee, promise: str
) -> Iterator[None]:
    """Reserve budget before anything else is created; enter the fleet when all is done.

    The book records the place of the secret, which is new. The reservation is returned if the fleet
    cannot be entered: what is left then is unusable.
    """
    if book is None:
        yield
    else:
        known = Book(book)
        with known.reserved(secret, promised, promise) as reserved:
            yield
            known.register(reserved.identity, secret, promised, promise)
        typer.echo(known.explain())
    typer.echo(promise)


@contextmanager
def new_secret(path: Path) -> Iterator[bytes]:
    """Yield the fingerprint of a new secret, which gets its name when all else is done.

    A worker needs the secret: a fleet that is killed before it is entered in its book never works.
    """
    refuse_beside(path)
    for each in (path, mark_of(path)):
        refuse_secret(each)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        yield fingerprint(create_secret(draft))
        try:
            os.link(draft, path)  # fails if the file exists
        except FileExistsError:
            refuse_secret(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


def mark_of(secret: Path) -> Path:
    """Return the path of the mark beside a secret."""
    return secret.with_name(secret.name + ".mark")
