"""Compute real numbers to as many bits as a decision needs, so that no law is rounded.

A probability such as e**(-1/3) cannot be written down, but whether a uniform number lies below it
can be decided with certainty: compare leading bits, and fetch more of both while they agree.
"""

from collections.abc import Callable
from fractions import Fraction
from numbers import Rational, Real
from typing import Final

from littlestone import require
from littlestone.randomness import Randomness

WORD_BITS: Final = 64
_SMALLEST_RATE: Final = Fraction(1, 1 << 40)

Bounds = tuple[int, int]
"""Whole numbers (low, high) with low <= 2**bits * value <= high, for an understood ``bits``."""

RealNumber = Callable[[int], Bounds]
"""A real number as its bounds at each number of bits; high - low stays bounded by a constant."""


def fraction(value: Real | float) -> Fraction:
    """Return the rational number that ``value`` is; a float is taken at its exact binary value.

    >>> fraction(0.1) == Fraction(1, 10), fraction(0.25)
    (False, Fraction(1, 4))
    """
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(float(value))


def noise_rate(**named: Real | float) -> Fraction:
    """Return the exact value of one named argument; it must be finite and at least 2**-40.

    Below that the noise would not fit into 64-bit whole numbers.

    >>> noise_rate(epsilon=-1.0)
    Traceback (most recent call last):
    ...
    ValueError: epsilon must be a finite number above 0, got epsilon=-1.0
    """
    ((name, value),) = named.items()
    require.positive(**{name: value})
    rate = fraction(value)
    if rate < _SMALLEST_RATE:
        raise ValueError(f"{name} must be at least 2**-40, got {name}={value!r}")
    return rate


def exp_bounds(exponent: Fraction, bits: int) -> Bounds:
    """Bounds on 2**bits * e**(-exponent), for exponent >= 0, that differ by at most one.

    They differ by exactly one and are strict unless the exponent is 0, because e to a rational
    power other than 0 is irrational.

    >>> exp_bounds(Fraction(1), 10)  # 1024 / e = 376.7…
    (376, 377)
    """
    if exponent == 0:
        return 1 << bits, 1 << bits
    if exponent > bits:  # e**(-exponent) < 2**(-bits)
        return 0, 1
    guard = 32
    while True:
        low, high = _exp_enclosure(exponent, bits + guard)
        if low >> guard == high >> guard:
            return low >> guard, (low >> guard) + 1
        guard *= 2


def _exp_enclosure(exponent: Fraction, bits: int) -> Bounds:
    """Bound e**(-exponent): sum the series at exponent / 2**halvings, then square repeatedly."""
    halvings = max(0, int(exponent).bit_length() + 8)
    numerator = exponent.numerator << bits
    small = numerator // (exponent.denominator << halvings)  # rounded down, at most 2**(bits - 8)
    total = term = 1 << bits
    terms = 0
    while term:
        terms += 1
        term = term * small // (terms << bits)
        total += term
    # Each kept term is short by less than 2 units, the dropped tail by less than 2, and rounding
    # ``small`` down moves the sum by less than 2.
    growth_low, growth_high = total, total + 2 * terms + 4
    square = 1 << (2 * bits)
    low, high = square // growth_high, -(-square // growth_low)
    for _ in range(halvings):
        low, high = (low * low) >> bits, -((-high * high) >> bits)
    return low, high


def power_bounds(base: Bounds, exponent: int, bits: int) -> Bounds:
    """Bounds on value**exponent from bounds on a value in [0, 1], by repeated squaring."""
    low = high = 1 << bits
    base_low, base_high = base
    while exponent:
        if exponent & 1:
            low, high = (low * base_low) >> bits, -((-high * base_high) >> bits)
        base_low, base_high = (base_low * base_low) >> bits, -((-base_high * base_high) >> bits)
        exponent >>= 1
    return low, high


def leading_bits(value: RealNumber, bits: int = WORD_BITS) -> int:
    """floor(2**bits * value) of an irrational value."""
    guard = 64
    while True:
        low, high = value(bits + guard)
        # ``high`` is an upper bound that an irrational value does not attain.
        if low >> guard == (high - 1) >> guard:
            return low >> guard
        guard *= 2


class Uniform:
    """A uniform real number in [0, 1) whose bits are drawn when needed."""

    __slots__ = ("_bits", "_prefix", "_rng")

    def __init__(self, rng: Randomness, word: int | None = None) -> None:
        self._rng = rng
        self._prefix = rng.word() if word is None else word
        self._bits = WORD_BITS

    def below(self, value: RealNumber) -> bool:
        """Return whether this number is below ``value``; ends with probability one.

        The number lies in [prefix, prefix + 1) / 2**bits, so the answer is certain as soon as the
        bounds leave that interval. Another word is read only while they do not, which happens
        with probability about 2**(-64) per word.
        """
        while True:
            low, high = value(self._bits)
            if self._prefix + 1 <= low:
                return True
            if self._prefix >= high:
                return False
            self._prefix = (self._prefix << WORD_BITS) | self._rng.word()
            self._bits += WORD_BITS
