"""What the values of a column look like, and the line of the schema to begin with.

Like all findings this is for the owner of the rows only.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from littlestone.concepts.records.dates import GRIDS, part_of
from littlestone.runs.intake.cells import NOTHING, number_reader
from littlestone.runs.intake.readers import Columns
from littlestone.runs.intake.sources import Form, shown

MANY: Final = 1000
"""Values of one column beyond which a rule that names single values gains nothing."""

SAMPLED, _COUNTED, FEW = 200, 20_000, 12
MARKS: Final = tuple(
    Form(decimal=decimal, thousands=thousands)
    for decimal, thousands in (
        (".", ","), (",", None), (",", "."), (",", " "), (",", "'"), (".", " "), (".", "'"),
    )
)  # fmt: skip
DATES: Final = (
    "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y", "%d/%m/%Y", "%d/%m/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S", "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %I:%M %p",
    "%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%d-%m-%Y", "%d-%m-%Y %H:%M",
    "%d %b %Y", "%b %d, %Y", "%d %B %Y", "%Y%m%d %H:%M", "%Y%m%d%H%M%S",
)  # fmt: skip

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
        word = value if isinstance(value, str | int | float | bool) else shown(value)
        if word in self.values or len(self.values) < _COUNTED:
            if word not in self.values:
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
    """Return a function that classifies a value: number, date, word, text or object."""
    number = number_reader(form)

    def kind(value: Any) -> str:
        if isinstance(value, dict | list):
            return "object"
        if isinstance(value, bool):
            return "word"
        if not isinstance(value, str):
            return "date" if hasattr(value, "year") else "number"
        if reads(number, value):
            return "number"
        if is_date(value, form.date_format) or any(is_date(value, each) for each in DATES):
            return "date"
        if any(reads(number_reader(each), value) for each in MARKS):
            return "number"
        return "text" if len(value) > 40 or value.count(" ") >= 4 else "word"

    return kind


def reads(read: Callable[[str], Any], value: Any) -> bool:
    """Return whether a reader takes a value."""
    try:
        read(value)
    except (ValueError, OverflowError):
        return False
    return True


def is_date(value: Any, form: str | None) -> bool:
    """Return whether a value is a date in this format, or in ISO 8601."""
    return reads(lambda text: part_of(text, "month", form), value)


def below(name: str, line: str) -> str:
    """Return where a line of the schema belongs; TOML wants quotes around unusual names."""
    plain = re.fullmatch("[A-Za-z0-9_-]+", name) is not None
    return f"{line} below [{name if plain else json.dumps(name, ensure_ascii=False)}] in the schema"


def date_mend(values: Sequence[Any], form: Form) -> str:
    """Return the format of dates that are read neither by the declared one nor as ISO 8601."""
    texts = [value for value in values if isinstance(value, str)]
    if not texts or all(is_date(text, form.date_format) for text in texts):
        return ""
    fitting = [each for each in DATES if all(is_date(text, each) for text in texts)]
    return " or ".join(f'--date-format "{each}"' for each in fitting[:2])


def label_advice(label: Column, columns: Columns) -> str:
    """Return advice for labels that are not 0 and 1."""
    if columns.positive is not None or columns.at_least is not None:
        return ""
    words = [str(value) for value in label.values]
    kind = label.usual_kind()
    if len(words) == 2:
        return f"--positive {shown(max(words))} (or {shown(min(words))}), which counts as 1"
    if kind == "number" and len(words) > FEW:
        return "--at-least NUMBER: the label is a number, and from it on it counts as 1"
    if len(words) <= 256 and kind != "text":
        return (
            f"label = {{ values = [...] }} to the schema: there are {len(words)} labels; or "
            f"--positive and the one that counts as 1"
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
    kind = column.usual_kind()
    told = f"{name!r}: {column.distinct} different values"
    if column.missing:
        told += f", missing in {counted(column.missing, 'row')}"
    if kind == "object":
        return f"{told}; an object: name a value in it, as in '{name}.KEY'"
    if len(column.values) > MANY and kind != "date":
        if max(column.values.values()) == 1 and _are_names(column):
            return f"{told}, each once: an id or a text, which no rule can use (--id, if it is one)"
        if kind != "number" and "buckets" not in (declared or {}):
            return f"{told}: {_too_many(name)}"
    if kind == "text":
        return f"{told}; text, which no rule can use"
    if declared is not None:
        return ""
    line = {
        "number": "range = [LOW, HIGH]",
        "date": f"date = {list(GRIDS)}".replace("'", '"'),
    }.get(kind, "values = [...]")
    needed = "" if kind != "date" else date_mend(list(column.values)[:SAMPLED], form)
    return f"{told}; to use it: {below(name, line)}{f', and {needed}' if needed else ''}"


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
