"""No learner can beat these floors, with or without privacy."""

import math
from collections.abc import Callable

from littlestone import require
from littlestone.theory.outwards import downwards, upwards


def points_floor(*, rounds: int, epsilon: float, delta: float) -> float:
    """Expected mistakes that some stream forces on every private learner of ``Points()``.

    Let M be the learner's worst expected number of mistakes. On T random distinct points labelled
    0, a fresh point x* is labelled 1 by h_t as often as the point to come: Σ_t P[h_t(x*) = 1] ≤ M.
    Of the ⌊T/k⌋ blocks of k rounds one has at most M/⌊T/k⌋ of that sum. Put (x*, 1) into all of its
    rounds: in the i-th of them, i − 1 examples have changed, so by group privacy the probability
    of being right is at most e^((i−1)ε)·p_i + δ(e^((i−1)ε) − 1)/(e^ε − 1). Hence

        M ≥ k − e^((k−1)ε)·M/⌊T/k⌋ − δ·Σ_{i ≤ k} (e^((i−1)ε) − 1)/(e^ε − 1) for every k.

    >>> [round(points_floor(rounds=10**6, epsilon=e, delta=1e-6), 1) for e in (0.1, 0.5, 1, 2)]
    [66.7, 16.5, 9.2, 5.3]
    """
    _check(rounds, epsilon, delta)

    def floor_with(block: int) -> float:
        missed = _missed_lower_bound(block, epsilon, delta)
        return missed / (1 + _block_weight(block, rounds, epsilon))

    return downwards(floor_with(_best_block(floor_with, rounds, epsilon)))


def points_window_lower_bound(*, rounds: int, epsilon: float, delta: float) -> float:
    """``points_floor`` sharpened: the block may start at any of T − k + 1 rounds.

    On average over the starts, its i-th round has at most M/(T − k + 1) of the sum, so
    Σ_i e^((i−1)ε)·M/(T − k + 1) may replace e^((k−1)ε)·M/⌊T/k⌋ where it is smaller.

    >>> sharper = [points_window_lower_bound(rounds=10**6, epsilon=e, delta=1e-6) for e in (0.1, 1)]
    >>> [round(floor, 1) for floor in sharper]
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


def deterministic_lower_bound(*, littlestone_dimension: int) -> int:
    """Every deterministic learner errs Ldim times on some stream [L88]; SOA no more often."""
    require.integer(littlestone_dimension=littlestone_dimension, at_least=0)
    return littlestone_dimension


def randomized_lower_bound(*, littlestone_dimension: int) -> float:
    """Every learner errs at least Ldim/2 times in expectation on some stream [FHMM23].

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
    """A block length near the best one; every length gives a valid floor.

    A concave function over a convex one has a single peak, so thirds of the interval suffice.
    """
    low, high = 1, max(1, min(rounds, math.ceil((math.log(rounds) + 40) / epsilon)))
    while high - low > 8:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        low, high = (left, high) if floor_with(left) < floor_with(right) else (low, right)
    return max(range(low, high + 1), key=floor_with)
