"""Rules that correct rules, and scorecards of several labels."""

import itertools
import sqlite3
from typing import Any

import numpy as np
import pytest

from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.layered_tree import (
    MOST_LAYERS,
    LayeredTree,
    corrected,
    with_label_before,
)
from littlestone.concepts.hypotheses.python_source import python_source
from littlestone.concepts.hypotheses.rules import Scorecards
from littlestone.concepts.hypotheses.sql_source import sql_source
from littlestone.concepts.hypotheses.weighted_vote import WeightedVote
from littlestone.concepts.schema import Schema

SCHEMA = Schema.from_mapping(
    {
        "a": {"grid": [0, 1]},
        "b": {"values": ["x", "y", "z"]},
        "label": {"values": ["ok", "late", "lost"]},
    }
)
BEFORE = with_label_before(SCHEMA)
CELLS = np.array(list(itertools.product(range(3), range(3))))
RECORDS = [{"a": a - 0.5, "b": "xyz"[b]} for a, b in CELLS.tolist()]
BASES: list[Any] = [
    DecisionTree(SCHEMA, ((0, 2, 2), ((1, 0, 0), 2, 1), 0)),
    Scorecards(SCHEMA, (1, 0, -20), (((10,), (0, 5, 5)), ((-7,), (9, 0, 0)), ((0,), (0, 0, 30)))),
]
FIRST = DecisionTree(BEFORE, ((1, 1, 1), 2, 3))
SECOND = DecisionTree(BEFORE, ((1, 1, 1), ((0, 0, 0), 1, 3), 3))


def by_definition(rule: LayeredTree, cells: tuple[int, ...]) -> int:
    said = rule.base(cells)
    for layer in rule.layers:
        said = said if layer(cells) == 3 else layer(cells)
    return said


@pytest.mark.parametrize("base", BASES, ids=["tree", "scores"])
@pytest.mark.parametrize("layers", [(FIRST,), (FIRST, SECOND), (SECOND, FIRST)])
def test_the_newest_layer_with_an_answer_gives_it(
    base: Any, layers: tuple[DecisionTree, ...]
) -> None:
    rule = LayeredTree(base, layers)
    wanted = [by_definition(rule, tuple(cells)) for cells in CELLS.tolist()]
    assert len(set(wanted)) == 3
    assert rule.many(CELLS).tolist() == [rule(tuple(cells)) for cells in CELLS.tolist()] == wanted
    written: dict[str, Any] = {}
    exec(python_source(rule), written)
    assert [written["rule"](record) for record in RECORDS] == wanted
    assert [rule(record) for record in RECORDS] == wanted


@pytest.mark.parametrize("base", BASES, ids=["tree", "scores"])
def test_sql_says_the_same(base: Any) -> None:
    rule = LayeredTree(base, (FIRST, SECOND))
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE t (a REAL, b TEXT)")
        database.executemany("INSERT INTO t VALUES (?, ?)", [tuple(r.values()) for r in RECORDS])
        for each in (rule, base, WeightedVote([(rule, 2), (BASES[0], 3), (BASES[1], 3)])):
            said = database.execute(f"SELECT {sql_source(each, 'sqlite')} FROM t").fetchall()
            assert [label for (label,) in said] == each.many(CELLS).tolist()


def test_text_has_a_line_for_each_question() -> None:
    told = LayeredTree(BASES[0], (FIRST,)).text().splitlines()
    assert told[:5] == ["if b == 'y':", "    'lost'", "else:", "    as before", "before:"]


def test_scorecards_have_a_table_for_each_label() -> None:
    told = BASES[1].text().splitlines()
    assert told[:3] == ["Points for 'ok':", "", " +1  always"]
    assert told.count("Points for 'lost':") == 1 and told[-1] == "The label with the most points"


def test_a_correction_that_changes_nothing_or_everything_is_no_layer() -> None:
    last: Any = BASES[0]
    unchanged: Any = corrected(last, DecisionTree(BEFORE, 3))
    assert unchanged is BASES[0]
    whole = corrected(last, DecisionTree(BEFORE, ((0, 0, 0), 1, 2)))
    assert whole == DecisionTree(SCHEMA, ((0, 0, 0), 1, 2))
    once: Any = corrected(last, FIRST)
    assert once == LayeredTree(last, (FIRST,))
    assert corrected(once, SECOND) == LayeredTree(last, (FIRST, SECOND))


def test_the_largest_score_decides_and_the_first_of_equal_ones() -> None:
    cards = Scorecards(SCHEMA, (0, 0, 0), tuple(((value,), (0, 0, 0)) for value in (0, 1, -1)))
    assert cards.many([(1, 0), (2, 0), (0, 0)]).tolist() == [0, 1, 2]
    assert cards.disagreement(BASES[1]) is not None and cards.disagreement(cards) is None


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: LayeredTree(BASES[0], ()), "layers must have from 1 to 64"),
        (lambda: LayeredTree(BASES[0], (FIRST,) * (MOST_LAYERS + 1)), "layers must have from 1 to"),
        (lambda: LayeredTree(BASES[0], (DecisionTree(SCHEMA, 1),)), "one more label"),
        (lambda: Scorecards(SCHEMA, (0, 0), (((0,), (0, 0, 0)),) * 2), "each of 3 labels"),
        (lambda: Scorecards(SCHEMA, (0, 0, 0), (((0,), (0, 0)),) * 3), "points must be"),
        (lambda: DecisionTree(SCHEMA, 3), "label must be from 0 to 2"),
        (lambda: LayeredTree.from_json({"base": None, "layers": []}), "base must be one of"),
    ],
)
def test_what_does_not_fit_together_is_refused(made: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made()
