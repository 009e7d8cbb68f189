"""Mistakes of many predictors on one stream, counted when somebody asks."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from littlestone.concepts.protocols import Domain, Hypothesis, Label, Point

_FEW: Final = 24  # below this many rounds, asking for each is faster than a block


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

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._xs: list[Point] = []
        self._ys: list[Label] = []
        self._numbers: dict[Hypothesis, int] = {}
        self._hypotheses: dict[int, Hypothesis] = {}
        self._counted: dict[int, int] = {}
        self._losses: dict[int, int] = {}
        self._next = 0

    def add(self, x: Point, y: Label) -> None:
        """One round for all."""
        self._xs.append(x)
        self._ys.append(y)

    def number_of(self, hypothesis: Hypothesis) -> int:
        """The predictor's number; a new one has made no mistakes yet."""
        number = self._numbers.get(hypothesis)
        if number is None:
            number = self._numbers[hypothesis] = self._next
            self._next += 1
            self._hypotheses[number] = hypothesis
            self._losses[number] = 0
            self._counted[number] = len(self._xs)
        return number

    def hypothesis(self, number: int) -> Hypothesis:
        """The predictor with this number, always the same object."""
        return self._hypotheses[number]

    def of(self, number: int) -> int:
        """The mistakes of one predictor up to now."""
        first, last = self._counted[number], len(self._xs)
        if first < last:
            self._counted[number] = last
            self._losses[number] += self._mistakes(self._hypotheses[number], first)
        return self._losses[number]

    def settle(self) -> None:
        """Count for everybody and forget the rounds."""
        for number in self._hypotheses:
            self.of(number)
            self._counted[number] = 0
        self._xs.clear()
        self._ys.clear()

    def keep(self, numbers: Iterable[int]) -> None:
        """Forget all predictors but these."""
        kept = frozenset(numbers)
        for number in [n for n in self._hypotheses if n not in kept]:
            del self._numbers[self._hypotheses.pop(number)]
            del self._counted[number], self._losses[number]

    def state(self) -> dict[str, Any]:
        """Everything that ``restore`` needs; secret."""
        self.settle()
        return {
            "next": self._next,
            "predictors": [
                (number, hypothesis, self._losses[number])
                for number, hypothesis in self._hypotheses.items()
            ],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on with the predictors and losses of ``state``."""
        self._next = state["next"]
        self._xs, self._ys = [], []
        self._numbers, self._hypotheses, self._losses, self._counted = {}, {}, {}, {}
        for number, hypothesis, loss in state["predictors"]:
            self._numbers[hypothesis], self._hypotheses[number] = number, hypothesis
            self._losses[number], self._counted[number] = loss, 0

    def _mistakes(self, hypothesis: Hypothesis, first: int) -> int:
        if len(self._xs) - first < _FEW:
            pairs = zip(self._xs[first:], self._ys[first:], strict=True)
            return sum(hypothesis(x) != y for x, y in pairs)
        block = self._domain.check_many(self._xs[first:])
        labels = np.array(self._ys[first:], dtype=np.uint8)
        return int(np.count_nonzero(hypothesis.many(block) != labels))
