"""Sauer's lemma, on sets of points and on trees: the two counts have the same bound."""

import math
from fractions import Fraction

from littlestone import require

_E_FROM_ABOVE = Fraction(2_718_281_828_459_045_236, 10**18)


def sauer_upper_bound(points: int, dimension: int) -> int:
    """Σ_{i ≤ dimension} C(points, i), which is 2**points up to points = dimension.

    Bounds the growth function by the VC dimension [P, Sauer's Lemma], and the 0-covering number
    of trees of this depth by the Littlestone dimension [P, Lemma cover].

    >>> sauer_upper_bound(10, 2)
    56
    """
    require.integer(points=points, dimension=dimension, at_least=0)
    return sum(math.comb(points, i) for i in range(min(points, dimension) + 1))


def sauer_closed_form_upper_bound(points: int, dimension: int) -> int:
    """(e · points / dimension)**dimension, rounded to an integer that is still a bound.

    Only for points ≥ dimension ≥ 1: below, the formula is smaller than 2**points may be.

    >>> sauer_closed_form_upper_bound(10, 2)
    184
    """
    require.integer(dimension=dimension, at_least=1)
    require.integer(points=points, at_least=dimension)
    return math.floor((_E_FROM_ABOVE * points / dimension) ** dimension)
