"""What the values of a column look like, and the line of the schema to begin with.

Like all findings this is for the owner of the rows only.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from littlestone.concepts.records.dates import COUNTED, GRIDS, part_of
from littlestone.runs.intake.cells import NOTHING, number_reader
from littlestone.runs.intake.form import Form, shown
from littlestone.runs.intake.readers import Columns

MANY: Final = 1000
"""Values of one column beyond which a rule that names single values gains nothing."""

SAMPLED, _COUNTED, FEW = 200, 20_000, 12
_LARGE: Final = 10**100  # Python may refuse to write much larger integers
MARKS: Final = tuple(
    Form(decimal=decimal, thousands=thousands)
    for decimal, thousands in (
        (".", None), (".", ","), (".", " "), (".", "'"),
        (",", None), (",", "."), (",", " "), (",", "'"),
    )
)  # fmt: skip
DATES: Final = (
    *(
        f"{day}{time}"
        for day in (
            "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y",
            "%m/%d/%y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%Y%m%d",
        )
        for time in ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
    ),
    "%Y%m%d%H%M%S", "%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %Z %Y", "%a %b %d %H:%M:%S %z %Y",
    "%a, %d %b %Y %H:%M:%S %z", "%a, %d %b %Y %H:%M:%S %Z", "%d/%b/%Y:%H:%M:%S %z",
)  # fmt: skip

_DATE_DIGITS: Final = 4  # the fewest, as in 1/2/13
_DIGIT: Final = re.compile(r"\d").sub
_UNIT: Final = r"([^\W0-9_]{1,5}|[$€£¥₹₽₺₩₪₴₫₦¢%‰°])"
_BEFORE: Final = re.compile(rf"\s*[+-]?\s*{_UNIT}\s*[+-]?[0-9.,]").match
_AFTER: Final = re.compile(rf"[0-9.,]\s*{_UNIT}\s*$").search
_ACCOUNTED: Final = re.compile(r"\s*(\([0-9][0-9., ]*\)|[0-9][0-9., ]*-)\s*").fullmatch
_ACCOUNTS: Final = (
    "a minus in front of negative numbers, in place of parentheses or a minus after them: sed -E "
    r"""'s/\(([0-9., ]+)\)/-\1/g; s/([0-9., ]*[0-9])-([^0-9]|$)/-\1\2/g' old.csv > new.csv"""
)
_NUMBERED: Final = re.compile(r"\s*(?![A-Z]{3} )[^\W0-9_]+\s*[0-9]+\s*").fullmatch
_TYPES: Final[dict[str, Any]] = {
    "object": dict,
    "list": list,
    "word": bool,
    "date": (date, time),
    "duration": timedelta,
    "bytes": bytes,
}
_USELESS: Final = {
    "list": "a list, which no rule can use: write a value of it, such as its length",
    "duration": "a length of time: write it as a number, such as its seconds",
    "bytes": "bytes, which no rule can use",
    "text": "text, which no rule can use",
}
_MEASURED: Final = re.compile(r"[+-]?[0-9]*[.,][0-9]*").fullmatch


@dataclass(slots=True)
class Column:
    """What the values of one column look like."""

    rows: int = 0
    missing: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    values: Counter[Any] = field(default_factory=Counter)
    """The first ``_COUNTED`` different values."""

    def note(self, value: Any, kind: Callable[[Any], str]) -> None:
        """Count a value."""
        self.rows += 1
        if value is None or (type(value) is str and value in NOTHING):
            self.missing += 1
            return
        plain = isinstance(value, str | float | date | time)
        plain |= isinstance(value, int) and abs(value) < _LARGE
        plain |= isinstance(value, Decimal) and value.is_finite()
        word = value if plain else shown(value)
        if word in self.values or len(self.values) < _COUNTED:
            if word not in self.values and len(self.values) < MANY:
                self.kinds[kind(value)] += 1
            self.values[word] += 1

    @property
    def distinct(self) -> str:
        """Return the number of different values, in words."""
        return f"{len(self.values):,}{' or more' if len(self.values) >= _COUNTED else ''}"

    def usual_kind(self) -> str:
        """Return the most frequent kind of value."""
        return self.kinds.most_common(1)[0][0] if self.kinds else "nothing"


def kinds_in(form: Form) -> Callable[[Any], str]:
    """Return a function that classifies a value by its content, or by its type."""
    number, marked = number_reader(form), [number_reader(each) for each in MARKS]

    def kind(value: Any) -> str:
        if not isinstance(value, str):
            fitting = (name for name, types in _TYPES.items() if isinstance(value, types))
            return next(fitting, "number")
        if reads(number, value):
            return "number"
        if is_date(value, form.date_format) or is_usual_date(value):
            return "date"
        if any(reads(read, value) for read in marked):
            return "number"
        return "text" if len(value) > 40 or value.count(" ") >= 4 else "word"

    return kind


def reads(read: Callable[[str], Any], value: Any) -> bool:
    """Return whether a reader takes a value."""
    try:
        read(value)
    except Exception:  # a value may refuse to be shown or compared
        return False
    return True


def is_date(value: Any, form: str | None) -> bool:
    """Return whether a value is a date in this format, or in ISO 8601."""
    return any(has_part(value, part, form) for part in GRIDS)


def has_part(value: Any, part: str, form: str | None) -> bool:
    """Return whether a value is a date in this format, or in ISO 8601, with this part."""
    return reads(lambda text: part_of(text, part, form), value)


def date_parts(values: Sequence[Any], form: str | None) -> str:
    """Return the line of the schema with the parts that all of these dates have."""
    parts = [part for part in GRIDS if all(has_part(value, part, form) for value in values)]
    return f"date = {json.dumps(parts or list(GRIDS))}"


def is_usual_date(text: str) -> bool:
    """Return whether a text is a date in one of the usual formats."""
    if sum(map(str.isdigit, text)) < _DATE_DIGITS:
        return False
    return any(is_date(text, each) for each in _formats_like(_DIGIT("1", text)))


@lru_cache(maxsize=1000)
def _formats_like(text: str) -> tuple[str, ...]:
    """Return the formats that read a text of ones: a date stays one if its digits become ones."""
    return tuple(each for each in DATES if is_date(text, each))


def below(name: str, line: str) -> str:
    """Return where a line of the schema belongs; TOML wants quotes around unusual names."""
    plain = re.fullmatch("[A-Za-z0-9_-]+", name) is not None
    return f"{line} below [{name if plain else json.dumps(name, ensure_ascii=False)}] in the schema"


def number_fix(texts: Sequence[str]) -> str:
    """Return the marks and units by which the most of these texts are numbers, if most are."""
    negative = [text for text in texts if _ACCOUNTED(text)]
    if 20 * len(negative) >= len(texts):
        return _ACCOUNTS
    units = Counter(unit for text in texts for unit in _beside(text) if unit)
    said = " ".join(unit for unit, rows in units.most_common(3) if 20 * rows >= len(texts))
    forms = [form for marks in MARKS for form in (marks, replace(marks, units=said))]
    readable = [sum(reads(number_reader(form), text) for text in texts) for form in forms]
    most = max(readable)
    return _options(forms[readable.index(most)]) if 2 * most > len(texts) else ""


def encoding_fix(texts: Sequence[str]) -> str:
    """Return the option for texts that are not UTF-8."""
    is_other = any("\ud800" <= letter <= "\udfff" for text in texts for letter in text)
    return "--encoding cp1252 (the text is not UTF-8)" if is_other else ""


def _beside(text: str) -> tuple[str, str]:
    before, after = _BEFORE(text), _AFTER(text)
    return before[1] if before else "", after[1] if after else ""


def _options(form: Form) -> str:
    """Return the options that say how numbers are written."""
    return " ".join(
        [
            *(["--decimal ,"] if form.decimal == "," else []),
            *(["--decimal ."] if form == MARKS[0] else []),
            *([f'--thousands "{form.thousands}"'] if form.thousands else []),
            *([f'--units "{form.units}"'] if form.units else []),
        ]
    )


def fitting_formats(texts: Sequence[str]) -> list[str]:
    """Return the formats in which all of these texts are dates."""
    return [each for each in DATES if all(is_date(text, each) for text in texts)]


def date_fix(values: Sequence[Any], form: Form) -> str:
    """Return the format of dates that are read neither by the declared one nor as ISO 8601."""
    texts = [
        shown(value) if isinstance(value, int) else str(value)
        for value in values
        if isinstance(value, str | int | float)
    ]
    if not texts or all(is_date(value, form.date_format) for value in values):
        return ""
    fitting = fitting_formats(texts)
    found = " or ".join(f'--date-format "{each}"' for each in fitting[:2])
    return found or _counted_fix(texts)


def _counted_fix(texts: Sequence[str]) -> str:
    """Return the unit of dates that are numbers: that in which all are from 1990 to 2100."""
    for form, (since, seconds) in COUNTED.items():
        first, last = (
            (datetime(year, 1, 1, tzinfo=UTC) - since).total_seconds() for year in (1990, 2100)
        )
        with suppress(ValueError):
            if all(first <= float(text) * seconds < last for text in texts):
                return f"--date-format {form}"
    return ""


def label_advice(label: Column, columns: Columns) -> str:
    """Return advice for labels that are not 0 and 1."""
    if columns.positive is not None or columns.at_least is not None:
        return ""
    words = [str(value) for value in label.values]
    kind = label.usual_kind()
    if encoding := encoding_fix(words):
        return encoding
    if len(words) == 2:
        named = sorted(((str(value), rows) for value, rows in label.values.items()), reverse=True)
        (rare, _), (usual, _) = sorted(named, key=itemgetter(1))
        return f"--positive {shown(rare)} (or {shown(usual)}), which counts as 1"
    if kind == "number" and len(words) > FEW:
        return "--at-least NUMBER: the label is a number, and from it on it counts as 1"
    if len(words) <= 256 and kind != "text":
        values = json.dumps(sorted(words), ensure_ascii=False) if len(words) <= FEW else "[...]"
        return (
            f"label = {{ values = {values} }} above all tables of the schema: there are "
            f"{len(words)} labels; or --positive and the one that counts as 1"
        )
    return "another --label: this column holds text, and no rule can predict that"


def mistyped(label: Column, columns: Columns) -> str:
    """Return a label that differs from the declared one in case only, if no row has that."""
    if columns.positive is None:
        return ""
    wanted = columns.positive
    booleans = [str(value).casefold() for value in label.values if isinstance(value, bool)]
    if wanted.casefold() in booleans:  # they are read in any case
        return ""
    words = {str(value).strip() for value in label.values}
    near = [shown(word) for word in words if word.casefold() == wanted.casefold()]
    return "" if wanted in words else "".join(near[:1])


def counted(number: int, what: str) -> str:
    """Return a number with its noun in the singular or plural."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def column_advice(name: str, column: Column, declared: Mapping[str, Any] | None, form: Form) -> str:
    """Describe a column, and suggest the line to begin with."""
    kind, sample = column.usual_kind(), list(column.values)[:SAMPLED]
    if not column.rows:
        return ""
    if not column.values:
        return f"{name!r} is empty: no rule can use it"
    same = len(column.values) == 1
    words = f"{name!r}: {'one value' if same else f'{column.distinct} different values'}"
    if column.missing:
        words += f", missing in {counted(column.missing, 'row')}"
    if encoding := encoding_fix([text for text in sample if isinstance(text, str)]):
        return f"{words}; to read it: {encoding}"
    if kind == "object":
        return f"{words}; an object: name a value in it, as in '{name}.KEY'"
    if kind in _USELESS and kind != "text":
        return f"{words}; {_USELESS[kind]}"
    needed = date_fix(sample, form) if kind == "date" else _marks(sample, form)
    if kind == "word" and all(_NUMBERED(str(value)) for value in sample):
        needed = ""  # u17 is a name, not 17 of a unit
    kind = "number" if needed and kind == "word" else kind
    if len(column.values) > MANY and kind != "date":
        if max(column.values.values()) == 1 and _are_names(column) and not needed:
            return (
                f"{words}, each once: an id or a text, which no rule can use (--id, if it is one)"
            )
        if kind != "number" and "buckets" not in (declared or {}):
            return f"{words}: {_too_many(name)}"
    if kind == "text":
        return f"{words}; {_USELESS[kind]}"
    if declared is not None:
        return ""
    line = {"number": "range = [LOW, HIGH]", "date": _date_line(sample, form)}.get(
        kind, "values = [...]"
    )
    return f"{words}; to use it: {below(name, line)}{f', and {needed}' if needed else ''}"


def _date_line(values: Sequence[Any], form: Form) -> str:
    if all(is_date(value, form.date_format) for value in values):
        return date_parts(values, form.date_format)
    formats = fitting_formats([str(value) for value in values])
    return date_parts(values, formats[0] if formats else form.date_format)


def _marks(values: Sequence[Any], form: Form) -> str:
    """Return how numbers are written that are not read as they are."""
    number = number_reader(form)
    texts = [text for text in values if isinstance(text, str) and not reads(number, text)]
    return number_fix(texts) if texts else ""


def _are_names(column: Column) -> bool:
    """Return whether these are texts or whole numbers, not measurements."""
    return all(
        not isinstance(value, float) and not _MEASURED(str(value)) for value in column.values
    )


def _too_many(name: str) -> str:
    return (
        "too many for rules that name single values, which will be no better than a constant. "
        f"Add {below(name, 'buckets = 64')}: rules know the bucket of a value, by a public hash. "
        "Or learn which of them are bad by keys (PrivateKeys, docs/blocklist.md); or declare the "
        'few that are public knowledge, and missing = "own value". If they are people, give --user'
    )
