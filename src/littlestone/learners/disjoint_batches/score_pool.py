"""Draw linear rules for more than two labels: the label with the largest score wins.

As in ``linear_pool.py`` they are drawn before the batch is read.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.hypotheses.layered_tree import LayeredTree
from littlestone.concepts.hypotheses.rules import Scorecards
from littlestone.concepts.protocols import Hypothesis
from littlestone.concepts.schema import Schema
from littlestone.learners.disjoint_batches.linear_pool import (
    DIGITS,
    EXACT_SINGLE,
    MOST_WEIGHTS,
    Floats,
    LinearPool,
    nearly_normal,
    points_of_fields,
    shares_of,
)
from littlestone.privacy.mechanisms.tree_weights import Sample
from littlestone.randomness import Randomness

# Scores of all records at once: the working set stays in the cache.
_AT_ONCE: Final = 1 << 20
_CONSTANT: Final = 0.5  # the size of constants beside weights, all of which have length 1
_NEAREST, _FARTHEST = 0.1, 2.0


@dataclass(frozen=True, slots=True)
class ScorePool:
    """At most ``directions`` rules: for each label a constant and the weights of all fields.

    A third of the rules is near the last one, if it was linear; every second of these changes the
    scores of one label only.
    """

    schema: Schema
    directions: int
    _linear: LinearPool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_linear", LinearPool(self.schema, 0))

    @property
    def size(self) -> int:
        """Return the most rules that are drawn."""
        return self.directions

    def draw(self, near: Hypothesis, *, rng: Randomness, most: int | None = None) -> "ScoreRules":
        """Draw ``most`` fresh rules, from coins and published rules."""
        steps, labels = self._linear.steps, len(self.schema.label_values)
        width = len(steps)
        count = min(self.directions, most or self.directions, MOST_WEIGHTS // (labels * width))
        normal = nearly_normal(rng, count, labels * (width + 1)).reshape(count, labels, width + 1)
        uniform = rng.words(count) / 2.0**64
        weights = normal.copy()
        weights[:, :, 1:] *= shares_of(rng, uniform, labels * width).reshape(count, labels, width)
        weights[:, :, 0] *= _CONSTANT
        last = near.base if isinstance(near, LayeredTree) else near
        if isinstance(last, Scorecards):
            third = count // 3
            only = (rng.words(third) % labels)[:, None] == np.arange(labels)
            only[::2] = True
            spread = _NEAREST * (_FARTHEST / _NEAREST) ** uniform[:third]
            spread /= np.sqrt(labels * (width + 1))
            apart = normal[:third] * spread[:, None, None] * only[:, :, None]
            weights[:third] = self._weights(last) + apart
        lengths = np.sqrt((weights[:, :, 1:] ** 2).sum(axis=(1, 2)))
        weights /= np.maximum(lengths, 1e-9)[:, None, None]
        weights[:, :, 1:] /= steps
        return ScoreRules(self._linear, np.rint(DIGITS * weights))

    def _weights(self, cards: Scorecards) -> Floats:
        rows = [
            [constant, *(value for given in points for value in given)]
            for constant, points in zip(cards.constants, cards.points, strict=True)
        ]
        return np.asarray(np.array(rows) * [1, *self._linear.steps] / DIGITS)


@dataclass(frozen=True, slots=True)
class ScoreRules:
    """Candidates by number."""

    pool: LinearPool
    points: Floats
    """For each rule and label the constant and the points of all weights, as integers."""

    def errors(self, sample: Sample) -> NDArray[np.int64]:
        """Return the errors of every candidate; scores are integers that floats hold exactly."""
        rules, labels, width = self.points.shape
        errors = np.full(rules, sample.size)
        if not rules:
            return errors
        most = int((np.abs(self.points) @ [1, *self.pool.steps]).max())
        kind: Any = np.float32 if most < EXACT_SINGLE else np.float64
        ones = np.ones((len(sample.cells), 1), dtype=kind)
        columns = np.hstack([ones, self.pool.columns(sample.cells, kind)])
        records, step = np.arange(len(columns)), max(1, _AT_ONCE // (labels * (1 + len(columns))))
        for start in range(0, rules, step):
            some = self.points[start : start + step].astype(kind)
            scores = columns @ some.reshape(-1, width).T
            said = scores.reshape(len(columns), len(some), labels).argmax(axis=2)
            right = sample.counts.T[records[:, None], said].sum(axis=0)
            errors[start : start + step] -= right.astype(np.int64)
        return errors

    def rule(self, number: int) -> Scorecards:
        """Return the candidate with this number."""
        constants, points = self.points[number, :, 0], self.points[number, :, 1:]
        return Scorecards(
            self.pool.schema,
            tuple(map(int, constants)),
            tuple(points_of_fields(self.pool.schema, row) for row in points),
        )
