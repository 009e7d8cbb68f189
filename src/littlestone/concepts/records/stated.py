"""What the owner of a data frame states about its columns, as the tables of a schema."""

from collections.abc import Mapping
from typing import Any, Final

from littlestone.concepts.records.columns import frame_kinds, is_frame
from littlestone.type_checks import shown

_WANTED: Final = {
    "number": "(LOW, HIGH)",
    "date": '["hour", "weekday", "month"]',
    "text": '["all", "values"] or a number of buckets',
    None: '(LOW, HIGH), ["all", "values"] or a number of buckets',
}


def stated_tables(frame: Any, stated: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return a table for each stated column; a statement must fit the type of its column."""
    if not is_frame(frame):
        raise ValueError(f"frame must be a data frame, got a {type(frame).__name__}")
    kinds = frame_kinds(frame)
    if not stated:
        wanted = ", ".join(f"{name!r}: {_WANTED[kind]}" for name, kind in kinds.items())
        raise ValueError(
            f"stated must say what the columns are, from public knowledge and not from the rows, "
            f"got nothing; for those that rules may use: {{{wanted}}}"
        )
    unknown = [name for name in stated if name not in kinds and name != "label"]
    if unknown:
        raise ValueError(f"there is no column {unknown[0]!r}; there are: {', '.join(kinds)}")
    return {name: _table(name, kinds.get(name), said) for name, said in stated.items()}


def _table(name: str, kind: str | None, said: Any) -> Mapping[str, Any]:
    if isinstance(said, Mapping):
        return said
    if isinstance(said, tuple) and len(said) == 2 and kind in ("number", None):
        return {"range": list(said)}
    if isinstance(said, int) and not isinstance(said, bool) and kind in ("text", None):
        return {"buckets": said}
    words = isinstance(said, list) and any(isinstance(value, str) for value in said)
    if isinstance(said, list) and not (kind == "number" and words):
        return {"date" if kind == "date" else "values": said}
    holds = "" if kind is None else f", which holds {kind}s,"
    raise ValueError(f"{name!r}{holds} must be stated as {_WANTED[kind]}, got {shown(said)}")
