"""Change a hypothesis at a few points."""

from collections.abc import Iterable
from typing import Any

from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.runs import runs_of
from littlestone.concepts.hypotheses.steps import StepFunction
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import Domain, Hypothesis, Point


def flipped(hypothesis: Hypothesis, points: Iterable[Point], domain: Domain) -> Hypothesis | None:
    """The hypothesis with the other label at each of ``points``, if there is a closed form.

    >>> flipped(FiniteSupport.on("a"), ["a", "b"], IntegerRange(1)).describe()
    "1 on 'b', 0 elsewhere"
    >>> flipped(StepFunction(n=9, first=0, changes=(4,)), [3, 4], IntegerRange(9)).describe()
    '1 on 3, 5-8 out of 0-8'
    """
    if isinstance(hypothesis, FiniteSupport):
        return FiniteSupport(hypothesis.positives.symmetric_difference(points))
    if isinstance(domain, IntegerRange):
        return _flipped_steps(hypothesis, points, domain.n)
    return None


def _flipped_steps(hypothesis: Hypothesis, points: Iterable[Any], n: int) -> StepFunction:
    if isinstance(hypothesis, StepFunction):
        first, changes = hypothesis.first, set(hypothesis.changes)
    else:
        runs = list(runs_of(hypothesis, n))
        first, changes = runs[0][2], {start for start, _, _ in runs[1:]}
    # The label differs from the one before it at x, or at x + 1, exactly if it did not so far.
    for x in points:
        changes ^= {x, x + 1}
    first ^= 0 in changes
    return StepFunction(n, first, tuple(sorted(changes - {0, n})))
