"""Tail bounds with the paper's constants, and with better ones where that is easy.

They include the coupon-collector lemma: how many chosen cells random draws leave empty.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from littlestone import require
from littlestone.theory.outwards import upwards


def hoeffding_upper_bound(*, deviation: float, variables: int, width: float = 1.0) -> float:
    """exp(−2t²/(n(b − a)²)) for a sum of independent variables in [a, b] [P, Lemma hoeffding].

    >>> round(hoeffding_upper_bound(deviation=10, variables=100), 3)
    0.135
    """
    require.usual(deviation=deviation, variables=variables, width=width)
    return _capped_exp(-2 * deviation**2 / (variables * width**2))


def permutation_upper_bound(*, deviation: float, variables: int, change: float = 1.0) -> float:
    """exp(−2r²/(9nc²)) for a function of n randomly permuted elements [P, Lemma mcdiarmid].

    ``change`` is how much the function moves when one element is replaced by another.
    """
    require.usual(deviation=deviation, variables=variables, change=change)
    return _capped_exp(-2 * deviation**2 / (9 * variables * change**2))


def permutation_swap_upper_bound(*, deviation: float, variables: int, change: float = 1.0) -> float:
    """exp(−r²/(2nc²)): ``permutation_upper_bound`` with the constant ½ instead of 2/9.

    Reveal the permuted elements one by one. Two continuations that differ in the next element are
    matched by swapping two elements, which moves the function by at most 2c, so each step of the
    martingale ranges over 2c and Azuma–Hoeffding applies.

    >>> arguments = dict(deviation=10.0, variables=100)
    >>> permutation_swap_upper_bound(**arguments) < permutation_upper_bound(**arguments)
    True
    """
    require.usual(deviation=deviation, variables=variables, change=change)
    return _capped_exp(-(deviation**2) / (2 * variables * change**2))


def without_replacement_upper_bound(*, share: float, mean: float) -> float:
    """exp(−t²·E[Z]/2) for Z ≤ (1 − t)·E[Z], draws without replacement [P, Lemma chernoff].

    >>> round(without_replacement_upper_bound(share=0.5, mean=40), 4)
    0.0067
    """
    require.usual(share=share, mean=mean)
    return _capped_exp(-(share**2) * mean / 2)


def mean_upper_bound(tail: Callable[..., float], *, most: float) -> float:
    """Bound the mean of a variable that exceeds ``tail(b)`` with probability at most b.

    The mean is the integral of the quantiles. On each of nineteen intervals of probabilities the
    largest quantile bounds it; beyond them the variable is at most ``most``.

    >>> import math
    >>> 1 < mean_upper_bound(lambda *, failure_probability: -math.log(failure_probability), most=99)
    True
    """
    if math.isinf(most):
        return most
    total, upper = 0.0, 1.0
    for power in range(1, 39, 2):
        lower = 2.0**-power
        total += (upper - lower) * min(most, tail(failure_probability=lower))
        upper = lower
    return min(most, upwards(total + upper * most))


def half_uncovered_upper_bound(*, cells: int, bins: int, draws: int) -> float:
    """Probability that at most half of ``cells`` among ``bins`` are hit by ``draws``.

    C(k, ⌈k/2⌉)·(1 − ⌈k/2⌉/n)^m: some ⌈k/2⌉ of the cells are all missed
    [P, Lemma coupon, first line of its proof].

    >>> half_uncovered_upper_bound(cells=2, bins=2, draws=4)
    0.125
    """
    require.usual(cells=cells, bins=bins, draws=draws)
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
    """⌈4·ln(1/β)⌉ cells suffice for failure probability β [P, Lemma coupon].

    (2/e)^k ≤ β needs only k ≥ ln(1/β)/(1 − ln 2), about 3.26·ln(1/β).

    >>> coupon_cells_upper_bound(failure_probability=0.05)
    12
    """
    require.open_probability(failure_probability=failure_probability)
    return math.ceil(upwards(4 * math.log(1 / failure_probability)))


def _float_at_least(exact: Fraction) -> float:
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def _capped_exp(exponent: float) -> float:
    return min(1.0, upwards(math.exp(exponent)))
