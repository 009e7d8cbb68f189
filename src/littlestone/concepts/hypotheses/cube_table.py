"""A hypothesis on the Boolean cube, as the table of its labels on all corners."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import BooleanCube
from littlestone.concepts.hypotheses.scan import first_seen_difference
from littlestone.concepts.hypotheses.table import TableHypothesis
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.concepts.written import Written


@dataclass(frozen=True, slots=True)
class CubeTable(Written):
    """Any function on the corners of a cube, in the cube's order: the last feature runs fastest.

    >>> table = CubeTable(2, TableHypothesis.from_labels([0, 1, 1, 0]))
    >>> table((0, 1)), table([1, 1]), table.describe()
    (1, 0, '1 on 2 of 4 corners')
    >>> CubeTable.from_json(table.to_json()) == table
    True
    """

    kind: ClassVar[str] = "cube_table"
    n: int
    labels: TableHypothesis

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(n=self.n, at_least=1)
        corners = self.labels.domain.size
        if corners & (corners - 1) or corners.bit_length() != self.n + 1:
            raise ValueError(f"labels must be for 2**{self.n} corners, got {corners}")

    @property
    def domain(self) -> BooleanCube:
        return BooleanCube(self.n)

    def __call__(self, x: Any, /) -> Label:
        corner = int("".join(map(str, self.domain.check(x))), base=2)
        return self.labels(corner)

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        points = self.domain.check_many(xs).astype(np.int64)
        corners = points @ (1 << np.arange(self.n, dtype=np.int64)[::-1])
        return self.labels.many(corners)

    def disagreement(self, other: Hypothesis, /) -> tuple[int, ...] | None:
        """The first corner, in the cube's order, on which the two differ."""
        point: tuple[int, ...] | None = first_seen_difference(self, other, self.domain)
        return point

    def describe(self) -> str:
        return f"1 on {int(self.labels.as_array().sum())} of {self.domain.size} corners"
