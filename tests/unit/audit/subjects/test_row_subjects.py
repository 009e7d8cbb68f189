"""The reader of CSV in the two-world game, exactly: one row is one example, however it looks."""

import pytest

from littlestone.audit.controls.broken_rows import CONTROLS
from littlestone.audit.exact.privacy_curve import privacy_curve
from littlestone.audit.subjects.row_subjects import OneRow, as_learn_reads, file_reader
from littlestone.audit.two_worlds import Control

HOSTILE = [
    '"2,0',
    '"2,1',
    "x,1",
    "2",
    ",",
    "2,0,7",
    "nan,1",
    "2,maybe",
    "'2',1",
    "1e400,0",
    '""",1',
]


@pytest.mark.parametrize("row", HOSTILE)
def test_whatever_a_row_holds_it_is_worth_one_example(row: str) -> None:
    assert len(list(as_learn_reads([row, "2,1", "0,0"]))) == 3
    curve = privacy_curve(file_reader(1.0), OneRow("2,1", row), rounds=1)
    assert curve.epsilon_lower_bound(0.0) <= 1.0


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_readers_that_look_at_other_rows_break_the_promise(control: Control) -> None:
    curve = privacy_curve(control.subject, control.adversary, rounds=1)
    assert curve.epsilon_lower_bound(0.0) > 1.5 * control.subject.claimed.epsilon


def test_a_blank_line_is_no_row() -> None:
    # docs/GUARANTEES.md says so; a file with one has a round less, and the promise is not about it.
    assert len(list(as_learn_reads(["", "2,1"]))) == 1
