"""Hypotheses on finitely many points, or on the cells of records, stored as tables of labels."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import IntegerRange, LabelledRange
from littlestone.concepts.hypotheses.common import Exported, Written, first_seen_difference, shown
from littlestone.concepts.hypotheses.rules import OverRecords
from littlestone.concepts.hypotheses.runs import described_by_runs
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.concepts.schema import Schema
from littlestone.type_checks import is_a

_LABELS_SHOWN: Final = 32


@require.checked
@dataclass(frozen=True, slots=True)
class TableHypothesis(Exported):
    """A function from 0 .. n-1 to {0, 1}; equal exactly when it is the same function.

    ``labels`` holds one byte, 0 or 1, for each point.

    >>> rule = TableHypothesis.from_labels([0, 1, 1, 0])
    >>> rule(2), rule.many([0, 1]).tolist(), rule.describe()
    (1, [0, 1], '1 on 1-2 out of 0-3')
    >>> rule.disagreement(TableHypothesis.from_labels([0, 1, 0, 1]))
    2
    """

    labels: bytes

    def __post_init__(self) -> None:
        if not is_a(self.labels, bytes) or not self.labels:
            raise ValueError(
                f"labels must be non-empty bytes, got labels={require.shown(self.labels)}"
            )
        if self.labels.translate(None, b"\0\1"):
            raise ValueError(
                f"labels must hold only 0 and 1, got labels={require.shown(self.labels)}"
            )

    @classmethod
    def from_labels(cls, labels: Iterable[Any]) -> Self:
        """Return the table with these labels, in the order of the points."""
        return cls(require.labels(labels).tobytes())

    @property
    def domain(self) -> IntegerRange:
        """The points that have a label."""
        return IntegerRange(len(self.labels))

    def __call__(self, x: Any, /) -> Label:
        if type(x) is int and 0 <= x < len(self.labels):
            return self.labels[x]
        return self.labels[self.domain.check(x)]

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        return self.as_array()[self.domain.check_many(xs)]

    def as_array(self) -> NDArray[np.uint8]:
        """Return all labels, read-only."""
        return np.frombuffer(self.labels, dtype=np.uint8)

    def disagreement(self, other: Hypothesis, /) -> int | None:
        """Return the smallest point on which the two differ."""
        if isinstance(other, TableHypothesis):
            if other.labels == self.labels:
                return None
            if len(other.labels) != len(self.labels):
                raise ValueError(
                    f"other must be over {len(self.labels)} points, got {len(other.labels)}"
                )
            theirs = other.as_array()
        else:
            theirs = other.many(np.arange(len(self.labels)))
        differs = np.flatnonzero(self.as_array() != theirs)
        return int(differs[0]) if differs.size else None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; ``bits`` is hexadecimal, eight points per byte, lowest first."""
        bits = np.packbits(self.as_array(), bitorder="little").tobytes()
        return {"kind": "table", "size": len(self.labels), "bits": bits.hex()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read the JSON form; raise a ValueError if it is not one."""
        if not is_a(data, dict):
            raise ValueError(f"a table must be a JSON object, got {require.shown(data)}")
        size, text = data.get("size", 0), data.get("bits")
        require.integer(size=size, at_least=1)
        try:
            packed = np.frombuffer(bytes.fromhex(str(text)), dtype=np.uint8)
        except ValueError:
            raise ValueError(f"bits must be hexadecimal, got bits={text!r}") from None
        bits = np.unpackbits(packed, bitorder="little")
        if packed.size != (size + 7) // 8 or bits[size:].any():
            raise ValueError(f"bits must hold exactly {size} points, got bits={text!r}")
        return cls(bits[:size].tobytes())

    def describe(self) -> str:
        return described_by_runs(self, len(self.labels))


@require.checked
@dataclass(frozen=True, slots=True)
class LabelTable(Written):
    """A function from 0 .. n-1 to the labels 0 .. label_count-1, for classes with more than two.

    >>> rule = LabelTable(labels=(0, 2, 2), label_count=3)
    >>> rule(1), rule.many([0, 2]).tolist(), rule.describe()
    (2, [0, 2], 'labels 0, 2, 2 on 0-2')
    """

    kind: ClassVar[str] = "label_table"
    labels: tuple[Label, ...]
    label_count: int

    def __post_init__(self) -> None:
        require.fields_fit(self)
        _ = self.domain  # rejects no points, and more labels than a byte holds
        found = require.labels(self.labels, self.label_count)
        object.__setattr__(self, "labels", tuple(found.tolist()))

    @property
    def domain(self) -> LabelledRange:
        """The points that have a label."""
        return LabelledRange(len(self.labels), self.label_count)

    def __call__(self, x: Any, /) -> Label:
        if type(x) is int and 0 <= x < len(self.labels):
            return self.labels[x]
        return self.labels[self.domain.check(x)]

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        return np.array(self.labels, dtype=np.uint8)[self.domain.check_many(xs)]

    def disagreement(self, other: Hypothesis, /) -> int | None:
        """Return the smallest point on which the two differ."""
        found: int | None = first_seen_difference(self, other, self.domain)
        return found

    def describe(self) -> str:
        words = ", ".join(shown(list(map(str, self.labels)), _LABELS_SHOWN))
        return f"labels {words} on 0-{len(self.labels) - 1}"


@dataclass(frozen=True, slots=True)
class RecordTable(OverRecords, Written):
    """Any function on the cells of a schema, in the schema's order of cells.

    >>> schema = Schema.from_mapping({"delay": {"grid": [0, 15]}})
    >>> table = RecordTable(schema, TableHypothesis.from_labels([0, 1, 0]))
    >>> table({"delay": 7}), table.describe()
    (1, '1 on 1 of 3 cells')
    """

    kind: ClassVar[str] = "record_table"
    schema: Schema
    labels: TableHypothesis

    def __post_init__(self) -> None:
        if self.labels.domain.size != self.schema.size:
            raise ValueError(
                f"labels must be for {self.schema.size} cells, got {self.labels.domain.size}"
            )

    def __call__(self, x: Any, /) -> Label:
        return int(self.many([x])[0])

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        cells = self.schema.check_many(xs)
        widths = [part.cells for part in self.schema.fields]
        numbers = np.ravel_multi_index(tuple(cells.T), widths)
        return np.asarray(self.labels.as_array()[numbers], dtype=np.uint8)

    def describe(self) -> str:
        return f"1 on {int(self.labels.as_array().sum())} of {self.schema.size} cells"
