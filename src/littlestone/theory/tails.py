"""Tails of binomial, negative binomial and beta laws, in floats, with a relative error below 1e-11.

All are the regularized incomplete beta function: its continued fraction [NR07, (6.4.5)] times a
binomial probability that is computed without cancellation [Loa00].
"""

import math
from bisect import bisect_left
from typing import Final

_SERIES: Final = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
"""Stirling's series for ln n!, beyond its leading terms."""
_ENOUGH: Final = 2.0**-52
_TINY: Final = 1e-300
_STEPS: Final = 200  # the search halves its bracket at least every second step


def binomial_upper_tail(most: int, trials: int, chance: float) -> float:
    """Return the probability of more than ``most`` successes in ``trials``.

    >>> round(binomial_upper_tail(1, 2, 0.5), 12)
    0.25
    """
    if most < 0 or chance >= 1:
        return float(most < trials)
    return _beta_tails(most + 1, trials - most, chance)[0] if most < trials else 0.0


def binomial_lower_tail(most: int, trials: int, chance: float) -> float:
    """Return the probability of at most ``most`` successes in ``trials``."""
    if most < 0 or chance >= 1:
        return float(most >= trials)
    return _beta_tails(most + 1, trials - most, chance)[1] if most < trials else 1.0


def failures_upper_tail(most: int, successes: int, chance: float) -> float:
    """Return the probability of more than ``most`` failures before ``successes`` successes.

    >>> round(failures_upper_tail(0, 1, 0.25), 12)
    0.75
    """
    return _beta_tails(successes, most + 1, chance)[1]


def most_failures(probability: float, successes: int, chance: float) -> int:
    """Return the least number that ``failures_upper_tail`` exceeds with at most ``probability``.

    >>> most_failures(0.05, 1, 0.25)
    10
    """

    def fits(total: int) -> bool:
        return failures_upper_tail(total, successes, chance) <= probability

    enough = 1
    while not fits(enough):
        enough *= 2
    return bisect_left(range(enough), True, key=fits)


def beta_quantile(a: float, b: float, probability: float) -> float:
    """Return the number below which a Beta(a, b) variable lies with this probability.

    >>> round(beta_quantile(1, 1, 0.25), 12)
    0.25
    """
    if probability <= 0 or probability >= 1:
        return float(probability >= 1)
    low, high, guess = 0.0, 1.0, a / (a + b)
    for step in range(_STEPS):
        below = _beta_tails(a, b, guess)[0]
        low, high = (guess, high) if below < probability else (low, guess)
        slope = _density(a, b, guess)
        # On the logarithm of the tail, which is concave: near 0 the tail itself is a high power.
        newton = guess - below * math.log(below / probability) / slope if below and slope else -1.0
        before, guess = guess, newton
        if not low < newton < high or step % 3 == 2:
            guess = math.sqrt(low * high) if 0 < low < high / 4 else (low + high) / 2
        if abs(guess - before) <= _ENOUGH * before or not low < guess < high:
            break
    return guess


def _beta_tails(a: float, b: float, x: float) -> tuple[float, float]:
    """Return the mass of Beta(a, b) below and above ``x``.

    The smaller of the two is accurate.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1), float(x <= 0)
    if x * (a + b + 2) > a + 1:
        above = _small_tail(b, a, 1 - x, x)
        return 1 - above, above
    below = _small_tail(a, b, x, 1 - x)
    return below, 1 - below


def _small_tail(a: float, b: float, x: float, rest: float) -> float:
    """Evaluate the continued fraction by Lentz's method, for ``x`` below the mean."""
    share = _probability(a, b, x, rest) * b / (a + b)
    above, below = 1.0, 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    value, step = below, 0
    while True:
        step += 1
        twice = a + 2 * step
        even = step * (b - step) * x / ((twice - 1) * twice)
        odd = -(a + step) * (a + b + step) * x / (twice * (twice + 1))
        for term in (even, odd):
            below = 1 / (1 + term * below or _TINY)
            above = 1 + term / above or _TINY
            value *= above * below
        if abs(above * below - 1) <= 2 * _ENOUGH:
            return share * value


def _probability(a: float, b: float, x: float, rest: float) -> float:
    """Return the probability of ``a`` successes in a + b trials of probability x [Loa00]."""
    n = a + b
    exponent = _stirling(n) - _stirling(a) - _stirling(b)
    exponent -= _deviance(a, n * x) + _deviance(b, n * rest)
    return math.exp(exponent) * math.sqrt(n / (2 * math.pi * a * b))


def _density(a: float, b: float, x: float) -> float:
    return _probability(a, b, x, 1 - x) * a * b / ((a + b) * x * (1 - x))


def _stirling(n: float) -> float:
    """Return the error of Stirling's formula for ln Γ(n + 1)."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)
    return sum(factor / n ** (2 * place + 1) for place, factor in enumerate(_SERIES))


def _deviance(count: float, mean: float) -> float:
    """Return count ln(count / mean) - count + mean, without cancellation if they are close."""
    if abs(count - mean) >= 0.1 * (count + mean):
        return count * math.log(count / mean) - count + mean
    ratio = (count - mean) / (count + mean)
    value, power = (count - mean) * ratio, 2 * count * ratio
    for odd in range(3, 40, 2):
        power *= ratio * ratio
        value += power / odd
    return value
