"""Cut wide records, or many records, at once; unusual records are left to the slow path.

Field by field, a record of three thousand numbers takes milliseconds. Here all its numbers are
compared with all grids in a few array operations. If a value is missing, is not a plain number or
does not fit a float, the whole record goes to the slow path, which checks each field and reports
what is wrong.
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.records.columns import EXACT, are_exact, plain_numbers

if TYPE_CHECKING:
    from littlestone.concepts.schema import Category, Cells, Numeric

_WIDE: Final = 32  # with fewer numbers, field by field is faster
_ROWS: Final = 256  # rows of a block, so that it stays in the cache


class Cutter:
    """Cuts the numbers of wide records; where it answers, the result equals the slow path's.

    >>> from littlestone.concepts.schema import Numeric
    >>> cutter = Cutter.of([Numeric(f"x{i}", (0, i + 1)) for i in range(40)])
    >>> cutter.cells({f"x{i}": 3 for i in range(40)})[:5]
    (2, 2, 2, 1, 1)
    >>> cutter.cells({"x0": 3}) is None
    True
    """

    def __init__(self, fields: "Sequence[Numeric | Category]") -> None:
        grids = [getattr(part, "grid", None) for part in fields]
        self._widths = np.array([part.cells for part in fields], dtype=np.int64)
        self._numbers = [place for place, grid in enumerate(grids) if grid is not None]
        self._others = [(place, part) for place, part in enumerate(fields) if grids[place] is None]
        self._take = itemgetter(*(fields[place].name for place in self._numbers))
        cuts = [grid for grid in grids if grid is not None]
        # Padding of shorter grids: nothing is at least NaN.
        self._grids = np.full((max(map(len, cuts)), len(cuts)), np.nan)
        for column, grid in enumerate(cuts):
            self._grids[: len(grid), column] = grid

    @classmethod
    def of(cls, fields: "Sequence[Numeric | Category]") -> "Cutter | None":
        """Return a cutter; None if it would be slower, or floats do not hold the grids exactly."""
        numbers = sum(hasattr(part, "grid") for part in fields)
        return cls(fields) if numbers >= _WIDE and have_exact_grids(fields) else None

    def cells(self, record: Mapping[str, Any]) -> "Cells | None":
        """Return the cells of a record with all numbers present; else None."""
        if type(record) is not dict:  # other mappings may invent missing values
            return None
        try:
            values = self._take(record)
            others = [(place, part.cell(record[part.name])) for place, part in self._others]
        except KeyError:
            return None
        numbers = plain_numbers(values)
        if numbers is None:
            return None
        cells = self._cut(numbers).tolist()
        for place, cell in others:  # in field order, so that each lands at its place
            cells.insert(place, cell)
        return tuple(cells)

    def checked(self, cells: tuple[Any, ...]) -> "Cells | None":
        """Return the cells as plain integers, if each is one of its field's first 256."""
        try:
            plain = bytes(cells)  # takes integers only
        except Exception:  # raised by a cell itself, for example
            return None
        if len(plain) != len(self._widths):
            return None
        inside = np.frombuffer(plain, dtype=np.uint8) < self._widths
        return tuple(plain) if inside.all() else None

    def columns(self, table: Mapping[str, Any]) -> NDArray[np.int64] | None:
        """Return the cells of a table given by its columns, one row for each record."""
        try:
            columns = self._take(table)
        except KeyError:
            return None
        if not all(map(_is_plain, columns)):
            return None
        if len({each.shape for each in columns}) > 1 or columns[0].ndim != 1:
            return None
        whole = any(each.dtype.kind in "iu" for each in columns)
        cells = np.empty((len(columns[0]), len(self._widths)), dtype=np.int64)
        for start in range(0, len(cells), _ROWS):
            block = np.stack([each[start : start + _ROWS] for each in columns], axis=1)
            numbers = block.astype(np.float64, copy=False)
            if not are_exact(numbers, whole=whole):
                return None
            cells[start : start + _ROWS, self._numbers] = self._cut(numbers)
        for place, part in self._others:
            if part.name not in table or len(table[part.name]) != len(cells):
                return None
            cells[:, place] = part.cells_of(table[part.name])
        return cells

    def _cut(self, numbers: NDArray[np.float64]) -> NDArray[Any]:
        cells = np.zeros(numbers.shape, dtype=np.uint8 if len(self._grids) < 256 else np.int64)
        for cuts in self._grids:
            cells += numbers >= cuts
        return cells


def have_exact_grids(fields: "Sequence[Numeric | Category]") -> bool:
    """Return whether floats hold all cuts exactly."""
    cuts = [value for part in fields for value in getattr(part, "grid", ())]
    return all(abs(value) <= EXACT and float(value) == value for value in cuts)


def columns_of(fields: "Sequence[Numeric | Category]", records: list[Any]) -> dict[str, Any] | None:
    """Return records as a table of columns, for exact grids; None if some record is unusual.

    >>> from littlestone.concepts.schema import Numeric
    >>> columns_of([Numeric("x", (0, 1))], [{"x": 3}, {"x": 0.5}])
    {'x': array([3. , 0.5])}
    """
    if set(map(type, records)) != {dict}:  # other mappings may invent missing values
        return None
    table: dict[str, Any] = {}
    for part in fields:
        try:
            values = list(map(itemgetter(part.name), records))
        except KeyError:  # a part of a date, or a missing value
            return None
        table[part.name] = plain_numbers(values) if hasattr(part, "grid") else values
    return None if any(column is None for column in table.values()) else table


def _is_plain(column: Any) -> bool:
    array = require.plain_array(column)
    return array is not None and array.dtype.kind in "iuf" and array.dtype.itemsize <= 8
