"""How much larger a share can be than it looks in a sample, for many shares at once."""

import math

from littlestone import require
from littlestone.theory.outwards import downwards, upwards


def hidden_share_bound(*, seen: float, trials: int, log_events: float) -> float:
    """The largest share b that may show at most the share ``seen`` among ``trials``.

    Sampling with or without replacement shows a share of at most a where the truth is above b > a
    with probability at most exp(-trials * KL(a || b)) [H63, Theorem 1 and Section 6]. So b solves
    trials * KL = ``log_events``, the logarithm of the number of events over the probability that
    any of them may happen with. 1 if no share is too large.

    >>> round(hidden_share_bound(seen=0.0, trials=1000, log_events=10.0), 4)
    0.01
    """
    require.non_negative(seen=seen, log_events=log_events)
    require.integer(trials=trials, at_least=1)
    wanted = log_events / trials
    low, high = min(seen, 1.0), 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if divergence(seen, middle) >= wanted else (middle, high)
    return min(1.0, upwards(high))


def divergence(share: float, other: float) -> float:
    """KL(share || other) of two coins, from below; 0 unless ``other`` is larger."""
    if other <= share:
        return 0.0
    if other >= 1:
        return math.inf if share < 1 else 0.0
    heads = share * math.log(share / other) if share > 0 else 0.0
    tails = (1 - share) * math.log((1 - share) / (1 - other))
    return max(0.0, downwards(heads + tails) - 1e-13)


def doubling_share(*, trials: int, log_events: float) -> float:
    """The smallest α for which a share that shows as at most α is at most 2α.

    >>> round(doubling_share(trials=1000, log_events=10.0), 3)
    0.031
    """
    low, high = 0.0, 0.5
    if trials * divergence(high, 1.0 - 2.0**-53) < log_events:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        small = trials * divergence(middle, 2 * middle) < log_events
        low, high = (middle, high) if small else (low, middle)
    return upwards(high)
