"""Implement ``littlestone schema``, which writes the public part of a schema: the names.

Ranges are private and cost budget: with ``--private-ranges`` grids are proposed from the rows.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from littlestone.cli.config import written_table
from littlestone.cli.options import Delimiter, Encoding, Skip
from littlestone.concepts.schema import PAID
from littlestone.randomness import secure
from littlestone.runs.book import Book
from littlestone.runs.intake.form import Form
from littlestone.runs.intake.parquet_rows import column_kinds
from littlestone.runs.intake.sources import has_header, header, is_live
from littlestone.runs.ranges import PaidRanges, proposed

WHY = """\
# What the columns are, declared by you from public knowledge.
#
{names}# A range, a quantile or a list of values that is read from the rows would publish some of
# them without any mechanism: the largest income is one person's, and a rare value reveals
# its only owner. Keep the line that fits in each table below, and delete the tables of
# columns that rules should not use.
#
#   range = [0, 100]               a number: its usual range; scale = "log" if it spans magnitudes
#   grid = [0, 10, 20]             a number: values that rules compare it with, among others
#   values = ["a", "b"]            a category: all values that it may have
#   buckets = 64                   texts that are too many to declare: rules know the bucket of a
#                                  text, by a public hash
#   date = ["hour", "weekday"]     a date or time (2013-01-01 05:15): parts of it; also "month"
#   missing = ...                  what a missing or unknown value counts as: a number, one of the
#                                  values, or "own value" for a separate cell
#
# Labels are 0 and 1 unless a table says what they are; the option --label names their column:
#
#   label = {{ values = ["ok", "late", "cancelled"] }}
"""

ONLY_NAMES = "# Only the header of {source} was read.\n#\n"
NAMES_OF_ROWS = """\
# The names come from the rows of {source}: those of its first 1,000 rows are below. Delete
# each that is not public knowledge: rules would publish even a name that only one row has.
#
"""
PRICE = """\
#
# The grids below were computed from the rows of {source} with privacy: the table {paid} at the
# end says what was spent. learn --schema adds it to its promise; keep the table.
"""
_OPEN = {"number": "# range = []\n", "text": "# values = []\n"}
_DATE = 'date = ["hour", "weekday", "month"]\n'
_UNDIVIDED = "# grid = []     no cut was found: too few rows or values, or epsilon is too small\n"


def run(
    source: Annotated[str, typer.Argument(metavar="FILE", help="CSV, TSV, JSONL or Parquet.")],
    out: Annotated[Path | None, typer.Option(help="A new file; printed by default.")] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="A column that is not a field: the label, the id.")
    ] = None,
    date: Annotated[
        list[str] | None, typer.Option(help="A column with dates, whose table is then complete.")
    ] = None,
    private_ranges: Annotated[
        float | None,
        typer.Option(
            metavar="EPSILON", help="Spend this budget per row on grids for the --numeric columns."
        ),
    ] = None,
    numeric: Annotated[
        list[str] | None, typer.Option(help="A column of numbers, for --private-ranges.")
    ] = None,
    whole: Annotated[
        list[str] | None, typer.Option(help="A column of whole numbers, for --private-ranges.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(help="The column of the user, for --private-ranges.")
    ] = None,
    max_contributions: Annotated[
        int, typer.Option(help="The most rows of one user that are read, with --user.")
    ] = 1,
    book: Annotated[
        Path | None, typer.Option(help="The budget book of the data, for --private-ranges.")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8-sig",
    skip: Skip = 0,
) -> None:
    """Write one table per column to fill in; no row of a file with a header is read.

    JSON lines have no header: the names are those in the first rows, dotted where objects are
    nested.

    With --private-ranges the rows are read, at a cost that learn --schema adds to its promise.
    """
    form = Form(delimiter=delimiter, encoding=encoding, skip=skip)
    names = [name for name in dict.fromkeys(header(source, form)) if name]
    dates, left_out = date or [], without or []
    numbers = list(dict.fromkeys([*(numeric or []), *(whole or [])]))
    named = [*dates, *left_out, *numbers, *([] if user is None else [user])]
    unknown = [name for name in named if name not in names]
    if unknown:
        raise ValueError(f"there is no column {unknown[0]!r}; there are: {', '.join(names[:50])}")
    paid = _price(private_ranges, numbers, {*dates, *left_out}, source, user, max_contributions)
    if paid is None and book is not None:
        raise ValueError("book is for --private-ranges only: nothing else is spent here")
    grids: dict[str, tuple[float, ...]] = {}
    if paid is not None:
        if out is not None and out.exists():  # before anything is spent
            raise ValueError(
                f"out must be a new file, got {str(out)!r}, which exists; choose another"
            )
        known = None if book is None else Book(book)
        if known is not None:
            paid.enter(known, source, users=user, most=max_contributions)
        grids = proposed(
            source,
            numbers,
            paid,
            whole=whole or (),
            form=form,
            standard_input=sys.stdin.buffer,
            rng=secure(),
        )
    kinds = column_kinds(source) | dict.fromkeys(dates, "date")
    tables = [_table(name, kinds.get(name), grids) for name in names if name not in left_out]
    tables += [] if paid is None else [written_table(f"[{PAID}]", paid.table())]
    text = "\n".join([_why(source, paid is not None), *tables])
    if out is None:
        typer.echo(text, nl=False)
    else:
        with os.fdopen(os.open(out, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644), "w") as file:
            file.write(text)
    if paid is not None:
        cost = paid.cost(user, max_contributions)
        typer.echo(
            f"{cost} was spent on the ranges of {source}, whether you use them or not", err=True
        )
    elif out is not None:
        read = "no row" if has_header(source) else "nothing but names"
        text = f"{out}: {len(tables)} tables to fill in; {read} of {source} was read"
        typer.echo(text, err=True)


def _price(
    epsilon: float | None,
    numbers: Sequence[str],
    others: set[str],
    source: str,
    user: str | None,
    most: int,
) -> PaidRanges | None:
    """Return what to spend, or None; reject bad options before anything is spent."""
    if epsilon is None:
        if numbers or user is not None or most != 1:
            raise ValueError("numeric, whole, user and max-contributions are for --private-ranges")
        return None
    if not numbers:
        raise ValueError(
            "numeric must name the columns for --private-ranges (--numeric COLUMN, or --whole "
            "COLUMN): which columns hold numbers is not read from the rows"
        )
    twice = [name for name in numbers if name in others or name == user]
    if twice:
        raise ValueError(
            f"numeric must not name a column of --date, --without or --user, got {twice[0]!r}"
        )
    if is_live(source):
        raise ValueError("private-ranges needs a file, which is read twice, got a pipe")
    if PAID in numbers:
        raise ValueError(f"numeric must not name {PAID!r}, which means something else in a schema")
    return PaidRanges.fresh(epsilon, source, user, most)


def _why(source: str, is_paid: bool) -> str:
    name = json.dumps(Path(source).name)
    # What is paid for is the grids, not the names.
    header = "" if is_paid else ONLY_NAMES
    names = header if has_header(source) else NAMES_OF_ROWS
    price = PRICE.format(source=name, paid=f"[[{PAID}]]") if is_paid else ""
    return WHY.format(names=names.format(source=name)) + price


def _table(name: str, known: str | None, grids: Mapping[str, tuple[float, ...]]) -> str:
    """Write one table; a JSON string is a valid TOML key."""
    kind = _DATE if known == "date" else _OPEN.get(known or "", "".join(_OPEN.values()))
    if name in grids:
        cuts = [int(cut) if cut.is_integer() else cut for cut in grids[name]]
        kind = f"grid = {cuts}\n" if cuts else _UNDIVIDED
    return f"[{json.dumps(name, ensure_ascii=False)}]\n{kind}"
