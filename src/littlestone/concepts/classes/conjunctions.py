"""Conjunctions of literals over Boolean features, with the empty concept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from littlestone import require
from littlestone.concepts.classes.conjunction_parts import AfterPositive, NoPositive, wrong_points
from littlestone.concepts.classes.version_spaces import InParts
from littlestone.concepts.domain import BooleanCube
from littlestone.concepts.hypotheses.conjunction_rule import ConjunctionHypothesis
from littlestone.concepts.keys import KeySet
from littlestone.concepts.protocols import Example, Hypothesis, Tally
from littlestone.concepts.witnesses.systems import LiteralSystem

_MOST_FEATURES_AT_ONCE = 13  # 3**13 sums of eight bytes
_MOST_FEATURES_SCANNED = 8


@require.checked
@dataclass(frozen=True, slots=True)
class Conjunctions:
    """Conjunctions of literals over ``n`` Boolean features, and 0 everywhere.

    The Littlestone dimension is n + 1. At most: a 1 leaves the subsets of the n literals that are
    true there, of dimension n. At least, by induction: after a 0 at x the conjunctions with one
    literal that is false at x are those over the other n - 1 features.

    >>> concepts = Conjunctions(20)
    >>> concepts.littlestone_dimension, concepts.size
    (21, 3486784402)
    """

    n: int
    domain: BooleanCube = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        object.__setattr__(self, "domain", BooleanCube(self.n))

    @property
    def size(self) -> int:
        return int(3**self.n) + 1

    @property
    def littlestone_dimension(self) -> int:
        return self.n + 1

    @property
    def vc_dimension(self) -> int:
        """n, except that a single feature has all four functions.

        To shatter n + 1 >= 3 points takes, for each, a literal that is false there and true at
        the others; two of them are about one feature, and neither can be the same nor opposite.
        """
        return max(2, self.n)

    @property
    def dual_littlestone_dimension(self) -> int:
        """The n single literals tell all 2**n points apart, in every pattern."""
        return self.n

    @property
    def dual_vc_dimension(self) -> int:
        return self.n

    def witness_system(self) -> LiteralSystem:
        """All 2n literals to begin with; a conjunction has n of them at most."""
        literals = tuple(product(range(self.n), (0, 1)))
        return LiteralSystem(literals, label=1, most=self.n, empty=True, rule=self._of_literals)

    def _of_literals(self, left: int) -> ConjunctionHypothesis:
        """The conjunction of all literals left, of which two bits for each feature tell."""
        both = [(f, left >> 2 * f & 3) for f in range(self.n) if left >> 2 * f & 3]
        if any(bits == 3 for _, bits in both):
            return ConjunctionHypothesis(self.n, None)
        return ConjunctionHypothesis(self.n, tuple((f, bits >> 1) for f, bits in both))

    def version_space(self) -> "ConjunctionVersionSpace":
        return ConjunctionVersionSpace(self, NoPositive(self.n, KeySet()))

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """All the ones, less what the best subcube saves; exponential in n, at worst 3**n."""
        gains = {self.domain.check(x): ones - zeros for x, (zeros, ones) in tally.items()}
        search = _best_sum_at_once if self.n <= _MOST_FEATURES_AT_ONCE else _best_sum
        return sum(ones for _, ones in tally.values()) - max(0, search(gains, self.n))

    def concepts(self) -> Iterator[ConjunctionHypothesis]:
        """0 everywhere, then the conjunctions, features without a literal first."""
        yield ConjunctionHypothesis(self.n, None)
        for values in product((None, 0, 1), repeat=self.n):
            term = tuple((f, v) for f, v in enumerate(values) if v is not None)
            yield ConjunctionHypothesis(self.n, term)


@dataclass(frozen=True, slots=True)
class ConjunctionVersionSpace(InParts):
    """The conjunctions that fit the examples.

    The standard optimal prediction is the most specific of them, hence 0 before any positive.
    A tree shattered by those with label 1 at x uses, after the first positive, only literals
    that are true at x; adding to each conjunction the literals that are false at x changes none
    of its labels and makes the label at x 0. Before it, label 1 at x leaves the dimension q of
    the largest subcube around x without negatives, and label 0 leaves at least a face of it, of
    dimension q - 1, on which all conjunctions and the empty concept have dimension q.
    Size and dimension are exact, and exponential searches at worst.
    """

    concept_class: Conjunctions
    part: NoPositive | AfterPositive | None

    def standard_optimal(self) -> ConjunctionHypothesis:
        return self.consistent()

    def consistent(self) -> ConjunctionHypothesis:
        """The most specific conjunction left."""
        most_specific: ConjunctionHypothesis = self._some_part().most_specific()
        return most_specific

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        """In the order of the points."""
        if self.part is None:
            return
        points = wrong_points(self.part, hypothesis)
        yield from ((x, 1 - hypothesis(x)) for x in points)

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        """Exact up to 8 features; beyond, exact for the standard optimal hypothesis.

        Other hypotheses are then tried on a fixed family of points only. Among equals, the first.
        """
        if self.part is None:
            return None
        scanned = self.concept_class.n <= _MOST_FEATURES_SCANNED
        points = self.concept_class.domain if scanned else self.part.near(hypothesis)
        best, hardest = (-1, 0), next(self.mistakes_of(hypothesis), None)
        for x in points:
            y = 1 - hypothesis(x)
            left = self.part.restrict(x, y)
            kept = (-1, 0) if left is None else (left.dimension, left.size)
            if kept > best:
                best, hardest = kept, (x, y)
        return hardest


def _best_sum_at_once(gains: Mapping[Any, int], n: int) -> int:
    """The largest sum over a subcube: every axis gets a third value that stands for both."""
    sums = np.zeros((2,) * n, dtype=np.int64)
    for x, gain in gains.items():
        sums[x] = gain
    for axis in range(n):
        sums = np.concatenate([sums, sums.sum(axis=axis, keepdims=True)], axis=axis)
    return int(sums.max())


def _best_sum(gains: Mapping[Any, int], n: int) -> int:
    """The same by branch and bound: for many features, and points that are few or easy."""
    best = 0

    def search(left: list[tuple[Any, int]], feature: int) -> None:
        nonlocal best
        best = max(best, sum(gain for _, gain in left))
        if feature == n or sum(gain for _, gain in left if gain > 0) <= best:
            return
        for value in (0, 1):
            part = [(x, gain) for x, gain in left if x[feature] == value]
            if len(part) < len(left):
                search(part, feature + 1)
        search(left, feature + 1)

    search(list(gains.items()), 0)
    return best
