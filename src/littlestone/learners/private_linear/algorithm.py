"""Sum gradients in whole numbers, release the sums with noise, follow what was released."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.learners.engine import Engine
from littlestone.learners.private_linear.features import Floats
from littlestone.mechanisms.correlated_sums import CorrelatedSumsRun, Vector
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.private_linear.recipe import PrivateLinear

GRID: Final = 1 << 12
"""Gradients, clipped to length 1, are rounded to multiples of 1/GRID."""
# Gradients of so many examples are computed at a time, whether these came singly or in a block.
_TOGETHER: Final = 256
_STEEPEST: Final = 30.0


@dataclass(init=False, eq=False, repr=False)
class PrivateLinearEngine(Engine):
    """Secret are the examples that wait, and the sums; the weights follow from the releases."""

    ledger: Ledger
    hypothesis: Hypothesis
    _sums: CorrelatedSumsRun
    _released: list[Vector]
    _batch: Vector
    """The sum of the gradients of this batch, but for those that wait."""
    _in_batch: int
    _points: list[Any]
    _labels: list[Label]

    def __init__(self, recipe: "PrivateLinear", rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._sums = CorrelatedSumsRun(recipe.sums, rng)

    def begin(self) -> None:
        recipe = self._recipe
        rho = ZeroConcentrated(rho=recipe.sums.rho)
        self.ledger = Ledger(
            budget=recipe.per_example,
            private=self._rng.private,
            concentrated=rho,
            concentrated_delta=recipe.delta,
        )
        # An example is in one batch, and all releases together cost it rho.
        self.ledger.charge("CorrelatedSums", rho, first=1)
        self._sums.begin()
        self._released, self._points, self._labels = [], [], []
        self._start_batch()
        self._follow()
        self.hypothesis = recipe.features.rule(self._weights)  # (L1)

    def loaded(self) -> None:
        self._follow()

    def step(self, x: Any, y: Label, /) -> None:
        batch = len(self._released)
        if batch == len(self._recipe.batch_sizes):
            return  # the last, unfinished batch is never released
        self._points.append(x)
        self._labels.append(y)
        self._count_round(batch)

    def idle(self, x: Any, /) -> None:
        if (batch := len(self._released)) < len(self._recipe.batch_sizes):
            self._count_round(batch)

    def _count_round(self, batch: int) -> None:
        self._in_batch += 1
        over = self._in_batch == self._recipe.batch_sizes[batch]
        if over or len(self._points) == _TOGETHER:
            self._add_gradients()
        if over:
            self._release()

    def _add_gradients(self) -> None:
        if not self._points:
            return
        rows, labels = self._recipe.features.rows(self._points), np.array(self._labels)
        whole = gradients(rows, labels, self._weights, self._recipe.sums.longest_squared)  # (L2)
        added = whole.sum(axis=0).tolist()
        self._batch = tuple(
            before + more for before, more in zip(self._batch, added, strict=True)
        )  # (L3)
        self._points, self._labels = [], []

    def _release(self) -> None:
        self._released.append(self._sums.release(self._batch))  # (L4)
        self._start_batch()
        self._follow()
        newest = self._recipe.features.rule(self._weights)
        if newest != self.hypothesis:
            self.hypothesis = newest

    def _start_batch(self) -> None:
        self._batch, self._in_batch = (0,) * self._recipe.features.width, 0

    def _follow(self) -> None:
        """Weights from what was released; nothing else is looked at."""
        recipe = self._recipe
        self._weights: Floats = np.zeros(recipe.features.width)
        if self._released:
            rate = recipe.rate_of(len(self._released) - 1)
            self._weights = -rate / GRID * recipe.sums.prefix_sum(self._released)  # (L5)


def gradients(
    rows: Floats, labels: NDArray[np.int64], weights: Floats, longest_squared: int
) -> NDArray[np.int64]:
    """Of the logistic loss at each example: clipped to length 1, in whole multiples of 1/GRID.

    A row depends on its own example and on the weights, to the last bit: sums are added up term
    after term and everything else is done number by number, whatever other rows there are. Whatever
    floating point made of it, its squared length is at most ``longest_squared``: this is looked at
    in whole numbers.
    """
    with np.errstate(all="ignore"):  # a warning would tell of the data
        scores = np.clip(_dots(rows, weights), -_STEEPEST, _STEEPEST)
    slopes = 1 / (1 + np.array([math.exp(-score) for score in scores.tolist()])) - labels
    lengths = np.abs(slopes) * np.sqrt(_dots(rows, rows))
    clipped = rows * (slopes / np.maximum(1, lengths))[:, None]
    clipped[~(np.abs(clipped) <= 1).all(axis=1)] = 0  # not a number, for one
    whole: NDArray[np.int64] = np.rint(GRID * clipped).astype(np.int64)
    whole[(whole * whole).sum(axis=1) > longest_squared] = 0
    return whole


def _dots(rows: Floats, others: Floats) -> Floats:
    """The product of each row and the other one, added from its first term to its last.

    BLAS adds in an order that depends on how many rows there are.
    """
    return np.add.accumulate(rows * others, axis=1)[:, -1]
