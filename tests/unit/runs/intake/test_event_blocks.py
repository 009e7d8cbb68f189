"""Events in blocks are the same events as one by one: for the reader, the intake and the log."""

import io
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.domain import block_of
from littlestone.concepts.schema import Schema
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.runs.durable import DurableRun
from littlestone.runs.feeding import Intake
from littlestone.runs.intake.event import Event, EventBlock
from littlestone.runs.intake.readers import Columns, Item, read_blocks, singly
from littlestone.runs.intake.users import user_digests
from littlestone.runs.journal.protocol import MemoryPlace
from littlestone.runs.journal.run_log import RunLog
from littlestone.runs.learning import Publisher, Tally, learn

SCHEMA = Schema.from_mapping({"delay": {"grid": [0, 15, 30]}, "from": {"values": ["A", "B"]}})
TREES = DecisionTrees(SCHEMA, 1)
LEARNER = DisjointBatches(concepts=TREES, epsilon=1.0, max_contributions=9)
ROWS, BAD = 2000, (3, 700, 701, 1290, 1999)


def items(folder: Path, *, user: str | None = None) -> list[Item]:
    """What a file becomes, some rows of which do not fit."""
    generator = np.random.default_rng(5)
    delays, users = generator.integers(-9, 50, ROWS), generator.integers(300, size=ROWS)
    lines = [
        f"{'soon' if row in BAD else delay},{'AB'[delay % 2]},{int(delay > 14)},u{who}\n"
        for row, (delay, who) in enumerate(zip(delays, users, strict=True))
    ]
    path = folder / "rows.csv"
    path.write_text("delay,from,late,who\n" + "".join(lines))
    columns = Columns(label="late", user=user, origin="rows.csv")
    return list(read_blocks(str(path), TREES, columns, standard_input=io.BytesIO()))


def test_most_rows_of_a_file_come_in_blocks(tmp_path: Path) -> None:
    found = items(tmp_path)
    blocks = [item for item in found if isinstance(item, EventBlock)]
    assert sum(map(len, blocks)) > ROWS - 16 * len(BAD)
    (first, *_) = blocks
    line = first.lines[0]
    event = Event(f"rows.csv line {line}", first[0].x, first[0].y, line, (first[0].x, first[0].y))
    assert first[0] == event and first[-1] == list(first)[-1] == first[len(first) - 1]
    with pytest.raises(IndexError):
        first[len(first)]


@pytest.mark.parametrize("user", [None, "who"])
def test_blocks_are_cut_and_joined_without_a_trace(tmp_path: Path, user: str | None) -> None:
    whole = [item for item in items(tmp_path, user=user) if isinstance(item, EventBlock)]
    events = list(chain.from_iterable(whole))
    assert list(EventBlock.joined(whole)) == events == list(EventBlock.of(events))
    assert [*EventBlock.joined(whole)[:70], *EventBlock.joined(whole)[70:]] == events


@pytest.mark.parametrize("user", [None, "who"])
def test_a_block_is_logged_like_its_events(tmp_path: Path, user: str | None) -> None:
    whole = [item for item in items(tmp_path, user=user) if isinstance(item, EventBlock)]
    block = EventBlock.joined(whole)
    intake = Intake(SCHEMA, None if user is None else user_digests(bytes(32)))
    ours, theirs = intake.checked(block, first=7), intake.checked(list(block), first=7)
    assert list(ours.events()) == list(theirs.events())
    assert ours.bodies == list(theirs.bodies)
    assert np.array_equal(ours.points, block_of(SCHEMA, theirs.points))
    assert ours.labels.tolist() == theirs.labels


def test_a_block_with_users_where_none_are_counted_is_refused(tmp_path: Path) -> None:
    block = next(item for item in items(tmp_path, user="who") if isinstance(item, EventBlock))
    with pytest.raises(ValueError, match="user must be None"):
        Intake(SCHEMA, None).checked(block, first=1)
    with pytest.raises(ValueError, match="user must be given"):
        Intake(SCHEMA, user_digests(bytes(32))).checked(
            EventBlock(block.ids, block.points, block.labels, block.lines), first=1
        )


def learned(stream: list[Item], group: int) -> tuple[Tally, list[object]]:
    place = MemoryPlace("here")
    run = DurableRun.start(LEARNER, place)
    tally = learn(run, stream, Publisher(io.BytesIO()), group=group, policy="stand-in")
    run.close()
    journal = place.open()
    groups = [(each.first, each.ids, each.bodies) for each in RunLog(journal).missing]
    journal.close()
    return tally, list(groups)


@pytest.mark.parametrize("group", [5, 100, 1000])
def test_the_log_is_the_same_by_block_and_one_by_one(tmp_path: Path, group: int) -> None:
    found = items(tmp_path)
    tally, groups = learned(found, group)
    assert (tally.taken, tally.stood_in) == (ROWS, len(BAD))
    assert len(groups) == ROWS // group
    assert (tally, groups) == learned(list(singly(found)), group)


def test_events_that_were_taken_are_recognized_in_a_block(tmp_path: Path) -> None:
    blocks = [item for item in items(tmp_path) if isinstance(item, EventBlock)]
    block = EventBlock.joined(blocks)
    place = MemoryPlace("here")
    run = DurableRun.start(LEARNER, place)
    run.take(list(block[5:50]))
    receipts = run.take(block[:100])
    assert [each.repeated for each in receipts] == [5 <= place < 50 for place in range(100)]
    assert run.rounds == 100 and run.take(block[:100])[99].round == receipts[99].round == 100
    fed = run.mistakes, run.hindsight()
    run.close()
    again = DurableRun.resume(LEARNER, place)  # from the bodies
    assert (again.mistakes, again.hindsight()) == fed
    again.close()
