"""Winnow: few relevant features among many, in exact powers of two."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from littlestone import require
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.hypotheses.weighted import WeightedFeatures, total
from littlestone.concepts.protocols import Label


@dataclass(frozen=True, slots=True)
class Winnow:
    """Double the weights of the features present when it misses a 1, drop them when a 0.

    Mistakes: with threshold 2**a at most k·a + floor((n + k·a·(2**a - 1)) / 2**a) on streams that
              some disjunction of at most k features fits; a is chosen to make that smallest.
              A relevant weight is never dropped, and doubled at most a times, for it is below the
              threshold then; so at most k·a ones are missed. Each adds at most 2**a - 1 to the
              total weight, which starts at n, and each missed 0 takes at least 2**a from it.
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
        return 1 << min(range(self.concepts.n.bit_length() + 1), key=self._bound)

    @property
    def mistake_bound(self) -> int:
        return self._bound(self.threshold.bit_length() - 1)

    def start(self) -> "WinnowState":
        learner = (self.concepts, self.threshold, self.mistake_bound)
        return WinnowState(*learner, (1,) * self.concepts.n, 0)

    def _bound(self, doublings: int) -> int:
        missed_ones = self.concepts.k * doublings
        return missed_ones + (self.concepts.n + missed_ones * ((1 << doublings) - 1) >> doublings)


@dataclass(frozen=True, slots=True)
class WinnowState:
    """The weights, and how many mistakes made them."""

    concepts: MonotoneDisjunctions
    threshold: int
    mistake_bound: int
    weights: tuple[int, ...]
    mistakes: int

    @property
    def hypothesis(self) -> WeightedFeatures:
        if self.failed:
            raise ValueError("no disjunction of so few features fits the examples")
        return without_idle(self.weights, self.threshold)

    @property
    def failed(self) -> bool:
        return self.mistakes > self.mistake_bound

    def after(self, x: Any, y: Label, /) -> "WinnowState":
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


def without_idle(weights: tuple[int, ...], threshold: int) -> WeightedFeatures:
    """The same function without weights that change nothing, divided by what the rest share.

    Weights and threshold are powers of two. If the weights below a power stay below it together,
    they never lift a sum of larger ones over the threshold, which both are multiples of it. (And
    if that is so for no power, some of them add up to any power with any of them, so each matters.)

    >>> without_idle((4, 2, 1, 0), 4).describe(), without_idle((2, 2, 1, 1), 4).describe()
    ('x0 >= 1', '2·x0 + 2·x1 + x2 + x3 >= 4')
    """
    power, idle = 1, 0
    while power < threshold:
        power *= 2
        if sum(weight for weight in weights if weight < power) < power:
            idle = power
    kept = [weight if weight >= idle else 0 for weight in weights]
    shared = math.gcd(threshold, *kept)
    return WeightedFeatures(tuple(weight // shared for weight in kept), threshold // shared)
