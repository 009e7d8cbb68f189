"""Tail bounds, each with the constant the paper uses (and a better one where it is easy)."""

import math
from collections.abc import Callable

from littlestone import require
from littlestone.theory.outwards import upwards


def hoeffding_upper_bound(*, deviation: float, variables: int, width: float = 1.0) -> float:
    """exp(−2t²/(n(b − a)²)) for a sum of independent variables in [a, b] [P, Lemma hoeffding].

    >>> round(hoeffding_upper_bound(deviation=10, variables=100), 3)
    0.135
    """
    require.non_negative(deviation=deviation)
    require.integer(variables=variables, at_least=1)
    require.positive(width=width)
    return _capped_exp(-2 * deviation**2 / (variables * width**2))


def permutation_upper_bound(*, deviation: float, variables: int, change: float = 1.0) -> float:
    """exp(−2r²/(9nc²)) for a function of n randomly permuted elements [P, Lemma mcdiarmid].

    ``change`` is how much the function moves when one element is replaced by another.
    """
    require.non_negative(deviation=deviation)
    require.integer(variables=variables, at_least=1)
    require.positive(change=change)
    return _capped_exp(-2 * deviation**2 / (9 * variables * change**2))


def permutation_swap_upper_bound(*, deviation: float, variables: int, change: float = 1.0) -> float:
    """exp(−r²/(2nc²)): the same with the constant ½ instead of 2/9.

    Reveal the permuted elements one by one. Two continuations that differ in the next element are
    matched by swapping two elements, which moves the function by at most 2c, so each step of the
    martingale ranges over 2c and Azuma–Hoeffding applies.

    >>> arguments = dict(deviation=10.0, variables=100)
    >>> permutation_swap_upper_bound(**arguments) < permutation_upper_bound(**arguments)
    True
    """
    require.non_negative(deviation=deviation)
    require.integer(variables=variables, at_least=1)
    require.positive(change=change)
    return _capped_exp(-(deviation**2) / (2 * variables * change**2))


def without_replacement_upper_bound(*, share: float, mean: float) -> float:
    """exp(−t²·E[Z]/2) for Z ≤ (1 − t)·E[Z], draws without replacement [P, Lemma chernoff].

    >>> round(without_replacement_upper_bound(share=0.5, mean=40), 4)
    0.0067
    """
    require.open_probability(share=share)
    require.non_negative(mean=mean)
    return _capped_exp(-(share**2) * mean / 2)


def mean_upper_bound(tail: Callable[..., float], *, most: float) -> float:
    """Of a variable that exceeds ``tail(failure_probability=b)`` with probability b at most.

    The mean is the integral of the quantiles, here bounded on nineteen intervals of probabilities
    by the largest quantile of each; beyond them the variable is ``most``.

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


def _capped_exp(exponent: float) -> float:
    return min(1.0, upwards(math.exp(exponent)))
