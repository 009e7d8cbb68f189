"""Convert one record at a time to a point, by a map that is declared in advance."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from littlestone.concepts.capabilities import Records
from littlestone.concepts.protocols import Domain, Point
from littlestone.concepts.records.fields import cell_of
from littlestone.concepts.schema import Cells
from littlestone.concepts.wide_records import Cutter
from littlestone.type_checks import shown

Reader = Callable[[Any], Point]
"""Reads the point of a record, or rejects the record with a ValueError."""


def reader_for(
    domain: Domain, *, features: Sequence[str] | None, stand_ins: Mapping[str, Any] | None
) -> Reader:
    """Return a reader by the schema if there is one, else by the named features."""
    if isinstance(domain, Records):
        if features is not None:
            raise ValueError(f"the schema already names the features, got features={features!r}")
        return domain.check if stand_ins is None else FillingReader(domain, stand_ins)
    if not features or isinstance(features, str):
        raise ValueError(
            f"features must name what makes up a point, since there is no schema, got "
            f"features={features!r}"
        )
    return FeatureReader(domain, tuple(features), stand_ins)


class FillingReader:
    """Read a record; a field that is missing or does not fit counts as its stand-in.

    What the schema itself declares as ``missing`` takes precedence.

    >>> from littlestone.concepts.schema import Schema
    >>> schema = Schema.from_mapping({"delay": {"grid": [0, 15]}, "from": {"values": ["A", "B"]}})
    >>> reader = FillingReader(schema, {"delay": 0, "from": "B"})
    >>> reader({"delay": 20}), reader({"delay": "late", "from": "A"})
    ((2, 1), (1, 0))
    """

    def __init__(self, schema: Records, stand_ins: Mapping[str, Any]) -> None:
        _require_names(stand_ins, [part.name for part in schema.fields])
        self._fields = tuple(zip(schema.fields, schema.check(stand_ins), strict=True))
        self._cutter = Cutter.of(schema.fields)

    def __call__(self, record: Any, /) -> Cells:
        try:
            whole = None if self._cutter is None else self._cutter.cells(record)
        except Exception:  # not a record, or a category that does not fit
            whole = None
        if whole is not None:
            return whole
        return tuple([_cell(part, record, instead) for part, instead in self._fields])


class FeatureReader:
    """Read one named feature as the point, or several as a tuple; a stand-in replaces the point."""

    def __init__(
        self, domain: Domain, features: tuple[str, ...], stand_ins: Mapping[str, Any] | None
    ) -> None:
        self._domain, self._features = domain, features
        self._instead: Point | None = None
        if stand_ins is not None:
            _require_names(stand_ins, features)
            self._instead = self._read(stand_ins)

    def __call__(self, record: Any, /) -> Point:
        try:
            return self._read(record)
        except ValueError:
            if self._instead is None:
                raise
            return self._instead

    def _read(self, record: Any) -> Point:
        try:
            values = [record[name] for name in self._features]
        except Exception:  # no record, no such name, or raised by the record itself
            names = ", ".join(map(repr, self._features))
            raise ValueError(f"x must be a record with {names}, got x={shown(record)}") from None
        return self._domain.check(values[0] if len(values) == 1 else tuple(values))


def _cell(part: Any, record: Any, instead: int) -> int:
    try:
        return cell_of(part, record)
    except Exception:  # the value does not fit, there is none, or the record itself raises
        return instead


def _require_names(stand_ins: Mapping[str, Any], names: Sequence[str]) -> None:
    if not isinstance(stand_ins, Mapping) or set(stand_ins) != set(names):
        raise ValueError(
            f"stand_ins must give one value for each of {', '.join(map(repr, names))}, got "
            f"{stand_ins!r}"
        )
