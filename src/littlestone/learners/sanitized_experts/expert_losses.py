"""Mistakes of many predictors on one stream, counted when somebody asks."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from littlestone.concepts.protocols import Domain, Hypothesis, Label, Point
from littlestone.learners.codec import register

_BLOCK_FASTER: Final = 24  # from so many rounds on, asking about a block is faster


@register
@dataclass(slots=True)
class Predictor:
    """Its mistakes in the rounds before ``counted``."""

    hypothesis: Hypothesis
    loss: int
    counted: int


@dataclass(init=False, eq=False, repr=False)
class PredictorLosses:
    """The mistakes of each known predictor since it became known.

    Rounds are kept until everybody's mistakes in them were counted.

    >>> from littlestone.concepts.classes.thresholds import ThresholdHypothesis, Thresholds
    >>> losses = PredictorLosses(Thresholds(8).domain)
    >>> low = losses.number_of(ThresholdHypothesis(8, 2))
    >>> losses.add(5, 0)
    >>> high = losses.number_of(ThresholdHypothesis(8, 6))
    >>> losses.add(3, 0)
    >>> losses.of(low), losses.of(high)
    (2, 0)
    """

    _xs: list[Point]
    _ys: list[Label]
    _known: dict[int, Predictor]
    _next: int

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._xs, self._ys, self._known, self._next = [], [], {}, 0
        self._numbers: dict[Hypothesis, int] = {}

    def add(self, x: Point, y: Label) -> None:
        """One round for all."""
        self._xs.append(x)
        self._ys.append(y)

    def number_of(self, hypothesis: Hypothesis) -> int:
        """The predictor's number; a new one has made no mistakes yet."""
        number = self._numbers.get(hypothesis)
        if number is None:
            number, self._next = self._next, self._next + 1
            self._numbers[hypothesis] = number
            self._known[number] = Predictor(hypothesis, 0, len(self._xs))
        return number

    def hypothesis(self, number: int) -> Hypothesis:
        """The predictor with this number, always the same object."""
        return self._known[number].hypothesis

    def of(self, number: int) -> int:
        """The mistakes of one predictor up to now."""
        known, last = self._known[number], len(self._xs)
        if known.counted < last:
            known.loss += self._mistakes(known.hypothesis, known.counted)
            known.counted = last
        return known.loss

    def settle(self) -> None:
        """Count for everybody and forget the rounds."""
        for number, known in self._known.items():
            self.of(number)
            known.counted = 0
        self._xs.clear()
        self._ys.clear()

    def keep(self, numbers: Iterable[int]) -> None:
        """Forget all predictors but these."""
        kept = frozenset(numbers)
        for number in [n for n in self._known if n not in kept]:
            del self._numbers[self._known.pop(number).hypothesis]

    def loaded(self) -> None:
        self._numbers = {known.hypothesis: number for number, known in self._known.items()}

    def _mistakes(self, hypothesis: Hypothesis, first: int) -> int:
        if len(self._xs) - first < _BLOCK_FASTER:
            pairs = zip(self._xs[first:], self._ys[first:], strict=True)
            return sum(hypothesis(x) != y for x, y in pairs)
        block = self._domain.check_many(self._xs[first:])
        labels = np.array(self._ys[first:], dtype=np.uint8)
        return int(np.count_nonzero(hypothesis.many(block) != labels))
