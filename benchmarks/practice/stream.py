"""A stream of records with labels, as every learner of a comparison reads it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.schema import Schema


@dataclass(frozen=True)
class Stream:
    """Columns and labels; ``ordered`` if the order is the one in which it happened."""

    name: str
    declared: Mapping[str, Mapping[str, Any]]
    columns: Mapping[str, NDArray[Any]]
    labels: NDArray[np.uint8]
    ordered: bool

    @property
    def schema(self) -> Schema:
        return Schema.from_mapping(self.declared)

    def shuffled(self, seed: int) -> "Stream":
        """Another order, unless the order is part of the data."""
        if self.ordered:
            return self
        order = np.random.default_rng(seed).permutation(len(self.labels))
        columns = {name: column[order] for name, column in self.columns.items()}
        return Stream(self.name, self.declared, columns, self.labels[order], False)

    def records(self) -> Iterator[tuple[dict[str, Any], bool]]:
        rows = zip(*(column.tolist() for column in self.columns.values()), strict=True)
        for row, label in zip(rows, self.labels.tolist(), strict=True):
            yield dict(zip(self.columns, row, strict=True)), bool(label)

    def features(self) -> NDArray[np.float64]:
        """For linear models: scaled by the declared ranges, one column for each category, a 1."""
        parts = [np.ones(len(self.labels))]
        for name, entry in self.declared.items():
            column = self.columns[name]
            if "grid" in entry:
                low, high = entry["grid"][0], entry["grid"][-1]
                low, high = (low - 1, high + 1) if low == high else (low, high)
                parts.append(np.clip((2 * column - low - high) / (high - low), -1.5, 1.5))
            else:
                parts += [(column == value).astype(float) for value in entry["values"]]
        return np.stack(parts, axis=1)
