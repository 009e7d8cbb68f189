"""Tests of fit, with cells large enough for their tails to be trusted."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

SMALLEST_CELL = 500.0


def _pooled(expected: NDArray[np.float64]) -> list[slice]:
    """Neighbouring cells joined until each expects at least SMALLEST_CELL."""
    cells, start, total = [], 0, 0.0
    for index, value in enumerate(expected):
        total += value
        if total >= SMALLEST_CELL:
            cells.append(slice(start, index + 1))
            start, total = index + 1, 0.0
    if cells and start < len(expected):
        cells[-1] = slice(cells[-1].start, len(expected))
    return cells


def _counts(values: Iterable[int], outcomes: list[int]) -> NDArray[np.float64] | None:
    """How often each outcome was seen; None if something else was."""
    seen, how_often = np.unique(np.asarray(list(values)), return_counts=True)
    observed = dict(zip(seen.tolist(), how_often.tolist(), strict=True))
    if set(observed) - set(outcomes):
        return None
    return np.array([observed.get(outcome, 0) for outcome in outcomes], dtype=np.float64)


def _fit(values: Iterable[int], law: Mapping[int, float]) -> float:
    outcomes = sorted(law)
    counts = _counts(values, outcomes)
    if counts is None:
        return 0.0
    expected = np.array([law[outcome] for outcome in outcomes]) * counts.sum()
    cells = _pooled(expected)
    assert len(cells) > 1, "this sample cannot tell anything"
    pooled = np.array([counts[cell].sum() for cell in cells])
    pooled_expected = np.array([expected[cell].sum() for cell in cells])
    statistic = ((pooled - pooled_expected) ** 2 / pooled_expected).sum()
    return float(stats.chi2.sf(statistic, len(cells) - 1))


def _agreement(first: Iterable[int], second: Iterable[int], law: Mapping[int, float]) -> float:
    outcomes = sorted(law)
    samples = [_counts(first, outcomes), _counts(second, outcomes)]
    rows = [row for row in samples if row is not None]
    if len(rows) < 2:
        return 0.0
    smaller = min(row.sum() for row in rows)
    cells = _pooled(np.array([law[outcome] for outcome in outcomes]) * smaller)
    table = np.array([[row[cell].sum() for cell in cells] for row in rows])
    return float(stats.chi2_contingency(table, correction=False).pvalue)


@pytest.fixture
def fit() -> Callable[[Iterable[int], Mapping[int, float]], float]:
    """χ² p-value of a sample under a law; 0 if something impossible happened."""
    return _fit


@pytest.fixture
def agreement() -> Callable[[Iterable[int], Iterable[int], Mapping[int, float]], float]:
    """χ² p-value of two samples having one law; the third argument only chooses the cells."""
    return _agreement
