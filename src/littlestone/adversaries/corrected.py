"""A hypothesis, changed at a few points."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.protocols import Domain, Hypothesis, Label, Point
from littlestone.concepts.runs import runs_of
from littlestone.concepts.steps import StepFunction
from littlestone.concepts.support import FiniteSupport


def flipped(hypothesis: Hypothesis, points: Iterable[Point], domain: Domain) -> Hypothesis:
    """The hypothesis with the other label at each of ``points``.

    >>> flipped(FiniteSupport.on("a"), ["a", "b"], IntegerRange(1)).describe()
    "1 on 'b', 0 elsewhere"
    >>> flipped(StepFunction(n=9, first=0, changes=(4,)), [3, 4], IntegerRange(9)).describe()
    '1 on 3, 5-8 out of 0-8'
    """
    if isinstance(hypothesis, FiniteSupport):
        return FiniteSupport(hypothesis.positives.symmetric_difference(points))
    if isinstance(domain, IntegerRange):
        return _flipped_steps(hypothesis, points, domain.n)
    return _Flipped(hypothesis, frozenset(points))


def _flipped_steps(hypothesis: Hypothesis, points: Iterable[Any], n: int) -> StepFunction:
    runs = list(runs_of(hypothesis, n))
    changes = {start for start, _, _ in runs[1:]}
    # The label differs from the one before it at x, or at x + 1, exactly if it did not so far.
    for x in points:
        changes ^= {x, x + 1}
    first = runs[0][2] ^ (0 in changes)
    return StepFunction(n, first, tuple(sorted(changes - {0, n})))


@dataclass(frozen=True, slots=True)
class _Flipped:
    """For domains without a closed form; it only ever meets a version space."""

    original: Hypothesis
    points: frozenset[Point]

    def __call__(self, x: Any, /) -> Label:
        return self.original(x) ^ (x in self.points)

    def many(self, xs: Any, /) -> NDArray[np.uint8]:
        return np.array([self(x) for x in xs], dtype=np.uint8)
