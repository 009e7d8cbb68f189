"""What the records look like: declared by whoever asks, never inferred from the data.

A grid or a list of categories that is read off the data would publish some of the data before any
mechanism has a say: a rare category gives its only owner away, a quantile moves with every record.
So a schema is written down beforehand, from what everybody knows about the fields.
"""

import itertools
import math
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.wide_records import Cutter

Cells = tuple[int, ...]
"""A record as far as rules can tell: for each field, the number of its cell."""

Condition = tuple[int, int, int]
"""The number of a field, and the first and the last of the cells that it must lie in."""


@dataclass(frozen=True, slots=True)
class Numeric:
    """A number, cut into cells by a grid of increasing values; each cell begins at its value.

    ``missing`` is the number that whatever is missing, or no number, counts as.
    """

    name: str
    grid: tuple[float, ...]
    missing: float | None = None

    def __post_init__(self) -> None:
        require.plain(self)
        if not self.grid:
            raise ValueError(f"grid of field {self.name!r} must not be empty")
        for value in self.grid:
            if not _is_number(value) or math.isinf(value):
                raise ValueError(f"grid of field {self.name!r} must be numbers, got {value!r}")
        if any(low >= high for low, high in itertools.pairwise(self.grid)):
            raise ValueError(f"grid of field {self.name!r} must increase, got {self.grid}")
        if self.missing is not None:
            self.declared_cell(self.missing)

    @property
    def cells(self) -> int:
        return len(self.grid) + 1

    @property
    def stand_in(self) -> int:
        """The cell of what is missing or unknown where every row counts; by default the first."""
        return 0 if self.missing is None else self.declared_cell(self.missing)

    def cell(self, value: Any) -> int:
        if self.missing is not None and not _is_number(value):
            return self.stand_in
        return self.declared_cell(value)

    def declared_cell(self, value: Any) -> int:
        """The cell of a value that is what was declared, without any stand-in."""
        if not _is_number(value):
            raise ValueError(f"field {self.name!r} must be a number, got {value!r}")
        return bisect_right(self.grid, value)

    def cells_of(self, values: Any) -> NDArray[np.int64]:
        """The cells of a whole column."""
        column = np.asarray(values)
        if column.dtype.kind not in "iuf":
            return np.array([self.cell(value) for value in values], dtype=np.int64)
        if np.isnan(column).any():
            if self.missing is None:
                raise ValueError(f"field {self.name!r} must be a number, got nan")
            column = np.where(np.isnan(column), self.missing, column)
        return np.searchsorted(np.array(self.grid), column, side="right").astype(np.int64)

    def describe(self, low: int, high: int) -> str:
        """The condition that the value lies in one of the cells from ``low`` to ``high``."""
        parts = []
        if low > 0:
            parts.append(f"{self.name} >= {self.grid[low - 1]}")
        if high < len(self.grid):
            parts.append(f"{self.name} < {self.grid[high]}")
        return " and ".join(parts)

    def conditions(self) -> Iterator[tuple[int, int]]:
        """At least, or below, each value of the grid: as the first and the last cell."""
        for i in range(1, self.cells):
            yield i, self.cells - 1
            yield 0, i - 1

    def questions(self) -> Iterator[tuple[int, int]]:
        """The conditions up to negation: at least each value of the grid."""
        return ((cell, self.cells - 1) for cell in range(1, self.cells))

    def coarsened(self, most: int) -> "Numeric":
        return Numeric(self.name, self.grid[: max(most - 1, 1)], self.missing)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "grid": list(self.grid)} | _declared(self.missing)


@dataclass(frozen=True, slots=True)
class Category:
    """One of finitely many declared values; each is a cell.

    ``missing`` is the one that whatever is missing, or none of them, counts as.
    """

    name: str
    values: tuple[str | int, ...]
    missing: str | int | None = None
    _cells: dict[Any, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        for value in self.values:
            if not isinstance(value, str | int) or isinstance(value, bool):
                raise ValueError(f"values of field {self.name!r} must be text, got {value!r}")
        if not self.values or len(set(self.values)) < len(self.values):
            raise ValueError(f"values of field {self.name!r} must differ, got {self.values}")
        object.__setattr__(self, "_cells", {value: i for i, value in enumerate(self.values)})
        if self.missing is not None:
            self.declared_cell(self.missing)

    @property
    def cells(self) -> int:
        return len(self.values)

    @property
    def stand_in(self) -> int:
        """The cell of what is missing or unknown where every row counts; by default the first."""
        return 0 if self.missing is None else self.declared_cell(self.missing)

    def cell(self, value: Any) -> int:
        try:
            return self._cells[value]
        except (KeyError, TypeError):
            return self.declared_cell(value if self.missing is None else self.missing)

    def declared_cell(self, value: Any) -> int:
        """The cell of a value that is what was declared, without any stand-in."""
        try:
            return self._cells[value]
        except (KeyError, TypeError):
            pass
        raise ValueError(
            f"field {self.name!r} must be one of the declared values "
            f"{', '.join(map(repr, self.values))}, got {value!r}"
        )

    def cells_of(self, values: Any) -> NDArray[np.int64]:
        """The cells of a whole column."""
        column = values.tolist() if isinstance(values, np.ndarray) else list(values)
        known = self._cells
        try:
            return np.array([known[value] for value in column], dtype=np.int64)
        except (KeyError, TypeError):
            return np.array([self.cell(value) for value in column], dtype=np.int64)

    def describe(self, low: int, high: int) -> str:
        """The condition that the value is the one of the only cell."""
        del high
        return f"{self.name} == {self.values[low]!r}"

    def conditions(self) -> Iterator[tuple[int, int]]:
        """Equal to each value: as the first and the last cell."""
        return ((i, i) for i in range(self.cells))

    def questions(self) -> Iterator[tuple[int, int]]:
        """The conditions up to negation: of two values, one is enough."""
        return ((cell, cell) for cell in range(int(self.cells <= 2), self.cells))

    def coarsened(self, most: int) -> "Category":
        missing = self.missing if self.missing in self.values[:most] else None
        return Category(self.name, self.values[:most], missing)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "values": list(self.values)} | _declared(self.missing)


@dataclass(frozen=True, slots=True)
class Schema:
    """The fields of a record, in order. It is also the domain: records as tuples of cells.

    A record is a mapping from field names to values; other keys in it are ignored. Records whose
    values fall into the same cells are the same point.

    >>> schema = Schema.from_mapping(
    ...     {"delay": {"grid": [0, 15]}, "carrier": {"values": ["UA", "AA"]}}
    ... )
    >>> schema.check({"delay": 20.5, "carrier": "UA"})
    (2, 0)
    >>> schema.check({"delay": 20.5, "carrier": "XX"})
    Traceback (most recent call last):
    ...
    ValueError: field 'carrier' must be one of the declared values 'UA', 'AA', got 'XX'
    """

    fields: tuple[Numeric | Category, ...]
    _widths: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _cutter: Cutter | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_widths", tuple(part.cells for part in self.fields))
        object.__setattr__(self, "_cutter", Cutter.of(self.fields))
        names = [part.name for part in self.fields]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"fields must have different names, got {names}")

    @classmethod
    def from_mapping(cls, declared: Mapping[str, Mapping[str, Any]]) -> Self:
        """Field name → ``{"grid": [...]}`` for numbers or ``{"values": [...]}`` for categories.

        Beside it, ``"missing"`` may say what a missing or unknown value counts as.

        >>> declared = {"carrier": {"values": ["UA", "AA", "other"], "missing": "other"}}
        >>> Schema.from_mapping(declared).check({"carrier": "XX"})
        (2,)
        """
        if not isinstance(declared, Mapping):
            raise ValueError(f"a schema must map field names to declarations, got {declared!r}")
        return cls(tuple(_field(name, entry) for name, entry in declared.items()))

    @classmethod
    def from_toml(cls, path: Path | str) -> Self:
        """Read a file with one table for each field: ``[delay]``, then ``grid = [0, 15]``."""
        try:
            return cls.from_mapping(tomllib.loads(Path(path).read_text(encoding="utf-8")))
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path} is not TOML: {error}") from None

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read back what ``to_json`` wrote."""
        if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
            raise ValueError(f"a schema must be a list of fields, got {data!r}")
        entries = [(entry.get("name"), entry) for entry in data]
        return cls(
            tuple(
                _field(name, {key: value for key, value in entry.items() if key != "name"})
                for name, entry in entries
            )
        )

    def to_json(self) -> list[dict[str, Any]]:
        return [part.to_json() for part in self.fields]

    @property
    def size(self) -> int:
        return math.prod(self._widths)

    def check(self, x: Any, /) -> Cells:
        """The cells of a record; a tuple or row of cells is already what is wanted."""
        if type(x) is tuple and len(x) == len(self._widths):
            wide = None if self._cutter is None else self._cutter.checked(x)
            if wide is not None:
                return wide
            for cell, width in zip(x, self._widths, strict=True):
                if type(cell) is not int or not 0 <= cell < width:
                    break
            else:
                return x
        if isinstance(x, Mapping):
            cells = None if self._cutter is None else self._cutter.cells(x)
            return tuple([_cell(part, x) for part in self.fields]) if cells is None else cells
        return self._check_cells(x)

    def check_many(self, xs: Any, /) -> NDArray[np.int64]:
        """One row of cells for each record.

        Takes a sequence of records, columns (a mapping from field names to equally long arrays),
        or rows of cells.
        """
        if isinstance(xs, Mapping):
            cut = None if self._cutter is None else self._cutter.columns(xs)
            if cut is not None:
                return cut
            columns = [part.cells_of(_value(part, xs)) for part in self.fields]
            if len({len(column) for column in columns}) > 1:
                lengths = {f.name: len(c) for f, c in zip(self.fields, columns, strict=True)}
                raise ValueError(f"columns must be equally long, got {lengths}")
            return np.stack(columns, axis=1)
        if type(xs) is list and xs and all(type(x) is tuple for x in xs):
            xs = _block(xs)
        rows_of_cells = isinstance(xs, np.ndarray) and xs.ndim == 2 and xs.dtype.kind in "iu"
        if rows_of_cells and xs.shape[1] == len(self._widths):
            bad = ((xs < 0) | (xs >= np.array(self._widths))).any(axis=1)
            if bad.any():
                self._check_cells(xs[bad][0])
            return np.asarray(xs, dtype=np.int64)
        rows = [self.check(x) for x in xs]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.fields))

    def sample(self, count: int, generator: np.random.Generator, /) -> Sequence[Cells]:
        """Uniform cells, field by field."""
        rows = generator.integers(self._widths, size=(count, len(self._widths))).tolist()
        return [tuple(row) for row in rows]

    def __iter__(self) -> Iterator[Cells]:
        return itertools.product(*map(range, self._widths))

    def coarsened(self, most: int) -> "Schema":
        """The same fields with at most so many cells each, the first ones."""
        return Schema(tuple(part.coarsened(most) for part in self.fields))

    def _check_cells(self, x: Any) -> Cells:
        cells = tuple(x) if isinstance(x, tuple | list | np.ndarray) else ()
        if len(cells) != len(self.fields):
            raise ValueError(f"x must be a record with {self._names()}, got x={x!r}")
        for part, cell in zip(self.fields, cells, strict=True):
            if not isinstance(cell, Integral) or not 0 <= int(cell) < part.cells:
                raise ValueError(
                    f"the cell of field {part.name!r} must be from 0 to {part.cells - 1}, "
                    f"got {cell!r}"
                )
        return tuple(map(int, cells))

    def _names(self) -> str:
        return ", ".join(repr(part.name) for part in self.fields)


def _block(rows: list[tuple[Any, ...]]) -> Any:
    """Tuples of whole numbers as one array; all others as they are, for a closer look."""
    try:
        block = np.array(rows)
    except (ValueError, OverflowError):  # of different lengths, or whatever else
        return rows
    return block if block.dtype.kind == "i" else rows


def _field(name: Any, entry: Any) -> Numeric | Category:
    if not isinstance(name, str) or not name:
        raise ValueError(f"a field needs a name, got {name!r}")
    known = [key for key in ("grid", "values") if isinstance(entry, Mapping) and key in entry]
    rest = set(entry) - {*known, "missing"} if isinstance(entry, Mapping) else set()
    if len(known) != 1 or rest or not isinstance(entry[known[0]], list | tuple):
        raise ValueError(
            f"field {name!r} must declare either grid = [...] or values = [...], and perhaps "
            f"missing = ..., got {entry!r}"
        )
    declared, missing = tuple(entry[known[0]]), entry.get("missing")
    if known == ["grid"]:
        return Numeric(name, declared, missing)
    return Category(name, declared, missing)


def _declared(missing: Any) -> dict[str, Any]:
    return {} if missing is None else {"missing": missing}


def _cell(part: Numeric | Category, record: Mapping[str, Any]) -> int:
    if part.missing is not None and part.name not in record:
        return part.stand_in
    return part.cell(_value(part, record))


def _value(part: Numeric | Category, record: Mapping[str, Any]) -> Any:
    try:
        return record[part.name]
    except KeyError:
        raise ValueError(f"field {part.name!r} is missing") from None


def _is_number(value: Any) -> bool:
    # Only "not a number" differs from itself; math.isnan fails on numbers too large for a float.
    return isinstance(value, Real) and not isinstance(value, bool) and bool(value == value)
