"""The command ``littlestone predict`` asks a published rule about the rows of a file."""

import csv
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from littlestone.cli.options import Delimiter, Encoding, Feature, NoHeader, Source
from littlestone.concepts.hypotheses.vote import domain_of
from littlestone.concepts.json_form import hypothesis_from_json
from littlestone.service.events import read_points
from littlestone.service.outputs import refuse_overlap
from littlestone.service.published import newest_rule
from littlestone.service.sources import Form


def run(
    rules: Annotated[
        Path, typer.Argument(metavar="RULES", help="What learn --out has written, or a store.")
    ],
    source: Source,
    feature: Feature = None,
    identity: Annotated[
        str | None, typer.Option("--id", help="A column to repeat; else the number of the line.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A CSV file; else it is printed.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8-sig",
    no_header: NoHeader = False,
) -> None:
    """With the newest rule there; labels are not looked at, and nothing is learned or spent.

    Over a schema each row has a prediction: what is missing or unknown counts as it did in
    learning. Elsewhere that of a row that does not fit is empty, and the exit status is 2.
    """
    release = newest_rule(rules)
    rule = hypothesis_from_json(release["hypothesis"])
    refuse_overlap({"out": out}, {"the input": Path(source)}, store=rules)
    points = read_points(
        source,
        domain_of(rule),
        feature=feature,
        kept=identity,
        standard_input=sys.stdin.buffer,
        form=Form(delimiter=delimiter, encoding=encoding, header=not no_header),
    )
    typer.echo(f"rule {release['release']} of run {release['run']}", err=True)
    odd = empty = 0
    with nullcontext(sys.stdout) if out is None else out.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([identity or "line", "prediction"])
        for line, name, point, misfit in points:
            told = "" if point is None else rule(point)
            odd, empty = odd + (misfit is not None), empty + (point is None)
            table.writerow([line if identity is None else name, told])
    if odd:
        typer.echo(f"{odd} rows with something missing or unknown", err=True)
    if empty:
        raise ValueError(f"{empty} rows do not fit and have no prediction")
