"""Floors of oblivious streams, with and without privacy, for either order of moves in a round.

An adversary that answers the published hypothesis forces more: ``adaptive_floors``.
"""

import math
from collections.abc import Callable

from littlestone import require
from littlestone.theory.outwards import downwards, upwards

_MOST_TERMS = 10**5


def points_window_lower_bound(*, rounds: int, epsilon: float, delta: float) -> float:
    """Bound from below the expected mistakes of private learners of ``Points()`` on some stream.

    Let M be the learner's worst expected number of mistakes. On T random distinct points labelled
    0, a fresh point x* is labelled 1 by h_t as often as the point to come: Σ_t P[h_t(x*) = 1] ≤ M.
    Put (x*, 1) into k rounds in a row, from a random one of T − k + 1 on: in the i-th of them,
    i − 1 examples have changed, so by group privacy the probability of being right is at most
    e^((i−1)ε)·p_i + δ(e^((i−1)ε) − 1)/(e^ε − 1), where p_i is M/(T − k + 1) on average. Hence

        M ≥ k − Σ_i e^((i−1)ε)·M/(T − k + 1) − δ·Σ_i (e^((i−1)ε) − 1)/(e^ε − 1) for every k.

    One of ⌊T/k⌋ disjoint blocks has at most M/⌊T/k⌋ in total, so e^((k−1)ε)·M/⌊T/k⌋ may replace
    the first sum where it is smaller.

    >>> [round(points_window_lower_bound(rounds=10**6, epsilon=e, delta=1e-6), 1) for e in (0.1, 1)]
    [83.3, 10.9]
    """
    _check(rounds, epsilon, delta)

    def floor_with(block: int) -> float:
        missed = _missed_lower_bound(block, epsilon, delta)
        anywhere = _geometric_sum(block, epsilon) / (rounds - block + 1)
        return missed / (1 + min(anywhere, _block_weight(block, rounds, epsilon)))

    return downwards(floor_with(_best_block(floor_with, rounds, epsilon)))


def logarithmic_lower_bound(*, rounds: int, epsilon: float, delta: float) -> float:
    """(k − ½)/2 with k = ⌊ln(1 + (e^ε − 1)T/2)/ε⌋ ≤ T/2: the Ω(log T) with its constant.

    The choice of k in ``points_window_lower_bound`` that makes the denominator at most 2, for
    δ ≤ (e^ε − 1)/T. The order is that of [CLNSS24], [DSS24] and [LWY24].

    >>> round(logarithmic_lower_bound(rounds=10**6, epsilon=1.0, delta=1e-6), 2)
    6.25
    """
    _check(rounds, epsilon, delta)
    step = math.expm1(epsilon)
    if delta > downwards(step / rounds):
        raise ValueError(f"delta must be at most (e**epsilon - 1) / rounds, got delta={delta!r}")
    block = min(math.floor(downwards(math.log1p(step * rounds / 2) / epsilon)), rounds // 2)
    return max(0.0, (block - 0.5) / 2)


def sparse_sets_lower_bound(
    *, littlestone_dimension: int, rounds: int, epsilon: float, delta: float
) -> float:
    """d times the floor of points in T/d rounds: for sets of at most d out of T keys.

    The rounds are cut into d equal parts with fresh keys each. Whatever came before, the learner
    restricted to one part is private, so one of the two streams of ``points_window_lower_bound``
    (all zeros, or a block of ones) costs it that much there. The parts' streams are chosen one
    after another; together they have at most d positive keys. The order is that of [LWY24].

    >>> round(
    ...     sparse_sets_lower_bound(littlestone_dimension=3, rounds=10**6, epsilon=1.0, delta=1e-6)
    ... )
    30
    """
    require.integer(littlestone_dimension=littlestone_dimension, at_least=1)
    part = rounds // littlestone_dimension
    if part < 1:
        return 0.0
    each = points_window_lower_bound(rounds=part, epsilon=epsilon, delta=delta)
    return downwards(littlestone_dimension * each)


def coin_tree_lower_bound(
    *, littlestone_dimension: int, rounds: int, epsilon: float, delta: float
) -> float:
    """d·Σ_{j<m} (1 - δ_j)/(1 + e^(jε)), about d·ln(2)/ε: for every class of dimension d, T = dm.

    Walk down a shattered tree by fair coins, and play each vertex m times. Before the (j+1)-th
    time, the two streams through the vertex differ in j examples. If the learner is right with
    probability a on one and b on the other, a ≤ e^(jε)(1 - b) + δ_j and b ≤ e^(jε)(1 - a) + δ_j,
    with δ_j = δ(e^(jε) - 1)/(e^ε - 1): added up, (a + b)/2 ≤ (e^(jε) + δ_j)/(1 + e^(jε)). With m =
    1 this is d/2, which holds without privacy. Negative terms are left out (by a smaller m).

    >>> round(
    ...     coin_tree_lower_bound(littlestone_dimension=4, rounds=10**6, epsilon=0.1, delta=1e-6), 1
    ... )
    28.7
    """
    require.integer(littlestone_dimension=littlestone_dimension, at_least=0)
    _check(rounds, epsilon, delta)
    if littlestone_dimension == 0 or rounds < littlestone_dimension:
        return min(littlestone_dimension, rounds) / 2
    times = min(rounds // littlestone_dimension, math.ceil(40 / epsilon))
    if times > _MOST_TERMS:  # a sum of decreasing terms is above the integral
        most = (math.log(2) - math.log1p(math.exp(-epsilon * times))) / epsilon
        each = max(0.5, most - times * delta / math.expm1(epsilon))
    else:
        each = math.fsum(_term_lower_bound(j, epsilon, delta) for j in range(times))
    return downwards(littlestone_dimension * downwards(each))


def _term_lower_bound(changed: int, epsilon: float, delta: float) -> float:
    grown = _or_infinity(math.exp, changed * epsilon)
    lost = delta * _or_infinity(math.expm1, changed * epsilon) / math.expm1(min(epsilon, 700.0))
    return max(0.0, 1 - upwards(lost)) / (1 + grown) if grown < math.inf else 0.0


def deterministic_lower_bound(*, littlestone_dimension: int) -> int:
    """Bound mistakes from below: Ldim on some stream for every deterministic learner [L88]."""
    require.integer(littlestone_dimension=littlestone_dimension, at_least=0)
    return littlestone_dimension


def randomized_lower_bound(*, littlestone_dimension: int) -> float:
    """Bound expected mistakes from below: Ldim/2 on some stream, for every learner [FHMM23].

    The randomised Littlestone dimension is the exact answer and lies between this and Ldim.

    >>> randomized_lower_bound(littlestone_dimension=3)
    1.5
    """
    require.integer(littlestone_dimension=littlestone_dimension, at_least=0)
    return littlestone_dimension / 2


def _check(rounds: int, epsilon: float, delta: float) -> None:
    require.usual(rounds=rounds, epsilon=epsilon)
    require.probability(delta=delta)


def _missed_lower_bound(block: int, epsilon: float, delta: float) -> float:
    """k − δ·Σ_{i ≤ k} (e^((i−1)ε) − 1)/(e^ε − 1), or 0 where that says nothing."""
    if delta == 0:
        return block
    step = _or_infinity(math.expm1, epsilon)
    # The sum is (Σ_{i ≤ k} e^((i−1)ε) − k)/(e^ε − 1), and also below k times its last term.
    closed = (upwards(_geometric_sum(block, epsilon)) - block) / step
    plain = block * _or_infinity(math.expm1, (block - 1) * epsilon) / step
    return max(0.0, block - upwards(delta * min(closed, plain)))


def _block_weight(block: int, rounds: int, epsilon: float) -> float:
    return _or_infinity(math.exp, (block - 1) * epsilon) / (rounds // block)


def _geometric_sum(terms: int, epsilon: float) -> float:
    """Σ_{i ≤ terms} e^((i−1)ε)."""
    if terms == 1:
        return 1.0
    return _or_infinity(math.expm1, terms * epsilon) / math.expm1(epsilon)


def _or_infinity(function: Callable[[float], float], argument: float) -> float:
    try:
        return function(argument)
    except OverflowError:
        return math.inf


def _best_block(floor_with: Callable[[int], float], rounds: int, epsilon: float) -> int:
    """Return a block length near the best one; every length gives a valid floor.

    A concave function over a convex one has a single peak, so ternary search finds it.
    """
    low, high = 1, max(1, min(rounds, math.ceil((math.log(rounds) + 40) / epsilon)))
    while high - low > 8:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        low, high = (left, high) if floor_with(left) < floor_with(right) else (low, right)
    return max(range(low, high + 1), key=floor_with)
