"""What a task does for one key, without Spark: the bytes of ``advance``, and nothing raises."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fleet_events import COLUMNS, RECIPE, SEQUENCE, Events, expected, line_of, some_events

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.schema import Schema
from littlestone.errors import SnapshotError, StoreError
from littlestone.runs.files import create_secret, fingerprint
from littlestone.runs.fleet import spark_folder as visits
from littlestone.runs.fleet.keyed import MOST_KEY_BYTES, advance
from littlestone.runs.fleet.rows import line_reader
from littlestone.runs.fleet.spark_folder import (
    REFUSED,
    RELEASED,
    SCHEMA,
    KeyVisits,
    unpacked,
    visited,
)
from littlestone.runs.intake.readers import Columns

SECRET = bytes(range(32))


class Handle:
    """Spark's, of one task: a value for each key."""

    def __init__(self) -> None:
        self.values: dict[Any, tuple[bytes] | None] = {}
        self.key: Any = None

    def getValueState(self, name: str, schema: str) -> "Handle":  # noqa: N802
        assert (name, schema) == ("state", "state binary")
        return self

    def get(self) -> tuple[bytes] | None:
        return self.values.get(self.key)

    def update(self, value: tuple[bytes]) -> None:
        self.values[self.key] = value


class Task:
    """Calls a processor as Spark does."""

    def __init__(self, folder: Path) -> None:
        self.secret = create_secret(folder / "secret")
        self.handle = Handle()
        self.visits = KeyVisits(
            RECIPE,
            secret=folder / "secret",
            fingerprint=fingerprint(self.secret),
            columns=COLUMNS,
            sequence=SEQUENCE,
        )
        self.visits.init(self.handle)

    def batch(self, key: str | None, lines: Iterable[str]) -> list[tuple[Any, ...]]:
        self.handle.key = (key,)
        rows = [{"value": line} for line in lines]
        return list(self.visits.handleInputRows((key,), rows, None))


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return Task(tmp_path)


def lines_of(events: Events, key: str, first: int = 1, last: int = 10**6) -> list[str]:
    numbered = enumerate(events[key], start=1)
    return [line_of(key, at, x, y) for at, (x, y) in numbered if first <= at <= last]


def kinds(rows: list[tuple[Any, ...]]) -> list[str | None]:
    return [row[0] for row in rows]


def test_any_order_and_any_batches_give_the_bytes_of_advance(task: Task) -> None:
    events, published = some_events(keys=3, each=40), []
    for first, last in ((1, 13), (9, 14), (15, 40)):
        for key in events:
            rows = task.batch(key, reversed(lines_of(events, key, first, last)))
            published += [row[1].encode() for row in rows if row[0] == RELEASED]
            assert {len(row) for row in rows} == {len(SCHEMA)}
    assert sorted(published) == expected(task.secret, events)


def test_a_key_that_goes_on_says_so_in_its_last_row(task: Task) -> None:
    first = task.batch("a", [line_of("a", 1, 3, 0), line_of("a", 2, 3, 0)])
    assert kinds(first) == [RELEASED, None] and first[-1][6:] == (2, 1, 0)
    again = task.batch("a", [line_of("a", 3, 3, 0)])
    assert kinds(again)[-1] is None and again[-1][6:] == (1, 0, 0)
    assert first[-1][4:6] != again[-1][4:6]  # halves of the seal of another state
    assert task.batch("a", [line_of("a", 3, 60, 1)]) == []  # seen before: nothing goes on


def test_of_two_lines_with_one_number_it_is_the_same_that_counts(
    task: Task, tmp_path: Path
) -> None:
    lines = [line_of("a", 1, 3, 0), line_of("a", 1, 60, 1), line_of("a", 2, 5, 0)]
    (tmp_path / "other").mkdir()
    rows = task.batch("a", lines)
    state = task.handle.values.pop(("a",))
    assert rows == task.batch("a", lines[::-1]) and state == task.handle.values[("a",)]


BAD = (
    line_of("a", 1, 64, 0),
    line_of("a", 1, 3, 2),
    line_of("a", 1, None, 0),
    line_of("a", "1.5", 3, 0),
    line_of("a", -1, 3, 0),
    line_of("a", 501, 3, 0),
    line_of("b", 1, 3, 0),
    "{",
    "[1]",
    '{"shop": "a", "number": 1, "size": 3, "large": 1, "shop": "b"}',
    '{"a": ' + "[" * 10**4,
)


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_a_line_that_cannot_be_taken_is_handed_back_whole(task: Task, bad: str) -> None:
    [row] = task.batch("a", [bad])
    assert row[0] == REFUSED and json.loads(row[1])["line"] == bad
    assert task.handle.values == {}  # the key did not begin
    rows = task.batch("a", [line_of("a", 1, 3, 0), bad])
    assert REFUSED in kinds(rows) and rows[-1][6] == 1


def test_an_event_waits_for_its_predecessors_and_nobody_can_tell(task: Task) -> None:
    """The releases and the state of any order of batches are those of the right one."""
    events = some_events(keys=1, each=12)
    lines = lines_of(events, "key 0")
    waits = [task.batch("key 0", [lines[place]]) for place in (3, 2, 6, 7)]
    assert [row[-3:] for rows in waits for row in rows] == [(0, 0, 1)] * 4
    state, early = unpacked(task.handle.get()[0])  # type: ignore[index]
    assert state is None and early == [lines[place] for place in (2, 3, 6, 7)]
    assert task.batch("key 0", [line_of("key 0", 3, 60, 1)]) == []  # the first that came counts
    begun = task.batch("key 0", lines[:2])
    assert begun[-1][-3:] == (4, 1, -2)
    published = begun + task.batch("key 0", lines[8:]) + task.batch("key 0", lines[4:6])
    shown = [row[1].encode() for row in published if row[0] == RELEASED]
    assert sorted(shown) == expected(task.secret, events)
    xs, ys = zip(*events["key 0"], strict=True)
    whole, _ = advance(RECIPE, task.secret, "key 0", None, range(1, 13), xs, ys)
    assert task.handle.get() == (whole,)


def test_what_waited_and_cannot_be_read_any_more_is_handed_back(task: Task) -> None:
    """Somebody has started the work anew and named another column."""
    waits = line_of("a", 2, 3, 0)
    task.batch("a", [waits])
    task.visits.columns = replace(COLUMNS, feature="other")
    task.visits.init(task.handle)
    begins = line_of("a", 1, 3, 0).replace("size", "other")
    rows = task.batch("a", [begins])
    assert kinds(rows) == [RELEASED, REFUSED, None] and rows[-1][-3:] == (1, 1, -1)
    assert json.loads(rows[1][1])["line"] == waits


def test_so_many_wait_the_nearest_and_what_finds_no_room_is_handed_back(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "_MOST_EARLY", 4)
    rows = task.batch("a", [line_of("a", number, 3, 0) for number in (5, 4, 3)])
    [handed_back] = [json.loads(row[1]) for row in rows if row[0] == REFUSED]
    assert handed_back["line"] == line_of("a", 5, 3, 0)
    assert handed_back["reason"] == "event 1 of this key is missing, and 4 at most can wait for it"
    _, early = unpacked(task.handle.get()[0])  # type: ignore[index]
    assert early == [line_of("a", number, 3, 0) for number in (3, 4)]


@pytest.mark.parametrize("spaces", [0, 10_000, (1 << 20) - 100])
def test_how_long_a_line_is_decides_about_no_other(
    task: Task, monkeypatch: pytest.MonkeyPatch, spaces: int
) -> None:
    monkeypatch.setattr(visits, "_MOST_EARLY", 4)
    mine, handed_back = line_of("a", 2, 3, 0) + " " * spaces, []
    for group in ([2, 4], [5], [3]):
        lines = [mine if number == 2 else line_of("a", number, 3, 0) for number in group]
        rows = task.batch("a", lines)
        handed_back += [json.loads(row[1])["line"] for row in rows if row[0] == REFUSED]
    assert [line for line in handed_back if line != mine] == [line_of("a", 5, 3, 0)]
    assert (mine in handed_back) == (spaces > visits._LONGEST_EARLY)


def test_lines_without_a_key_begin_nothing(task: Task) -> None:
    rows = task.batch(None, ["{", line_of(None, 1, 3, 0)])
    assert kinds(rows) == [REFUSED, REFUSED] and task.handle.values == {}
    assert task.batch(None, ["", " "]) == []
    rows = task.batch("", [line_of("", 1, 3, 0)])
    assert kinds(rows) == [REFUSED] and task.handle.values == {}


def test_a_key_that_is_too_long_begins_nothing(task: Task) -> None:
    for key in ("k" * MOST_KEY_BYTES, "é" * (MOST_KEY_BYTES // 2)):
        [row] = task.batch(key, [line_of(key, 1, 3, 0)])
        assert row[0] == REFUSED and "at most 2,000 bytes" in row[1] and task.handle.values == {}
    fits = "k" * (MOST_KEY_BYTES - 3)
    assert kinds(task.batch(fits, [line_of(fits, 1, 3, 0)])) == [RELEASED, None]


def test_over_a_schema_every_row_with_key_and_number_counts() -> None:
    trees = DecisionTrees(Schema.from_mapping({"delay": {"grid": [0, 15]}}), 1)
    columns = Columns(label="late", identity="shop")
    lines = [
        '{"shop": "a", "n": 2, "delay": "?", "late": 1}',
        '{"shop": "a", "n": 1, "delay": 3, "late": "?"}',
        '{"n": 3, "delay": "?", "late": 1}',
        '{"shop": "a", "delay": 3, "late": 1}',
    ]
    read = line_reader(trees, columns, sequence="n")(lines)
    fits = [(line.number, getattr(line.event, "id", None)) for line in read]
    assert fits == [(0, None), (1, "a"), (2, "a"), (3, None)]


def test_a_state_of_another_key_or_secret_is_refused(task: Task, tmp_path: Path) -> None:
    task.batch("a", [line_of("a", 1, 3, 0)])
    [(state,)] = [value for value in task.handle.values.values() if value]
    line = line_reader(RECIPE.concepts, COLUMNS, sequence=SEQUENCE)([line_of("b", 2, 3, 0)])
    with pytest.raises(SnapshotError):
        visited(RECIPE, task.secret, "b", state, line)
    task.visits.fingerprint = bytes(16)
    with pytest.raises(StoreError, match="not the secret"):
        task.batch("b", [line_of("b", 1, 3, 0)])
