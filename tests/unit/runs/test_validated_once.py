"""An event is validated where it comes in, and nowhere after that."""

import io
import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.readings import read

from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.schema import Schema
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.randomness import seeded
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.intake.form import BadRow
from littlestone.runs.intake.readers import Columns
from littlestone.runs.learning import Publisher, learn

SCHEMA = Schema.from_mapping({"delay": {"grid": [0, 15, 30]}, "from": {"values": ["A", "B"]}})
CONCEPTS = Stumps(SCHEMA, depth=1)
EVENTS = 1000
RECORDS = [
    {"delay": delay, "from": "AB"[delay % 2], "late": int(delay >= 15)}
    for delay in np.random.default_rng(1).integers(50, size=EVENTS).tolist()
]
LEARNER = AgnosticFinite(concepts=CONCEPTS, rounds=2 * EVENTS, epsilon=1.0, delta=1e-6)


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many points each module has had checked; a hypothesis looks at its own points."""
    points: Counter[str] = Counter()
    one, many = Schema.check, Schema.check_many

    def check(self: Schema, x: Any, /) -> Any:
        points[sys._getframe(1).f_globals["__name__"]] += 1
        return one(self, x)

    def check_many(self: Schema, xs: Any, /) -> Any:
        columns = isinstance(xs, Mapping)
        count = len(next(iter(xs.values()))) if columns else len(xs)
        points[sys._getframe(1).f_globals["__name__"]] += count
        before = points.copy()
        block = many(self, xs)
        points.clear()  # what it asks ``check`` is counted already
        points.update(before)
        return block

    monkeypatch.setattr(Schema, "check", check)
    monkeypatch.setattr(Schema, "check_many", check_many)
    return points


def outside(checked: Counter[str]) -> int:
    """Checks of events, not of the points that hypotheses are asked about."""
    inside = ("littlestone.concepts.hypotheses", "littlestone.concepts.classes")
    return sum(count for name, count in checked.items() if not name.startswith(inside))


def events(count: int = EVENTS) -> list[Event | BadRow]:
    lines = io.BytesIO(b"".join(json.dumps(row).encode() + b"\n" for row in RECORDS[:count]))
    return list(read("-", CONCEPTS, Columns(label="late"), standard_input=lines))


@pytest.mark.parametrize(("count", "group"), [(EVENTS, 1000), (EVENTS, 100), (50, 1)])
def test_each_event_is_checked_once_on_its_way_through_learn(
    tmp_path: Path, checked: Counter[str], count: int, group: int
) -> None:
    run = DurableRun.start(LEARNER, tmp_path / "run.store")
    checked.clear()
    tally = learn(run, events(count), Publisher(io.BytesIO()), group=group)
    run.close()
    assert tally.taken == count
    # The reader makes cells of values, one by one. The look of a block is read off its first point.
    assert outside(checked) <= (count // group if group > 1 else 0)


def test_a_replay_reads_the_same_points_out_of_the_store(tmp_path: Path) -> None:
    run = DurableRun.start(LEARNER, tmp_path / "run.store")
    learn(run, events(), Publisher(io.BytesIO()), group=100)
    known = run.mistakes, run.run.hypothesis, run.run.switches
    run.close()
    # Events that come from the store have no canonical form yet; the log must come out the same.
    again = DurableRun.resume(LEARNER, tmp_path / "run.store")
    assert (again.mistakes, again.run.hypothesis, again.run.switches) == known
    again.close()


def test_bad_points_of_events_that_nobody_has_read_are_still_refused(tmp_path: Path) -> None:
    run = DurableRun.start(LEARNER, tmp_path / "run.store")
    with pytest.raises(ValueError, match="from"):
        run.take([Event("1", {"delay": 3, "from": "A"}, 1), Event("2", {"delay": 3}, 1)])
    assert run.rounds == 0
    run.close()


def test_a_long_block_is_validated_once_however_often_the_rule_changes(
    checked: Counter[str],
) -> None:
    run = LEARNER.start(rng=seeded(3))
    checked.clear()
    points, labels = run.validated(RECORDS, [record["late"] for record in RECORDS])
    taken = 0
    while taken < EVENTS:
        taken += run.take(points[taken:], labels[taken:])
    assert run.switches > 20
    assert outside(checked) == EVENTS
    with_checks = LEARNER.start(rng=seeded(3))
    taken = 0
    while taken < EVENTS:
        taken += with_checks.observe_many(points[taken:], labels[taken:])
    assert with_checks.hypothesis == run.hypothesis and with_checks.switches == run.switches
    assert outside(checked) > 10 * EVENTS
