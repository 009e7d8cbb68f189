"""One form for each function, wherever it can be computed: equal exactly when it is the same one.

Forests compare hypotheses, count them and publish the frequent ones. A majority of concepts may be
the same function as the majority of others; counted apart, each of the two is rarer than the
function is, and a point on which they differ is looked for in vain.
"""

from functools import lru_cache
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.domain import BooleanCube, IntegerRange
from littlestone.concepts.hypotheses.cube_table import CubeTable
from littlestone.concepts.hypotheses.record_table import RecordTable
from littlestone.concepts.hypotheses.runs import runs_of
from littlestone.concepts.hypotheses.steps import StepFunction
from littlestone.concepts.hypotheses.support import FiniteSupport, support_of, votes_on_supports
from littlestone.concepts.hypotheses.table import TableHypothesis
from littlestone.concepts.hypotheses.vote import MajorityVote, domain_of
from littlestone.concepts.protocols import Domain, Hypothesis
from littlestone.concepts.schema import Schema

_LARGEST_TABLE: Final = 1 << 16
_REMEMBERED: Final = 1 << 10


def one_form(hypothesis: Hypothesis) -> Hypothesis:
    """The same function; of a vote, in a form that depends on nothing but the function.

    Votes over larger domains than can be tabulated stay as they are, and so do all other kinds:
    each of them has one value for a function, except for ``WeightedFeatures``.

    >>> rows = ([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1])
    >>> one_form(MajorityVote(TableHypothesis.from_labels(row) for row in rows)).describe()
    '1 on 2-3 out of 0-3'
    """
    return _form_of_vote(hypothesis) if isinstance(hypothesis, MajorityVote) else hypothesis


def tabulated(domain: Domain, labels: NDArray[np.uint8]) -> Hypothesis:
    """The function with these labels on the points of a finite domain, in the domain's order."""
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
