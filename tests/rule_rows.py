"""Random rules over records, and rows to try them on: NULLs, dates, odd text, values unheard of."""

import datetime
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.rules import Rule, Scorecard
from littlestone.concepts.hypotheses.tables import RecordTable, TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote, domain_of
from littlestone.concepts.hypotheses.weighted_vote import WeightedVote
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Schema

ODD = [
    "O'Hare",
    'say "no"',
    "back\\slash",
    "été",
    "東京",
    "a;--",
    "%s",
    "",
    " ",
    "NULL",
    "`",
    "\\'",
]
# Every field stands in for what is missing, so that a hypothesis has a label for each row.
SCHEMA = Schema.from_mapping(
    {
        "delay": {"grid": [-3, 0, 15, 30], "missing": 0},
        'sha"re': {"grid": [0.1, 0.25, 1 / 3], "missing": "own value"},
        "from`": {"values": [*ODD, "other"], "missing": "other"},
        "gate": {"values": [1, 2, 3], "missing": "own value"},
        "left": {"date": ["hour", "weekday", "month"], "missing": "own value"},
    }
)
COLUMNS = ("delay", 'sha"re', "from`", "gate", "left")
_FIRST = datetime.datetime(2024, 1, 1)


def rules(rng: np.random.Generator) -> Iterator[Hypothesis]:
    """At least one of each kind that SQL can say."""
    drawn = (DecisionTree(SCHEMA, _node(rng, 4, 2)) for _ in range(100))
    trees = list(islice((tree for tree in drawn if len(tree.conditions) > 2), 5))
    yield from trees[:2]
    yield Rule(SCHEMA, ((0, 2, 3), (2, 4, 4)))
    yield Scorecard(SCHEMA, -3, _points(rng))
    yield Scorecard(SCHEMA, 5, _points(rng))
    small = Schema(SCHEMA.fields[:2])
    labels = rng.integers(0, 2, small.size).tolist()
    yield RecordTable(small, TableHypothesis.from_labels(labels))
    yield MajorityVote(trees[:3])
    yield WeightedVote(zip(trees, (5, 4, 3, 2, 1), strict=True))


def rows(count: int, rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Values of the columns, each of them missing one time in eight."""
    texts = [*ODD, "other", "unheard of", "o'hare"]
    columns: list[list[Any]] = [
        rng.integers(-6, 40, count).tolist(),
        rng.choice([0.1, 0.25, 1 / 3, -1.0, 0.0999, 2.0, np.inf, -np.inf], count).tolist(),
        [texts[place] for place in rng.integers(0, len(texts), count)],
        rng.integers(0, 6, count).tolist(),
        [_FIRST + datetime.timedelta(minutes=int(m)) for m in rng.integers(0, 525_600, count)],
    ]
    missing = rng.random((count, len(columns))) < 1 / 8
    return [
        tuple(None if gone else value for value, gone in zip(row, lost, strict=True))
        for row, lost in zip(zip(*columns, strict=True), missing.tolist(), strict=True)
    ]


def said(rule: Any, table: list[tuple[Any, ...]]) -> list[int]:
    """What the rule says of each row; of some of them it is asked one at a time."""
    records = [dict(zip(COLUMNS, row, strict=True)) for row in table]
    labels: list[int] = rule.many(domain_of(rule).check_many(records)).tolist()
    assert [rule(record) for record in records[:500]] == labels[:500]
    return labels


def _node(rng: np.random.Generator, depth: int, labels: int) -> Any:
    if depth == 0 or rng.random() < 0.1:
        return int(rng.integers(0, labels))
    number = int(rng.integers(0, len(SCHEMA.fields)))
    low, high = sorted(rng.integers(0, SCHEMA.fields[number].cells, 2).tolist())
    return (number, low, high), _node(rng, depth - 1, labels), _node(rng, depth - 1, labels)


def _points(rng: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(rng.integers(-40, 40, 1 if hasattr(part, "grid") else part.cells).tolist())
        for part in SCHEMA.fields
    )
