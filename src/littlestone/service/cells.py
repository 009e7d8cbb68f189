"""Values become the cells of a schema: one by one, and whole columns that come out the same."""

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from littlestone.concepts.records.columns import EXACT
from littlestone.concepts.records.dates import part_of
from littlestone.concepts.schema import Category, Numeric
from littlestone.service.sources import shown

WHOLE: Final = re.compile(r"\s*[+-]?[0-9]+\s*")
_PLAIN: Final = frozenset({str, int, float})
_REMEMBERED: Final = 10_000


class Misfit(ValueError):  # noqa: N818 (never leaves this package)
    """A value does not fit its column."""

    def __init__(self, field: str, reason: str, value: Any = None) -> None:
        super().__init__(reason)
        self.field, self.reason = field, reason
        self.got = "" if value is None else shown(value)


class CellReader:
    """How the values of a field become cells; texts that have come before are remembered."""

    def __init__(self, part: Numeric | Category) -> None:
        self._part = part
        self.stand_in = part.stand_in
        self.known: dict[str, int] = {}

    def one(self, value: Any) -> int:
        """The cell of a value that is what was declared; a misfit otherwise.

        Where it is declared what a missing value counts as, one that is not there fits.
        """
        part = self._part
        if value is None or value == "":
            if part.missing is None:
                raise Misfit(part.name, "is missing")
            return self.stand_in
        numeric = isinstance(part, Numeric)
        try:
            if part.date is not None:
                cell = part.declared_cell(part_of(value, part.date))
            else:
                cell = part.declared_cell(_number(value) if numeric else value)
        except (ValueError, TypeError, ArithmeticError, RecursionError):
            reason = "is not a number" if numeric else "is not one of the declared values"
            reason = reason if part.date is None else "is not a date with this part"
            raise Misfit(part.name, reason, value) from None
        if type(value) is str and len(self.known) < _REMEMBERED:
            self.known[value] = cell
        return cell

    def many(self, column: Sequence[Any]) -> list[int]:
        """What ``one`` says of each value; a ValueError or TypeError if it has to be asked."""
        try:
            return list(map(self.known.__getitem__, column))
        except KeyError:
            pass
        if not isinstance(self._part, Numeric) or self._part.date is not None:
            return list(map(self.one, column))
        if self._part.missing is not None and "" in column:
            present = iter(self.many([value for value in column if value != ""]))
            return [self.stand_in if value == "" else next(present) for value in column]
        if not _PLAIN.issuperset(map(type, column)):
            raise ValueError("values that floats may not hold")
        numbers = np.array(list(map(float, column)))
        if not (np.abs(numbers) < EXACT).all():  # not a number is not, either
            raise ValueError("numbers that floats may not hold")
        cells: list[int] = np.searchsorted(self._part.first_floats, numbers, side="right").tolist()
        if len(self.known) < _REMEMBERED:
            pairs = zip(column, cells, strict=True)
            self.known.update((value, cell) for value, cell in pairs if type(value) is str)
        return cells


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    number = float(value)
    exact = -EXACT < number < EXACT or WHOLE.fullmatch(value) is None
    return number if exact else int(value)
