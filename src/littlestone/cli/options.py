"""Share options between commands, and the request that some of them build."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from littlestone.choose.request import NAMES, Request
from littlestone.concepts.schema import toml_tables
from littlestone.runs.intake.form import Form
from littlestone.runs.intake.readers import Columns

ClassSpec = Annotated[
    str, typer.Argument(metavar="CLASS", help="A concept class, as in thresholds:16 or points.")
]
ClassOption = Annotated[
    str, typer.Option("--class", help="A concept class, or yours, as in mine.py:Grid.")
]
Epsilon = Annotated[float, typer.Option(help="Privacy parameter.")]
Delta = Annotated[float, typer.Option(help="Privacy parameter.")]
Seed = Annotated[int | None, typer.Option(help="Replay with this seed; not private.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Jobs = Annotated[int, typer.Option(help="How many run in parallel; results do not depend on it.")]
Engine = Annotated[
    str, typer.Option(help="Where they run: loky (processes on this machine), dask or ray.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="The address of a dask or ray cluster to use; by default a small one is started.",
    ),
]
Source = Annotated[str, typer.Argument(metavar="FILE", help="CSV, TSV, JSONL, Parquet, or - .")]
Label = Annotated[str, typer.Option(help="The column with the label.")]
Feature = Annotated[
    str | None, typer.Option(help="The column with the point, for classes without a schema.")
]
Positive = Annotated[
    str | None,
    typer.Option(
        help="The label that counts as 1, all others as 0; by default 0 and 1, or yes and no."
    ),
]
Complete = Annotated[
    bool, typer.Option("--complete", help="Take the last line even if it has no line end.")
]
BookFile = Annotated[
    Path | None,
    typer.Option("--book", help="The budget book of the data; what exceeds it is rejected."),
]
AtLeast = Annotated[
    float | None, typer.Option(help="Labels are numbers: those from this one on count as 1.")
]
Delimiter = Annotated[
    str | None, typer.Option(help="The separator of a CSV; by default found in the header.")
]
Encoding = Annotated[str, typer.Option(help="The encoding of the text, as in latin-1.")]
Skip = Annotated[
    int, typer.Option(metavar="LINES", help="How many lines of a CSV come before its header.")
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="There is no header; columns are 1, 2, and so on.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormOptions:
    """How a source is written; the options are these fields."""

    delimiter: Delimiter = None
    encoding: Encoding = "utf-8-sig"
    no_header: NoHeader = False
    decimal: Annotated[str, typer.Option(help="The decimal mark, as in 27,79.")] = "."
    thousands: Annotated[
        str | None, typer.Option(help="The mark between groups of digits, as in 1.234,50.")
    ] = None
    date_format: Annotated[
        str | None,
        typer.Option(
            help='How dates are written, as in "%d.%m.%Y", or unix, unix-ms or excel for numbers; '
            "by default ISO 8601."
        ),
    ] = None
    units: Annotated[str, typer.Option(help='What may stand beside a number, as in "$ %".')] = ""
    skip: Skip = 0

    def form(self, *, complete: bool = True) -> Form:
        """Return what the readers need."""
        said = {each.name: getattr(self, each.name) for each in fields(FormOptions)}
        return Form(header=not said.pop("no_header"), complete=complete, **said)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions(FormOptions):
    """How a source is written, and what its labels and points mean."""

    feature: Feature = None
    positive: Positive = None
    at_least: AtLeast = None

    def columns(self, label: str, **named: Any) -> Columns:
        """Return what the readers need, with the names of further columns."""
        meaning = {"feature": self.feature, "positive": self.positive, "at_least": self.at_least}
        return Columns(label=label, **meaning, **named)  # type: ignore[arg-type]


Check = Annotated[
    int,
    typer.Option(
        metavar="ROWS",
        help="Check the first rows of a file before anything is spent, and reject it if most do "
        "not fit; 0 checks none.",
    ),
]
SchemaFile = Annotated[
    Path | None, typer.Option(help="Declares the columns; decision trees over it are learned.")
]
InPlaceOfSchema = Annotated[
    str | None, typer.Option("--class", help="In place of --schema, as in thresholds:64.")
]
Rounds = Annotated[int | None, typer.Option(help="The most events; most learners need it.")]
EventEpsilon = Annotated[float, typer.Option(help="The privacy budget of one event.")]
EventDelta = Annotated[
    float, typer.Option(help="The delta of one event, for learners that need it.")
]
Learner = Annotated[str, typer.Option(help="A private learner, or auto; see recommend.")]
AssumedSetting = Annotated[
    str, typer.Option(help="agnostic assumes nothing; realizable: some rule fits all events.")
]
Adversary = Annotated[
    str,
    typer.Option(
        help="oblivious, or adaptive if readers of the rules may choose events. Privacy "
        "holds for both; accuracy depends on it."
    ),
]
User = Annotated[
    str | None, typer.Option(help="The column of the user; then --max-contributions is enforced.")
]
MaxContributions = Annotated[
    int, typer.Option(help="The most events of one user; without --user you vouch for it.")
]

USUAL: Any = {part.name: part.default for part in fields(Request)}
"""The defaults of a request, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """The request of a command; its options are these fields."""

    schema: SchemaFile = None
    concepts: InPlaceOfSchema = None
    rounds: Rounds = USUAL["rounds"]
    epsilon: EventEpsilon = USUAL["epsilon"]
    delta: EventDelta = USUAL["delta"]
    learner: Learner = USUAL["learner"]
    setting: AssumedSetting = USUAL["setting"]
    adversary: Adversary = USUAL["adversary"]
    user: User = USUAL["user"]
    max_contributions: MaxContributions = USUAL["max_contributions"]

    def request(self) -> Request:
        """Return the request; a schema is read from its file."""
        tables = None if self.schema is None else toml_tables(self.schema)
        return self.request_over(tables, self.concepts)

    def request_over(self, tables: Mapping[str, Any] | None, concepts: str | None) -> Request:
        """Return the request over the tables of a schema, or over a class."""
        said = {name: getattr(self, name) for name in NAMES}
        return Request.from_json({"schema": tables, "class": concepts, **said})


def options_of(kind: Any, argument: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command whose ``argument`` is built from options: the fields of ``kind``."""
    options = signature(kind).parameters

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = {n: p for n, p in signature(command).parameters.items() if n != argument}

        @wraps(command)
        def run(**given: Any) -> None:
            made = kind(**{name: given.pop(name) for name in options})
            command(**{argument: made}, **given)

        every = [one.replace(kind=one.KEYWORD_ONLY) for one in (own | options).values()]
        run.__signature__ = Signature(every)  # type: ignore[attr-defined]
        return run

    return decorated
