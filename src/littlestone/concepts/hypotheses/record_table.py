"""A hypothesis on records, as the table of its labels on all cells."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.hypotheses.rules import first_difference
from littlestone.concepts.hypotheses.table import TableHypothesis
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.concepts.schema import Cells, Schema
from littlestone.concepts.written import Written


@dataclass(frozen=True, slots=True)
class RecordTable(Written):
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

    @property
    def domain(self) -> Schema:
        return self.schema

    def __call__(self, x: Any, /) -> Label:
        return int(self.many([x])[0])

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        cells = self.schema.check_many(xs)
        widths = [part.cells for part in self.schema.fields]
        numbers = np.ravel_multi_index(tuple(cells.T), widths)
        return np.asarray(self.labels.as_array()[numbers], dtype=np.uint8)

    def disagreement(self, other: Hypothesis, /) -> Cells | None:
        """The first cells, in the schema's order, on which the two differ."""
        return first_difference(self, other, self.schema)

    def describe(self) -> str:
        return f"1 on {int(self.labels.as_array().sum())} of {self.schema.size} cells"
