"""The commands ``littlestone fleet …``: a learner for each key, in PostgreSQL."""

import json
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from littlestone.catalogue import class_from_spec
from littlestone.cli.options import (
    Delta,
    Epsilon,
    Feature,
    InPlaceOfSchema,
    Label,
    Positive,
    SchemaFile,
    Source,
)
from littlestone.cli.stores.learn import chosen_recipe
from littlestone.concepts.schema import Schema
from littlestone.defaults import class_over
from littlestone.errors import StoreError
from littlestone.fleet import database
from littlestone.fleet.fleet_ledger import fleet_ledger
from littlestone.fleet.high_water import HighWater
from littlestone.fleet.per_key import PerKey
from littlestone.fleet.secret_file import create_secret, fingerprint, read_secret
from littlestone.fleet.worker import Worker
from littlestone.learners.run import PrivateLearner
from littlestone.service.events import Columns
from littlestone.service.sources import Form

app = typer.Typer(
    name="fleet",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A learner for each key, by the million, in PostgreSQL: "
    "init, put, work, status, releases.",
)

Dsn = Annotated[str, typer.Option(help="The database, as in postgresql://user@host/name.")]
Secret = Annotated[Path, typer.Option(help="The file of the secret; its mark lies beside it.")]


@app.command()
def init(
    dsn: Dsn,
    secret: Secret,
    schema: SchemaFile = None,
    concepts: InPlaceOfSchema = None,
    rounds: Annotated[int | None, typer.Option(help="Events of one key, at most.")] = None,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-7,
    learner: Annotated[str, typer.Option(help="A private learner, or auto.")] = "auto",
    setting: Annotated[str, typer.Option(help="For auto: realizable or agnostic.")] = "auto",
    adversary: Annotated[str, typer.Option(help="For auto: oblivious or adaptive.")] = "oblivious",
    max_contributions: Annotated[
        int, typer.Option(help="Events of one person under one key, at most.")
    ] = 1,
    max_keys: Annotated[int, typer.Option(help="Keys that one person appears under.")] = 1,
    shards: Annotated[int, typer.Option(help="As many workers can be busy at once.")] = 64,
) -> None:
    """Make a fleet: its tables, its secret, and the mark beside the secret."""
    if (schema is None) == (concepts is None):
        raise ValueError("exactly one of --schema and --class must be given")
    options = {
        "schema": None if schema is None else schema.read_text(encoding="utf-8"),
        "class": concepts,
        "learner": learner,
        "setting": setting,
        "adversary": adversary,
        "max_contributions": max_contributions,
        "budget": {"rounds": rounds, "epsilon": epsilon, "delta": delta},
    }
    recipe = _recipe(options)
    known = create_secret(secret)
    try:
        terms = database.create(
            dsn,
            recipe,
            fingerprint=fingerprint(known),
            shards=shards,
            max_keys=max_keys,
            options=options,
        )
    except BaseException:
        secret.unlink()  # nothing was stretched from it
        raise
    HighWater(_mark(secret), terms.identity, create=True).close()
    typer.echo(PerKey(learner=recipe, max_keys=max_keys).promise)


@app.command()
def put(
    source: Source,
    dsn: Dsn,
    key: Annotated[str, typer.Option(help="The column with the key, which is public.")],
    label: Label,
    feature: Feature = None,
    sequence: Annotated[
        str | None,
        typer.Option(help="The column with the event's number within its key; else as they come."),
    ] = None,
    positive: Positive = None,
) -> None:
    """Queue the events of a file, all or none. What was put before is dropped by its number."""
    from littlestone.fleet.reading import numbered

    with database.connect(dsn) as connection:
        recipe = _recipe_of(database.terms_of(connection))
        columns = Columns(label=label, feature=feature, identity=key, positive=positive)
        parts = numbered(
            source,
            recipe.concepts,
            columns,
            sequence=sequence,
            standard_input=sys.stdin.buffer,
            form=Form(),
        )
        typer.echo(f"{database.put_many(connection, recipe, parts):,} events put")


@app.command()
def work(
    dsn: Dsn,
    secret: Secret,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when nothing waits any more.")
    ] = False,
    adopt: Annotated[
        bool,
        typer.Option("--adopt", help="Vouch that the database was never put back: makes a mark."),
    ] = False,
    pause: Annotated[float, typer.Option(help="Seconds between two looks at the queue.")] = 0.2,
) -> None:
    """Take events from the queue; start as many workers as there are cores, anywhere."""
    with database.connect(dsn) as connection:
        terms = database.terms_of(connection)
        recipe, known = _recipe_of(terms), read_secret(secret)
        if fingerprint(known) != terms.fingerprint:
            raise StoreError(f"{secret} is not the secret of this fleet")
        mark = HighWater(_mark(secret), terms.identity, create=adopt)
        worker, taken = Worker(connection, terms, recipe, known, mark), 0
        try:
            while True:
                taken += (some := worker.work())
                if not some and until_empty and not database.status(connection)["waiting"]:
                    break
                if not some:
                    time.sleep(pause)
        except KeyboardInterrupt:
            pass
        finally:
            mark.close()
        typer.echo(f"{taken:,} events taken")


@app.command()
def status(
    dsn: Dsn,
    as_json: Annotated[
        bool, typer.Option("--json", help="With the ledger, for other accountants.")
    ] = False,
) -> None:
    """Where the fleet stands, and what it promises to whom."""
    with database.connect(dsn) as connection:
        terms = database.terms_of(connection)
        recipe, found = _recipe_of(terms), database.status(connection)
        if as_json:
            ledger = fleet_ledger(PerKey(learner=recipe, max_keys=terms.max_keys), found)
            typer.echo(json.dumps({"status": found, "ledger": ledger}, ensure_ascii=False))
            return
        typer.echo(PerKey(learner=recipe, max_keys=terms.max_keys).promise)
        for name, number in found.items():
            typer.echo(f"{name:>14} {number:>15,}")


@app.command()
def releases(
    dsn: Dsn,
    key: Annotated[str | None, typer.Option(help="Of this key only.")] = None,
) -> None:
    """What was published, one line of JSON for each release: this is what may be shown."""
    with database.connect(dsn) as connection:
        for body, chain in database.releases(connection, key):
            typer.echo(json.dumps({**json.loads(body), "chain": chain.hex()}, ensure_ascii=False))


def _recipe_of(terms: "database.Terms") -> PrivateLearner:
    """The learner that the fleet was made for, made again; refused if it would be another."""
    recipe = _recipe(json.loads(terms.options))
    terms.require_recipe(recipe)
    return recipe


def _recipe(options: dict[str, Any]) -> PrivateLearner:
    if options["schema"] is not None:
        schema = Schema.from_mapping(tomllib.loads(options["schema"]))
        space = class_over(schema, setting=options["setting"])
    else:
        space = class_from_spec(options["class"])
    recipe: Any = chosen_recipe(
        space,
        options["learner"],
        options["setting"],
        options["adversary"],
        options["budget"],
        Console(quiet=True),
    )
    if options["max_contributions"] != 1:  # the recipe refuses what is below
        recipe = replace(recipe, max_contributions=options["max_contributions"])
    made: PrivateLearner = recipe
    return made


def _mark(secret: Path) -> Path:
    return secret.with_name(secret.name + ".mark")
