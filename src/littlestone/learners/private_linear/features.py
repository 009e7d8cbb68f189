"""Convert points to vectors, scaled by what was declared beforehand, never by the data."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.rules import Scorecard
from littlestone.concepts.hypotheses.runs import StepFunction
from littlestone.concepts.protocols import Domain, Hypothesis
from littlestone.concepts.schema import Numeric, Schema

Floats = NDArray[np.float64]

# Weights are published in ten-thousandths.
_DIGITS = 10**4
_LARGEST_WEIGHT = 1e9


@dataclass(frozen=True, slots=True)
class Features:
    """A 1, the place of each number between its first and last cell, and each category's value.

    Numbers lie in [-1, 1]; categories are 0 or 1 in one part for each value. A range of integers is
    a record with one number.
    """

    domain: Domain
    fields: tuple[tuple[int, bool], ...]
    """The number of cells of each field, and whether they are ordered."""

    @classmethod
    def from_domain(cls, domain: Domain) -> "Features":
        """Return the features of a domain: a schema or a range of integers."""
        if isinstance(domain, Schema):
            kinds = tuple((part.cells, isinstance(part, Numeric)) for part in domain.fields)
            return cls(domain, kinds)
        if isinstance(domain, IntegerRange):
            return cls(domain, ((domain.n, True),))
        raise ValueError(
            "concepts must be over records with a schema, or over a range of whole numbers, "
            f"got points of {domain!r}"
        )

    @property
    def width(self) -> int:
        """Return the length of the vectors."""
        return 1 + sum(1 if ordered else cells for cells, ordered in self.fields)

    def rows(self, points: list[Any]) -> Floats:
        """Return one vector for each point."""
        cells = np.array(points, dtype=np.int64).reshape(len(points), len(self.fields))
        parts = [np.ones((len(points), 1))]
        for (count, ordered), column in zip(self.fields, cells.T, strict=True):
            if ordered:
                parts.append(((2 * column - (count - 1)) / max(1, count - 1))[:, None])
            else:
                parts.append((column[:, None] == np.arange(count)).astype(np.float64))
        return np.concatenate(parts, axis=1)

    def rule(self, weights: Floats) -> Hypothesis:
        """Return the rule that is 1 where the weighted sum is positive, with rounded weights."""
        clipped = np.clip(weights, -_LARGEST_WEIGHT, _LARGEST_WEIGHT).tolist()
        if isinstance(self.domain, Schema):
            return self._scorecard(self.domain, clipped)
        ((count, _),) = self.fields
        return _threshold(count, *(round(weight * _DIGITS) for weight in clipped))

    def _scorecard(self, schema: Schema, weights: list[float]) -> Scorecard:
        points, place = [], 1
        for count, ordered in self.fields:
            size, steps = (1, max(1, count - 1)) if ordered else (count, 1)
            part = weights[place : place + size]
            points.append(tuple(round(weight * _DIGITS / steps) for weight in part))
            place += size
        return Scorecard(schema, round(weights[0] * _DIGITS), tuple(points))


def _threshold(n: int, constant: int, slope: int) -> StepFunction:
    """Return 1 where constant * (n - 1) + slope * (2x - (n - 1)) > 0, in integers."""
    if n == 1 or slope == 0:
        return StepFunction.from_runs(n, [(0, n if constant > 0 else 0)])
    if slope > 0:
        start = (n - 1) * (slope - constant) // (2 * slope) + 1
        return StepFunction.from_runs(n, [(min(max(start, 0), n), n)])
    stop = -(-(n - 1) * (constant - slope) // (-2 * slope))
    return StepFunction.from_runs(n, [(0, min(max(stop, 0), n))])
