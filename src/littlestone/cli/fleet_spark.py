"""Implement ``littlestone fleet spark …``: a learner for each key, on Apache Spark."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from littlestone.cli import fleet_options as shared
from littlestone.cli.options import Feature, Label, Positive
from littlestone.errors import LittlestoneError
from littlestone.learners.run import PrivateLearner
from littlestone.runs.fleet.keyed import key_name
from littlestone.runs.fleet.spark_files import census
from littlestone.runs.fleet.spark_folder import NOT_COUNTED, REFUSED, RELEASED, SparkFolder
from littlestone.runs.fleet.terms import Terms, recipe_of, require_shards
from littlestone.runs.intake.readers import Columns

app = shared.group(
    "spark",
    "Run a fleet on Apache Spark, with states in a checkpoint: init, work, status, releases.",
)

_MOST_NAMED = 10
Folder = Annotated[Path, typer.Argument(help="The fleet's folder, shared by all machines.")]


@app.command()
@shared.of_a_new_fleet
def init(
    folder: Folder,
    fleet: shared.NewFleet,
    partitions: Annotated[int, typer.Option(help="Tasks of a batch; permanent.")] = 8,
) -> None:
    """Create a fleet: its folder, its secret, and the mark beside the secret.

    It does not count users: --user is rejected before anything is entered in a book.
    """
    if fleet.user is not None:
        raise ValueError(NOT_COUNTED)
    require_shards(partitions=partitions)

    def create(recipe: PrivateLearner, **stated: Any) -> Terms:
        terms = Terms.planned(recipe, shards=partitions, **stated)
        return SparkFolder.from_terms(folder, terms).terms

    fleet.make(create)


@app.command()
def work(
    folder: Folder,
    secret: shared.Secret,
    events: Annotated[
        Path, typer.Option(help="The folder into which files of JSON lines are moved.")
    ],
    key: shared.Key,
    label: Label,
    sequence: Annotated[
        str, typer.Option(help="The column with the event's number within its key, from 1.")
    ],
    feature: Feature = None,
    positive: Positive = None,
    until_empty: shared.UntilEmpty = False,
    adopt: shared.Adopt = False,
    pause: shared.Pause = 1.0,
    files: Annotated[int | None, typer.Option(help="The most files in one batch.")] = None,
    master: Annotated[
        str | None,
        typer.Option(help="The master of Spark; by default that of spark-submit, or local[*]."),
    ] = None,
) -> None:
    """Take files batch by batch; run one driver for each fleet, and restart it if it is killed."""
    if shutil.which("java") is None:
        raise ValueError(
            "java is missing, which Spark needs: apt-get install openjdk-17-jre-headless"
        )
    from littlestone.runs.fleet.spark_job import SparkFleet, session

    place = SparkFolder(folder)
    fleet = SparkFleet(place, recipe_of(place.terms), secret, adopt=adopt)
    before = place.progress().rounds
    columns = Columns(label=label, feature=feature, identity=key, positive=positive)
    try:
        left = fleet.take(
            session(master),
            events,
            columns,
            sequence=sequence,
            files=files,
            until_empty=until_empty,
            pause=pause,
            tell=lambda found: typer.echo(f"not taken: {found}", err=True),
        )
    except KeyboardInterrupt:
        left = []
    finally:
        fleet.close()
        typer.echo(f"{place.progress().rounds - before:,} events taken")
    wrong = [found for found in left if not found.by_name]
    if wrong:
        rest = " …; littlestone fleet spark releases --refused names all" * (
            len(wrong) > _MOST_NAMED
        )
        raise LittlestoneError(
            f"{len(wrong)} of the files in {str(events)!r} could not be taken; all others were: "
            f"{'; '.join(map(str, wrong[:_MOST_NAMED]))}{rest}"
        )


@app.command()
def status(folder: Folder, as_json: shared.WithLedger = False) -> None:
    """Show the status of the fleet, and what it promises to whom."""
    place = SparkFolder(folder)
    found = asdict(place.progress())
    found.pop("chain")
    found["behind a gap"] = found.pop("early")  # as in PostgreSQL
    taken, left = census(place.path)
    found |= {"files": taken, "files not taken": len(left)}
    shared.print_progress(place.terms, found, as_json)


@app.command()
def releases(
    folder: Folder,
    key: Annotated[str | None, typer.Option(help="Print this key only.")] = None,
    refused: Annotated[
        bool,
        typer.Option(
            "--refused", help="Print lines and files that were not taken, and why; secret."
        ),
    ] = False,
) -> None:
    """Print what was published, one line of JSON for each release: this may be shown."""
    place = SparkFolder(folder)
    if refused:
        for left in census(place.path)[1]:
            found = {"reason": left.reason, "file": left.name}
            typer.echo(json.dumps(found, ensure_ascii=False))
        for line in place.lines(REFUSED):
            typer.echo(line.decode())
        return
    run = None if key is None else key_name(key).text
    for line in place.lines(RELEASED):
        if run is None or json.loads(line)["run"] == run:
            typer.echo(line.decode())
