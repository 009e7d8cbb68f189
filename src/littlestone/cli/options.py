"""Arguments and options that several commands share are written once, here."""

from typing import Annotated

import typer

ClassSpec = Annotated[
    str, typer.Argument(metavar="CLASS", help="A concept class, as in thresholds:16 or points.")
]
ClassOption = Annotated[str, typer.Option("--class", help="A concept class.")]
Epsilon = Annotated[float, typer.Option(help="Privacy parameter.")]
Delta = Annotated[float, typer.Option(help="Privacy parameter.")]
Seed = Annotated[int | None, typer.Option(help="Replay; not private then.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Jobs = Annotated[int, typer.Option(help="How many run at once; results do not depend on it.")]
Engine = Annotated[
    str, typer.Option(help="Where they run: loky (processes on this machine), dask or ray.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="An existing dask or ray cluster, all of which is used; else a small one is started.",
    ),
]
Source = Annotated[str, typer.Argument(metavar="FILE", help="CSV, TSV, JSONL, Parquet, or - .")]
Label = Annotated[str, typer.Option(help="The column with the label.")]
Feature = Annotated[
    str | None, typer.Option(help="The column with the point, for classes without a schema.")
]
Positive = Annotated[
    str | None, typer.Option(help="The label that counts as 1, all others as 0; else 0 or 1.")
]
Delimiter = Annotated[str | None, typer.Option(help="Between the values of a CSV.")]
Encoding = Annotated[str, typer.Option(help="Of the text, as in latin-1.")]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="Rows begin at once; columns are 1, 2, and so on.")
]
