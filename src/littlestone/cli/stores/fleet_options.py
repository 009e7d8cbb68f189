"""What the commands of all fleets share: how a learner is chosen, and where the mark lies."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from littlestone.fleet.fleet_ledger import fleet_ledger
from littlestone.fleet.high_water import HighWater
from littlestone.fleet.per_key import PerKey
from littlestone.fleet.secret_file import create_secret, fingerprint
from littlestone.fleet.terms import Terms, recipe_from, recipe_of
from littlestone.learners.run import PrivateLearner

Dsn = Annotated[str, typer.Option(help="The database, as in postgresql://user@host/name.")]
Secret = Annotated[Path, typer.Option(help="The file of the secret; its mark lies beside it.")]
Rounds = Annotated[int | None, typer.Option(help="Events of one key, at most.")]
Learner = Annotated[str, typer.Option(help="A private learner, or auto.")]
Setting = Annotated[str, typer.Option(help="For auto: realizable or agnostic.")]
Adversary = Annotated[str, typer.Option(help="For auto: oblivious or adaptive.")]
MaxContributions = Annotated[int, typer.Option(help="Events of one person under one key, at most.")]
MaxKeys = Annotated[int, typer.Option(help="Keys that one person appears under.")]
Key = Annotated[str, typer.Option(help="The column with the key, which is public.")]
UntilEmpty = Annotated[bool, typer.Option("--until-empty", help="End when nothing waits any more.")]
Adopt = Annotated[
    bool, typer.Option("--adopt", help="Vouch that nothing was ever put back: makes a mark.")
]
Pause = Annotated[float, typer.Option(help="Seconds between two looks for more, at least.")]
WithLedger = Annotated[bool, typer.Option("--json", help="With the ledger, for other accountants.")]


def options_of(
    schema: Path | None,
    concepts: str | None,
    *,
    learner: str,
    setting: str,
    adversary: str,
    max_contributions: int,
    **budget: Any,
) -> dict[str, Any]:
    """What a recipe can be made from again, as plain JSON."""
    if (schema is None) == (concepts is None):
        raise ValueError("exactly one of --schema and --class must be given")
    return {
        "schema": None if schema is None else schema.read_text(encoding="utf-8"),
        "class": concepts,
        "learner": learner,
        "setting": setting,
        "adversary": adversary,
        "max_contributions": max_contributions,
        "budget": budget,
    }


def tell_standing(terms: Terms, found: dict[str, int], as_json: bool) -> None:
    """Where a fleet stands, and what it promises to whom."""
    fleet = PerKey(learner=recipe_of(terms), max_keys=terms.max_keys)
    if as_json:
        ledger = fleet_ledger(fleet, found)
        typer.echo(json.dumps({"status": found, "ledger": ledger}, ensure_ascii=False))
        return
    typer.echo(fleet.promise)
    tell(found)


def tell(found: dict[str, int]) -> None:
    for name, number in found.items():
        typer.echo(f"{name:>14} {number:>15,}")


def make(
    secret: Path,
    options: dict[str, Any],
    *,
    max_keys: int,
    create: Callable[[PrivateLearner, bytes], Terms],
) -> None:
    """A secret, the fleet that ``create`` makes for its fingerprint, and the mark."""
    recipe = recipe_from(options)
    with new_secret(secret) as mine:
        terms = create(recipe, mine)
    HighWater(mark_of(secret), terms.identity, create=True).close()
    typer.echo(PerKey(learner=recipe, max_keys=max_keys).promise)


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
