"""The expert may change only between batches of rounds, whose lengths are public."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from littlestone import require
from littlestone.mechanisms.noise.exact import fraction


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """Batches of ``first`` rounds, each at least ``growth`` times as long as the one before.

    Growing batches mean few changes, each of which may then cost more; they suit streams in which
    what is best changes slowly.

    >>> list(Batches(first=2, growth=1.5).lengths(20))
    [2, 3, 5, 8, 2]
    """

    first: int = 1
    growth: float | Fraction = 1

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(first=self.first, at_least=1)
        require.positive(growth=self.growth)
        if self.growth < 1:
            raise ValueError(f"growth must be at least 1, got growth={self.growth!r}")

    @property
    def single_rounds(self) -> bool:
        """Whether every round is a batch of its own."""
        return self.first == 1 and self.growth == 1

    def lengths(self, rounds: int, after: int = 0) -> Iterator[int]:
        """The lengths of the batches within ``rounds`` rounds, but the first; the last is cut."""
        if self.growth == 1:
            for begin in range(after * self.first, rounds, self.first):
                yield min(self.first, rounds - begin)
            return
        growth, length, left = fraction(self.growth), self.first, rounds
        while left > 0:
            if after <= 0:
                yield min(length, left)
            after, left = after - 1, left - length
            length = -(-length * growth.numerator // growth.denominator)

    def count(self, rounds: int) -> int:
        """How many batches there are."""
        if self.growth == 1:
            return -(-rounds // self.first)
        return sum(1 for _ in self.lengths(rounds))

    def sum_of_squares(self, rounds: int) -> int:
        """The sum of all squared lengths."""
        if self.growth == 1:
            whole, rest = divmod(rounds, self.first)
            return whole * self.first**2 + rest**2
        return sum(length**2 for length in self.lengths(rounds))
