"""Turn a public distribution over cells into whole numbers of synthetic examples."""

import math

import numpy as np

from littlestone.sanitizers.queries import Counts, FiniteQueries, Floats


def systematic(weights: Floats, size: int) -> Counts:
    """Examples at the quantiles (i + 1/2) / size, in the order of the cells.

    Every stretch of cells that begins with the first has its share of the examples, up to 1/2;
    a single cell up to 1.

    >>> systematic(np.array([0.5, 0.3, 0.2]), 5).tolist()
    [2, 2, 1]
    """
    ends = np.cumsum(weights / weights.sum())
    places = np.searchsorted(ends, (np.arange(size) + 0.5) / size, side="right")
    return np.bincount(np.minimum(places, len(weights) - 1), minlength=len(weights)).astype(
        np.int64
    )


def greedy(queries: FiniteQueries, weights: Floats, size: int) -> Counts:
    """Whole parts first; then, one by one, the example that keeps all concepts best balanced.

    The rest of R examples is what independent draws would give, derandomised by the method of
    conditional expectations with Hoeffding's bound as the pessimistic estimator. So no concept is
    off by more than sqrt(R ln(2 |H|) / 2) examples, and R is at most the number of cells.
    """
    wanted = weights / weights.sum() * size
    taken: Counts = np.floor(wanted).astype(np.int64)
    rest = size - int(taken.sum())
    if rest == 0:
        return taken
    residual = queries.answers(wanted - taken)  # how many more each concept should get
    rate = math.sqrt(8 * math.log(2 * queries.concepts) / rest)
    deviation = np.zeros(queries.concepts)
    each = residual / rest
    more, less = math.expm1(rate), math.expm1(-rate)
    for _ in range(rest):
        deviation -= each
        tilt = np.clip(rate * deviation, -600, 600)
        cost = queries.cells_answers(np.exp(tilt) * more + np.exp(-tilt) * less)
        place = int(cost.argmin())
        taken[place] += 1
        deviation += queries.column(place)
    return taken


def rounding_error(queries: FiniteQueries, weights: Floats, counts: Counts) -> float:
    """The largest difference, over all concepts, between the dataset and the distribution."""
    difference = counts / counts.sum() - weights / weights.sum()
    return float(np.abs(queries.answers(difference)).max())


def best_rounding(queries: FiniteQueries, weights: Floats, size: int) -> Counts:
    """The better of the two for this class; all of it is public, so looking costs nothing."""
    quick = systematic(weights, size)
    if rounding_error(queries, weights, quick) * size <= 1:
        return quick
    careful = greedy(queries, weights, size)
    return min((quick, careful), key=lambda counts: rounding_error(queries, weights, counts))
