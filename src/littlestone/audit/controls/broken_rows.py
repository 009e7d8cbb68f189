"""Broken readers of rows: in each, more than one row affects a round."""

import csv
from collections.abc import Iterable, Sequence
from typing import Any

from littlestone.audit.subjects.row_subjects import (
    HEADER,
    OneRow,
    Reader,
    as_learn_reads,
    file_reader,
)
from littlestone.audit.two_worlds import Control

Examples = Iterable[tuple[Any, int]]


def rows_that_fit(lines: Sequence[str]) -> Examples:
    """Skip rows that do not fit, so that the batch has fewer rounds."""
    return as_learn_reads([line for line in lines if line.count('"') % 2 == 0])


def quotes_over_lines(lines: Sequence[str]) -> Examples:
    """Let an unclosed quote extend over the following lines, as the csv module does."""
    found = csv.DictReader("\n".join([HEADER, *lines, ""]).splitlines(keepends=True))
    rows = [f"{row['n']},{row['label']}".replace("\n", " ").replace('"', "") for row in found]
    return as_learn_reads(rows)


def one_type_for_a_column(lines: Sequence[str]) -> Examples:
    """Read a column as numbers or as text, decided by any one cell."""
    cells = [line.split(",") for line in lines]
    numbers = all(cell[0].isdigit() for cell in cells)
    return as_learn_reads([f"{cell[0] if numbers else ''},{cell[1]}" for cell in cells])


def _control(name: str, bug: str, reader: Reader) -> Control:
    subject = file_reader(1.0, reader, name=name)
    return Control(subject=subject, adversary=OneRow("2,1", '"2,0'), bug=bug)


CONTROLS = (
    _control("rows-dropped", "a row that does not fit is not a round", rows_that_fit),
    _control("rows-quoted", "an open quote takes the rows that follow", quotes_over_lines),
    _control("rows-typed", "one cell decides the type of its column", one_type_for_a_column),
)
