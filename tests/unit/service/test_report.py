"""The report says what ran, what came of it and what it cost; no data in it are markup."""

import html
import re
from pathlib import Path
from typing import Any

import pytest

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.schema import Schema
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.service import report as pages
from littlestone.service.durable import DurableRun
from littlestone.service.learning import Tally
from littlestone.service.log.intake import Event
from littlestone.service.sources import BadRow

HOSTILE = "<script>alert(1)</script>"
SCHEMA = Schema.from_mapping({"from": {"values": [HOSTILE, "B"]}})
RECIPE = DisjointBatches(
    concepts=DecisionTrees(SCHEMA, 1), epsilon=4.0, first=2, growth=1.0, max_contributions=2
)


@pytest.fixture
def page(folder_in_memory: Path) -> str:
    run = DurableRun.start(RECIPE, folder_in_memory / "run.db", users="who")
    run.take([Event(f"e{i}", [i % 2], 1 - i % 2, user=f"u{i % 40}") for i in range(300)])
    tally = Tally(taken=300, unread=220, rejected=7, stood_in=3)
    for _ in range(7):
        tally.note(BadRow(3, "is missing", HOSTILE))
    text = pages.report(run, bound=None, floor=1.0, data=f"{HOSTILE}.csv", tally=tally)
    run.close()
    return text


def test_nothing_of_the_data_is_markup(page: str) -> None:
    assert "<script" not in page and html.escape(HOSTILE) in page


def test_it_says_what_ran_and_what_was_promised(page: str) -> None:
    told = html.unescape(page)
    for words in (
        "private with ε = 8 to each 'who', of whose events at most 2 are read,",
        "<td>learner</td><td>DisjointBatches</td>",
        "<td>class</td><td>DecisionTrees",
        f"<td>data</td><td>{HOSTILE}.csv</td>",
        "<td>version</td><td>littlestone ",
        "<td>220</td><td>of these unread",
        f"<td>7</td><td>{HOSTILE!r} is missing</td>",
        "(the best constant)",
        "the best of all rules with one question: 0 mistakes",
        "<td>draws from disjoint batches</td><td>ε = 4</td><td>1–…</td>",
    ):
        assert words in told, words
    assert len(re.findall(r"<td>(?:begun|written)</td><td>\d{4}-\d\d-\d\dT", page)) == 2


def test_the_curve_has_points_of_its_own(page: str) -> None:
    """300 events came in one group; a straight line would have two points."""
    (path,) = re.findall(r'<polyline points="([^"]*)"', page)
    assert 100 < len(path.split()) < 250


def test_a_long_history_is_cut_to_what_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    releases: list[dict[str, Any]] = [
        {"release": number + 1, "round": number, "rule": f"rule {number}"} for number in range(5000)
    ]
    assert pages._timeline(releases, 5000).count("<rect") <= 600
    shown = [release["release"] for release in pages._shown(releases)]
    assert shown == [*range(1, 101), *range(4901, 5001)]
    assert "5,000" in pages._published(5000) and not pages._published(200)
