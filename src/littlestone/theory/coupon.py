"""How many of the chosen cells random draws leave empty: the paper's coupon-collector lemma."""

import math
from fractions import Fraction

from littlestone import require
from littlestone.theory.outwards import upwards


def half_uncovered_upper_bound(*, cells: int, bins: int, draws: int) -> float:
    """Probability that at most half of ``cells`` among ``bins`` are hit by ``draws``.

    C(k, ⌈k/2⌉)·(1 − ⌈k/2⌉/n)^m: some ⌈k/2⌉ of the cells are all missed
    [P, Lemma coupon, first line of its proof].

    >>> half_uncovered_upper_bound(cells=2, bins=2, draws=4)
    0.125
    """
    require.integer(cells=cells, bins=bins, at_least=1)
    require.integer(draws=draws, at_least=0)
    if cells > bins:
        raise ValueError(f"cells must be at most bins={bins}, got cells={cells}")
    missed = -(-cells // 2)
    exact = math.comb(cells, missed) * Fraction(bins - missed, bins) ** draws
    return _float_at_least(min(Fraction(1), exact))


def coupon_failure_upper_bound(*, cells: int) -> float:
    """(2/e)^k, when there are at least twice as many draws as bins [P, Lemma coupon].

    >>> coupon_failure_upper_bound(cells=12) < 0.05
    True
    """
    require.integer(cells=cells, at_least=1)
    return upwards(math.exp(cells * (math.log(2) - 1)))


def coupon_cells_upper_bound(*, failure_probability: float) -> int:
    """⌈4·ln(1/β)⌉: so many cells suffice for failure probability β [P, Lemma coupon].

    (2/e)^k ≤ β needs only k ≥ ln(1/β)/(1 − ln 2), about 3.26·ln(1/β).

    >>> coupon_cells_upper_bound(failure_probability=0.05)
    12
    """
    require.open_probability(failure_probability=failure_probability)
    return math.ceil(upwards(4 * math.log(1 / failure_probability)))


def _float_at_least(exact: Fraction) -> float:
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)
