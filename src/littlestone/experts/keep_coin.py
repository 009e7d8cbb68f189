"""These coins show heads with probability exactly (1 - fake) * exp(-rate * loss)."""

from fractions import Fraction
from functools import partial

from littlestone.mechanisms.noise.exact import WORD_BITS, Bounds, Uniform, exp_bounds
from littlestone.randomness import Randomness


class KeepCoin:
    """Keep an expert after a batch with this loss?

    A uniform number is compared with the probability bit by bit, as in ``BernoulliExp``: its first
    64 bits settle all but one case in 2**63.

    >>> from littlestone.randomness import seeded
    >>> KeepCoin(fake=Fraction(1), rate=Fraction(1)).draw(0, seeded(1))
    False
    """

    def __init__(self, *, fake: Fraction, rate: Fraction) -> None:
        self._true, self._rate = 1 - fake, rate
        self._leading: dict[int, Bounds] = {}

    def draw(self, loss: int, rng: Randomness) -> bool:
        """One coin, for a loss of at least 0."""
        bounds = self._leading.get(loss)
        if bounds is None:
            bounds = self._leading[loss] = self._bounds(loss, WORD_BITS)
        word = rng.word()
        if word + 1 <= bounds[0]:
            return True
        if word >= bounds[1]:
            return False
        return Uniform(rng, word).below(partial(self._bounds, loss))

    def _bounds(self, loss: int, bits: int) -> Bounds:
        """Whole numbers around 2**bits times the probability, at most two apart."""
        low, high = exp_bounds(self._rate * loss, bits)
        true = self._true
        return (
            low * true.numerator // true.denominator,
            -(-high * true.numerator // true.denominator),
        )
