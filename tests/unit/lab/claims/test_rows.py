"""Rows come in the order of their cases, and curves are their columns."""

from littlestone.lab.claims import constructed_experts
from littlestone.lab.measuring import Measured, column, curves, tabulate, too_many

ROWS: list[Measured] = [{"x": 1, "y": 0.0, "z": 5}, {"x": 2, "y": 4.0, "z": None}]


def test_every_case_becomes_a_row_and_tells_its_progress() -> None:
    told: list[float] = []
    rows = tabulate([3, 1, 2, 4], lambda case: {"case": case}, told.append)
    assert column(rows, "case") == [3, 1, 2, 4]
    assert told == [0.25, 0.5, 0.75, 1.0]


def test_a_curve_leaves_out_what_was_not_measured() -> None:
    first, second = curves(ROWS, "x", ("one", "y", "--"), ("two", "z", "s"), at_least=0.5)
    assert (first.name, first.xs, first.ys, first.style) == ("one", [1, 2], [0.5, 4.0], "--")
    assert (second.xs, second.ys) == ([1], [5])


def test_without_a_least_value_zero_stays_zero() -> None:
    (line,) = curves(ROWS, "x", ("one", "y", "o-"))
    assert line.ys == [0.0, 4.0]


def test_the_chance_is_shared_among_the_rows() -> None:
    rare = [{"chance of as many": 0.9e-9}]
    assert too_many(rare)
    assert not too_many([*rare, {"chance of as many": 1.0}])


def test_the_picture_that_only_full_runs_draw() -> None:
    rows = [
        {"sanitizer": name, "rounds": rounds, "farthest concept": 0, "bound": 9}
        for name in ("histogram", "tree")
        for rounds in (8, 16)
    ]
    picture = constructed_experts._close_picture(rows)
    assert [(line.name, list(line.ys)) for line in picture.series] == [
        ("histogram: farthest concept", [0.5, 0.5]),
        ("histogram: bound", [9, 9]),
        ("tree: farthest concept", [0.5, 0.5]),
        ("tree: bound", [9, 9]),
    ]
