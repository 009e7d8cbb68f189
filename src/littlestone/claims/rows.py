"""What a claim measures is a table of rows; its curves are columns of that table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from littlestone.claims.core import Progress, Series

Row = Mapping[str, Any]
Case = TypeVar("Case")


def tabulate(
    cases: Sequence[Case], measured: Callable[[Case], Row], progress: Progress
) -> list[Row]:
    """One row for each case, in order."""
    rows = []
    for number, case in enumerate(cases, start=1):
        rows.append(measured(case))
        progress(number / len(cases))
    return rows


def column(rows: Sequence[Row], key: str, *, at_least: float | None = None) -> list[Any]:
    """The values under a key; raised to ``at_least`` where zero would have no logarithm."""
    values = [row[key] for row in rows]
    return values if at_least is None else [max(value, at_least) for value in values]


def curves(
    rows: Sequence[Row], over: str, *lines: tuple[str, str, str], at_least: float | None = None
) -> list[Series]:
    """Columns over one column: (name, key, style) each, without the rows that lack a value."""
    found = []
    for name, key, style in lines:
        known = [row for row in rows if row[key] is not None]
        ys = column(known, key, at_least=at_least)
        found.append(Series(name=name, xs=column(known, over), ys=ys, style=style))
    return found
