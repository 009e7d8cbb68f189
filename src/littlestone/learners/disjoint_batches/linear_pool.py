"""Linear rules that a draw chooses among besides trees: some anywhere, some near the last one.

They are drawn before anybody looks at the batch, so they are public for all that privacy needs.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.hypotheses.scorecard import Scorecard
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Numeric, Schema
from littlestone.mechanisms.tree_weights import Sample
from littlestone.randomness import Randomness

Floats = NDArray[np.float64]

# Weights of length 1 are rounded to ten-thousandths; every direction comes with each threshold.
_DIGITS: Final = 10**4
THRESHOLDS: Final = tuple(_DIGITS * quarters // 4 for quarters in range(-4, 5))
# How far from the last rule its neighbours lie, from the least to the most.
_NEAREST, _FARTHEST = 0.2, 2.0
# Four bytes sum to nearly a normal number, with this mean and this deviation.
_BYTES, _MEAN, _DEVIATION = 4, 510, 147.8
_ROWS_AT_ONCE: Final = 256
# Over very many fields there are fewer directions, so that a draw stays quick.
_MOST_WEIGHTS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class LinearPool:
    """So many directions over a schema at most, each with nine thresholds.

    Numbers count from -1 for their first cell to 1 for their last, and each category has a weight
    for every value. A third of the directions is near the last rule's, if that was linear.
    """

    schema: Schema
    directions: int

    @property
    def size(self) -> int:
        """The most rules that are drawn."""
        return self.directions * len(THRESHOLDS)

    @property
    def steps(self) -> NDArray[np.int64]:
        """For each weight, how many points a weight of 1 is divided into."""
        return np.array(
            [
                step
                for part in self.schema.fields
                for step in ([max(1, part.cells - 1)] if _is_number(part) else [1] * part.cells)
            ]
        )

    def draw(self, near: Hypothesis, *, rng: Randomness) -> "LinearRules":
        """Fresh rules, from coins and from what was published before."""
        steps = self.steps
        width = len(steps)
        count = min(self.directions, _MOST_WEIGHTS // width)
        normal = _bytes(rng, count, width, _BYTES).sum(axis=2) - _MEAN
        weights: Floats = normal / _DEVIATION
        uniform = rng.words(count) / 2.0**64
        # Some ask for all fields, some for few: the share of weights is uniform in its logarithm.
        shares = np.minimum(1, 2 / width) ** uniform
        weights *= _bytes(rng, count, width, 1)[:, :, 0] < 256 * shares[:, None]
        if isinstance(near, Scorecard):
            third = count // 3
            spread = _NEAREST * (_FARTHEST / _NEAREST) ** uniform[:third] / np.sqrt(width)
            apart = normal[:third] / _DEVIATION * spread[:, None]
            weights[:third] = self._direction(near) + apart
        weights /= np.maximum(np.linalg.norm(weights, axis=1), 1e-9)[:, None]
        return LinearRules(self, np.rint(_DIGITS * weights / steps))

    def _direction(self, card: Scorecard) -> Floats:
        points = np.array([value for given in card.points for value in given])
        return np.asarray(points * self.steps / _DIGITS)

    def columns(self, cells: NDArray[np.int64]) -> Floats:
        """What each weight's points are multiplied by, as in ``Scorecard``."""
        parts = [
            (2 * column - (part.cells - 1))[:, None]
            if _is_number(part)
            else column[:, None] == np.arange(part.cells)
            for part, column in zip(self.schema.fields, cells.T, strict=True)
        ]
        return np.concatenate(parts, axis=1).astype(np.float64)


@dataclass(frozen=True, slots=True)
class LinearRules:
    """Candidates by number: all directions with the first threshold, with the second, …"""

    pool: LinearPool
    points: Floats
    """One row for each direction, all whole numbers."""

    def errors(self, sample: Sample) -> NDArray[np.int64]:
        """Of every candidate; whole numbers in floating point, far below 2**53, where BLAS adds."""
        zeros, ones = sample.counts
        surplus = (zeros - ones).astype(np.float64)
        wrong = np.full((len(THRESHOLDS), len(self.points)), float(ones.sum()))
        for start in range(0, len(sample.cells), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            scores = self.pool.columns(sample.cells[rows]) @ self.points.T
            for row, threshold in zip(wrong, THRESHOLDS, strict=True):
                row += surplus[rows] @ (scores > threshold)
        return wrong.astype(np.int64).ravel()

    def rule(self, number: int) -> Scorecard:
        place, direction = divmod(number, len(self.points))
        left = [int(value) for value in self.points[direction]]
        given = []
        for part in self.pool.schema.fields:
            size = 1 if _is_number(part) else part.cells
            given.append(tuple(left[:size]))
            left = left[size:]
        return Scorecard(self.pool.schema, -THRESHOLDS[place], tuple(given))


def _is_number(part: object) -> bool:
    return isinstance(part, Numeric)


def _bytes(rng: Randomness, *shape: int) -> NDArray[np.int64]:
    count = int(np.prod(shape))
    drawn = rng.words(-(-count // 8)).astype("<u8").view(np.uint8)
    return drawn[:count].reshape(shape).astype(np.int64)
