"""Uniform convergence with explicit constants: realizable, agnostic and relative.

The paper states the first two with an unnamed constant. Here the realizable one is derived from
the relative one, applied to the disagreements of pairs of concepts, and the agnostic one is the
classical bound of Vapnik and Chervonenkis, which costs a logarithm more than the paper's. Sample
sizes n that must exceed a multiple of ln n come from ``self_logarithm_upper_bound``.
"""

import math
from typing import Final

from littlestone import require
from littlestone.theory.outwards import downwards, smallest_size, upwards

# The largest λ(1 − λ)/(1 + λ), at λ = √2 − 1: the best exponent that a factor of 2 allows.
_BEST_RELATIVE: Final = 3 - 2 * math.sqrt(2)


def relative_failure_upper_bound(
    *, samples: int, vc_dimension: int, relative: float, additive: float
) -> float:
    """4(2en/d)^d·exp(−λμn/(4(λ + 1))): some concept's true error exceeds (1 + λ)·empirical + μ.

    The same holds with empirical and true error exchanged [P, Lemma relative].

    >>> round(relative_failure_upper_bound(
    ...     samples=4000, vc_dimension=1, relative=0.5, additive=0.05), 4)
    0.005
    """
    require.open_probability(relative=relative, additive=additive)
    exponent = relative * additive * samples / (4 * (relative + 1))
    return _capped(math.log(4) + _log_growth(2 * samples, vc_dimension) - exponent)


def realizable_failure_upper_bound(*, samples: int, vc_dimension: int, error: float) -> float:
    """Bound the chance that a pair of concepts disagrees on ≤ α in one sense and > 2α in the other.

    8(2en/d)^(2d)·exp(−(3 − 2√2)αn/4): both directions of Lemma relative with λ = √2 − 1 and
    μ = (1 − λ)α, on the class of disagreements, which has at most the square of the growth
    [P, Lemma realizable_generalization].
    """
    require.open_probability(error=error)
    growth = 2 * _log_growth(2 * samples, vc_dimension)
    return _capped(math.log(8) + growth - _BEST_RELATIVE * error * samples / 4)


def realizable_samples_upper_bound(
    *, vc_dimension: int, error: float, failure_probability: float
) -> int:
    """Return a sufficient sample size, realizable case [P, Lemma realizable_generalization].

    >>> realizable_samples_upper_bound(vc_dimension=1, error=0.1, failure_probability=0.05)
    6032
    """
    require.usual(error=error, failure_probability=failure_probability)
    return smallest_size(
        lambda n: realizable_failure_upper_bound(samples=n, vc_dimension=vc_dimension, error=error),
        failure_probability,
        start=_turning_point(2 * vc_dimension, _BEST_RELATIVE * error / 4),
    )


def agnostic_failure_upper_bound(*, samples: int, vc_dimension: int, error: float) -> float:
    """4(2en/d)^d·exp(−α²n/8): some concept's two errors differ by more than α [VC71].

    The paper's Lemma agnostic_generalization saves the logarithm at an unnamed constant.
    """
    require.open_probability(error=error)
    return _capped(math.log(4) + _log_growth(2 * samples, vc_dimension) - error**2 * samples / 8)


def agnostic_samples_upper_bound(
    *, vc_dimension: int, error: float, failure_probability: float
) -> int:
    """Return a sufficient sample size, agnostic case [VC71].

    >>> agnostic_samples_upper_bound(vc_dimension=1, error=0.1, failure_probability=0.05)
    12401
    """
    require.usual(error=error, failure_probability=failure_probability)
    return smallest_size(
        lambda n: agnostic_failure_upper_bound(samples=n, vc_dimension=vc_dimension, error=error),
        failure_probability,
        start=_turning_point(vc_dimension, error**2 / 8),
    )


def agnostic_error_upper_bound(
    *, samples: int, vc_dimension: int, failure_probability: float
) -> float:
    """√(8(ln 4(2en/d)^d + ln(1/β))/n): the agnostic bound, solved for the error [VC71].

    >>> agnostic_error_upper_bound(samples=12401, vc_dimension=1, failure_probability=0.05) < 0.1001
    True
    """
    require.integer(samples=samples, at_least=1)
    require.open_probability(failure_probability=failure_probability)
    events = math.log(4 / failure_probability) + _log_growth(2 * samples, vc_dimension)
    return min(1.0, upwards(math.sqrt(8 * events / samples)))


def agnostic_samples_lower_bound(
    *, vc_dimension: int, error: float, failure_probability: float
) -> int:
    """Return the largest d·ln(γ/(2α + 4γβ))/(2γ·ln((1+2γ)/(1−2γ))), γ < ½, which all learners need.

    An agnostic learner, private or not, that is within α of the best concept with probability
    1 − β, on every distribution; about .0057·d/α² for small α and β
    (`learners/batch/subsampling.md`; the rate is [S96]'s). [P, Remark after Lemma pac_empirical]

    >>> agnostic_samples_lower_bound(vc_dimension=10, error=0.01, failure_probability=0.01)
    502
    """
    require.usual(vc_dimension=vc_dimension, error=error, failure_probability=failure_probability)
    gap, most = 2 * error, 0.0
    while gap < 0.5:  # any γ gives a bound; steps of one percent lose little
        chance = gap / (2 * error + 4 * gap * failure_probability)
        most = max(most, downwards(math.log(chance) / (4 * gap * math.atanh(2 * gap))))
        gap *= 1.01
    return math.ceil(downwards(vc_dimension * most))


def self_logarithm_upper_bound(*, factor: float, offset: float) -> float:
    """Return the smallest x from which on x ≥ a·ln x + b is at most 4a·ln(2a) + 2b [P, Lemma
    xgelogx].

    >>> x = self_logarithm_upper_bound(factor=10, offset=5)
    >>> x >= 10 * math.log(x) + 5
    True
    """
    require.positive(factor=factor, offset=offset)
    if factor < 1:
        raise ValueError(f"factor must be at least 1, got factor={factor!r}")
    return upwards(4 * factor * math.log(2 * factor) + 2 * offset)


def _log_growth(points: int, vc_dimension: int) -> float:
    """ln (e·n/d)^d, or ln 2^n below the dimension [P, Sauer's Lemma]."""
    require.usual(points=points, vc_dimension=vc_dimension)
    if vc_dimension == 0:
        return 0.0
    if points <= vc_dimension:
        return points * math.log(2)
    return vc_dimension * (1 + math.log(points / vc_dimension))


def _capped(exponent: float) -> float:
    return min(1.0, upwards(math.exp(min(0.0, exponent))))


def _turning_point(power: int, rate: float) -> int:
    """Return the n from which on n^power·exp(−rate·n) decreases."""
    return max(1, math.ceil(power / rate))
