"""Read the declaration of a field: a range, cuts, values, buckets, or parts of a date."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any, Final

from littlestone import require
from littlestone.concepts.records.buckets import MOST, Buckets
from littlestone.concepts.records.cuts import cuts_of_range
from littlestone.concepts.records.dates import GRIDS, WEEKDAYS
from littlestone.concepts.records.fields import (
    OWN_VALUE,
    THERE,
    Category,
    Numeric,
    is_finite,
    shown_number,
)

_SHOWN: Final = 400


def html_table(fields: Iterable[Numeric | Category]) -> str:
    """Return the declared fields as a table of HTML, for people."""
    head = "<tr><th>field</th><th>kind</th><th>cuts or values</th><th>missing counts as</th></tr>"
    rows = (f"<tr>{''.join(map(_cell, _in_words(part)))}</tr>" for part in fields)
    return f"<table>{head}{''.join(rows)}</table>"


def _cell(text: str) -> str:
    return f"<td>{escape(text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…')}</td>"


def _in_words(part: Numeric | Category) -> tuple[str, str, str, str]:
    if isinstance(part, Buckets):
        kind, known = "text", [f"{part.count} buckets of a public hash"]
    elif isinstance(part, Numeric):
        kind, known = "number", [f"{cut:g}" for cut in part.grid if cut != THERE]
    else:
        kind, known = "one of", list(map(str, part.values))
    kind = kind if part.date is None else f"{part.date} of the date"
    missing = part.describe(part.stand_in, part.stand_in).removeprefix(f"{part.name} ")
    return part.name, kind, ", ".join(known), missing.removeprefix("== ")


def declared_fields(name: Any, entry: Any) -> Iterator[Numeric | Category]:
    """Yield the declared field, or one field for each part of a date."""
    parts = entry.get("date") if isinstance(entry, Mapping) else None
    if not isinstance(parts, list | tuple):
        yield declared_field(name, entry)
        return
    if not parts or set(entry) - {"date", "missing"} or set(parts) - GRIDS.keys():
        raise ValueError(
            f"field {name!r} must declare date = [...] with some of {', '.join(GRIDS)}, and "
            f"perhaps missing = {OWN_VALUE!r}, got {require.shown(entry)}"
        )
    for part in parts:
        grid = GRIDS[part]
        kind = {"values": WEEKDAYS} if grid is None else {"grid": grid}
        rest = {"missing": entry["missing"]} if "missing" in entry else {}
        yield declared_field(f"{name}.{part}", {"date": part, **kind, **rest})


def declared_field(name: Any, entry: Any) -> Numeric | Category:
    """Read one field of a declaration."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"a field needs a name, got {require.shown(name)}")
    if isinstance(entry, Mapping) and "buckets" in entry:
        return _hashed(name, entry)
    kinds = ("range", "grid", "values")
    known = [key for key in kinds if isinstance(entry, Mapping) and key in entry]
    also = {"missing", "date", *(["scale"] if known == ["range"] else [])}
    rest = set(entry) - {*known, *also} if isinstance(entry, Mapping) else set()
    if len(known) != 1 or rest or not isinstance(entry[known[0]], list | tuple):
        raise ValueError(
            f"field {name!r} must declare either range = [low, high], grid = [...], "
            f"values = [...], buckets = 64 or date = [...], and perhaps missing = ..., got "
            f"{require.shown(entry)}"
        )
    declared, missing, date = tuple(entry[known[0]]), entry.get("missing"), entry.get("date")
    if date is not None and (date not in GRIDS or not name.endswith(f".{date}")):
        raise ValueError(f"field {name!r} cannot be the {date!r} of a date")
    if known == ["range"]:
        if len(declared) != 2 or not all(map(is_finite, declared)):
            raise ValueError(
                f"range of field {name!r} must be two numbers, none larger than a float, got "
                f"{shown_number(declared)}"
            )
        try:
            declared, known = cuts_of_range(*declared, scale=entry.get("scale", "linear")), ["grid"]
        except ValueError as problem:
            raise ValueError(f"field {name!r}: {problem}") from None
    if known == ["grid"]:
        if missing == OWN_VALUE:
            declared, missing = (THERE, *declared), 2 * THERE
        return Numeric(name, declared, missing, date)
    if missing == OWN_VALUE and OWN_VALUE not in declared:
        declared = (*declared, OWN_VALUE)
    return Category(name, declared, missing, date)


def _hashed(name: str, entry: Mapping[Any, Any]) -> Buckets:
    if set(entry) - {"buckets", "missing"}:
        raise ValueError(
            f"field {name!r} must declare buckets = 64, and perhaps missing = {OWN_VALUE!r}, got "
            f"{require.shown(entry)}"
        )
    missing = entry.get("missing")
    require.integer(buckets=entry["buckets"], at_least=2, at_most=MOST)
    own = () if missing is None else (OWN_VALUE,)
    return Buckets(name, (*range(int(entry["buckets"])), *own), missing)
