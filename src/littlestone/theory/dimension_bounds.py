"""Bounds on numbers of behaviours, and on the dimensions of combined and dual classes.

Sauer's lemma bounds behaviours on sets of points and on trees by the same number. Unless stated
otherwise, each of the other functions bounds the Littlestone dimension by Littlestone dimensions,
the VC dimension by VC dimensions, and the dual dimensions by dual dimensions.
"""

import math
from collections.abc import Sequence
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

    Requires points ≥ dimension ≥ 1: below that, the formula can be smaller than 2**points.

    >>> sauer_closed_form_upper_bound(10, 2)
    184
    """
    require.integer(dimension=dimension, at_least=1)
    require.integer(points=points, at_least=dimension)
    return math.floor((_E_FROM_ABOVE * points / dimension) ** dimension)


def aggregation_upper_bound(dimensions: Sequence[int]) -> int:
    """Bound the dimension of G(H₁, …, H_k), any Boolean function G [P, Lemmas bool and bool_dual].

    A class of dimension D has 2**D behaviours on some D points (tree of depth D), and
    G(H₁, …, H_k) has at most the product of those of its parts: the bound is the largest D with
    2**D ≤ Π Σ_{j ≤ dᵢ} C(D, j), found exactly.

    >>> aggregation_upper_bound([1, 1, 1])
    10
    """
    if not dimensions:
        raise ValueError("dimensions must not be empty")
    for dimension in dimensions:
        require.integer(dimension=dimension, at_least=0)
    possible = 0
    impossible = (
        math.floor(aggregation_closed_form_upper_bound(len(dimensions), max(dimensions))) + 1
    )
    # The logarithm of a Sauer sum is concave in D, so the D that fit form one interval from 0.
    while impossible - possible > 1:
        middle = (possible + impossible) // 2
        if 1 << middle <= math.prod(sauer_upper_bound(middle, d) for d in dimensions):
            possible = middle
        else:
            impossible = middle
    return possible


def aggregation_closed_form_upper_bound(arity: int, dimension: int) -> float:
    """k·d·(4·log₂(2k/ln 2) + 2/ln 2): ``aggregation_upper_bound`` for k classes of dimension ≤ d.

    2**D ≤ (eD/d)**(kd) says r ≤ a·ln r + a for r = D/d, a = k/ln 2, which fails for
    r > 4a·ln(2a) + 2a [P, Lemma xgelogx]. The paper's O(k·d·log k) is 0 at k = 1; this is not.
    """
    require.usual(arity=arity, dimension=dimension)
    factor = 4 * math.log2(2 * arity / math.log(2)) + 2 / math.log(2)
    return arity * dimension * factor * (1 + 1e-14)  # outwards


def majority_upper_bound(dimension: int, members: int) -> int:
    """Bound the dimension of H_{m,a}; with dual dimensions, that of X_{m,a} [P, Claim lit_x]."""
    require.integer(members=members, at_least=1)
    return aggregation_upper_bound([dimension] * members)


def majority_xor_upper_bound(dimension: int, members: int) -> int:
    """Bound that of H_{m,1/2} ⊕ H, a Boolean function of m + 1 concepts [P, Claim dim_h]."""
    require.integer(members=members, at_least=1)
    return aggregation_upper_bound([dimension] * (members + 1))


def union_upper_bound(left: int, right: int) -> int:
    """d₁ + d₂ + 1 bounds the dimension of H₁ ∪ H₂; not for dual dimensions.

    On n = d₁ + d₂ + 2 points (or a tree of that depth) the two have together at most
    Σ_{i ≤ d₁} C(n, i) + Σ_{i ≥ n − d₂} C(n, i) < 2**n behaviours.

    >>> union_upper_bound(1, 1)
    3
    """
    require.integer(left=left, right=right, at_least=0)
    return left + right + 1


def dual_littlestone_upper_bound(littlestone_dimension: int) -> int:
    """Bound the dual Littlestone dimension: at most 2**2**(d + 2) − 2 [P, Section 4; B21]."""
    require.integer(littlestone_dimension=littlestone_dimension, at_least=0)
    return int(2**2 ** (littlestone_dimension + 2)) - 2


def dual_vc_upper_bound(vc_dimension: int) -> int:
    """Bound the dual VC dimension: it is below 2**(d + 1) [A83]."""
    require.integer(vc_dimension=vc_dimension, at_least=0)
    return int(2 ** (vc_dimension + 1)) - 1
