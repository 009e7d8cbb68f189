"""Look at rows before anything is spent: what does not fit, and the line that would fix it.

The findings are data, for their owner only: no mechanism protects them.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from littlestone.concepts.capabilities import Records
from littlestone.concepts.protocols import Domain
from littlestone.concepts.schema import Buckets
from littlestone.runs.intake.cells import CellReader, Misfit, is_empty
from littlestone.runs.intake.form import BadRow, Form, Row, shown
from littlestone.runs.intake.lines import NOT_CSV
from littlestone.runs.intake.looks import (
    FEW,
    SAMPLED,
    Column,
    below,
    counted,
    date_fix,
    date_parts,
    encoding_fix,
    fitting_formats,
    is_date,
    is_usual_date,
    kinds_in,
    label_advice,
    mistyped,
    number_fix,
)
from littlestone.runs.intake.readers import Columns, label_reader, point_reader, user_of

_EXAMPLES: Final = 3
_OWN: Final = 'missing = "own value"'
_NO_DATE: Final = "is not a date"
_LIST: Final = "a value that rules can use in place of the list, such as its length"
_AS_JSON: Final = (
    "the rows to a file of JSON lines, where a value may hold line ends and quotes: python3 -c "
    "'import csv, io, json, sys; [print(json.dumps(row)) for row in csv.DictReader("
    'io.TextIOWrapper(sys.stdin.buffer, "{encoding}", newline=""), delimiter="{delimiter}", '
    "skipinitialspace=True)]' < {old} > {new}"
)
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
    fix: str = ""
    """The option or the line of the schema to add; empty if none is known."""

    def note(self, line: int, value: Any) -> None:
        """Count a value that does not fit."""
        self.rows += 1
        if len(self.examples) < _EXAMPLES and not is_empty(value):
            self.examples.append(f"{shown(value)} on line {line}")
        if len(self.values) < SAMPLED:
            self.values.append(value)

    def __str__(self) -> str:
        where = f"{self.name!r} " if self.name else ""
        got = f", as {'; '.join(self.examples)}" if self.examples else ""
        return f"{where}{self.reason} in {counted(self.rows, 'row')}{got}"


_NONE: Final = Problem("", "")


@dataclass(slots=True)
class Findings:
    """What was found in some rows, for their owner only."""

    rows: int = 0
    misfits: int = 0
    """Rows in which something does not fit."""
    problems: dict[tuple[str, str], Problem] = field(default_factory=dict)
    label: Column = field(default_factory=Column)
    label_advice: str = ""
    labels: set[int] = field(default_factory=set)
    """The labels that could be read."""
    users: Counter[str] = field(default_factory=Counter)
    columns: dict[str, Column] = field(default_factory=dict)

    positive_is_mistyped: str = ""
    """A label that differs from the declared one in case only, if no row has the declared one."""

    @property
    def most_do_not_fit(self) -> bool:
        """Return whether more than half of the rows do not fit."""
        return 2 * self.misfits > self.rows

    def is_half_labelled(self, label: str) -> bool:
        """Return whether all labels that can be read are the same, and others cannot be read."""
        unreadable = sum(
            one.rows
            for (name, reason), one in self.problems.items()
            if name == label and reason != "is missing"
        )
        return 100 * unreadable > self.rows and len(self.labels) == 1

    def ordered(self) -> list[Problem]:
        """Return the problems, the most frequent first."""
        return sorted(self.problems.values(), key=lambda each: -each.rows)

    def undeclared(self, domain: Domain) -> Iterator[str]:
        """Yield, for each field, how many rows count as missing since their value is not declared.

        A schema with mistyped values fits all rows where it declares what is missing.
        """
        for part in getattr(domain, "fields", ()):
            column = self.columns.get(part.name)
            if column is None or part.missing is None or isinstance(part, Buckets):
                continue
            declared = set(map(str, part.values))
            rows = sum(n for value, n in column.values.items() if str(value) not in declared)
            if rows:
                yield (
                    f"{part.name!r} has none of the declared values in {counted(rows, 'row')} of "
                    f"{self.rows:,}, which count as {part.values[part.stand_in]!r}"
                )

    def refusal(self, label: str) -> str | None:
        """Return why nothing should be spent on these rows, and what to add; None if they fit."""
        if self.most_do_not_fit:
            why = f"most rows do not fit: {self.misfits:,} of {self.rows:,}"
        elif self.is_half_labelled(label):
            why = f"every label that can be read is {min(self.labels)}"
        else:
            return None
        return f"{why}. {'. '.join(self.warnings(label))}"

    def warnings(self, label: str = "") -> list[str]:
        """Return the problems of a tenth of the rows or more, and every problem of the label."""
        return [
            f"{one}{f': add {one.fix}' if one.fix else ''}"
            for one in self.ordered()
            if 10 * one.rows > self.rows or one.name == label
        ]


def examine(
    found: Iterable[Row],
    domain: Domain | None,
    columns: Columns,
    *,
    form: Form,
    others: Sequence[str] = (),
    source: str = "old.csv",
) -> Findings:
    """Read rows as ``learn`` does, and note everything that does not fit.

    Rows have the values of the needed columns, then of ``others``, which are only looked at, as all
    columns are without a domain. The ``source`` is for commands that convert the file.
    """
    findings, kind = Findings(), kinds_in(form)
    findings.columns = {name: Column() for name in others}
    readers = _readers(domain, columns, form)
    parts = [] if domain is None else _fields_with_text(domain)
    findings.columns |= {name: Column() for name in parts}
    for line, row in found:
        findings.rows += 1
        if isinstance(row, BadRow):
            findings.misfits += 1
            _noted(findings, "", row.reason).note(line, row.got or None)
            continue
        odd = set[tuple[str, str]]()
        for (name, read), value in zip(readers, row, strict=False):
            try:
                cell = read(value)
                if name == columns.label:
                    findings.labels.add(cell)
            except Misfit as misfit:
                what = _named(name, misfit, value, form)
                if what not in odd:  # once for all parts of a date
                    odd.add(what)
                    _noted(findings, *what).note(line, value)
            if name in parts:
                findings.columns[name].note(value, kind)
        findings.misfits += bool(odd)
        if columns.label:
            findings.label.note(row[0], kind)
        if columns.user is not None:
            findings.users[shown(row[bool(columns.label) + (columns.identity is not None)])] += 1
        for name, value in zip(others, row[len(readers) :], strict=True):
            findings.columns[name].note(value, kind)
    findings.positive_is_mistyped = mistyped(findings.label, columns)
    findings.label_advice = label_advice(findings.label, columns)
    for problem in findings.problems.values():
        problem.fix = _fix(problem, domain, columns, form, findings)
        if problem.reason == NOT_CSV:
            problem.fix = _as_json(source, form)
    return findings


def _named(column: str, misfit: Misfit, value: Any, form: Form) -> tuple[str, str]:
    """Return the field and the reason; the column, if the value is not a date at all."""
    if misfit.field.startswith(f"{column}.") and not is_date(value, form.date_format):
        return column, _NO_DATE if "date" in misfit.reason else misfit.reason
    return misfit.field, misfit.reason


def _as_json(source: str, form: Form) -> str:
    old = Path(source)
    return _AS_JSON.format(
        encoding=form.encoding,
        delimiter=(form.delimiter or ",").replace("\t", "\\t"),
        old=shlex.quote(source),
        new=shlex.quote(str(old.with_suffix(".jsonl"))),
    )


def _noted(findings: Findings, name: str, reason: str) -> Problem:
    return findings.problems.setdefault((name, reason), Problem(name, reason))


def _readers(domain: Domain | None, columns: Columns, form: Form) -> list[tuple[str, Reader]]:
    """Return a reader for each needed column, in their order."""
    label = label_reader(domain, columns, form)
    readers: list[tuple[str, Reader]] = [(columns.label, label.one)] if columns.label else []
    if columns.identity is not None:
        readers.append((columns.identity, lambda value: None))
    if columns.user is not None:
        readers.append((columns.user, lambda value: user_of(value, columns)))
    if domain is None:
        return readers
    if isinstance(domain, Records):
        cells = [CellReader(part, form) for part in domain.fields]
        parts = zip(domain.fields, cells, strict=True)
        return readers + [(part.column, _cached(reader)) for part, reader in parts]
    point = point_reader(domain, columns.feature)
    return [*readers, (columns.feature or "", lambda value: point([value]))]


def _cached(reader: CellReader) -> Reader:
    def read(value: Any) -> int:
        known = reader.known.get(value) if type(value) is str else None
        return reader.one(value) if known is None else known

    return read


def _fields_with_text(domain: Domain) -> set[str]:
    """Return the columns of declared categories, which may have too many values."""
    if not isinstance(domain, Records):
        return set()
    return {
        part.column for part in domain.fields if not hasattr(part, "grid") and part.date is None
    }


def _fix(
    problem: Problem, domain: Domain | None, columns: Columns, form: Form, findings: Findings
) -> str:
    """Return the option or the line of the schema that makes these values fit."""
    values = [value for value in problem.values if not is_empty(value)]
    objects = [value for value in values if isinstance(value, dict) and value]
    if objects:
        return f"the path of a value in it, as in '{problem.name}.{next(iter(objects[0]))}'"
    if any(isinstance(value, list) for value in values):
        return _LIST
    texts = [value for value in values if isinstance(value, str)]
    if encoding := encoding_fix(texts):
        return encoding
    # A line of totals or the rest of a torn line is no reason to change the schema.
    few = 100 * problem.rows <= findings.rows or ("", NOT_CSV) in findings.problems
    if problem.name == columns.label and "missing" not in problem.reason:
        return "" if few else findings.label_advice
    if problem.reason == "is missing":
        if problem.name in (columns.label, columns.user, columns.identity):
            return ""
        return below(problem.name, _OWN)
    if problem.reason.startswith("is not a number"):
        known = few or _counts_missing(domain, problem.name)
        missing = findings.problems.get((problem.name, "is missing"), _NONE).rows
        most = 2 * problem.rows > findings.rows - missing
        return _number_fix(texts, problem.name, known=known, most=most)
    if problem.reason == _NO_DATE:
        return date_fix(values, form)
    if problem.reason.startswith(_NO_DATE):
        column, _, part = problem.name.rpartition(".")
        line = below(column, date_parts(values, form.date_format))
        return f"{line}, in place of the line there: these dates have no {part}"
    if problem.reason.startswith("is not one of the declared values"):
        return _category_fix(problem, domain, texts)
    torn = ("", NOT_CSV) in findings.problems
    if problem.reason.startswith("not ") and "values" in problem.reason and not torn:
        return "--delimiter, if another character separates the values"
    return ""


def _counts_missing(domain: Domain | None, name: str) -> bool:
    fields = getattr(domain, "fields", ())
    return any(part.name == name and part.missing is not None for part in fields)


def _number_fix(texts: Sequence[str], name: str, *, known: bool, most: bool) -> str:
    """Return what to add; nothing for words, if it is ``known`` what they count as."""
    if not texts:
        return ""
    if marks := number_fix(texts):
        return marks
    if all(is_date(text, None) or is_usual_date(text) for text in texts):
        line = date_parts(texts, next(iter(fitting_formats(texts)), None))
        return f"{below(name, line)}, in place of a number"
    if not known and most and len({*texts}) <= FEW:
        return f"{below(name, 'values = [...]')}, in place of a number: these are words"
    if known or any(any(map(str.isdigit, text)) for text in texts):
        return ""
    return f"{below(name, _OWN)}, if values that are not numbers count as one more value"


def _category_fix(problem: Problem, domain: Domain | None, texts: Sequence[str]) -> str:
    declared = next(
        part.values for part in getattr(domain, "fields", ()) if part.name == problem.name
    )
    numbers = [value for value in declared if isinstance(value, int)]
    if numbers and all(re.fullmatch(r"\s*[+-]?[0-9]+\s*", text) for text in texts) and texts:
        return f"quotes to the values of [{problem.name}]: in this file they are text"
    alike = {str(value).strip().casefold(): value for value in declared}
    near = [text for text in texts if text.strip().casefold() in alike]
    if near and len(near) == len(texts):
        return f"{shown(near[0])} to the values of [{problem.name}]: they differ in case or blanks"
    if len({*texts}) > SAMPLED // 2:
        return f"{below(problem.name, 'buckets = 64')}, in place of values: there are very many"
    return f"{below(problem.name, _OWN)}, or the values that are public knowledge"
