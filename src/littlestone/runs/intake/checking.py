"""Look at rows before anything is spent: what does not fit, and the line that would fix it.

The findings are data, for their owner only: no mechanism protects them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from littlestone.concepts.capabilities import Records
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.records.dates import GRIDS, part_of
from littlestone.runs.intake.cells import NOTHING, CellReader, LabelReader, Misfit, number_reader
from littlestone.runs.intake.readers import Columns, point_reader, user_of
from littlestone.runs.intake.sources import BadRow, Form, Row, shown

MANY: Final = 1000
"""Values of one column beyond which a rule that names single values gains nothing."""

_EXAMPLES, _SAMPLED, _COUNTED, _FEW = 3, 200, 20_000, 12
_MARKS: Final = tuple(
    Form(decimal=decimal, thousands=thousands)
    for decimal, thousands in (
        (".", ","), (",", None), (",", "."), (",", " "), (",", "'"), (".", " "), (".", "'"),
    )
)  # fmt: skip
_DATES: Final = (
    "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y", "%d/%m/%Y", "%d/%m/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S", "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %I:%M %p",
    "%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%d-%m-%Y", "%d-%m-%Y %H:%M",
    "%d %b %Y", "%b %d, %Y", "%d %B %Y", "%Y%m%d %H:%M", "%Y%m%d%H%M%S",
)  # fmt: skip

Reader = Callable[[Any], Any]


@dataclass(slots=True)
class Problem:
    """One reason why values of one column do not fit."""

    name: str
    reason: str
    rows: int = 0
    examples: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    """Some of the values, to find a fix."""
    mend: str = ""
    """The option or the line of the schema to add; empty if none is known."""

    def note(self, line: int, value: Any) -> None:
        """Count a value that does not fit."""
        self.rows += 1
        if len(self.examples) < _EXAMPLES and value not in (None, ""):
            self.examples.append(f"{shown(value)} on line {line}")
        if len(self.values) < _SAMPLED:
            self.values.append(value)

    def __str__(self) -> str:
        where = f"{self.name!r} " if self.name else ""
        got = f", as {'; '.join(self.examples)}" if self.examples else ""
        return f"{where}{self.reason} in {counted(self.rows, 'row')}{got}"


@dataclass(slots=True)
class Column:
    """What the values of one column look like."""

    rows: int = 0
    missing: int = 0
    longest: int = 0
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
                self.longest = max(self.longest, len(str(word)))
            self.values[word] += 1

    @property
    def distinct(self) -> str:
        """Return the number of different values, in words."""
        return f"{len(self.values):,}{' or more' if len(self.values) >= _COUNTED else ''}"

    def usual_kind(self) -> str:
        """Return the most frequent kind of value."""
        return self.kinds.most_common(1)[0][0] if self.kinds else "nothing"


@dataclass(slots=True)
class Findings:
    """What was found in some rows, for their owner only."""

    rows: int = 0
    misfits: int = 0
    """Rows in which something does not fit."""
    problems: dict[tuple[str, str], Problem] = field(default_factory=dict)
    label: Column = field(default_factory=Column)
    label_advice: str = ""
    users: Counter[str] = field(default_factory=Counter)
    columns: dict[str, Column] = field(default_factory=dict)

    positive_is_mistyped: str = ""
    """A label that differs from the declared one in case only, if no row has the declared one."""

    @property
    def most_do_not_fit(self) -> bool:
        """Return whether more than half of the rows do not fit."""
        return 2 * self.misfits > self.rows

    def ordered(self) -> list[Problem]:
        """Return the problems, the most frequent first."""
        return sorted(self.problems.values(), key=lambda each: -each.rows)

    def refusal(self) -> str | None:
        """Return why nothing should be spent on these rows, and what to add; None if they fit."""
        if not self.most_do_not_fit:
            return None
        told = [
            f"{one}{f': add {one.mend}' if one.mend else ''}"
            for one in self.ordered()
            if 10 * one.rows > self.rows
        ]
        return f"most rows do not fit: {self.misfits:,} of {self.rows:,}. {'. '.join(told)}"


def examine(
    found: Iterable[Row],
    concepts: ConceptClass | None,
    columns: Columns,
    *,
    form: Form,
    others: Sequence[str] = (),
) -> Findings:
    """Read rows as ``learn`` does, and note everything that does not fit.

    Args:
        found: Rows with the values of the needed columns, then of ``others``.
        concepts: What is learned; None to look at the columns alone.
        columns: Which columns hold the label, the id and the user.
        form: How the source is written.
        others: Columns that are only looked at.
    """
    findings, kind = Findings(), _kinds(form)
    findings.columns = {name: Column() for name in others}
    readers = _readers(concepts, columns, form)
    parts = [] if concepts is None else _fields_with_text(concepts)
    findings.columns |= {name: Column() for name in parts}
    for line, row in found:
        findings.rows += 1
        if isinstance(row, BadRow):
            findings.misfits += 1
            _noted(findings, "", row.reason).note(line, row.got or None)
            continue
        fits = True
        for (name, read), value in zip(readers, row, strict=False):
            try:
                read(value)
            except Misfit as misfit:
                fits = False
                _noted(findings, misfit.field, misfit.reason).note(line, value)
            if name in parts:
                findings.columns[name].note(value, kind)
        findings.misfits += not fits
        if columns.label:
            findings.label.note(row[0], kind)
        if columns.user is not None:
            findings.users[shown(row[bool(columns.label) + (columns.identity is not None)])] += 1
        for name, value in zip(others, row[len(readers) :], strict=True):
            findings.columns[name].note(value, kind)
    findings.positive_is_mistyped = _mistyped(findings.label, columns)
    findings.label_advice = _label_advice(findings.label, columns)
    for problem in findings.problems.values():
        problem.mend = _mend(problem, concepts, columns, form, findings)
    return findings


def _noted(findings: Findings, name: str, reason: str) -> Problem:
    return findings.problems.setdefault((name, reason), Problem(name, reason))


def _readers(
    concepts: ConceptClass | None, columns: Columns, form: Form
) -> list[tuple[str, Reader]]:
    """Return a reader for each needed column, in their order."""
    label = LabelReader(
        columns.label,
        positive=columns.positive,
        at_least=columns.at_least,
        domain=None if concepts is None else concepts.domain,
        form=form,
    )
    readers: list[tuple[str, Reader]] = [(columns.label, label.one)] if columns.label else []
    if columns.identity is not None:
        readers.append((columns.identity, lambda value: None))
    if columns.user is not None:
        readers.append((columns.user, lambda value: user_of(value, columns)))
    if concepts is None:
        return readers
    if isinstance(concepts.domain, Records):
        cells = [CellReader(part, form) for part in concepts.domain.fields]
        parts = zip(concepts.domain.fields, cells, strict=True)
        return readers + [(part.column, _cached(reader)) for part, reader in parts]
    point = point_reader(concepts.domain, columns.feature)
    return [*readers, (columns.feature or "", lambda value: point([value]))]


def _cached(reader: CellReader) -> Reader:
    def read(value: Any) -> int:
        known = reader.known.get(value) if type(value) is str else None
        return reader.one(value) if known is None else known

    return read


def _fields_with_text(concepts: ConceptClass) -> set[str]:
    """Return the columns of declared categories, which may have too many values."""
    domain = concepts.domain
    if not isinstance(domain, Records):
        return set()
    return {part.column for part in domain.fields if not hasattr(part, "grid")}


def _kinds(form: Form) -> Callable[[Any], str]:
    """Return a function that classifies a value: number, date, word, text or object."""
    number = number_reader(form)

    def kind(value: Any) -> str:
        if isinstance(value, dict | list):
            return "object"
        if isinstance(value, bool):
            return "word"
        if not isinstance(value, str):
            return "date" if hasattr(value, "year") else "number"
        if _reads(number, value):
            return "number"
        if _is_date(value, form.date_format) or any(_is_date(value, each) for each in _DATES):
            return "date"
        if any(_reads(number_reader(each), value) for each in _MARKS):
            return "number"
        return "text" if len(value) > 40 or value.count(" ") >= 4 else "word"

    return kind


def _reads(read: Callable[[str], Any], value: Any) -> bool:
    try:
        read(value)
    except (ValueError, OverflowError):
        return False
    return True


def _is_date(value: Any, form: str | None) -> bool:
    return _reads(lambda text: part_of(text, "month", form), value)


def _mend(
    problem: Problem,
    concepts: ConceptClass | None,
    columns: Columns,
    form: Form,
    findings: Findings,
) -> str:
    """Return the option or the line of the schema that makes these values fit."""
    values = [value for value in problem.values if value is not None and value not in ("",)]
    objects = [value for value in values if isinstance(value, dict) and value]
    if objects:
        return f"the path of a value in it, as in '{problem.name}.{next(iter(objects[0]))}'"
    if problem.name == columns.label and "missing" not in problem.reason:
        return findings.label_advice
    texts = [value for value in values if isinstance(value, str)]
    if any("\ud800" <= letter <= "\udfff" for text in texts for letter in text):
        return "--encoding cp1252 (the text is not UTF-8)"
    if problem.reason == "is missing":
        if problem.name in (columns.label, columns.user, columns.identity):
            return ""
        return f'[{problem.name}] missing = "own value" to the schema'
    if problem.reason.startswith("is not a number"):
        return _number_mend(texts, problem.name)
    if problem.reason.startswith("is not a date"):
        fitting = [each for each in _DATES if texts and all(_is_date(text, each) for text in texts)]
        return " or ".join(f'--date-format "{each}"' for each in fitting[:2])
    if problem.reason.startswith("is not one of the declared values"):
        return _category_mend(problem, concepts, texts)
    if problem.reason.startswith("not ") and "values" in problem.reason:
        return "--delimiter, if another character stands between the values"
    return ""


def _number_mend(texts: Sequence[str], name: str) -> str:
    for marks in _MARKS:
        if texts and all(_reads(number_reader(marks), text) for text in texts):
            thousands = "" if marks.thousands is None else f' --thousands "{marks.thousands}"'
            return (
                f"--decimal {marks.decimal}{thousands}"
                if marks.decimal == ","
                else thousands.strip()
            )
    if texts and all(
        _is_date(text, None) or any(_is_date(text, d) for d in _DATES) for text in texts
    ):
        return f'[{name}] date = ["hour", "weekday"] to the schema, in place of a number'
    words = len({*texts})
    if texts and words <= _FEW:
        return f"[{name}] values = [...] to the schema, in place of a number: these are words"
    return f'[{name}] missing = "own value" to the schema, if what is no number may be a value'


def _category_mend(problem: Problem, concepts: ConceptClass | None, texts: Sequence[str]) -> str:
    declared = next(
        part.values
        for part in getattr(getattr(concepts, "domain", None), "fields", ())
        if part.name == problem.name
    )
    numbers = [value for value in declared if isinstance(value, int)]
    if numbers and all(re.fullmatch(r"\s*[+-]?[0-9]+\s*", text) for text in texts) and texts:
        return f"quotes to the values of [{problem.name}]: in this file they are text"
    alike = {str(value).strip().casefold(): value for value in declared}
    near = [text for text in texts if text.strip().casefold() in alike]
    if near and len(near) == len(texts):
        return f"{shown(near[0])} to the values of [{problem.name}]: they differ in case or blanks"
    return (
        f'[{problem.name}] missing = "own value" to the schema, or the values that are '
        f"public knowledge"
    )


def _label_advice(label: Column, columns: Columns) -> str:
    """Return advice for labels that are not 0 and 1."""
    if columns.positive is not None or columns.at_least is not None:
        return ""
    words = [str(value) for value in label.values]
    kind = label.usual_kind()
    if len(words) == 2:
        return f"--positive {shown(max(words))} (or {shown(min(words))}), which counts as 1"
    if kind == "number" and len(words) > _FEW:
        return "--at-least NUMBER: the label is a number, and from it on it counts as 1"
    if len(words) <= 256 and kind != "text":
        return (
            f"label = {{ values = [...] }} to the schema: there are {len(words)} labels; or "
            f"--positive and the one that counts as 1"
        )
    return "another --label: this column holds text, and no rule can predict that"


def _mistyped(label: Column, columns: Columns) -> str:
    if columns.positive is None:
        return ""
    words = {str(value).strip() for value in label.values}
    wanted = columns.positive.casefold()
    near = [shown(word) for word in words if word.casefold() == wanted]
    return "" if columns.positive in words else "".join(near[:1])


def counted(number: int, what: str) -> str:
    """Return a number with its noun in the singular or plural."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def column_advice(name: str, column: Column, declared: Mapping[str, Any] | None) -> str:
    """Describe a column, and suggest the line to begin with."""
    kind, many = column.usual_kind(), len(column.values) > MANY
    told = f"{name!r}: {column.distinct} different values"
    if column.missing:
        told += f", missing in {counted(column.missing, 'row')}"
    rows = column.rows - column.missing
    if kind == "object":
        return f"{told}; an object: name a value in it, as in '{name}.KEY'"
    if kind != "number" and many:
        if len(column.values) >= rows:
            return f"{told}, each once: an id or a text, which no rule can use (--id, if it is one)"
        return (
            f"{told}: too many for rules that name single values, which will be no better than a "
            f"constant. Learn which of them are bad by keys (PrivateKeys, docs/blocklist.md), or "
            f'declare the few that are public knowledge, and missing = "own value"'
        )
    if kind == "text":
        return f"{told}; text, which no rule can use"
    if declared is not None:
        return ""
    begin = {
        "number": f"[{name}] range = [LOW, HIGH]",
        "date": f"[{name}] date = {list(GRIDS)}".replace("'", '"'),
    }.get(kind, f"[{name}] values = [...]")
    return f"{told}; to use it: {begin}"
