"""The command ``littlestone schema`` writes what a schema needs that is no secret: the names.

Ranges are secrets, and cost something: with ``--private-ranges`` a grid is proposed for a price.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from littlestone.cli.options import Delimiter, Encoding
from littlestone.cli.stores.config import written_table
from littlestone.concepts.schema import PAID
from littlestone.randomness import secure
from littlestone.service.promises.book import Book
from littlestone.service.promises.ranges import PaidRanges, proposed
from littlestone.service.sources import Form, header, is_live

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

PRICE = """\
#
# Grids below were proposed by the rows of {source}, for a price: the table {paid} at the
# end says what was spent. learn --schema adds it to what it promises; keep it there.
"""
_LEFT_OPEN = "# grid = []\n# values = []\n"
_UNDIVIDED = "# grid = []     no cut was found: few rows, few values, or too small an epsilon\n"


def run(
    source: Annotated[str, typer.Argument(metavar="FILE", help="CSV, TSV or Parquet.")],
    out: Annotated[Path | None, typer.Option(help="A new file; else it is printed.")] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="A column that is no field: the label, the id.")
    ] = None,
    date: Annotated[
        list[str] | None, typer.Option(help="A column with dates: its table is complete then.")
    ] = None,
    private_ranges: Annotated[
        float | None,
        typer.Option(
            metavar="EPSILON",
            help="Spend so much, for each row, on a grid for each --numeric column.",
        ),
    ] = None,
    numeric: Annotated[
        list[str] | None, typer.Option(help="A column of numbers, for --private-ranges.")
    ] = None,
    whole: Annotated[
        list[str] | None, typer.Option(help="A column of whole numbers, for --private-ranges.")
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(help="The column that says whose a row is, for --private-ranges."),
    ] = None,
    max_contributions: Annotated[
        int, typer.Option(help="Rows of one user that are read at most, with --user.")
    ] = 1,
    book: Annotated[
        Path | None,
        typer.Option(help="The budget book of the data, which --private-ranges is entered in."),
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8-sig",
) -> None:
    """One table for each column, with its kind left open; no row is looked at.

    With --private-ranges the rows are, for a price that learn --schema adds to its promise.
    """
    form = Form(delimiter=delimiter, encoding=encoding)
    names = header(source, form)
    dates, left_out = date or [], without or []
    numbers = list(dict.fromkeys([*(numeric or []), *(whole or [])]))
    named = [*dates, *left_out, *numbers, *([] if user is None else [user])]
    unknown = [name for name in named if name not in names]
    if unknown:
        raise ValueError(f"there is no column {unknown[0]!r}; there are: {', '.join(names[:50])}")
    paid = _price(private_ranges, numbers, {*dates, *left_out}, source, user, max_contributions)
    if paid is None and book is not None:
        raise ValueError("book is for --private-ranges: nothing else is spent here")
    grids: dict[str, tuple[float, ...]] = {}
    if paid is not None:
        if out is not None and out.exists():  # before anything is spent
            raise ValueError(f"out must be a new file, got {str(out)!r}, which exists")
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
    tables = [_table(name, name in dates, grids) for name in names if name not in left_out]
    tables += [] if paid is None else [written_table(f"[{PAID}]", paid.table())]
    text = "\n".join([_why(Path(source).name, paid is not None), *tables])
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
        typer.echo(f"{out}: {len(tables)} tables to fill in; no row of {source} was read", err=True)


def _price(
    epsilon: float | None,
    numbers: Sequence[str],
    others: set[str],
    source: str,
    user: str | None,
    most: int,
) -> PaidRanges | None:
    """What shall be spent, if anything; refused before anything is."""
    if epsilon is None:
        if numbers or user is not None or most != 1:
            raise ValueError("numeric, whole, user and max-contributions are for --private-ranges")
        return None
    if not numbers:
        raise ValueError(
            "numeric must name the columns for --private-ranges (--numeric COLUMN, or --whole "
            "COLUMN): which columns hold numbers is not read off the rows"
        )
    twice = [name for name in numbers if name in others or name == user]
    if twice:
        raise ValueError(f"numeric must be a field of its own, got {twice[0]!r}")
    if PAID in numbers or is_live(source):
        raise ValueError(f"private ranges need a file, and no column {PAID!r}")
    return PaidRanges.fresh(epsilon, source, user, most)


def _why(source: str, is_paid: bool) -> str:
    if not is_paid:
        return WHY.format(source=json.dumps(source))
    told = WHY.replace("Only the header of {source} was read. A range", "A range")
    return told + PRICE.format(source=json.dumps(source), paid=f"[[{PAID}]]")


def _table(name: str, is_date: bool, grids: Mapping[str, tuple[float, ...]]) -> str:
    """A key in quotes is a JSON string, which is a TOML string."""
    kind = 'date = ["hour", "weekday", "month"]\n' if is_date else _LEFT_OPEN
    if name in grids:
        cuts = [int(cut) if cut.is_integer() else cut for cut in grids[name]]
        kind = f"grid = {cuts}\n" if cuts else _UNDIVIDED
    return f"[{json.dumps(name, ensure_ascii=False)}]\n{kind}"
