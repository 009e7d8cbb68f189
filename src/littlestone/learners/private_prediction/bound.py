"""How often noisy majorities of copies are taught on realizable streams [KMMNS23]."""

import math
from typing import Final

from littlestone import require
from littlestone.theory.outwards import upwards

_SHARES: Final = tuple(i / 50 for i in range(5, 50))


def updates_upper_bound(
    *, copies: int, rate: float, rounds: int, base_mistakes: int, failure_probability: float
) -> float:
    """Rounds in which one of the two answers of ``PrivatePrediction`` is wrong, and so mistakes.

    A round is *stray* if an answer is one that fewer than x·k/2 of the k copies give. That has
    probability at most 2·e**(-rate·(1 - x)·k/2), and at most a of T rounds are stray by Chernoff's
    bound. In every other update at least x·k/2 copies err, so that the one that is drawn does with
    probability x/2. Copies err k·d times altogether at most. So there are at most
    (N + L + √(2NL + L²))·2/x such updates, N = k·d + 1 and L = ln(2/β). The best x is taken.

    >>> bound = updates_upper_bound(
    ...     copies=1000, rate=0.05, rounds=10**6, base_mistakes=1, failure_probability=0.05)
    >>> 2000 < bound < 4000
    True
    """
    require.integer(copies=copies, rounds=rounds, at_least=1)
    require.integer(base_mistakes=base_mistakes, at_least=0)
    require.positive(rate=rate)
    require.open_probability(failure_probability=failure_probability)
    level = math.log(2 / failure_probability)
    errors = copies * base_mistakes + 1
    needed = errors + level + math.sqrt(2 * errors * level + level**2)

    def taught_and_strays(share: float) -> tuple[float, int, float]:
        taught = math.ceil(upwards(needed * 2 / share))
        strays = upwards(rounds * min(1.0, 2 * math.exp(-rate * (1 - share) * copies / 2)))
        return taught + strays, taught, strays

    best = math.inf
    for least, taught, strays in sorted(map(taught_and_strays, _SHARES)):
        if least >= best:  # there may be more strays than on average, not fewer
            break
        best = min(best, taught + _poisson_like(strays, level))
    return float(best)


def _poisson_like(mean: float, level: float) -> int:
    """A number a > mean with e**-mean·(e·mean/a)**a at most e**-level, near the smallest."""

    def unlikely(a: float) -> bool:
        return a * math.log(a / mean) - a + mean >= level

    low, high = mean, mean + level + math.sqrt(2 * mean * level) + 1
    while not unlikely(high):
        high = 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if unlikely(middle) else (middle, high)
    return math.ceil(upwards(high))
