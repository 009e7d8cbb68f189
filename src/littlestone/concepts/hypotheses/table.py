"""A hypothesis on finitely many points, as the table of its labels."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.runs import described_by_runs
from littlestone.concepts.protocols import Hypothesis, Label


@require.checked
@dataclass(frozen=True, slots=True)
class TableHypothesis:
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
        if not isinstance(self.labels, bytes) or not self.labels:
            raise ValueError(
                f"labels must be non-empty bytes, got labels={require.shown(self.labels)}"
            )
        if self.labels.translate(None, b"\0\1"):
            raise ValueError(
                f"labels must hold only 0 and 1, got labels={require.shown(self.labels)}"
            )

    @classmethod
    def from_labels(cls, labels: Iterable[Any]) -> Self:
        """The table with these labels, in the order of the points."""
        return cls(require.labels(labels).tobytes())

    @property
    def domain(self) -> IntegerRange:
        return IntegerRange(len(self.labels))

    def __call__(self, x: Any, /) -> Label:
        if type(x) is int and 0 <= x < len(self.labels):
            return self.labels[x]
        return self.labels[self.domain.check(x)]

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        return self.as_array()[self.domain.check_many(xs)]

    def as_array(self) -> NDArray[np.uint8]:
        """All labels, read-only."""
        return np.frombuffer(self.labels, dtype=np.uint8)

    def disagreement(self, other: Hypothesis, /) -> int | None:
        """The smallest point on which the two differ."""
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
        """``bits``: hexadecimal, eight points to the byte, the smallest point lowest."""
        bits = np.packbits(self.as_array(), bitorder="little").tobytes()
        return {"kind": "table", "size": len(self.labels), "bits": bits.hex()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        if not isinstance(data, dict):
            raise ValueError(f"a table must be a JSON object, got {data!r}")
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
