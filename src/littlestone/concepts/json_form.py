"""Hypotheses from JSON: one reader for each kind."""

from collections.abc import Callable
from typing import Any

from littlestone import require
from littlestone.concepts.classes.boxes import BoxHypothesis
from littlestone.concepts.classes.thresholds import ThresholdHypothesis
from littlestone.concepts.hypotheses.conjunction_rule import ConjunctionHypothesis
from littlestone.concepts.hypotheses.cube_table import CubeTable
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.linear import LinearHypothesis
from littlestone.concepts.hypotheses.record_table import RecordTable
from littlestone.concepts.hypotheses.rules import Rule
from littlestone.concepts.hypotheses.scorecard import Scorecard
from littlestone.concepts.hypotheses.steps import StepFunction
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.hypotheses.table import TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.hypotheses.weighted import WeightedFeatures
from littlestone.concepts.protocols import Hypothesis

Reader = Callable[[dict[str, Any]], Hypothesis]

_DEEPEST = 100  # votes within votes


@require.checked
def hypothesis_from_json(data: Any) -> Hypothesis:
    """Read back what ``to_json`` of any hypothesis wrote; ValueError for anything else.

    >>> hypothesis_from_json({"kind": "threshold", "n": 16, "k": 5}).describe()
    'x >= 5'
    >>> hypothesis_from_json({"kind": "oracle"})
    Traceback (most recent call last):
    ...
    ValueError: unknown kind of hypothesis 'oracle'; there are: box, conjunction, cube_table, \
decision_tree, halfspace, majority_vote, record_table, rule, scorecard, steps, support, table, \
threshold, weighted_features
    """
    return _read(data, _DEEPEST)


def register_hypothesis(kind: str, reader: Reader) -> None:
    """Let ``hypothesis_from_json`` read another kind, of a class defined elsewhere.

    ``reader`` takes the JSON object and raises a ValueError if it is none of this kind.
    """
    if kind == _VOTE or READERS.get(kind, reader) != reader:
        raise ValueError(f"there is another reader for the kind {kind!r} already")
    READERS[kind] = reader


def _read(data: Any, depth: int) -> Hypothesis:
    if not isinstance(data, dict):
        raise ValueError(f"a hypothesis must be a JSON object, got {require.shown(data)}")
    kind = data.get("kind")
    if depth == 0:
        raise ValueError(f"a hypothesis must not hold more than {_DEEPEST} others in each other")
    if kind == _VOTE:
        return MajorityVote.from_json(data, lambda member: _read(member, depth - 1))
    if not isinstance(kind, str) or kind not in READERS:
        known = ", ".join(sorted([*READERS, _VOTE]))
        raise ValueError(f"unknown kind of hypothesis {kind!r}; there are: {known}")
    return READERS[kind](data)


_VOTE = "majority_vote"  # the one kind that holds others
READERS: dict[str, Reader] = {
    "box": BoxHypothesis.from_json,
    "conjunction": ConjunctionHypothesis.from_json,
    "cube_table": CubeTable.from_json,
    "decision_tree": DecisionTree.from_json,
    "halfspace": LinearHypothesis.from_json,
    "record_table": RecordTable.from_json,
    "rule": Rule.from_json,
    "scorecard": Scorecard.from_json,
    "steps": StepFunction.from_json,
    "support": FiniteSupport.from_json,
    "table": TableHypothesis.from_json,
    "threshold": ThresholdHypothesis.from_json,
    "weighted_features": WeightedFeatures.from_json,
}
