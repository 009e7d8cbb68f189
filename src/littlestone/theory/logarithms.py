"""The inequality behind every sample size that has its own logarithm on the other side."""

import math

from littlestone import require
from littlestone.theory.outwards import upwards


def self_logarithm_upper_bound(*, factor: float, offset: float) -> float:
    """The smallest x from which on x ≥ a·ln x + b is at most 4a·ln(2a) + 2b [P, Lemma xgelogx].

    >>> x = self_logarithm_upper_bound(factor=10, offset=5)
    >>> x >= 10 * math.log(x) + 5
    True
    """
    require.positive(factor=factor, offset=offset)
    if factor < 1:
        raise ValueError(f"factor must be at least 1, got factor={factor!r}")
    return upwards(4 * factor * math.log(2 * factor) + 2 * offset)
