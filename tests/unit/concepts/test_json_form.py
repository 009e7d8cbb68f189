"""Every kind of hypothesis comes back from JSON, and nothing else does."""

import json
from itertools import islice
from typing import Any

import pytest

from littlestone.concepts.classes.boxes import Boxes
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.multiclass import MulticlassTable
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.cube import CubeTable
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.layered_tree import LayeredTree, with_label_before
from littlestone.concepts.hypotheses.rules import Scorecard, Scorecards
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.hypotheses.weighted_vote import WeightedVote
from littlestone.concepts.json_form import READERS, hypothesis_from_json
from littlestone.concepts.schema import LabelledSchema, Schema

STUMPS = Stumps(Schema.from_mapping({"delay": {"grid": [0, 15]}}), depth=2)
THREE = LabelledSchema(STUMPS.schema.fields, ("ok", "late", "cancelled"))
HYPOTHESES: list[Any] = [
    *islice(Thresholds(2**40).concepts(), 2),
    *islice(Intervals(9).concepts(), 3),
    *islice(Boxes(2, 3).concepts(), 3),
    *islice(Points().concepts(), 2),
    FiniteSupport.on("a", ("user", 7), b"\0"),
    *islice(Conjunctions(3).concepts(), 3),
    *islice(MonotoneDisjunctions(1, 3).concepts(), 2),
    *islice(MarginHalfspaces(2, 0.5).concepts(), 2),
    *islice(FiniteClass([[0, 1], [1, 1]]).concepts(), 2),
    *STUMPS.rules[:4],
    *islice(DecisionTrees(STUMPS.schema, 1).concepts(), 3),
    STUMPS.version_space().standard_optimal(),
    CubeTable(2, TableHypothesis.from_labels([0, 1, 1, 0])),
    Scorecard(STUMPS.schema, -5, ((10,),)),
    Scorecards(THREE, (1, 2, -3), (((10,),), ((0,),), ((-5,),))),
    LayeredTree(
        DecisionTree(THREE, ((0, 1, 1), 2, 0)),
        (DecisionTree(with_label_before(THREE), ((0, 0, 0), 1, 3)),),
    ),
    DecisionTree(THREE, 2),
    *islice(MulticlassTable([[0, 2], [1, 1]]).concepts(), 2),
    MajorityVote([*islice(Thresholds(5).concepts(), 3)]),
    MajorityVote([MajorityVote([FiniteSupport.on(1)])]),
    WeightedVote(zip(STUMPS.rules[1:4], (3, 2, 1), strict=True)),
]


@pytest.mark.parametrize("hypothesis", HYPOTHESES, ids=lambda h: h.describe())
def test_hypotheses_survive_json(hypothesis: Any) -> None:
    read = hypothesis_from_json(json.loads(json.dumps(hypothesis.to_json())))
    assert read == hypothesis and hash(read) == hash(hypothesis) and type(read) is type(hypothesis)


def test_every_kind_is_covered() -> None:
    kinds = {hypothesis.to_json()["kind"] for hypothesis in HYPOTHESES}
    assert kinds == {*READERS, "majority_vote", "weighted_vote"}


@pytest.mark.parametrize(
    "bad", [None, [], "x", 3, {}, {"kind": None}, {"kind": "oracle"}, {"kind": ["table"]}]
)
def test_unknown_kinds_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown kind|must be a JSON object"):
        hypothesis_from_json(bad)


@pytest.mark.parametrize("hypothesis", HYPOTHESES, ids=lambda h: h.describe())
def test_truncated_or_mangled_objects_are_refused(hypothesis: Any) -> None:
    data = json.loads(json.dumps(hypothesis.to_json()))
    for name in set(data) - {"kind"}:
        shorter = {key: value for key, value in data.items() if key != name}
        for mangled in (shorter, {**data, name: "?"}, {**data, name: [[[]]]}, {**data, name: -1.5}):
            with pytest.raises(ValueError, match=r"."):
                hypothesis_from_json(mangled)


@pytest.mark.parametrize(
    ("mangled", "words"),
    [
        ({"bounds": [[0, 1], 2]}, r"bounds must be of the kind list\[list\[int, int\], ...\]"),
        ({"k": 2.0}, "k must be of the kind int, got k=2.0"),
    ],
)
def test_refusals_name_the_field(mangled: dict[str, Any], words: str) -> None:
    box = {"kind": "box", "k": 2, "n": 3, "bounds": [[0, 1], [2, 2]]}
    assert hypothesis_from_json(box).to_json() == box
    with pytest.raises(ValueError, match=words):
        hypothesis_from_json({**box, **mangled})


def test_votes_within_votes_end_somewhere() -> None:
    data = FiniteSupport.on().to_json()
    for _ in range(200):
        data = {"kind": "majority_vote", "members": [data]}
    with pytest.raises(ValueError, match="more than 100"):
        hypothesis_from_json(data)
