"""Parts of dates are fields; what is missing may have a cell of its own."""

import io
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.readings import read

from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.records.dates import WEEKDAYS, part_of
from littlestone.concepts.schema import Schema
from littlestone.runs.intake.form import BadRow
from littlestone.runs.intake.readers import Columns

LEFT = Schema.from_mapping({"left": {"date": ["hour", "weekday", "month"]}, "x": {"grid": [0]}})
OWN = Schema.from_mapping(
    {
        "left": {"date": ["hour", "weekday"], "missing": "own value"},
        "x": {"grid": [0, 10], "missing": "own value"},
        "from": {"values": ["A", "B"], "missing": "own value"},
    }
)


@pytest.mark.parametrize(
    ("value", "hour", "weekday", "month"),
    [
        ("2013-12-29 05:15", 5, "Sunday", 12),
        (" 2013-12-29T23:59:59.5+02:00 ", 23, "Sunday", 12),
        (datetime(2024, 2, 29, 13), 13, "Thursday", 2),
        ("2024-02-29", None, "Thursday", 2),
        ("20240229", None, "Thursday", 2),
        (date(2024, 2, 29), None, "Thursday", 2),
        ("05:15", 5, None, None),
        (time(5, 15), 5, None, None),
        ("1315", None, None, None),
        ("2024-02-30", None, None, None),
        ("29.2.2024", None, None, None),
        (1385, None, None, None),
        ("", None, None, None),
    ],
)
def test_parts_of_dates(
    value: Any, hour: int | None, weekday: str | None, month: int | None
) -> None:
    for part, expected in (("hour", hour), ("weekday", weekday), ("month", month)):
        if expected is None:
            with pytest.raises(ValueError, match=part):
                part_of(value, part)
        else:
            assert part_of(value, part) == expected


def test_records_may_hold_the_date_or_its_parts() -> None:
    whole = {"left": "2013-12-29 05:15", "x": 3}
    parts = {"left.hour": 5, "left.weekday": "Sunday", "left.month": 12, "x": 3}
    assert LEFT.check(whole) == LEFT.check(parts) == (5, 6, 11, 1)
    columns = {"left": np.array(["2013-12-29 05:15"] * 2), "x": np.array([3, -1])}
    assert LEFT.check_many(columns).tolist() == [[5, 6, 11, 1], [5, 6, 11, 0]]
    assert [part.column for part in LEFT.fields] == ["left", "left", "left", "x"]
    with pytest.raises(ValueError, match=r"'left\.hour' is missing"):
        LEFT.check({"x": 3})


@pytest.mark.parametrize("schema", [LEFT, OWN])
def test_a_schema_with_dates_survives_json(schema: Schema) -> None:
    assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize(
    "entry",
    [{"date": []}, {"date": ["minute"]}, {"date": ["hour"], "grid": [1]}, {"date": "hour"},
     {"grid": [1], "date": "minute"}],
)  # fmt: skip
def test_what_is_no_part_of_a_date_is_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="'left'"):
        Schema.from_mapping({"left": entry})


def test_what_is_missing_has_a_cell_of_its_own() -> None:
    known = {"left": "2013-12-29 00:15", "x": -1e300, "from": "B"}
    assert OWN.check(known) == (1, 6, 1, 1)
    assert OWN.check({}) == (0, 7, 0, 2)
    assert OWN.check({"left": "never", "x": "none", "from": "C"}) == (0, 7, 0, 2)
    hour, weekday, number, _ = OWN.fields
    assert weekday.describe(7, 7) == "left.weekday == 'own value'"
    assert number.describe(1, 2) == "x is there and x < 10"
    assert number.describe(0, 0) == hour.describe(0, 0).replace("left.hour", "x") == "x is missing"


@pytest.mark.parametrize("source", ["-", "rows.csv"])
def test_rows_with_dates(tmp_path: Path, source: str) -> None:
    lines = ["left,x,y"]
    lines += [f"2013-12-{day:02d} {day % 24:02d}:00,1,1" for day in range(1, 32)]
    content = "\n".join([*lines, "soon,1,1", ",1,0", "2013-12-01,1,1"]).encode()
    path = tmp_path / source
    if source != "-":
        path.write_bytes(content)
        source = str(path)
    found = list(
        read(source, Stumps(LEFT, 1), Columns(label="y"), standard_input=io.BytesIO(content))
    )
    events = [row.stand_in if isinstance(row, BadRow) else row for row in found]
    assert [event.x[0] for event in events[:31]] == [day % 24 for day in range(1, 32)]
    assert [WEEKDAYS[event.x[1]] for event in events[:2]] == ["Sunday", "Monday"]
    assert [event.x for event in events[31:]] == [(0, 0, 0, 1), (0, 0, 0, 1), (0, 6, 11, 1)]
    told = [(row.field, row.reason) for row in found if isinstance(row, BadRow)]
    wrong = "is not a date with this part"
    assert told == [("left.hour", wrong), ("left.hour", "is missing"), ("left.hour", wrong)]


@pytest.mark.parametrize("part", ["hour", "weekday", "month"])
def test_what_is_nested_deeper_than_python_shows_is_no_date(part: str) -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(ValueError, match=f"there is no {part}"):
        part_of(deep, part)
    assert OWN.check_many([{"left": deep}, {}]).tolist() == [[0, 7, 0, 2]] * 2
