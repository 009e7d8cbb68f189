"""Convert values to the cells of a schema, one by one or in columns with the same result."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from littlestone.concepts.protocols import Domain
from littlestone.concepts.records.columns import EXACT, exact_number
from littlestone.concepts.records.dates import part_of
from littlestone.concepts.schema import Buckets, Category, LabelledSchema, Numeric
from littlestone.runs.intake.form import Form, shown

WHOLE: Final = re.compile(r"\s*[+-]?[0-9]+\s*")
NOTHING: Final = frozenset(
    {
        "", "NULL", "null", "Null", "(null)", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan",
        "NaT", "None", "none", "\\N", "-", "?",
    }
)  # fmt: skip
"""Texts that mean a missing value, unless the schema declares them as values."""
TRUE: Final = (
    "1", "1.0", "true", "yes", "y", "t", "on", "ja", "wahr", "oui", "vrai", "si", "sí", "sì", "sim",
    "tak",
)  # fmt: skip
FALSE: Final = (
    "0", "0.0", "false", "no", "n", "f", "off", "nein", "nee", "nej", "falsch", "non", "faux",
    "não", "nao", "nie",
)  # fmt: skip
_LABELS: Final = dict.fromkeys(TRUE, 1) | dict.fromkeys(FALSE, 0)
_BITS: Final = {0: 0, 1: 1}
_PLAIN: Final = frozenset({str, int, float})
_REMEMBERED: Final = 10_000


class Misfit(ValueError):  # noqa: N818 (never leaves this package)
    """A value does not fit its column."""

    def __init__(self, field: str, reason: str, value: Any = None) -> None:
        super().__init__(reason)
        self.field, self.reason = field, reason
        self.got = "" if value is None else shown(value)


def is_empty(value: Any) -> bool:
    """Return whether there is no value or an empty text; arrays have no single answer to ==."""
    return value is None or (isinstance(value, str) and not value)


def number_reader(form: Form) -> Callable[[str], float | int]:
    """Return a function that parses a number from a text, by the declared marks alone.

    >>> read = number_reader(Form(decimal=",", thousands="."))
    >>> read("1.234,5"), read("27,79"), read(" -7 ")
    (1234.5, 27.79, -7.0)
    >>> number_reader(Form(units="$ %"))("-$27.79")
    -27.79
    >>> number_reader(Form(thousands=","))("1,23,456")
    123456.0
    >>> read("27.79")
    Traceback (most recent call last):
    ...
    ValueError: not a number with these marks
    """
    if form.units:
        return _without_units(form)
    if form.decimal == "." and form.thousands is None:
        return _number
    mark = form.thousands or ""
    between = r"[ \u00a0\u2009\u202f]" if mark == " " else re.escape(mark)
    # Groups before the last have two digits in India: 1,23,456.
    groups = rf"[0-9]{{1,3}}(?:{between}[0-9]{{2,3}})*{between}[0-9]{{3}}"
    whole = rf"{groups}|[0-9]+" if mark else "[0-9]+"
    point = re.escape(form.decimal)
    shape = re.compile(rf"([+-]?)({whole})?(?:{point}([0-9]*))?([eE][+-]?[0-9]+)?")
    gaps = re.compile(between) if mark else None

    def read(text: str) -> float | int:
        found = shape.fullmatch(text.strip())
        if found is None:
            raise ValueError("not a number with these marks")
        sign, digits, fraction, power = found.groups("")
        digits = digits if gaps is None else gaps.sub("", digits)
        return _number(f"{sign}{digits}{f'.{fraction}' if fraction else ''}{power}")

    return read


def _without_units(form: Form) -> Callable[[str], float | int]:
    """Drop a unit before and one after the number; no pattern, which blanks could make slow."""
    units = sorted(form.units.split(), key=len, reverse=True)
    number = number_reader(replace(form, units=""))

    def read(text: str) -> float | int:
        bare = text.strip()
        sign = bare[:1] if bare.startswith(("+", "-")) else ""
        bare = bare[len(sign) :].lstrip()
        before = next(filter(bare.startswith, units), "")
        bare = bare.removeprefix(before)
        after = next(filter(bare.endswith, units), "")
        return number(sign + bare.removesuffix(after).strip())

    return read


class CellReader:
    """Convert the values of a field to cells, with a cache of texts."""

    def __init__(self, part: Numeric | Category, form: Form | None = None) -> None:
        form = form or Form()
        self._part, self._dates = part, form.date_format
        self._number = number_reader(form)
        self._usual = self._number is _number
        self._declared: frozenset[str | int] = frozenset()
        if isinstance(part, Category) and not isinstance(part, Buckets):
            self._declared = frozenset(part.values)
        # A text is a declared text first; a declared whole number has one spelling.
        numbers = {str(value): value for value in self._declared if not isinstance(value, str)}
        self._spelled = {text: n for text, n in numbers.items() if text not in self._declared}
        self.stand_in = part.stand_in
        self.known: dict[str, int] = {}

    def one(self, value: Any) -> int:
        """Return the cell of a value; raise a misfit if it is not what was declared.

        A missing value fits if the field declares what it counts as. So does a word that is none of
        the declared values, or that has no digit where a number or a date belongs.
        """
        part = self._part
        if self._is_missing(value):
            if part.missing is None:
                raise Misfit(part.name, "is missing")
            return self.stand_in
        numeric = isinstance(part, Numeric)
        try:
            if part.date is not None:
                cell = part.declared_cell(part_of(value, part.date, self._dates))
            else:
                cell = part.declared_cell(self._read(value) if isinstance(value, str) else value)
        except Exception:  # of the value itself
            if part.missing is None or not self._is_other(value):
                reason = "is not a number" if numeric else "is not one of the declared values"
                reason = "is no text" if isinstance(part, Buckets) else reason
                reason = reason if part.date is None else "is not a date with this part"
                raise Misfit(part.name, reason, value) from None
            cell = self.stand_in
        if type(value) is str and len(self.known) < _REMEMBERED:
            self.known[value] = cell
        return cell

    def many(self, column: Sequence[Any]) -> list[int]:
        """Convert values like ``one``; an exception if they need it one by one."""
        if list(map(type, column)).count(str) == len(column):
            try:
                return list(map(self.known.__getitem__, column))
            except KeyError:
                pass
        elif not _PLAIN.issuperset(map(type, column)):  # others may say that they equal a text
            return list(map(self.one, column))
        if not isinstance(self._part, Numeric) or self._part.date is not None:
            return list(map(self.one, column))
        if self._part.missing is not None and not NOTHING.isdisjoint(column):
            present = iter(self.many([value for value in column if value not in NOTHING]))
            return [self.stand_in if value in NOTHING else next(present) for value in column]
        read = float if self._usual else self._float
        numbers = np.array(list(map(read, column)))
        if not (np.abs(numbers) < EXACT).all():  # false for NaN, too
            raise ValueError("numbers that floats may not hold")
        cells: list[int] = np.searchsorted(self._part.first_floats, numbers, side="right").tolist()
        if len(self.known) < _REMEMBERED:
            pairs = zip(column, cells, strict=True)
            self.known.update((value, cell) for value, cell in pairs if type(value) is str)
        return cells

    def _is_missing(self, value: Any) -> bool:
        """Return whether there is no value; a text that means that may be a declared value."""
        if value is None or not isinstance(value, str):
            return value is None
        return not value or (value in NOTHING and value not in self._declared)

    def _is_other(self, value: Any) -> bool:
        """Return whether a value that was not declared counts as missing where that is declared.

        A text with digits in place of a number or a date may be one that is written otherwise, and
        one that cannot be printed may be in another encoding.
        """
        if isinstance(self._part, Category) and self._part.date is None:
            return value.isprintable() if isinstance(value, str) else isinstance(value, int)
        return isinstance(value, str) and not any(map(str.isdigit, value))

    def _read(self, text: str) -> str | float:
        """Return what a text says in this field: a number, or the declared value it spells.

        Raises:
            ValueError: The field is a number, and the text is none.
        """
        if isinstance(self._part, Numeric):
            return self._number(text)
        return self._spelled.get(text, text)

    def _float(self, value: Any) -> float:
        return float(self._number(value) if type(value) is str else value)


class LabelReader:
    """Convert values to labels: 0 or 1, or words for them, unless the labels are declared.

    Args:
        name: The column.
        positive: The value that counts as 1, and every other as 0. As text: ``true`` and ``True``
            are the boolean, and ``1`` is every number that equals 1.
        at_least: The least number that counts as 1, where labels are numbers.
        domain: Where the labels are declared, if it is a schema that does so.
        form: How numbers in text are written.

    >>> LabelReader("late", positive="spät").many(["spät", "pünktlich"])
    [1, 0]
    >>> LabelReader("late", positive="true").many([True, False, "true", 1])
    [1, 0, 1, 0]
    >>> LabelReader("delay", at_least=15, form=Form(decimal=",")).many(["15,5", 3])
    [1, 0]
    """

    def __init__(
        self,
        name: str,
        *,
        positive: str | None = None,
        at_least: float | None = None,
        domain: Domain | None = None,
        form: Form | None = None,
    ) -> None:
        self._name, self._positive, self._at_least = name, positive, at_least
        self._declared = domain if isinstance(domain, LabelledSchema) else None
        for option, value in (("positive", positive), ("at_least", at_least)):
            if self._declared is not None and value is not None:
                raise ValueError(
                    f"{option} must not be given where the schema declares the labels, got "
                    f"{option}={value!r}"
                )
        self._number = number_reader(form or Form())
        self._positive_number = None if positive is None else self._number_in(positive)
        self._usual = (positive, at_least, self._declared) == (None, None, None)
        self.known: Mapping[str, int] = _LABELS if self._usual else {}
        """Texts whose labels need no closer look."""

    def many(self, values: Sequence[Any]) -> list[int]:
        """Convert values like ``one``; KeyError if they need it one by one."""
        if self._usual and len(kinds := set(map(type, values))) == 1:
            # Only among texts, or numbers of one type, do equal values have equal labels.
            if kinds == {str}:
                return list(map(_LABELS.__getitem__, values))
            if kinds <= {int, bool, float}:
                return list(map(_BITS.__getitem__, values))
        return list(map(self.one, values))

    def one(self, value: Any) -> int:
        """Return the label of a value; raise a misfit if it has none."""
        if is_empty(value):
            raise Misfit(self._name, "is missing")
        if self._declared is not None:
            try:
                return self._declared.label_number(value)
            except ValueError:
                raise Misfit(self._name, "is not one of the declared labels", value) from None
        if self._positive is not None:
            return int(self._is_positive(value, self._positive))
        if self._at_least is not None:
            return self._reaches(value, self._at_least)
        if isinstance(value, str):
            label = _LABELS.get(value)
            label = _LABELS.get(value.strip().lower()) if label is None else label
        else:
            number = int(value) if isinstance(value, bool) else exact_number(value)
            label = None if number is None else _BITS.get(number)
        if label is None:
            raise Misfit(self._name, "is neither 0 nor 1 (--positive says what is 1)", value)
        return label

    def _is_positive(self, value: Any, positive: str) -> bool:
        if isinstance(value, str):
            return value.strip() == positive
        if isinstance(value, bool | np.bool_):
            return str(value).casefold() == positive.casefold()
        number = exact_number(value)
        return number is not None and number == self._positive_number

    def _number_in(self, value: Any) -> Any:
        try:
            return exact_number(self._number(value) if isinstance(value, str) else value)
        except (ValueError, OverflowError):
            return None

    def _reaches(self, value: Any, cut: float) -> int:
        number = self._number_in(value)
        if number is None:
            raise Misfit(self._name, "is not a number (--at-least compares numbers)", value)
        return int(number >= cut)


def _number(value: str) -> float | int:
    number = float(value)
    exact = -EXACT < number < EXACT or WHOLE.fullmatch(value) is None
    return number if exact else int(value)
