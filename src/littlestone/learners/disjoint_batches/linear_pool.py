"""Linear rules that a draw chooses among besides trees: some anywhere, some near the last one.

They are drawn before anybody looks at the batch, so they are public for all that privacy needs.
"""

from dataclasses import dataclass, field
from typing import Any, Final

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
_ROWS_AT_ONCE: Final = 255  # so many ones a byte can add up
_EXACT_SINGLE: Final = 1 << 24
# Over very many fields there are fewer directions, so that a draw stays quick.
_MOST_WEIGHTS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class LinearPool:
    """So many directions over a schema at most, each with nine thresholds.

    Numbers count from -1 for their first cell to 1 for their last, and each category has a weight
    for every value. A third of the directions is near the last rule's, if that was linear. If some
    are ``alike``, another third counts all numbers that it asks for equally and in the same way,
    since all of them may tell of one thing.
    """

    schema: Schema
    directions: int
    alike: bool = False
    steps: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    """For each weight, how many points a weight of 1 is divided into."""
    _numbers: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    """The fields that are numbers, and where each of them has its weight."""
    _categories: tuple[tuple[int, int], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        numbers, categories, steps = list[tuple[int, int]](), list[tuple[int, int]](), list[int]()
        for place, part in enumerate(self.schema.fields):
            (numbers if _is_number(part) else categories).append((place, len(steps)))
            steps += [max(1, part.cells - 1)] if _is_number(part) else [1] * part.cells
        object.__setattr__(self, "steps", np.array(steps))
        object.__setattr__(self, "_numbers", np.array(numbers, dtype=np.int64).reshape(-1, 2).T)
        object.__setattr__(self, "_categories", tuple(categories))

    @property
    def size(self) -> int:
        """The most rules that are drawn."""
        return self.directions * len(THRESHOLDS)

    def draw(self, near: Hypothesis, *, rng: Randomness) -> "LinearRules":
        """Fresh rules, from coins and from what was published before."""
        steps = self.steps
        width = len(steps)
        count = min(self.directions, _MOST_WEIGHTS // width)
        normal = _sums_of_bytes(rng, count, width) - _MEAN
        weights: Floats = normal / _DEVIATION
        uniform = rng.words(count) / 2.0**64
        if self.alike:
            alike = weights[count - count // 3 :]
            np.sign(alike, out=alike)
            alike[:, self._numbers[1]] = (1 - 2.0 * (rng.words(len(alike)) & 1))[:, None]
        # Some ask for all fields, some for few: the share of weights is uniform in its logarithm.
        shares = np.minimum(1, 2 / width) ** uniform
        weights *= _bytes(rng, count * width).reshape(count, width) < 256 * shares[:, None]
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

    def columns(self, cells: NDArray[np.int64], kind: type[np.floating[Any]]) -> NDArray[Any]:
        """What each weight's points are multiplied by, as in ``Scorecard``."""
        columns = np.zeros((len(cells), len(self.steps)), dtype=kind)
        fields, places = self._numbers
        columns[:, places] = 2 * cells[:, fields] - self.steps[places]
        for part, place in self._categories:
            columns[np.arange(len(cells)), place + cells[:, part]] = 1
        return columns


@dataclass(frozen=True, slots=True)
class LinearRules:
    """Candidates by number: all directions with the first threshold, with the second, …"""

    pool: LinearPool
    points: Floats
    """One row for each direction, all whole numbers."""

    def errors(self, sample: Sample) -> NDArray[np.int64]:
        """Of every candidate; scores are whole numbers that the floating point holds.

        Records that are as often wrong together are counted together, in bytes: what BLAS would
        multiply by a surplus for each threshold costs five times as much.
        """
        if not len(self.points):
            return np.empty(0, dtype=np.int64)
        zeros, ones = sample.counts.astype(np.int64)
        surplus = zeros - ones
        most = int((np.abs(self.points) @ self.pool.steps).max())
        kind = np.float32 if most < _EXACT_SINGLE else np.float64
        points = self.points.T.astype(kind)
        wrong = np.full((len(THRESHOLDS), len(self.points)), ones.sum())
        for value in np.unique(surplus[surplus != 0]):
            cells = sample.cells[surplus == value]
            for start in range(0, len(cells), _ROWS_AT_ONCE):
                scores = self.pool.columns(cells[start : start + _ROWS_AT_ONCE], kind) @ points
                for row, threshold in zip(wrong, THRESHOLDS, strict=True):
                    above = (scores > threshold).view(np.uint8)
                    row += value * np.add.reduce(above, axis=0, dtype=np.uint8)
        return wrong.ravel()

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


def _bytes(rng: Randomness, count: int) -> NDArray[np.uint8]:
    return rng.words(-(-count // 8)).astype("<u8", copy=False).view(np.uint8)[:count]


def _sums_of_bytes(rng: Randomness, count: int, width: int) -> NDArray[np.int64]:
    """So many for each number, added two by two within a word."""
    words = _bytes(rng, _BYTES * count * width).view("<u4")
    pairs = (words & 0x00FF00FF) + (words >> 8 & 0x00FF00FF)
    sums = (pairs & 0xFFFF) + (pairs >> 16)
    return sums.astype(np.int64).reshape(count, width)
