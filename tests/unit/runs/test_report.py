"""The report says what ran, what came of it and what it cost; no data in it are markup."""

import html
import re
from pathlib import Path
from typing import Any

import pytest

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.sparse_sets import KeySets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.schema import Schema
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.runs import report as pages
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.intake.form import BadRow
from littlestone.runs.learning import Tally

HOSTILE = "<script>alert(1)</script>"
SCHEMA = Schema.from_mapping({"from": {"values": [HOSTILE, "B"]}})
RECIPE = DisjointBatches(
    concepts=DecisionTrees(SCHEMA, 1), epsilon=4.0, first=2, growth=1.0, max_contributions=2
)


@pytest.fixture
def page(folder_in_memory: Path) -> str:
    run = DurableRun.start(RECIPE, folder_in_memory / "run.db", users="who")
    run.take([Event(f"e{i}", [i % 2], 1 - i % 2, user=f"u{i % 40}") for i in range(300)])
    tally = Tally(taken=300, over_limit=220, rejected=7, stood_in=3)
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
        "at most <strong>100 %</strong> of the time",
        "<th>learner</th><td>DisjointBatches</td>",
        "<th>class</th><td>decision trees over 1 field</td>",
        f"<th>data</th><td>{HOSTILE}.csv</td>",
        "<th>version</th><td>littlestone ",
        f"<td>from</td><td>one of</td><td>{HOSTILE}, B</td><td>'{HOSTILE}'</td>",
        "each event was read once, so all of them together cost ε = 4.",
        "<td>220</td><td>of these not read",
        f"<td>7</td><td>{HOSTILE!r} is missing</td>",
        "(the best constant)",
        "the best of all rules with one question: 0 mistakes",
        "<td>draws from disjoint batches</td><td>ε = 4</td><td>1–…</td>",
    ):
        assert words in told, words
    assert re.search(r"<th>begun</th><td>\d{4}-\d\d-\d\dT", page)
    assert re.search(r"<th>hash of all releases</th><td>[0-9a-f]{64}</td>", page)
    assert "DisjointBatches(" not in told  # no repr


def test_the_curve_has_points_of_its_own(page: str) -> None:
    """300 events came in one group; a straight line would have two points."""
    (path,) = re.findall(r'<polyline class="line" points="([^"]*)"', page)
    assert 100 < len(path.split()) < 250


def test_a_long_history_is_cut_to_what_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    releases: list[dict[str, Any]] = [
        {"release": number + 1, "round": number, "rule": f"rule {number}"} for number in range(5000)
    ]
    assert pages._timeline(releases, 5000).count("<rect") <= 600
    shown = [release["release"] for release in pages._shown(releases)]
    assert shown == [*range(1, 101), *range(4901, 5001)]
    assert "of 5,000 rules" in pages._count(5000) and pages._count(200) == "All 200 rules"


def test_the_baselines_are_drawn(page: str) -> None:
    told = html.unescape(page)
    assert page.count('class="dashed"') == 3  # the constant, the best question, the floor
    assert "made</text>" in told and "best question</text>" in told


def test_a_steady_rule_that_is_not_the_last_is_said(folder_in_memory: Path) -> None:
    never, rule = DecisionTree(SCHEMA, 0), DecisionTree(SCHEMA, ((0, 0, 0), 1, 0))
    said = pages._rule({"rule": "0", "release": 3, "round": 9}, rule, RECIPE.concepts)
    assert "<svg" in said and "The last release says: <code>0</code>" in said
    said = pages._rule({"rule": "0", "release": 3, "round": 9}, never, RECIPE.concepts)
    assert "The last release says" not in said


@pytest.mark.parametrize(
    ("concepts", "words"),
    [
        (DecisionTrees(SCHEMA, 1), "decision trees over 1 field"),
        (Thresholds(1024), "thresholds on 1,024 points"),
        (KeySets(), "key sets on keys of any kind"),
    ],
)
def test_a_class_is_named_in_words(concepts: Any, words: str) -> None:
    assert pages.class_in_words(concepts) == words


def test_a_ledger_of_many_entries_is_summed_up() -> None:
    ledger = Ledger(budget=PrivacyGuarantee(epsilon=1.0), private=True)
    for _ in range(2):
        ledger.charge("restart", PrivacyGuarantee(epsilon=0.25), first=1)
    words = pages.ledger_in_words(ledger, 1)
    assert words.startswith("1 rule, which together cost ε = 0.5") and "2 × restart" in words
