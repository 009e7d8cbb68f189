"""Read hypotheses from JSON, and bring them into a canonical form.

Forests compare hypotheses, count them and publish the frequent ones. Two different majorities may
be the same function; counted separately, each would be rarer than the function, and no point would
separate them.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.canonical_key import canonical_key
from littlestone.concepts.classes.boxes import BoxHypothesis
from littlestone.concepts.classes.thresholds import ThresholdHypothesis
from littlestone.concepts.domain import BooleanCube, IntegerRange
from littlestone.concepts.hypotheses.cube import ConjunctionHypothesis, CubeTable, WeightedFeatures
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.layered_tree import LayeredTree
from littlestone.concepts.hypotheses.linear import LinearHypothesis
from littlestone.concepts.hypotheses.rules import Rule, Scorecard, Scorecards
from littlestone.concepts.hypotheses.runs import StepFunction, runs_of
from littlestone.concepts.hypotheses.support import FiniteSupport, support_of, votes_on_supports
from littlestone.concepts.hypotheses.tables import LabelTable, RecordTable, TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote, domain_of
from littlestone.concepts.hypotheses.weighted_vote import WeightedVote
from littlestone.concepts.protocols import Domain, Hypothesis
from littlestone.concepts.schema import Schema
from littlestone.type_checks import is_a

Reader = Callable[[dict[str, Any]], Hypothesis]

_DEEPEST = 100  # votes within votes


@require.checked
def hypothesis_from_json(data: Any) -> Hypothesis:
    """Read the JSON form of any hypothesis; raise a ValueError for anything else.

    >>> hypothesis_from_json({"kind": "threshold", "n": 16, "k": 5}).describe()
    'x >= 5'
    >>> hypothesis_from_json({"kind": "oracle"})
    Traceback (most recent call last):
    ...
    ValueError: unknown kind of hypothesis 'oracle'; there are: box, conjunction, cube_table, \
decision_tree, halfspace, label_table, layered_tree, majority_vote, record_table, rule, scorecard, \
scorecards, steps, support, table, threshold, weighted_features, weighted_vote
    """
    return _read(data, _DEEPEST)


def register_hypothesis(kind: str, reader: Reader) -> None:
    """Make ``hypothesis_from_json`` read another kind of hypothesis.

    ``reader`` takes the JSON object and raises a ValueError if it is not of this kind.
    """
    if kind in _VOTES or READERS.get(kind, reader) != reader:
        raise ValueError(f"kind {kind!r} already has a reader; choose another name")
    READERS[kind] = reader


def _read(data: Any, depth: int) -> Hypothesis:
    if not is_a(data, dict):
        raise ValueError(f"a hypothesis must be a JSON object, got {require.shown(data)}")
    kind = data.get("kind")
    if depth == 0:
        raise ValueError(f"a hypothesis must not be nested more than {_DEEPEST} deep")
    if isinstance(kind, str) and kind in _VOTES:
        return _VOTES[kind].from_json(data, lambda member: _read(member, depth - 1))
    if not isinstance(kind, str) or kind not in READERS:
        known = ", ".join(sorted([*READERS, *_VOTES]))
        raise ValueError(f"unknown kind of hypothesis {kind!r}; there are: {known}")
    return READERS[kind](data)


# The kinds that hold others.
_VOTES: Final[dict[str, type[MajorityVote | WeightedVote]]] = {
    "majority_vote": MajorityVote,
    "weighted_vote": WeightedVote,
}
_OWN_KINDS: Final[tuple[Any, ...]] = (
    *(BoxHypothesis, ConjunctionHypothesis, CubeTable, LabelTable, LayeredTree, LinearHypothesis),
    *(RecordTable, Rule, Scorecard, Scorecards, StepFunction, ThresholdHypothesis),
    WeightedFeatures,
)
READERS: dict[str, Reader] = {
    "decision_tree": DecisionTree.from_json,
    "support": FiniteSupport.from_json,
    "table": TableHypothesis.from_json,
    **{kind.kind: kind.from_json for kind in _OWN_KINDS},
}


def canonical(hypothesis: Hypothesis) -> Hypothesis:
    """Return the same function in a form that depends only on the function.

    Otherwise the form of equal keys, or the order of a set, would reveal which came first. Unknown
    kinds of hypotheses are returned unchanged.
    """
    try:
        plain = hypothesis_from_json(hypothesis.to_json())
    except ValueError:
        return hypothesis
    return plain if plain == hypothesis else hypothesis


def canonical_value(value: Any) -> Any:
    """Return the canonical form of an element that a mechanism releases, a hypothesis or a key."""
    return canonical(value) if hasattr(value, "to_json") else canonical_key(value)


_LARGEST_TABLE: Final = 1 << 16
_REMEMBERED: Final = 1 << 10


def one_form(hypothesis: Hypothesis) -> Hypothesis:
    """Return the same function; a vote becomes a form that depends only on the function.

    Votes over domains too large to tabulate stay unchanged. So do all other kinds: each function
    has one value in them, except in ``WeightedFeatures``.

    >>> rows = ([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1])
    >>> one_form(MajorityVote(TableHypothesis.from_labels(row) for row in rows)).describe()
    '1 on 2-3 out of 0-3'
    """
    return _form_of_vote(hypothesis) if isinstance(hypothesis, MajorityVote) else hypothesis


def tabulated(domain: Domain, labels: NDArray[np.uint8]) -> Hypothesis:
    """Return the function with these labels on a finite domain, in the domain's order."""
    table = TableHypothesis(labels.tobytes())
    if isinstance(domain, IntegerRange):
        return table
    if isinstance(domain, BooleanCube):
        return CubeTable(domain.n, table)
    if isinstance(domain, Schema):
        return RecordTable(domain, table)
    ones = (x for x, label in zip(domain, labels.tolist(), strict=True) if label)
    return FiniteSupport(frozenset(ones))


@lru_cache(maxsize=_REMEMBERED)
def _form_of_vote(vote: MajorityVote) -> Hypothesis:
    domain: Any = domain_of(vote)
    if isinstance(domain, IntegerRange):
        runs = runs_of(vote, domain.n)
        return StepFunction.from_runs(domain.n, ((a, b) for a, b, label in runs if label))
    if votes_on_supports(vote):
        return FiniteSupport(support_of(vote, domain))
    if domain.size is None or domain.size > _LARGEST_TABLE:
        return vote
    return tabulated(domain, vote.many(list(islice(domain, domain.size))))
