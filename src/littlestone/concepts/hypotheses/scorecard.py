"""A linear rule over records: every field gives points, and more than none in all means 1."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.hypotheses.rules import first_difference
from littlestone.concepts.hypotheses.scan import shown
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.concepts.schema import Cells, Numeric, Schema
from littlestone.concepts.written import Written

_MOST_POINTS = 1 << 62


@require.checked
@dataclass(frozen=True, slots=True)
class Scorecard(Written):
    """1 where the points of all fields and the constant sum to more than 0.

    A number's cells are counted from the middle, in half cells: the cell in the middle gives no
    points, the last one ``points`` times one less than the number of cells. A category has points
    for each of its values. Equal means equal points; different points may still be the same
    function, which ``disagreement`` tells if the schema is small enough to scan.

    >>> schema = Schema.from_mapping(
    ...     {"delay": {"grid": [0, 15]}, "carrier": {"values": ["UA", "AA"]}}
    ... )
    >>> card = Scorecard(schema, -5, ((10,), (0, -30)))
    >>> card({"delay": 20, "carrier": "UA"}), card({"delay": 20, "carrier": "AA"})
    (1, 0)
    >>> card.describe()
    "1 where -30·(carrier == 'AA') + 20·delay - 5 > 0, numbers from -1 to 1"
    """

    kind: ClassVar[str] = "scorecard"
    schema: Schema
    constant: int
    points: tuple[tuple[int, ...], ...]
    """For each field: of a number one, of a category one for each value."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        fields = self.schema.fields
        wanted = [1 if isinstance(part, Numeric) else part.cells for part in fields]
        if [len(given) for given in self.points] != wanted:
            raise ValueError(f"points must be {wanted} for the fields, got points={self.points}")
        if abs(self.constant) + sum(self._most()) >= _MOST_POINTS:
            raise ValueError("points must sum to less than 2**62")

    def _most(self) -> list[int]:
        """The most that each field can give or take."""
        return [
            max(map(abs, given)) * (part.cells - 1 if isinstance(part, Numeric) else 1)
            for part, given in zip(self.schema.fields, self.points, strict=True)
        ]

    @property
    def domain(self) -> Schema:
        return self.schema

    def __call__(self, x: Any, /) -> Label:
        return int(self.many(np.array([self.schema.check(x)]))[0])

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        cells = self.schema.check_many(xs)
        sums = np.full(len(cells), self.constant, dtype=np.int64)
        columns = zip(self.schema.fields, self.points, cells.T, strict=True)
        for part, given, column in columns:
            if isinstance(part, Numeric):
                sums += given[0] * (2 * column - (part.cells - 1))
            else:
                sums += np.array(given, dtype=np.int64)[column]
        return np.asarray(sums > 0, dtype=np.uint8)

    def disagreement(self, other: Hypothesis, /) -> Cells | None:
        """The first point on which the two differ; a ValueError after four million without one."""
        return None if self == other else first_difference(self, other, self.schema)

    def describe(self) -> str:
        terms = [
            term
            for part, given in zip(self.schema.fields, self.points, strict=True)
            for term in (
                [(given[0] * (part.cells - 1), part.name)]
                if isinstance(part, Numeric)
                else [(p, f"({part.describe(i, i)})") for i, p in enumerate(given)]
            )
            if term[0]
        ]
        if not terms:
            return "1 everywhere" if self.constant > 0 else "0 everywhere"
        terms.sort(key=lambda term: -abs(term[0]))
        words = [f"{_signed(weight)}·{name}" for weight, name in terms]
        words = [*shown(words), _signed(self.constant)]
        first, rest = words[0].removeprefix("+ ").replace("- ", "-"), words[1:]
        return f"1 where {' '.join([first, *rest])} > 0, numbers from -1 to 1"


def _signed(value: int) -> str:
    return f"{'-' if value < 0 else '+'} {abs(value)}"
