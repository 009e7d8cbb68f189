"""The fields of a record: numbers cut by a grid, declared categories, parts of dates.

``cell`` alone decides which cell a value falls into: functions that read a whole column return
``cell`` of each value (docs/GUARANTEES.md, One row, one round).
"""

import itertools
import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.records.columns import exact_number, listed, same_numbers, typed
from littlestone.concepts.records.cuts import finer_cuts
from littlestone.concepts.records.dates import part_of

OWN_VALUE: Final = "own value"
"""As ``missing``: missing and unknown values have their own cell."""

THERE: Final = -(2.0**1000)
"""The cut below which only missing values lie, if they have their own cell."""
_COMPARING: Final = Context(traps=[])  # comparisons of decimals are exact, whatever the precision
_LARGEST: Final = 2**63
_FEW_CUTS: Final = 64  # up to this many, comparing with each is faster than a search


class _Field(ABC):
    """The common base of numbers and categories."""

    __slots__ = ()

    name: str
    missing: Any
    date: str | None

    @abstractmethod
    def declared_cell(self, value: Any) -> int:
        """Return the cell of a declared value; raise a ValueError for others."""

    @abstractmethod
    def cell(self, value: Any) -> int:
        """Return the cell of a value; the stand-in's if the value is missing or undeclared."""

    def cell_in(self, value: Any) -> int:
        """Return the cell of a value of its column (a date, if the field is part of one)."""
        if self.date is None:
            return self.cell(value)
        try:
            return self.cell(part_of(value, self.date))
        except ValueError:
            if self.missing is None:
                raise
            return self.stand_in

    @property
    def column(self) -> str:
        """The column that its values come from."""
        return self.name if self.date is None else self.name.removesuffix(f".{self.date}")

    @property
    def stand_in(self) -> int:
        """The cell of missing or unknown values; by default the first."""
        return 0 if self.missing is None else self.declared_cell(self.missing)

    def _json(self, **declared: Any) -> dict[str, Any]:
        written = {"name": self.name, **declared}
        if self.missing is not None:
            written["missing"] = self.missing
        return written if self.date is None else {**written, "date": self.date}


@require.checked
@dataclass(frozen=True, slots=True)
class Numeric(_Field):
    """A number, cut into cells by a grid of increasing values; each cell begins at its value.

    ``missing`` is the number that missing values and non-numbers count as. With ``date`` the field
    is this part (hour, month) of the date in another column, whose name is its prefix.
    """

    name: str
    grid: tuple[float, ...]
    missing: float | None = None
    date: str | None = None
    first_floats: NDArray[np.float64] = field(init=False, repr=False, compare=False)
    """For each cut, the first float that is not below it."""
    _wholes: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    """For each cut, the first 64-bit integer that is not below it."""

    def __post_init__(self) -> None:
        require.fields_fit(self, "name", "date")
        if not require.listed(grid=self.grid):
            raise ValueError(f"grid of field {self.name!r} must not be empty")
        for value in self.grid:
            if not is_finite(value):
                raise ValueError(
                    f"grid of field {self.name!r} must be numbers, none larger than a float, got "
                    f"{shown_number(value)}"
                )
        if any(low >= high for low, high in itertools.pairwise(self.grid)):
            raise ValueError(f"grid of field {self.name!r} must increase, got {self.grid}")
        if self.missing is not None and not is_finite(self.missing):
            raise ValueError(
                f"missing of field {self.name!r} must be a number, none larger than a float, got "
                f"{shown_number(self.missing)}"
            )
        wholes = [max(math.ceil(cut), -_LARGEST) for cut in self.grid]
        require.settle(
            self,
            first_floats=np.array([_first_float(cut) for cut in self.grid]),
            _wholes=np.array([cut for cut in wholes if cut < _LARGEST], dtype=np.int64),
        )

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.grid) + 1

    def cell(self, value: Any) -> int:
        """Return the cell of a value."""
        kind = type(value)
        if kind is int or (kind is float and value == value):  # as below, for the usual cases
            return bisect_right(self.grid, value)
        number = exact_number(value)
        if number is None:
            return self.declared_cell(value) if self.missing is None else self.stand_in
        return self._place(number)

    def declared_cell(self, value: Any) -> int:
        """Return the cell of a value that must not be missing."""
        number = exact_number(value)
        if number is None:
            raise ValueError(f"field {self.name!r} must be a number, got {shown_number(value)}")
        return self._place(number)

    def _place(self, number: Any) -> int:
        if type(number) is not Decimal:
            return bisect_right(self.grid, number)
        with localcontext(_COMPARING):
            return bisect_right(self.grid, number)

    def cells_of(self, column: Any) -> NDArray[np.int64]:
        """Return ``cell`` of each value of a column.

        Arrays of integers or floats are cut at once, and so are lists after a check of each value's
        type. Cuts are compared as the first float, or the first integer, that is at least the cut,
        so nothing is rounded.
        """
        array = typed(column)
        if array is None:
            values = listed(column)
            array = same_numbers(values)
            if array is None:
                return np.fromiter(map(self.cell, values), np.int64, len(values))
        if array.dtype.kind == "f":
            cells = _cuts_below(self.first_floats, array)
            missing = np.isnan(array)
            if missing.any():
                cells[missing] = self.cell(math.nan)
            return cells
        return _cuts_below(self._wholes, array)

    def describe(self, low: int, high: int) -> str:
        """Return the condition that the value lies in one of the cells from ``low`` to ``high``."""
        require.integer(low=low, high=high, at_least=0, at_most=self.cells - 1)
        parts = []
        if low > 0:
            cut = self.grid[low - 1]
            parts.append(f"{self.name} {'is there' if cut == THERE else f'>= {cut}'}")
        if high < len(self.grid):
            cut = self.grid[high]
            parts.append(f"{self.name} {'is missing' if cut == THERE else f'< {cut}'}")
        return " and ".join(parts)

    def conditions(self) -> Iterator[tuple[int, int]]:
        """Yield "at least" and "below" each value of the grid, as first and last cell."""
        for i in range(1, self.cells):
            yield i, self.cells - 1
            yield 0, i - 1

    def questions(self) -> Iterator[tuple[int, int]]:
        """Yield the conditions up to negation: at least each value of the grid."""
        return ((cell, self.cells - 1) for cell in range(1, self.cells))

    def coarsened(self, most: int) -> "Numeric":
        """Return the field with fewer cells."""
        return Numeric(self.name, self.grid[: max(most - 1, 1)], self.missing, self.date)

    def refined(self) -> "Numeric":
        """Return the field with more cuts between the declared ones, about a dozen in total.

        >>> Numeric("delay", (0, 60)).refined().grid
        (0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60)
        """
        if self.date is not None:
            return self
        there = self.grid[:1] if self.grid[0] == THERE else ()
        cuts = finer_cuts(self.grid[len(there) :])
        return Numeric(self.name, (*there, *cuts), self.missing, self.date)

    def refines(self, other: "Numeric | Category") -> bool:
        """Return whether this is ``other``, perhaps with more cuts within its range."""
        if not isinstance(other, Numeric) or not set(other.grid) <= set(self.grid):
            return False
        mine, theirs = (
            (part.name, part.missing, part.date, part.grid[0], part.grid[-1])
            for part in (self, other)
        )
        return mine == theirs

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return self._json(grid=list(self.grid))


@require.checked
@dataclass(frozen=True, slots=True)
class Category(_Field):
    """One of finitely many declared values; each is a cell.

    ``missing`` is the value that missing and undeclared values count as. With ``date`` the field is
    this part (weekday) of the date in another column, whose name is its prefix.
    """

    name: str
    values: tuple[str | int, ...]
    missing: str | int | None = None
    date: str | None = None
    _cells: dict[Any, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.fields_fit(self, "name", "date")
        for value in require.listed(values=self.values):
            if not isinstance(value, str | int) or isinstance(value, bool):
                raise ValueError(
                    f"values of field {self.name!r} must be text, got {shown_number(value)}"
                )
        if not self.values or len(set(self.values)) < len(self.values):
            raise ValueError(f"values of field {self.name!r} must differ, got {self.values}")
        object.__setattr__(self, "_cells", {value: i for i, value in enumerate(self.values)})
        if self.missing is not None:
            self.declared_cell(self.missing)

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.values)

    def cell(self, value: Any) -> int:
        """Return the cell of a value."""
        try:
            return self._cells[value]
        except Exception:  # unknown or unhashable
            return self.declared_cell(value if self.missing is None else self.missing)

    def declared_cell(self, value: Any) -> int:
        """Return the cell of a value that must not be missing."""
        try:
            return self._cells[value]
        except Exception:  # unknown or unhashable
            pass
        raise ValueError(
            f"field {self.name!r} must be one of the declared values "
            f"{', '.join(map(repr, self.values))}, got {require.shown(value)}"
        )

    def cells_of(self, column: Any) -> NDArray[np.int64]:
        """Return ``cell`` of each value of a column."""
        values, known = listed(column), self._cells
        try:
            return np.array([known[value] for value in values], dtype=np.int64)
        except Exception:  # some are unknown or unhashable
            return np.fromiter(map(self.cell, values), np.int64, len(values))

    def describe(self, low: int, high: int) -> str:
        """Return the condition that the value is that of the only cell."""
        require.integer(low=low, high=high, at_least=0, at_most=self.cells - 1)
        return f"{self.name} == {self.values[low]!r}"

    def conditions(self) -> Iterator[tuple[int, int]]:
        """Yield equality with each value, as first and last cell."""
        return ((i, i) for i in range(self.cells))

    def questions(self) -> Iterator[tuple[int, int]]:
        """Yield the conditions up to negation: of two values, one is enough."""
        return ((cell, cell) for cell in range(int(self.cells <= 2), self.cells))

    def coarsened(self, most: int) -> "Category":
        """Return the field with fewer cells."""
        missing = self.missing if self.missing in self.values[:most] else None
        return Category(self.name, self.values[:most], missing, self.date)

    def refined(self) -> "Category":
        """Return the field unchanged."""
        return self

    def refines(self, other: "Numeric | Category") -> bool:
        """Return whether this is ``other``."""
        return self == other

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return self._json(values=list(self.values))


def cell_of(part: Numeric | Category, record: Mapping[str, Any]) -> int:
    """Return the cell of a record's value, under the field's name or its date's column."""
    if part.name in record:
        return part.cell(record[part.name])
    if part.column in record:
        return part.cell_in(record[part.column])
    if part.missing is None:
        raise ValueError(_absent(part))
    return part.stand_in


def cells_in(part: Numeric | Category, table: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return ``cell_of`` of each record of a table that has the column."""
    if part.name in table:
        return part.cells_of(table[part.name])
    if part.column not in table:
        raise ValueError(_absent(part))
    values = listed(table[part.column])
    return np.fromiter(map(part.cell_in, values), np.int64, len(values))


def _cuts_below(cuts: NDArray[Any], values: NDArray[Any]) -> NDArray[np.int64]:
    """Return, for each value, how many cuts do not exceed it."""
    if len(cuts) > _FEW_CUTS:
        return np.searchsorted(cuts, values, side="right").astype(np.int64, copy=False)
    cells = np.zeros(len(values), dtype=np.uint8)
    for cut in cuts:
        cells += values >= cut
    return cells.astype(np.int64)


def is_finite(value: Any) -> bool:
    """Return whether a value is a finite number within the range of floats."""
    try:
        return exact_number(value) is not None and math.isfinite(value)
    except OverflowError:
        return False


def _absent(part: Numeric | Category) -> str:
    return f"field {part.name!r} is missing; give it, or declare missing = ... in its table"


def _first_float(cut: Any) -> float:
    nearest = float(cut)
    return nearest if nearest >= cut else math.nextafter(nearest, math.inf)


def shown_number(value: Any) -> str:
    """Shorten a long number for a message."""
    text = require.shown(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
