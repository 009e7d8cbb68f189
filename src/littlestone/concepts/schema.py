"""A schema declares the fields of records; it is never inferred from the data.

An inferred grid or list of categories would publish data without a mechanism: a rare category
identifies its only owner, and a quantile moves with every record. So write the schema in advance,
from public knowledge about the fields.
"""

import itertools
import math
import operator
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.canonical_key import whole_numbers
from littlestone.concepts.domain import MOST_LABELS, MOST_SAMPLED, LabelledRange
from littlestone.concepts.protocols import Domain
from littlestone.concepts.records.buckets import Buckets as Buckets
from littlestone.concepts.records.columns import eager_frame, frame_columns, is_frame
from littlestone.concepts.records.declarations import declared_field, declared_fields, html_table
from littlestone.concepts.records.fields import Category as Category
from littlestone.concepts.records.fields import Numeric as Numeric
from littlestone.concepts.records.fields import cell_of, cells_in
from littlestone.concepts.records.stated import stated_tables
from littlestone.concepts.wide_records import Cutter, columns_of, have_exact_grids
from littlestone.type_checks import is_a

Cells = tuple[int, ...]
"""A record as rules see it: the cell number of each field."""

PAID: Final = "private-ranges"
"""Tables of this name are not fields: they record the privacy cost of ranges proposed from data."""

LABEL: Final = "label"
"""The entry of this name is not a field: it declares the labels."""

_MANY: Final = 16  # records; with fewer, columns are slower

Condition = tuple[int, int, int]
"""The number of a field, and the first and last cell that satisfy the condition."""


@require.checked
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
    _limits: NDArray[np.uint64] = field(init=False, repr=False, compare=False)
    _named: tuple[tuple[str, Callable[[Any], int]], ...] = field(
        init=False, repr=False, compare=False
    )
    _cutter: Cutter | None = field(init=False, repr=False, compare=False)
    _exact: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.fields_fit(self)
        object.__setattr__(self, "_widths", tuple(part.cells for part in self.fields))
        object.__setattr__(self, "_limits", np.array(self._widths, dtype=np.uint64))
        object.__setattr__(self, "_named", tuple((part.name, part.cell) for part in self.fields))
        object.__setattr__(self, "_cutter", Cutter.of(self.fields))
        object.__setattr__(self, "_exact", have_exact_grids(self.fields))
        names = [part.name for part in self.fields]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"fields must have different names, got {names}")

    @classmethod
    def from_frame(cls, frame: Any, stated: Mapping[str, Any]) -> "Schema":
        """Read the names and types of a data frame, and what its owner states; no row is read.

        Ranges and values are the owner's statement from public knowledge: the largest income of a
        table is one person's, and a rare value reveals its only owner.

        Args:
            frame: A frame of pandas, polars or pyarrow, or a relation of DuckDB.
            stated: For each column that rules may use: ``(low, high)`` for a number, a list of all
                values for a category, a list of parts for a date (``["hour", "weekday",
                "month"]``), a number of buckets for texts that are too many, or a table as in
                ``from_mapping``.

        Raises:
            ValueError: A name is no column, a statement does not fit the type of its column, or
                nothing is stated; the error says what to state.

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"delay": [3.5], "town": ["Ulm"], "late": [1]})
        >>> schema = Schema.from_frame(frame, {"delay": (0, 60), "town": ["Ulm", "Bonn"]})
        >>> [field.name for field in schema.fields]
        ['delay', 'town']
        """
        return cls.from_mapping(stated_tables(frame, stated))

    @classmethod
    def from_mapping(cls, declared: Mapping[str, Any]) -> "Schema":
        """Read declarations: field name → ``{"range": [low, high]}`` or ``{"values": [...]}``.

        A range is for numbers: rules compare them with about a dozen cuts, evenly spaced or, with
        ``"scale": "log"``, evenly in the logarithm. ``{"grid": [...]}`` lists the cuts instead.
        ``"missing"`` is the value that missing or unknown values count as; ``"own value"`` gives
        them their own cell. ``{"buckets": 32}`` is for text or integers with too many values to
        declare: each counts as its bucket, by a fixed public hash (``bucket_of``). ``{"date":
        ["hour", "weekday", "month"]}`` is one field for each part of a date or time (ISO 8601) in
        this column. The name ``label`` is reserved: ``"label": {"values": [...]}`` declares the
        labels, which are 0 and 1 by default.

        >>> Schema.from_mapping({"share": {"range": [0, 1]}}).check({"share": 0.25})
        (3,)
        >>> declared = {"carrier": {"values": ["UA", "AA", "other"], "missing": "other"}}
        >>> Schema.from_mapping(declared).check({"carrier": "XX"})
        (2,)
        >>> Schema.from_mapping({"merchant": {"buckets": 32}}).check({"merchant": "Müller & Co"})
        (26,)
        >>> schema = Schema.from_mapping({"left": {"date": ["hour", "weekday"]}})
        >>> schema.check({"left": "2013-01-01 05:15"})
        (5, 1)
        >>> label = {"values": ["ok", "late", "cancelled"]}
        >>> Schema.from_mapping({"delay": {"grid": [0, 15]}, "label": label}).label_values
        ('ok', 'late', 'cancelled')
        """
        if not isinstance(declared, Mapping):
            raise ValueError(
                f"a schema must map field names to declarations, got {require.shown(declared)}"
            )
        if isinstance(declared.get(PAID), list):
            raise ValueError(
                f"the ranges of this schema cost privacy ({PAID}), which only learn --schema "
                f"adds to its guarantee. Elsewhere add it yourself, and delete the table"
            )
        parts = tuple(
            part
            for name, entry in declared.items()
            if name != LABEL
            for part in declared_fields(name, entry)
        )
        return (
            LabelledSchema(parts, _declared_labels(declared))
            if LABEL in declared
            else Schema(parts)
        )

    @classmethod
    def from_toml(cls, path: Path | str) -> "Schema":
        """Read a file with one table for each field: ``[delay]``, then ``grid = [0, 15]``."""
        return cls.from_mapping(toml_tables(Path(path)))

    @classmethod
    def from_json(cls, data: Any) -> "Schema":
        """Read back what ``to_json`` wrote."""
        if not is_a(data, list) or not all(is_a(entry, dict) for entry in data):
            raise ValueError(f"a schema must be a list of fields, got {require.shown(data)}")
        if data and "name" not in data[-1] and LABEL in data[-1]:
            return LabelledSchema(Schema.from_json(data[:-1]).fields, _declared_labels(data[-1]))
        entries = [(entry.get("name"), entry) for entry in data]
        return Schema(
            tuple(
                declared_field(name, {key: value for key, value in entry.items() if key != "name"})
                for name, entry in entries
            )
        )

    def to_json(self) -> list[dict[str, Any]]:
        """Return the JSON form."""
        return [part.to_json() for part in self.fields]

    @property
    def label_values(self) -> tuple[str | int, ...]:
        """The values of the labels 0, 1, …."""
        return 0, 1

    @property
    def size(self) -> int:
        """The number of records, each a tuple of cells."""
        return math.prod(self._widths)

    def check(self, x: Any, /) -> Cells:
        """Return the cells of a record; a tuple or row of cells is returned as it is."""
        if type(x) is tuple and len(x) == len(self._widths):
            wide = None if self._cutter is None else self._cutter.checked(x)
            if wide is not None:
                return wide
            for cell, width in zip(x, self._widths, strict=True):
                if type(cell) is not int or not 0 <= cell < width:
                    break
            else:
                return x
        if type(x) is dict and self._cutter is None:
            try:
                return tuple([cell(x[name]) for name, cell in self._named])
            except Exception:  # the column of a date, say, or a bad value, which is named below
                return self._cells_of(x)
        return self._cells_of(x) if is_a(x, Mapping) else self._check_cells(x)

    def _cells_of(self, record: Mapping[str, Any]) -> Cells:
        try:
            cells = None if self._cutter is None else self._cutter.cells(record)
            return (
                tuple([cell_of(part, record) for part in self.fields]) if cells is None else cells
            )
        except ValueError:
            raise
        except Exception:  # raised by the record itself
            raise self._refusal(record) from None

    def check_many(self, xs: Any, /) -> NDArray[np.int64]:
        """Return one row of cells for each record.

        Takes a sequence of records, columns (a mapping from field names to equally long arrays,
        lists or columns of a data frame), a data frame (pandas, polars, pyarrow, a relation of
        DuckDB), or rows of cells. Each row is ``check`` of its record alone; one bad record raises
        a ValueError for the block.

        >>> Schema.from_mapping({"x": {"grid": [2**53 + 1]}}).check_many({"x": [2**53, 0.5]})
        array([[0],
               [0]])
        """
        if is_frame(xs):
            xs = frame_columns(eager_frame(xs))
        if type(xs) is list and len(xs) >= _MANY and self._exact:
            table = columns_of(self.fields, xs)
            if table is not None:
                with suppress(ValueError):  # the first bad record is named below
                    return self.check_many(table)
        if is_a(xs, Mapping):
            cut = None if self._cutter is None else self._cutter.columns(xs)
            if cut is not None:
                return cut
            columns = [cells_in(part, xs) for part in self.fields]
            if len({len(column) for column in columns}) > 1:
                lengths = {f.name: len(c) for f, c in zip(self.fields, columns, strict=True)}
                raise ValueError(f"columns must be equally long, got {lengths}")
            return np.stack(columns, axis=1)
        if type(xs) is list and xs and all(type(x) is tuple for x in xs):
            xs = _block(xs, len(self._widths))
        array = require.plain_array(xs)
        rows_of_cells = array is not None and array.ndim == 2 and array.dtype.kind in "iu"
        if rows_of_cells and xs.shape[1] == len(self._widths):
            # Read without a sign, a negative number is larger than every width.
            if xs.dtype == np.int64:
                bad = xs.view(np.uint64) >= self._limits
            else:
                bad = (xs < 0) | (xs >= np.array(self._widths))
            if bad.any():
                self._check_cells(xs[bad.any(axis=1)][0])
            return np.asarray(xs, dtype=np.int64)
        rows = [self.check(x) for x in require.listed(xs=xs)]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.fields))

    def sample(self, count: int, generator: np.random.Generator, /) -> Sequence[Cells]:
        """Return uniform cells, field by field."""
        require.integer(count=count, at_least=0, at_most=MOST_SAMPLED)
        rows = generator.integers(self._widths, size=(count, len(self._widths))).tolist()
        return [tuple(row) for row in rows]

    def __iter__(self) -> Iterator[Cells]:
        return itertools.product(*map(range, self._widths))

    def coarsened(self, most: int) -> "Schema":
        """Return the schema with the first ``most`` cells of each field."""
        return replace(self, fields=tuple(part.coarsened(most) for part in self.fields))

    def refined(self) -> "Schema":
        """Return the schema with more cuts within the ranges of its numbers."""
        return replace(self, fields=tuple(part.refined() for part in self.fields))

    def refines(self, other: "Schema") -> bool:
        """Return whether fields and labels are those of ``other``, perhaps with more cuts."""
        return (
            type(self) is type(other)
            and self.label_values == other.label_values
            and len(self.fields) == len(other.fields)
            and all(
                mine.refines(theirs) for mine, theirs in zip(self.fields, other.fields, strict=True)
            )
        )

    def _check_cells(self, x: Any) -> Cells:
        try:
            read = tuple(x) if is_a(x, tuple | list | np.ndarray) else ()
        except Exception:  # raised by the value itself, as by an array without dimensions
            read = ()
        if len(read) != len(self.fields):
            raise self._refusal(x)
        cells = tuple(map(_as_index, read))
        for part, cell, number in zip(self.fields, read, cells, strict=True):
            if not 0 <= number < part.cells:
                raise ValueError(
                    f"the cell of field {part.name!r} must be from 0 to {part.cells - 1}, "
                    f"got {require.shown(cell)}"
                )
        return cells

    def _repr_html_(self) -> str:
        return html_table(self.fields)

    def _refusal(self, x: Any) -> ValueError:
        names = ", ".join(repr(part.name) for part in self.fields)
        return ValueError(f"x must be a record with {names}, got x={require.shown(x)}")


@require.checked
@dataclass(frozen=True, slots=True)
class LabelledSchema(Schema):
    """A schema that also declares the labels: two or more values, of which a row has one.

    Rules and learners number them from 0 in the declared order.

    >>> schema = LabelledSchema((Numeric("delay", (0, 15)),), ("ok", "late", "cancelled"))
    >>> schema.label_number("late"), schema.label_values[2]
    (1, 'cancelled')
    """

    labels: tuple[str | int, ...]
    _numbers: dict[Any, int] = field(init=False, repr=False, compare=False)
    """The label numbers by value, and by the same as text, as in a CSV."""

    def __post_init__(self) -> None:
        Schema.__post_init__(self)
        Category(LABEL, self.labels)  # raises for invalid values
        numbers: dict[Any, int] = {str(value): number for number, value in enumerate(self.labels)}
        if len(numbers) < len(self.labels):
            raise ValueError(f"labels must differ as text, got {self.labels}")
        if not 2 <= len(self.labels) <= MOST_LABELS:
            raise ValueError(
                f"labels must have from 2 to {MOST_LABELS} values, got {len(self.labels)}"
            )
        numbers |= {value: number for number, value in enumerate(self.labels)}
        object.__setattr__(self, "_numbers", numbers)

    @property
    def label_values(self) -> tuple[str | int, ...]:
        """The declared labels, in order."""
        return self.labels

    def label_number(self, value: Any) -> int:
        """Return the number of a label; raise a ValueError that names an unknown one."""
        for same in (value, value.strip()) if is_a(value, str) else (value,):
            with suppress(Exception):  # unknown or unhashable
                return self._numbers[same]
        raise ValueError(
            f"label must be one of the declared values {', '.join(map(repr, self.labels))}, got "
            f"{require.shown(value)}"
        )

    def to_json(self) -> list[dict[str, Any]]:
        return [*Schema.to_json(self), {LABEL: {"values": list(self.labels)}}]


def label_values(domain: Domain) -> tuple[Any, ...]:
    """Return the values of a domain's labels; 0 and 1 if none are declared.

    >>> from littlestone.concepts.domain import IntegerRange
    >>> label_values(IntegerRange(8))
    (0, 1)
    """
    return domain.label_values if isinstance(domain, Schema | LabelledRange) else (0, 1)


def label_number(domain: Domain, value: Any) -> int:
    """Return the number of a declared label, or 0 or 1 if none are declared.

    Raises:
        ValueError: The value is not a label.
    """
    if isinstance(domain, LabelledSchema):
        return domain.label_number(value)
    return require.label(value)


def toml_tables(path: Path) -> dict[str, Any]:
    """Read a TOML file; raise a ValueError that names it if it is none."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # not UTF-8, not TOML, or a number of thousands of digits
        raise ValueError(f"{path} is not valid TOML: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply for a schema or for options") from None


def _declared_labels(declared: Mapping[str, Any]) -> tuple[str | int, ...]:
    entry = declared[LABEL]
    values = entry.get("values") if is_a(entry, Mapping) and len(entry) == 1 else None
    if values is None or not is_a(values, list | tuple):
        raise ValueError(
            f"{LABEL} must declare values = [...], all labels that there are, got "
            f"{require.shown(entry)}; a "
            f"column of this name cannot be a field: rename it"
        )
    return tuple(values)


def _as_index(cell: Any) -> int:
    """Return an integer as a plain one, and -1 for anything else."""
    try:
        return operator.index(cell) if is_a(cell, Integral) else -1
    except Exception:  # raised by the value itself
        return -1


def _block(rows: list[tuple[Any, ...]], width: int) -> Any:
    """Return tuples of plain integers as one array; other rows unchanged, for the slow check."""
    if set(map(len, rows)) != {width}:
        return rows
    numbers = whole_numbers(list(itertools.chain.from_iterable(rows)))
    return rows if numbers is None else numbers.reshape(len(rows), width)
