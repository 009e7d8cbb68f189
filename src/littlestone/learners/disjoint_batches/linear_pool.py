"""Draw linear rules as candidates besides trees: random ones, and some near the last one.

They are drawn before the batch is read, so privacy may treat them as public.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.hypotheses.rules import Scorecard
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Numeric, Schema
from littlestone.privacy.mechanisms.tree_weights import Sample
from littlestone.randomness import Randomness

Floats = NDArray[np.float64]

# Weights of length 1 are rounded to ten-thousandths; every direction has each threshold.
DIGITS: Final = 10**4
THRESHOLDS: Final = tuple(DIGITS * quarters // 4 for quarters in range(-4, 5))
# How far from the last rule its neighbours are, from the least to the most.
_NEAREST, _FARTHEST = 0.2, 2.0
# The sum of four bytes is nearly normal, with this mean and this deviation.
_BYTES, _MEAN, _DEVIATION = 4, 510, 147.8
_BYTE: Final = 255  # how many ones a byte can add up
# Numbers that are added at once: a pass has a fixed cost, however few it adds.
_WIDE: Final = 4096
# From so many scores on, counting in bytes is faster than a product.
_MANY_SCORES: Final = 1 << 13
_SCORES_AT_ONCE: Final = 1 << 18
EXACT_SINGLE: Final = 1 << 24
_SHORT: Final = 1 << 15
# Over very many fields there are fewer directions, so that a draw stays fast.
MOST_WEIGHTS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class LinearPool:
    """Linear rules over a schema: at most ``directions`` directions, each with nine thresholds.

    Numbers count from -1 for their first cell to 1 for their last, and each category has a weight
    for every value. A third of the directions is near that of the last rule, if it was linear.
    With ``alike``, another third gives all numbers that it uses the same weight and sign, because
    they may all measure one thing.
    """

    schema: Schema
    directions: int
    alike: bool = False
    steps: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    """For each weight, how many points a weight of 1 is divided into."""
    _numbers: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    """The fields that are numbers, and the place of the weight of each."""
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
        """Return the most rules that are drawn."""
        return self.directions * len(THRESHOLDS)

    def draw(self, near: Hypothesis, *, rng: Randomness, most: int | None = None) -> "LinearRules":
        """Draw fresh rules in ``most`` directions, from coins and published rules."""
        steps = self.steps
        width = len(steps)
        count = min(self.directions, most or self.directions, MOST_WEIGHTS // width)
        normal = nearly_normal(rng, count, width)
        weights = normal.copy()
        uniform = rng.words(count) / 2.0**64
        if self.alike:
            alike = weights[count - count // 3 :]
            np.sign(alike, out=alike)
            alike[:, self._numbers[1]] = (1 - 2.0 * (rng.words(len(alike)) & 1))[:, None]
        weights *= shares_of(rng, uniform, width)
        if isinstance(near, Scorecard):
            third = count // 3
            spread = _NEAREST * (_FARTHEST / _NEAREST) ** uniform[:third] / np.sqrt(width)
            apart = normal[:third] * spread[:, None]
            weights[:third] = self._direction(near) + apart
        weights /= np.maximum(np.linalg.norm(weights, axis=1), 1e-9)[:, None]
        return LinearRules(self, np.rint(DIGITS * weights / steps))

    def _direction(self, card: Scorecard) -> Floats:
        points = np.array([value for given in card.points for value in given])
        return np.asarray(points * self.steps / DIGITS)

    def columns(self, cells: NDArray[np.int64], kind: type[np.floating[Any]]) -> NDArray[Any]:
        """Return what the points of each weight are multiplied by, as in ``Scorecard``."""
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
    """One row for each direction, all integers."""

    def errors(self, sample: Sample) -> NDArray[np.int64]:
        """Return the errors of every candidate; scores are integers that floats hold exactly.

        Records with the same excess of errors are counted together, in bytes: a BLAS product for
        each threshold costs five times as much, but is one for all values that few records have.
        """
        if not len(self.points):
            return np.empty(0, dtype=np.int64)
        zeros, ones = sample.counts.astype(np.int64)
        surplus = zeros - ones
        most = int((np.abs(self.points) @ self.pool.steps).max())
        kind = np.float32 if most < EXACT_SINGLE else np.float64
        short = np.int16 if most < _SHORT else kind  # short numbers are compared faster
        points = self.points.T.astype(kind)
        most_rows = _BYTE * max(1, _WIDE // len(self.points))
        wrong = np.full((len(THRESHOLDS), len(self.points)), ones.sum())
        values, often = np.unique(surplus[surplus != 0], return_counts=True)
        usual = values[often * len(self.points) >= _MANY_SCORES]
        if len(usual) < len(values):
            rest = (surplus != 0) & ~np.isin(surplus, usual)
            wrong += self._products(sample.cells[rest], surplus[rest], points)
        for value in usual:
            columns = self.pool.columns(sample.cells[surplus == value], kind)
            for start in range(0, len(columns), most_rows):
                scores = _stacked(columns[start : start + most_rows] @ points, short)
                found = [
                    np.add.reduce((scores > threshold).view(np.uint8), axis=0, dtype=np.uint8)
                    for threshold in THRESHOLDS
                ]
                counts = np.array(found).reshape(*wrong.shape[:1], -1, wrong.shape[1])
                wrong += value * counts.sum(axis=1, dtype=np.int64)
        return wrong.ravel()

    def _products(
        self, cells: NDArray[np.int64], surplus: NDArray[np.int64], points: NDArray[Any]
    ) -> NDArray[np.int64]:
        """Return the sums of the surplus of records whose score is above each threshold."""
        exact = np.float32 if np.abs(surplus).sum() < EXACT_SINGLE else np.float64
        sums = np.zeros((len(THRESHOLDS), len(self.points)), dtype=np.int64)
        step = max(1, _SCORES_AT_ONCE // len(self.points))
        for start in range(0, len(cells), step):
            part = slice(start, start + step)
            scores = self.pool.columns(cells[part], points.dtype.type) @ points
            weights = surplus[part].astype(exact)
            for row, threshold in zip(sums, THRESHOLDS, strict=True):
                row += (weights @ (scores > threshold).astype(exact)).astype(np.int64)
        return sums

    def rule(self, number: int) -> Scorecard:
        """Return the candidate with this number."""
        place, direction = divmod(number, len(self.points))
        given = points_of_fields(self.pool.schema, self.points[direction])
        return Scorecard(self.pool.schema, -THRESHOLDS[place], given)


def _stacked(scores: NDArray[Any], kind: type[np.number[Any]]) -> NDArray[Any]:
    """Lay rows side by side so that a byte can count each column; pad with too low scores."""
    rows, width = scores.shape
    beside = -(-rows // _BYTE)
    stacked = np.empty((rows + -rows % beside, width), dtype=kind)
    stacked[:rows], stacked[rows:] = scores, THRESHOLDS[0]
    return stacked.reshape(-1, beside * width)


def points_of_fields(schema: Schema, points: Floats) -> tuple[tuple[int, ...], ...]:
    """Return the points of each field, as in a ``Scorecard``."""
    left, given = [int(value) for value in points], []
    for part in schema.fields:
        size = 1 if _is_number(part) else part.cells
        given.append(tuple(left[:size]))
        left = left[size:]
    return tuple(given)


def nearly_normal(rng: Randomness, count: int, width: int) -> Floats:
    """Return ``count`` rows of numbers with mean 0 and deviation 1."""
    return np.asarray((_sums_of_bytes(rng, count, width) - _MEAN) / _DEVIATION)


def shares_of(rng: Randomness, uniform: Floats, width: int) -> NDArray[np.bool_]:
    """Return which weights each row uses: some rows use all of them, some only a few.

    The logarithm of the share of weights is uniform.
    """
    shares = np.minimum(1, 2 / width) ** uniform
    drawn = _bytes(rng, len(uniform) * width).reshape(len(uniform), width)
    return np.asarray(drawn < 256 * shares[:, None])


def _is_number(part: object) -> bool:
    return isinstance(part, Numeric)


def _bytes(rng: Randomness, count: int) -> NDArray[np.uint8]:
    return rng.words(-(-count // 8)).astype("<u8", copy=False).view(np.uint8)[:count]


def _sums_of_bytes(rng: Randomness, count: int, width: int) -> NDArray[np.int64]:
    """Return sums of bytes, added pairwise within a word."""
    words = _bytes(rng, _BYTES * count * width).view("<u4")
    pairs = (words & 0x00FF00FF) + (words >> 8 & 0x00FF00FF)
    sums = (pairs & 0xFFFF) + (pairs >> 16)
    return sums.astype(np.int64).reshape(count, width)
