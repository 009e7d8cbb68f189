"""Probabilities as pairs of whole numbers in units of 2**-256, rounded outwards."""

from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from littlestone.privacy.mechanisms.noise.exact import exp_bounds

BITS: Final = 256
UNIT: Final = 1 << BITS


class Mass(NamedTuple):
    """Bounds on a probability: low <= 2**256 * p <= high."""

    low: int
    high: int

    @classmethod
    def from_ratio(cls, part: int, whole: int) -> "Mass":
        """Return the rational number part / whole.

        >>> Mass.from_ratio(1, 2).low == Mass.from_ratio(1, 2).high == UNIT // 2
        True
        """
        scaled = part << BITS
        return cls(scaled // whole, -(-scaled // whole))

    def times(self, other: "Mass") -> "Mass":
        """Return the product, rounded outwards."""
        return Mass(self.low * other.low >> BITS, -(-self.high * other.high >> BITS))

    def over(self, other: "Mass") -> "Mass":
        """Return the quotient, rounded outwards."""
        return Mass((self.low << BITS) // other.high, -((-self.high << BITS) // other.low))

    def plus(self, other: "Mass") -> "Mass":
        """Return the sum."""
        return Mass(self.low + other.low, self.high + other.high)

    def often(self, count: int) -> "Mass":
        """Return the sum of ``count`` masses like this one."""
        return Mass(self.low * count, self.high * count)

    def rest(self) -> "Mass":
        """Return one minus this."""
        return Mass(max(0, UNIT - self.high), max(0, UNIT - self.low))

    def power(self, exponent: int) -> "Mass":
        """Return a power, rounded outwards."""
        result, square = ONE, self
        while exponent:
            if exponent & 1:
                result = result.times(square)
            square = square.times(square)
            exponent >>= 1
        return result


ONE: Final = Mass(UNIT, UNIT)
NOTHING: Final = Mass(0, 0)


@lru_cache(maxsize=4096)
def exp_mass(exponent: Fraction) -> Mass:
    """e**(-exponent), for an exponent of at least 0."""
    return Mass(*exp_bounds(exponent, BITS))
