"""Bounds on the error and the length of private histograms."""

import math

from littlestone import require
from littlestone.theory.outwards import downwards, upwards


def paper_error_upper_bound(*, epsilon: float, delta: float) -> float:
    """8·ln(8/δ)/ε, for all elements at once and with probability 1 [P, Theorem histogram].

    >>> round(paper_error_upper_bound(epsilon=1.0, delta=1e-6))
    127
    """
    require.usual(epsilon=epsilon, delta=delta)
    return upwards(8 * math.log(8 / delta) / epsilon)


def truncation_upper_bound(*, epsilon: float, delta: float) -> int:
    """Return the smallest a with P[noise = a] ≤ δ for discrete Laplace noise on {−a, …, a}.

    The smallest a ≥ 1 with exp(−εa) ≤ δ·Σ_{|k| ≤ a} exp(−ε|k|), or one more where floats cannot
    decide. This is for one element added or removed; a replacement changes two counts, so it needs
    (epsilon/2, delta/2).

    >>> truncation_upper_bound(epsilon=1.0, delta=1e-6)
    14
    """
    require.usual(epsilon=epsilon, delta=delta)
    shrink = math.exp(-epsilon)
    needed = (-math.expm1(-epsilon) / delta + 2 * shrink) / (1 + shrink)
    return max(1, math.ceil(upwards(math.log(needed) / epsilon)))


def truncated_error_upper_bound(*, epsilon: float, delta: float) -> int:
    """2a: the error for all elements at once, with probability 1, at the list threshold a + 1.

    A released count is off by at most a; an element that is not released, counted as 0, has
    count + noise ≤ a, so at most 2a.

    >>> truncated_error_upper_bound(epsilon=1.0, delta=1e-6)
    28
    """
    return 2 * truncation_upper_bound(epsilon=epsilon, delta=delta)


def certain_inclusion_upper_bound(
    *, epsilon: float, delta: float, threshold: int | None = None
) -> int:
    """t + a: every element that occurs at least this often is released, whatever the noise.

    >>> [certain_inclusion_upper_bound(epsilon=e, delta=1e-6) for e in (0.1, 0.25, 0.5, 1.0)]
    [219, 95, 51, 29]
    """
    reach = truncation_upper_bound(epsilon=epsilon, delta=delta)
    return _list_threshold(threshold, reach) + reach


def list_length_upper_bound(
    *, elements: int, epsilon: float, delta: float, threshold: int | None = None
) -> int:
    """⌊n/(t − a)⌋: how many elements can be released from a list of n."""
    require.integer(elements=elements, at_least=0)
    reach = truncation_upper_bound(epsilon=epsilon, delta=delta)
    return elements // (_list_threshold(threshold, reach) - reach)


def certain_inclusion_lower_bound(*, epsilon: float, delta: float) -> int:
    """Return the count below which no (ε, δ)-private selection is sure to include an element.

    With π_k the probability that an element of count k is released and π_0 = 0, privacy forces
    π_{k+1} ≤ min(e^ε·π_k + δ, 1 − e^(−ε)(1 − π_k − δ)); the answer is the first k with π_k = 1.

    >>> [certain_inclusion_lower_bound(epsilon=e, delta=1e-6) for e in (0.1, 0.25, 0.5, 1.0)]
    [218, 95, 51, 28]
    """
    require.usual(epsilon=epsilon, delta=delta)
    grow, shrink = math.exp(epsilon), math.exp(-epsilon)
    released, withheld, count = 0.0, 1.0, 0
    # Track both π and 1 − π: near the end a float represents the second far better.
    while withheld > 0:
        withheld, released = (
            downwards(max(1 - upwards(grow * released + delta), shrink * (withheld - delta))),
            min(upwards(grow * released + delta), 1.0),
        )
        count += 1
    return count


def _list_threshold(threshold: int | None, reach: int) -> int:
    if threshold is None:
        return reach + 1
    require.integer(threshold=threshold, at_least=reach + 1)
    return threshold
