"""The protocol of prediction from experts, and public batches of rounds.

In each round an expert is played, then the losses of all experts are seen. The total losses may lie
in an array (``ExpertsRun``) or be implied by a concept class (``AgnosticFinite``), so an algorithm
is written as a *strategy*: it says how many rounds it takes with its expert, and when it reads the
totals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from littlestone import require
from littlestone.game.protocols import LearnerRun
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.incremental_selection import GrowingScores
from littlestone.privacy.mechanisms.noise.exact import fraction
from littlestone.randomness import Randomness


class Strategy(Protocol):
    """The algorithm itself, with its secrets. All losses are whole numbers.

    Like an ``Engine`` it is a dataclass whose fields are all that it remembers besides the totals.
    It is constructed without them, and then either begins or is loaded, after which ``loaded`` is
    called.
    """

    def begin(self) -> None:
        """Draw the first expert."""

    @property
    def expert(self) -> int:
        """The expert of the next round; reading it changes nothing."""

    @property
    def status(self) -> str:
        """``learning``, or why it stopped, in words; a function of what was released."""

    def take(self, own: Sequence[int], /) -> int:
        """Take rounds with the current expert; return how many.

        At least one of a non-empty sequence. The caller adds these rounds to the total losses and
        then calls ``settle``.

        Args:
            own: The losses of the current expert in the next rounds.
        """

    def settle(self) -> None:
        """Choose the next expert, now that the totals include the rounds taken."""


class ExpertsRecipe(Protocol):
    """A frozen recipe for prediction from experts."""

    @property
    def experts(self) -> int:
        """The number of experts, numbered from 0."""

    @property
    def rounds(self) -> int:
        """The horizon."""

    @property
    def loss_scale(self) -> int:
        """The largest loss: losses are whole numbers that stand for fractions of it."""

    @property
    def oblivious_only(self) -> bool:
        """Whether regret (never privacy) is promised against oblivious adversaries only."""

    @property
    def prefix_conditional(self) -> bool:
        """Whether privacy holds conditionally on every prefix, which makes restarts free."""

    def guarantee(self) -> PrivacyGuarantee:
        """Return the privacy of all experts played together."""

    def expected_regret_bound(self) -> float:
        """Bound the expected regret, in units of the largest loss of a round."""

    def deviation_bound(self, *, failure_probability: float) -> float:
        """Bound how far the loss exceeds its expectation, in the same units."""

    def for_rounds(self, rounds: int) -> "ExpertsRecipe":
        """Return the recipe for another horizon."""

    def start(self, *, rng: Randomness) -> LearnerRun:
        """Start a run on losses that are passed as arrays."""

    def strategy(self, totals: GrowingScores, rng: Randomness, /) -> Strategy:
        """Return a strategy that reads ``totals``, before ``begin``."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """Batches of ``first`` rounds, each at least ``growth`` times as long as the one before.

    Growing batches mean few changes, each of which may cost more; they suit streams in which the
    best expert changes slowly.

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
        """Whether every round is its own batch."""
        return self.first == 1 and self.growth == 1

    def lengths(self, rounds: int, after: int = 0) -> Iterator[int]:
        """Yield the batch lengths within ``rounds`` rounds, skipping ``after``; the last is cut."""
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
        """Return the number of batches."""
        if self.growth == 1:
            return -(-rounds // self.first)
        return sum(1 for _ in self.lengths(rounds))

    def sum_of_squares(self, rounds: int) -> int:
        """Return the sum of all squared lengths."""
        if self.growth == 1:
            whole, rest = divmod(rounds, self.first)
            return whole * self.first**2 + rest**2
        return sum(length**2 for length in self.lengths(rounds))
