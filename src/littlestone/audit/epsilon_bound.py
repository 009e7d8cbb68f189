"""Lower bounds on epsilon from how often an event came up in the two worlds."""

import math

from scipy.special import betaincinv

from littlestone import require


def binomial_lower_bound(hits: int, trials: int, *, failure_probability: float) -> float:
    """A number below the success probability, except with ``failure_probability`` [CP34]."""
    if hits == 0:
        return 0.0
    bound = float(betaincinv(hits, trials - hits + 1, failure_probability))
    return math.nextafter(bound, 0.0)


def epsilon_lower_bound(
    hits: int,
    neighbour_hits: int,
    *,
    games: int,
    failure_probability: float,
    delta: float = 0.0,
) -> float:
    """An epsilon that the counts refute at this ``delta``; 0 when they refute none.

    In each of ``games`` independent games a fair hidden bit chose the world; an event fixed
    beforehand came up ``hits`` times in one world and ``neighbour_hits`` times in the other, with
    probabilities p and q. Given that it comes up, the bit is the first world's with probability
    r = p / (p + q), and the number of such games is binomial. If p <= e^epsilon q + delta, then
    r <= (e^epsilon + delta / (p + q)) / (1 + e^epsilon). So exact lower bounds on r and on
    p + q refute every smaller epsilon. One bound on the ratio is sharper than two on its sides.

    Exceeds the true epsilon with probability at most ``failure_probability``.

    >>> round(epsilon_lower_bound(731, 269, games=2000, failure_probability=0.05), 3)
    0.881
    """
    require.integer(hits=hits, neighbour_hits=neighbour_hits, at_least=0)
    require.integer(games=games, at_least=max(hits + neighbour_hits, 1))
    require.open_probability(failure_probability=failure_probability)
    require.probability(delta=delta)
    happened = hits + neighbour_hits
    if happened == 0:
        return 0.0
    # The sum p + q matters through delta only, so it gets a small share of the failures.
    share = failure_probability / 8 if delta else 0.0
    ratio = binomial_lower_bound(hits, happened, failure_probability=failure_probability - share)
    if delta:
        both = 2 * binomial_lower_bound(happened, games, failure_probability=share)
        excess = ratio - delta / both if both else 0.0
    else:
        excess = ratio
    return max(0.0, math.log(excess / (1.0 - ratio))) if excess > 0 else 0.0
