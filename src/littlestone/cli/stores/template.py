"""The command ``littlestone schema`` writes what a schema needs that is no secret: the names."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from littlestone.cli.options import Delimiter, Encoding
from littlestone.service.sources import Form, header

WHY = """\
# What the columns are, declared by you from what everybody knows about them.
#
# Only the header of {source} was read. A range, a quantile or a list of values that is read off
# the rows would publish some of them before any mechanism has a say: the largest income is one
# person's, and a rare value gives its only owner away. Take from each table below the line that
# fits, and leave out tables of columns that rules shall not ask about.
#
#   grid = [0, 10, 20]             a number: the values that rules may compare it with
#   values = ["a", "b"]            a category: all values that it may have
#   date = ["hour", "weekday"]     a date or time (2013-01-01 05:15): parts of it; also "month"
#   missing = ...                  what a missing or unknown value counts as: a number, one of the
#                                  values, or "own value" for a cell of its own
"""


def run(
    source: Annotated[str, typer.Argument(metavar="FILE", help="CSV, TSV or Parquet.")],
    out: Annotated[Path | None, typer.Option(help="A new file; else it is printed.")] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="A column that is no field: the label, the id.")
    ] = None,
    date: Annotated[
        list[str] | None, typer.Option(help="A column with dates: its table is complete then.")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8-sig",
) -> None:
    """One table for each column, with its kind left open; no row is looked at."""
    names = header(source, Form(delimiter=delimiter, encoding=encoding))
    dates, left_out = date or [], without or []
    unknown = [name for name in (*dates, *left_out) if name not in names]
    if unknown:
        raise ValueError(f"there is no column {unknown[0]!r}; there are: {', '.join(names[:50])}")
    tables = [_table(name, name in dates) for name in names if name not in left_out]
    text = "\n".join([WHY.format(source=json.dumps(Path(source).name)), *tables])
    if out is None:
        typer.echo(text, nl=False)
        return
    with os.fdopen(os.open(out, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644), "w") as file:
        file.write(text)
    typer.echo(f"{out}: {len(tables)} tables to fill in; no row of {source} was read", err=True)


def _table(name: str, is_date: bool) -> str:
    """A key in quotes is a JSON string, which is a TOML string."""
    kind = 'date = ["hour", "weekday", "month"]\n' if is_date else "# grid = []\n# values = []\n"
    return f"[{json.dumps(name, ensure_ascii=False)}]\n{kind}"
