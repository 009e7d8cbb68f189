"""Choose about a dozen round cuts for a number with a declared range."""

import itertools
import math
from fractions import Fraction
from typing import Any, Final

_FEWEST, _USUAL, _MOST = 10, 12, 14
"""Parts that a range is divided into."""
_DIGITS: Final = range(2, 18)


def cuts_of_range(low: Any, high: Any, *, scale: str = "linear") -> tuple[Any, ...]:
    """Return cuts from ``low`` to ``high``, evenly spaced in the value or its logarithm.

    A public function of the two numbers, which are cuts, too.

    Raises:
        ValueError: The range is empty, or the scale is unknown or does not fit.

    >>> cuts_of_range(0, 100)
    (0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
    >>> cuts_of_range(1, 1000, scale="log")
    (1, 1.8, 3.2, 5.6, 10, 18, 32, 56, 100, 180, 320, 560, 1000)
    """
    if not low < high:
        raise ValueError(f"range must increase, got range=[{low!r}, {high!r}]")
    if scale == "linear":
        return finer_cuts((low, high))
    if scale != "log":
        raise ValueError(f"scale must be 'linear' or 'log', got scale={scale!r}")
    if low <= 0:
        raise ValueError(f"range must be positive for scale = 'log', got low={low!r}")
    first, last = math.log(low), math.log(high)
    between = [math.exp(first + (last - first) * place / _USUAL) for place in range(1, _USUAL)]
    for digits in _DIGITS:
        rounded = [_plain(Fraction(f"{value:.{digits - 1}e}")) for value in between]
        cuts = (low, *rounded, high)
        if all(lower < higher for lower, higher in itertools.pairwise(cuts)):
            return cuts
    return (low, high)  # no floats lie between them


def finer_cuts(cuts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the cuts and evenly spaced ones between them, about a dozen in total.

    A single cut, or many cuts, are returned unchanged.

    >>> finer_cuts((0, 1, 3))
    (0, 0.2, 0.4, 0.6, 0.8, 1, 1.4, 1.8, 2.2, 2.6, 3)
    """
    gaps = len(cuts) - 1
    if not 0 < gaps < _FEWEST:
        return cuts
    lows = [_exact(cut) for cut in cuts]
    widths = [high - low for low, high in itertools.pairwise(lows)]
    parts = [count for count in range(2, _MOST + 1) if _FEWEST <= gaps * count <= _MOST]
    best = min(
        parts or [-(-_USUAL // gaps)],
        key=lambda count: (max(_length(width / count) for width in widths), abs(count * gaps - 12)),
    )
    finer: list[Any] = []
    for cut, low, width in zip(cuts, lows, widths, strict=False):
        finer += [cut, *(_plain(low + width * place / best) for place in range(1, best))]
    finer.append(cuts[-1])
    if any(lower >= higher for lower, higher in itertools.pairwise(finer)):
        return cuts  # no floats lie between them
    return tuple(finer)


def _exact(number: Any) -> Fraction:
    """Return the decimal number that a float prints as."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


def _plain(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)


def _length(number: Fraction) -> float:
    """Return the number of decimal digits; infinite for 1/3."""
    rest = number.denominator
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    if rest > 1:
        return math.inf
    shifted = number * 10 ** number.denominator.bit_length()
    return len(str(int(shifted)).strip("0"))
