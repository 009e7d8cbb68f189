"""Perceptron and Winnow: linear threshold rules learned from their mistakes, in whole numbers."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from littlestone import require
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.hypotheses.cube import WeightedFeatures, total
from littlestone.concepts.hypotheses.linear import LinearHypothesis, dot
from littlestone.concepts.protocols import Label


@dataclass(frozen=True, slots=True)
class Perceptron:
    """Add wrongly predicted points with label 1 to the weights, subtract those with label 0.

    Mistakes: at most floor(1 / margin²) on streams with that margin. After k mistakes the weights
              w are at most sqrt(k) long, because w·x <= 0 at each x that is added, and at least
              k·margin in the direction of the target.
    Privacy:  none.
    Source:   [N62]. The label of w·x = 0 is 0.

    >>> learner = Perceptron(MarginHalfspaces(2, 0.5))
    >>> learner.mistake_bound
    4
    >>> state = learner.start().after((0.5, 0.5), 1).after((0.5, -0.5), 0)
    >>> state.hypothesis.describe()
    'x0 + x1 > 0'
    """

    concepts: MarginHalfspaces

    conservative: ClassVar[bool] = True
    repeats_change_nothing: ClassVar[bool] = False
    """Only a mistake changes the state."""

    def __post_init__(self) -> None:
        require.fields_fit(self)

    @property
    def mistake_bound(self) -> int:
        """floor(1 / margin²)."""
        return self.concepts.mistake_bound

    def start(self) -> "PerceptronState":
        """Return the state with zero weights."""
        return PerceptronState(self.concepts, (0,) * self.concepts.dimension, 1, 0)


@dataclass(frozen=True, slots=True)
class PerceptronState:
    """The weights as numerators over one denominator, and the number of mistakes."""

    concepts: MarginHalfspaces
    numerators: tuple[int, ...]
    denominator: int
    mistakes: int

    @property
    def hypothesis(self) -> LinearHypothesis:
        """The halfspace of the weights."""
        if self.failed:
            raise ValueError("no halfspace with the margin fits the examples")
        return LinearHypothesis.towards(self.numerators)

    @property
    def failed(self) -> bool:
        """Whether no halfspace with the margin fits the examples."""
        return self.mistakes > self.concepts.mistake_bound

    def after(self, x: Any, y: Label, /) -> "PerceptronState":
        """Return the state after one more example; only a mistake changes it."""
        point, label = self.concepts.domain.check(x), require.label(y)
        if self.failed or (dot(self.numerators, point) > 0) == bool(label):
            return self
        denominator = math.lcm(self.denominator, point[-1])
        mine, theirs = denominator // self.denominator, denominator // point[-1]
        theirs = theirs if label else -theirs
        numerators = tuple(
            mine * weight + theirs * part
            for weight, part in zip(self.numerators, point[:-1], strict=True)
        )
        return PerceptronState(self.concepts, numerators, denominator, self.mistakes + 1)


@dataclass(frozen=True, slots=True)
class Winnow:
    """Double the weights of present features after a missed 1, drop them after a missed 0.

    Mistakes: with threshold 2**a at most k·a + floor((n + k·a·(2**a - 1)) / 2**a) on streams that
              some disjunction of at most k features fits; a is chosen to make that smallest.
              A relevant weight is never dropped. It is doubled only while it is below the
              threshold, so at most a times, and at most k·a ones are missed. Each adds at most
              2**a - 1 to the total weight, which starts at n; each missed 0 subtracts 2**a or more.
    Privacy:  none.
    Source:   [L88, Winnow1].

    >>> learner = Winnow(MonotoneDisjunctions(2, 1000))
    >>> learner.threshold, learner.mistake_bound
    (128, 35)
    >>> small = Winnow(MonotoneDisjunctions(1, 4))
    >>> state = small.start().after((1, 0, 0, 0), 1)
    >>> state.hypothesis.describe(), state.after((0, 0, 1, 1), 0).hypothesis.describe()
    ('2·x0 + x1 + x2 + x3 >= 2', 'x0 >= 1')
    """

    concepts: MonotoneDisjunctions

    conservative: ClassVar[bool] = True
    repeats_change_nothing: ClassVar[bool] = False
    """Only a mistake changes the state."""

    def __post_init__(self) -> None:
        require.fields_fit(self)

    @property
    def threshold(self) -> int:
        """The power of two with the smallest mistake bound."""
        return 1 << min(range(self.concepts.n.bit_length() + 1), key=self._bound)

    @property
    def mistake_bound(self) -> int:
        """The bound for the chosen threshold."""
        return self._bound(self.threshold.bit_length() - 1)

    def start(self) -> "WinnowState":
        """Return the state with all weights 1."""
        learner = (self.concepts, self.threshold, self.mistake_bound)
        return WinnowState(*learner, (1,) * self.concepts.n, 0)

    def _bound(self, doublings: int) -> int:
        missed_ones = self.concepts.k * doublings
        return missed_ones + (self.concepts.n + missed_ones * ((1 << doublings) - 1) >> doublings)


@dataclass(frozen=True, slots=True)
class WinnowState:
    """The weights, and the number of mistakes."""

    concepts: MonotoneDisjunctions
    threshold: int
    mistake_bound: int
    weights: tuple[int, ...]
    mistakes: int

    @property
    def hypothesis(self) -> WeightedFeatures:
        """The weighted features, without weights that change nothing."""
        if self.failed:
            raise ValueError("no disjunction of so few features fits the examples")
        return simplified(self.weights, self.threshold)

    @property
    def failed(self) -> bool:
        """Whether no disjunction of so few features fits the examples."""
        return self.mistakes > self.mistake_bound

    def after(self, x: Any, y: Label, /) -> "WinnowState":
        """Return the state after one more example; only a mistake changes it."""
        point, label = self.concepts.domain.check(x), require.label(y)
        if self.failed or (total(self.weights, point) >= self.threshold) == bool(label):
            return self
        factor = 2 if label else 0
        weights = tuple(
            weight * factor if present else weight
            for weight, present in zip(self.weights, point, strict=True)
        )
        return WinnowState(
            self.concepts, self.threshold, self.mistake_bound, weights, self.mistakes + 1
        )


def simplified(weights: tuple[int, ...], threshold: int) -> WeightedFeatures:
    """Return the same function without weights that change nothing, divided by common factors.

    Weights and threshold are powers of two. If the weights below a power sum to less than it, they
    never lift a sum of larger ones over the threshold, as both are multiples of the power. (If no
    power has this property, some of them add up to any power with any of them, so each matters.)

    >>> simplified((4, 2, 1, 0), 4).describe(), simplified((2, 2, 1, 1), 4).describe()
    ('x0 >= 1', '2·x0 + 2·x1 + x2 + x3 >= 4')
    """
    power, idle = 1, 0
    while power < threshold:
        power *= 2
        if sum(weight for weight in weights if weight < power) < power:
            idle = power
    relevant = [weight if weight >= idle else 0 for weight in weights]
    shared = math.gcd(threshold, *relevant)
    return WeightedFeatures(tuple(weight // shared for weight in relevant), threshold // shared)
