"""Implement ``littlestone check``, which examines a file and spends nothing."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from littlestone.choose.request import Request
from littlestone.cli.config import declared_space
from littlestone.cli.options import (
    InPlaceOfSchema,
    MaxContributions,
    ReadingOptions,
    SchemaFile,
    Source,
    User,
    options_of,
)
from littlestone.concepts.protocols import Domain
from littlestone.runs.intake.checking import Findings, examine
from littlestone.runs.intake.form import Form, shown
from littlestone.runs.intake.lines import require_whole
from littlestone.runs.intake.looks import column_advice, counted
from littlestone.runs.intake.readers import Columns, needed_columns
from littlestone.runs.intake.sources import dialect_of, is_live, rows
from littlestone.runs.learning import BadRowError
from littlestone.runs.ranges import fields_in

EYES = (
    "For your eyes only: what follows is data. Nothing was spent and nothing is published; do not "
    "copy values or ranges from here into a schema unless they are public knowledge."
)


@options_of(ReadingOptions, "file")
def run(
    ctx: typer.Context,
    source: Source,
    file: ReadingOptions,
    label: Annotated[str | None, typer.Option(help="The column with the label.")] = None,
    schema: SchemaFile = None,
    concepts: InPlaceOfSchema = None,
    identity: Annotated[
        str | None, typer.Option("--id", help="The column with the event's id.")
    ] = None,
    user: User = None,
    max_contributions: MaxContributions = 1,
    most: Annotated[
        int | None, typer.Option("--rows", help="The most rows to look at; all by default.")
    ] = None,
) -> None:
    """Report what does not fit, what the columns look like, and what to add.

    The exit status is 2 if most rows do not fit, or if only one label can be read; learn rejects
    such a file, too.
    """
    if is_live(source):
        raise ValueError(f"check needs a file that can be read again, got {source!r}")
    tables, spec = declared_space(ctx, schema, concepts)
    space = None
    if tables is not None or spec is not None:
        declared = None if tables is None else fields_in(tables)
        request = Request.from_json({"schema": declared, "class": spec, "rounds": 1000})
        space = request.concepts.domain
    form = file.form()
    columns = file.columns(label or "", identity=identity, user=user)
    named = (columns.label, columns.identity, columns.user)
    needed = [*filter(None, named)] if space is None else needed_columns(space, columns)
    delimiter, names = dialect_of(source, needed, form) if form.header else (form.delimiter, [])
    others = [name for name in names if name and name not in needed and names.count(name) == 1]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    found = rows(source, [*needed, *others], form, sys.stdin.buffer)
    form = replace(form, delimiter=delimiter)
    findings = examine(islice(found, most), space, columns, form=form, others=others, source=source)
    if not findings.rows:
        raise ValueError(f"{source} has a header and no rows; nothing was checked")
    for line in _lines(findings, source, form, delimiter, columns, tables, max_contributions):
        typer.echo(line)
    for name in twice:
        typer.echo(f"- {name!r} is the name of {names.count(name)} columns: rename them to use one")
    for line in [] if space is None else findings.undeclared(space):
        typer.echo(f"- {line}")
    if findings.most_do_not_fit:
        raise BadRowError(
            f"most rows do not fit: {findings.misfits:,} of {findings.rows:,}; nothing was spent"
        )
    if findings.is_half_labelled(columns.label):
        raise BadRowError("only one label can be read; nothing was spent")


def check_first_rows(
    source: str, domain: Domain, columns: Columns, form: Form, most: int, console: Console
) -> None:
    """Reject a file if its first rows do not fit, before anything is created or spent."""
    if not most or is_live(source):
        return
    found, delimiter = _first_rows(source, domain, columns, form, most)
    require_whole(Path(source))
    refusal = found.refusal(columns.label)
    if refusal is not None:
        raise BadRowError(
            f"{refusal}. Nothing was spent. littlestone check says more, with the same file, "
            f"schema and label; --check 0 learns anyway"
        )
    if found.positive_is_mistyped:
        raise BadRowError(
            f"none of the first {found.rows:,} rows is labelled {columns.positive!r}, but "
            f"{found.positive_is_mistyped} is there. Nothing was spent. Add --positive "
            f"{found.positive_is_mistyped}; --check 0 learns anyway"
        )
    for warning in [*found.undeclared(domain), *found.warnings()]:
        console.print(warning)
    if delimiter not in (None, ",", form.delimiter):
        console.print(f"{source}: values are separated by {delimiter!r}, as in the header")


def refuse_misread(source: str, domain: Domain, form: Form, most: int) -> None:
    """Reject a file to predict if most of its first rows do not fit."""
    if not most or is_live(source):
        return
    refusal = _first_rows(source, domain, Columns(label=""), form, most)[0].refusal("")
    if refusal is not None:
        raise BadRowError(f"{refusal}. Nothing was predicted; --check 0 predicts anyway")


def _first_rows(
    source: str, domain: Domain, columns: Columns, form: Form, most: int
) -> tuple[Findings, str | None]:
    """Examine the first rows of a file; return the delimiter, too."""
    needed = needed_columns(domain, columns)
    delimiter = dialect_of(source, needed, form)[0] if form.header else form.delimiter
    form = replace(form, delimiter=delimiter)
    found = islice(rows(source, needed, form, sys.stdin.buffer), most)
    return examine(found, domain, columns, form=form, source=source), delimiter


def _lines(
    findings: Findings,
    source: str,
    form: Form,
    delimiter: str | None,
    columns: Columns,
    tables: Mapping[str, Any] | None,
    max_contributions: int,
) -> Iterator[str]:
    marks = "" if delimiter is None else f", values separated by {delimiter!r}"
    yield f"{source}: {counted(findings.rows, 'row')}{marks}, {form.encoding}"
    yield EYES
    yield ""
    yield f"{findings.rows - findings.misfits:,} of {counted(findings.rows, 'row')} fit"
    for problem in findings.ordered():
        yield f"- {problem}"
        if problem.fix:
            yield f"    add {problem.fix}"
    if columns.label and findings.label.rows:
        yield ""
        yield from _label_lines(findings, columns)
    if columns.user is not None and findings.users:
        over = sum(rows > max_contributions for rows in findings.users.values())
        yield ""
        yield (
            f"users, by {columns.user!r}: {len(findings.users):,}, with up to "
            f"{max(findings.users.values()):,} rows each; {over:,} of them have more than "
            f"--max-contributions {max_contributions}, and their further rows are not read"
        )
    declared = {} if tables is None else tables
    advice = [
        column_advice(name, column, declared.get(name), form)
        for name, column in findings.columns.items()
    ]
    if any(advice):
        yield ""
        yield "columns:"
        yield from (f"- {line}" for line in advice if line)


def _label_lines(findings: Findings, columns: Columns) -> Iterator[str]:
    label = findings.label
    common = ", ".join(f"{shown(value)} {count:,}" for value, count in label.values.most_common(10))
    more = f", … ({label.distinct} different)" if len(label.values) > 10 else ""
    yield f"label {columns.label!r}: {common}{more}"
    if findings.positive_is_mistyped:
        yield f"    no row has {columns.positive!r}, but {findings.positive_is_mistyped} is there"
    if len(label.values) == 1 and not label.missing:
        yield "    all rows have this label: there is nothing to learn from them"
