"""Lower bounds on epsilon from how often an event came up in the two worlds."""

import math

from scipy.stats import beta

from littlestone import require


def binomial_lower_bound(hits: int, trials: int, *, failure_probability: float) -> float:
    """A number below the success probability, except with ``failure_probability`` [CP34]."""
    if hits == 0:
        return 0.0
    bound = float(beta.ppf(failure_probability, hits, trials - hits + 1))
    return math.nextafter(bound, 0.0)


def binomial_upper_bound(hits: int, trials: int, *, failure_probability: float) -> float:
    """A number above the success probability, except with ``failure_probability`` [CP34]."""
    return 1.0 - binomial_lower_bound(
        trials - hits, trials, failure_probability=failure_probability
    )


def epsilon_lower_bound(
    hits: int,
    neighbour_hits: int,
    *,
    trials: int,
    failure_probability: float,
    delta: float = 0.0,
) -> float:
    """An epsilon that the counts refute at this ``delta``; 0 when they refute none.

    Exceeds the true epsilon with probability at most ``failure_probability``: each side is an
    exact binomial bound that fails half as often.

    >>> round(epsilon_lower_bound(731, 269, trials=1000, failure_probability=0.05), 3)
    0.859
    """
    require.integer(hits=hits, neighbour_hits=neighbour_hits, at_least=0)
    require.integer(trials=trials, at_least=max(hits, neighbour_hits, 1))
    require.open_probability(failure_probability=failure_probability)
    require.probability(delta=delta)
    each = failure_probability / 2
    often = binomial_lower_bound(hits, trials, failure_probability=each)
    rarely = binomial_upper_bound(neighbour_hits, trials, failure_probability=each)
    if often <= delta:
        return 0.0
    return max(0.0, math.log((often - delta) / rarely))
