"""What the commands of all fleets share: how a learner is chosen, and where the mark lies."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from littlestone.cli.asking import Asked, options_of
from littlestone.fleet.fleet_ledger import fleet_ledger
from littlestone.fleet.high_water import HighWater
from littlestone.fleet.per_key import PerKey
from littlestone.fleet.secret_file import create_secret, fingerprint
from littlestone.fleet.terms import Terms, recipe_of
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.service.promises.book import Book

Dsn = Annotated[str, typer.Option(help="The database, as in postgresql://user@host/name.")]
Secret = Annotated[Path, typer.Option(help="The file of the secret; its mark lies beside it.")]
MaxKeys = Annotated[int, typer.Option(help="Keys that one person appears under.")]
BookFile = Annotated[
    Path | None, typer.Option("--book", help="The budget book of the data; it must have room.")
]
Key = Annotated[str, typer.Option(help="The column with the key, which is public.")]
UntilEmpty = Annotated[bool, typer.Option("--until-empty", help="End when nothing waits any more.")]
Adopt = Annotated[
    bool, typer.Option("--adopt", help="Vouch that nothing was ever put back: makes a mark.")
]
Pause = Annotated[float, typer.Option(help="Seconds between two looks for more, at least.")]
WithLedger = Annotated[bool, typer.Option("--json", help="With the ledger, for other accountants.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFleet(Asked):
    """What ``init`` is asked for on every engine: its options are these fields."""

    secret: Secret
    max_keys: MaxKeys = 1
    book: BookFile = None

    def make(self, create: Callable[[PrivateLearner, bytes], Terms]) -> None:
        """Enter it into the book, make its secret, let ``create`` make the rest, and the mark."""
        recipe = self.request().recipe()
        fleet = PerKey(learner=recipe, max_keys=self.max_keys, users=self.user)
        with (
            new_secret(self.secret) as mine,
            entered(self.book, self.secret, fleet.guarantee(), fleet.promise),
        ):
            terms = create(recipe, mine)
        HighWater(mark_of(self.secret), terms.identity, create=True).close()


of_a_new_fleet = options_of(NewFleet, "fleet")
"""Decorates a command whose argument ``fleet`` is made from the options of ``NewFleet``."""


def tell_standing(terms: Terms, found: dict[str, int], as_json: bool) -> None:
    """Where a fleet stands, and what it promises to whom."""
    fleet = PerKey(learner=recipe_of(terms), max_keys=terms.max_keys, users=terms.users)
    tell(found, fleet.promise, fleet_ledger(fleet, found), as_json)


def tell(found: dict[str, int], promise: str, ledger: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"status": found, "ledger": ledger}, ensure_ascii=False))
        return
    typer.echo(promise)
    for name, number in found.items():
        typer.echo(f"{name:>14} {number:>15,}")


@contextmanager
def entered(
    book: Path | None, secret: Path, promised: PrivacyGuarantee, promise: str
) -> Iterator[None]:
    """Refuse what the book has no room for before anything else is made; enter it when all is.

    It stands in the book under the place of its secret, which is new, and goes again unless it can
    be entered: what is left then is of no use to anybody.
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
    """The fingerprint of a fresh secret, which goes again if nothing comes of it."""
    known = create_secret(path)
    try:
        yield fingerprint(known)
    except BaseException:
        path.unlink()  # nothing was stretched from it
        raise


def mark_of(secret: Path) -> Path:
    return secret.with_name(secret.name + ".mark")
