"""What a statistical test may be wrong about, and with which probability.

A test fails on correct code, or misses the broken variant beside it, with probability at most
``FALSE_FAILURE_PROBABILITY``. Each judgement below is wrong with at most a tenth of it, so that one
test may make ten. The probabilities are computed from exact tails, never from an approximation by a
normal or a χ² law. Where none can be computed, a test repeats itself: see ``in_one_of_many``.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FALSE_FAILURE_PROBABILITY: Final = 1e-9
WRONG: Final = FALSE_FAILURE_PROBABILITY / 10
"""The probability with which one judgement may be wrong."""
ATTEMPTS: Final = 200
CALIBRATED: Final = 9
_CELLS: Final = 100  # at most
_EVENTS: Final = 2 * _CELLS  # each cell, and each cell with all before it

Counts = NDArray[np.int64]
Shares = NDArray[np.float64]
Law = Mapping[int, float]


def hoeffding(draws: int, *, frequencies: int = 1) -> float:
    """No frequency of ``draws`` draws is farther than this from its probability.

    All ``frequencies`` of them together, both sides of each; bounds values in [0, 1], too.
    """
    return math.sqrt(math.log(2 * frequencies / WRONG) / (2 * draws))


def most_failures(trials: int, probability: float) -> int:
    """As many failures, each of at most this ``probability``, are not exceeded."""
    return int(stats.binom.isf(WRONG, trials, probability))


def fewest_successes(trials: int, probability: float) -> int:
    """There are at least as many successes, each of at least this ``probability``."""
    return trials - most_failures(trials, 1 - probability)


def p_value(values: Iterable[int], law: Law) -> float:
    """How surprising a sample of ``law`` is: at most p with probability at most p.

    The smallest two-sided binomial tail of some cells, and of all cells up to each of them, times
    the number of these events; 0 if something impossible happened.
    """
    seen = Counter(np.asarray(list(values)).tolist())
    if seen.keys() - law.keys():
        return 0.0
    outcomes = sorted(law)
    counts = np.array([seen[outcome] for outcome in outcomes])
    expected = _shares(law, outcomes)
    cells = _cells(expected)
    assert len(cells) > 1, "this sample cannot tell anything"
    return _least(
        _two_sided(stats.binom, events, counts.sum(), shares)
        for events, shares in zip(_events(counts, cells), _events(expected, cells), strict=True)
    )


def fits(values: Iterable[int], law: Law) -> bool:
    """Whether the values may be a sample of ``law``; wrong with probability WRONG."""
    return p_value(values, law) >= WRONG


def is_told_apart(values: Iterable[int], law: Law, *, actual: Law) -> bool:
    """Whether a sample of ``actual`` is rejected as one of ``law``.

    It is not with probability at most WRONG, or the sample is too small.
    """
    sample = list(values)
    missed = miss_probability(law, actual=actual, draws=len(sample))
    assert missed <= WRONG, f"missed with probability {missed:.2g}"
    return not fits(sample, law)


def miss_probability(law: Law, *, actual: Law, draws: int) -> float:
    """At most so likely does a sample of ``actual`` fit ``law``.

    It fits if every event's count is one of those that ``law`` explains; the least of the
    probabilities of this bounds the one of all together.
    """
    outcomes = sorted(law)
    expected, other = (_shares(one, outcomes) for one in (law, actual))
    cells = _cells(expected)
    impossible = sum(share for outcome, share in actual.items() if outcome not in law)
    missed = [(1 - impossible) ** draws]
    level = WRONG / _EVENTS / 2
    for shares, others in zip(_events(expected, cells), _events(other, cells), strict=True):
        low, high = (stats.binom.ppf(level, draws, shares), stats.binom.isf(level, draws, shares))
        inside = stats.binom.cdf(high, draws, others) - stats.binom.cdf(low - 1, draws, others)
        missed.append(float(np.min(inside)))
    return max(0.0, min(missed))


def agree(first: Iterable[Hashable], second: Iterable[Hashable]) -> bool:
    """Whether two samples may have one law; wrong with probability WRONG.

    Given all values of both, which of them are in the first sample is hypergeometric. So the cells
    may be chosen by what both samples have together.
    """
    one, other = Counter(first), Counter(second)
    return _agreement(one, other, one + other) >= WRONG


def differ(
    first: Iterable[int], second: Iterable[int], *, laws: tuple[Law, Law], cells: Law
) -> bool:
    """Whether samples of two ``laws`` are told apart in cells of equal parts of ``cells``.

    They are not with probability at most WRONG, or they are too small: some
    event comes up so often in one and so seldom in the other that every likelier pair of counts
    differs, too.
    """
    samples = [Counter(sample) for sample in (first, second)]
    sizes = [sample.total() for sample in samples]
    outcomes = sorted(laws[0].keys() | laws[1].keys() | cells.keys())
    parts = _cells(_shares(cells, outcomes))
    events = zip(*(_events(_shares(law, outcomes), parts) for law in laws), strict=True)
    assert any(
        _surely_apart(sizes, pair) or _surely_apart(sizes[::-1], pair[::-1])
        for one, other in events
        for pair in zip(one, other, strict=True)
    ), "these samples cannot be told apart surely"
    first, second = samples
    return _agreement(first, second, dict.fromkeys(outcomes, 0.0) | dict(cells)) < WRONG


def in_one_of_many(attempt: Callable[[], bool]) -> bool:
    """Whether one of up to ATTEMPTS independent attempts succeeds.

    For an event whose probability cannot be computed. If an attempt fails with probability 0.9 at
    most, all of them fail with probability 0.9**200 < 1e-9. If it failed more often, CALIBRATED
    attempts would succeed in a row with probability 0.1**9 = 1e-9: with CALIBRATE=1 in the
    environment they are made, and all must succeed. Do so once for each test that calls this.
    """
    if os.environ.get("CALIBRATE"):
        return all(attempt() for _ in range(CALIBRATED))
    return any(attempt() for _ in range(ATTEMPTS))


def _surely_apart(sizes: list[int], shares: tuple[float, float]) -> bool:
    """By the fewest of the one and the most of the other, each but for half of what is allowed."""
    fewest = stats.binom.ppf(WRONG / 2, sizes[0], shares[0])
    most = stats.binom.isf(WRONG / 2, sizes[1], shares[1])
    tail = stats.hypergeom.sf(fewest - 1, sum(sizes), fewest + most, sizes[0])
    return bool(2 * _EVENTS * tail < WRONG)


def _agreement(first: Counter[Any], second: Counter[Any], weights: Mapping[Any, float]) -> float:
    """The smallest hypergeometric tail; cells are neighbours of equal ``weights``."""
    ordered = all(isinstance(value, int | np.integer) for value in weights)
    outcomes = sorted(weights) if ordered else sorted(weights, key=weights.__getitem__)
    counts, others = (np.array([one[outcome] for outcome in outcomes]) for one in (first, second))
    totals = counts + others
    shares = np.array([weights[outcome] for outcome in outcomes], dtype=np.float64)
    cells = _cells(shares / shares.sum())
    assert len(cells) > 1, "these samples cannot tell anything"
    return _least(
        _two_sided(stats.hypergeom, events, totals.sum(), together, counts.sum())
        for events, together in zip(_events(counts, cells), _events(totals, cells), strict=True)
    )


def _shares(law: Law, outcomes: list[int]) -> Shares:
    return np.array([law.get(outcome, 0.0) for outcome in outcomes])


def _cells(shares: Shares) -> list[slice]:
    """Neighbours joined until each cell has its share: at most _CELLS of them."""
    cells, start, total = [], 0, 0.0
    for index, value in enumerate(shares):
        total += float(value)
        if total >= 1 / _CELLS:
            cells.append(slice(start, index + 1))
            start, total = index + 1, 0.0
    cells[-1] = slice(cells[-1].start, len(shares))
    return cells[:_CELLS]


def _events(values: NDArray[Any], cells: list[slice]) -> tuple[NDArray[Any], NDArray[Any]]:
    """What each cell has, and what it has together with all before it."""
    each = np.array([values[cell].sum() for cell in cells])
    together = np.cumsum(each)
    return each, np.minimum(together, 1.0) if values.dtype.kind == "f" else together


def _two_sided(law: Any, counts: NDArray[Any], *parameters: Any) -> Shares:
    below, above = law.cdf(counts, *parameters), law.sf(counts - 1, *parameters)
    return np.asarray(2 * np.minimum(below, above), dtype=np.float64)


def _least(tails: Iterable[Shares]) -> float:
    return min(1.0, _EVENTS * min(float(np.nanmin(tail)) for tail in tails))
