"""A few concepts whose majority says what a distribution on concepts is nearly sure of.

Where a distribution Q gives some label more than 1/2 + margin, the majority of the jury must say
that label. A jury is chosen greedily: each point counts r for each vote against its label and 1/r
for each vote for it, r = 1 + 2 * margin, and the next member is the concept of Q that makes the
sum over the points smallest. A random concept of Q multiplies a point by at most
(1/2 + margin)/r + (1/2 - margin) r = 1 - 2 margin**2 on average, so the best one shrinks the sum by
that; a point with a wrong majority counts at least r. So the greedy choice ends, after at most
``jury_size_upper_bound`` members, without any randomness.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require

_GRID: Final = 64  # the margin is used in 64ths, rounded down, to keep the numbers short


def jury_size_upper_bound(*, points: int, margin: Fraction) -> int:
    """The smallest odd m with points * (1 - 2 margin**2)**m < 1 + 2 margin.

    >>> jury_size_upper_bound(points=1, margin=Fraction(1, 8))
    1
    >>> jury_size_upper_bound(points=100, margin=Fraction(1, 8))
    139
    """
    require.integer(points=points, at_least=1)
    gain = coarse(margin)
    shrink, least = 1 - 2 * gain**2, 1 + 2 * gain
    near = int((math.log(points) - math.log(least)) / -math.log(shrink))
    size = max(1, near - 4) | 1  # the logarithms are off by less than that
    while points * shrink**size >= least:
        size += 2
    return size


def coarse(margin: Fraction) -> Fraction:
    """The margin in 64ths, rounded down; a smaller one asks for more, so nothing is lost."""
    return Fraction(math.floor(margin * _GRID), _GRID)


def choose_jury(
    shares: Mapping[int, int], labels: NDArray[np.uint8], *, margin: Fraction
) -> list[int]:
    """The members, as numbers of rows of ``labels``; an odd number, with repetitions.

    ``shares`` are the weights of rows; ``labels`` has one column for each point.
    """
    rows = sorted(shares)
    votes = labels[rows]
    wanted, sure = _wanted(votes, [shares[row] for row in rows], margin)
    right = np.unique((votes == wanted)[:, sure], axis=1)
    return [rows[member] for member in _greedy(right, margin)]


def _wanted(
    votes: NDArray[np.uint8], shares: Sequence[int], margin: Fraction
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each point the likelier label, and whether it has more than 1/2 + margin."""
    total = sum(shares)
    bar = (Fraction(1, 2) + margin) * total
    wanted, sure = [], []
    for column in votes.T:
        ones = sum(share for share, vote in zip(shares, column.tolist(), strict=True) if vote)
        wanted.append(2 * ones > total)
        sure.append(max(ones, total - ones) > bar)
    return np.array(wanted, dtype=np.bool_), np.array(sure, dtype=np.bool_)


def _greedy(right: NDArray[np.bool_], margin: Fraction) -> list[int]:
    """Members one by one until every point has more votes for its label than against it."""
    up, down = (1 + 2 * coarse(margin)).as_integer_ratio()
    # Scaled by up * down at each vote: a wrong vote counts up**2, a right one down**2.
    counts = [1] * right.shape[1]
    ahead = np.zeros(right.shape[1], dtype=np.int64)
    factors = [[down * down if vote else up * up for vote in row] for row in right.tolist()]
    jury: list[int] = []
    while len(jury) % 2 == 0 or (ahead <= 0).any():
        sums = [sum(map(int.__mul__, counts, row)) for row in factors]
        best = min(range(len(sums)), key=sums.__getitem__)
        jury.append(best)
        counts = list(map(int.__mul__, counts, factors[best]))
        ahead += np.where(right[best], 1, -1)
    return jury
