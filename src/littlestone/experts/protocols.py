"""An algorithm for prediction from experts owes the same, whoever keeps the losses.

In each round an expert is played, then the losses of all experts are seen. The total losses may
lie in an array (``ExpertsRun``) or be implied by a concept class (``AgnosticFinite``), so an
algorithm is written as a *strategy*: it says how many rounds it takes as they are, and when it
wants to read the totals.
"""

from collections.abc import Sequence
from typing import Protocol

from littlestone.game.protocols import LearnerRun
from littlestone.mechanisms.incremental_selection import GrowingScores
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness


class Strategy(Protocol):
    """The algorithm proper, with its secrets. All losses are whole numbers.

    Like an ``Engine`` it is a dataclass whose fields are all that it remembers, besides the totals;
    it is made without them, and then either begins or is loaded (``loaded`` is then called).
    """

    def begin(self) -> None:
        """Draw the first expert."""

    @property
    def expert(self) -> int:
        """The expert of the coming round; reading it changes nothing."""

    @property
    def status(self) -> str:
        """``learning``, or why it stopped, in words; a function of what was released."""

    def take(self, own: Sequence[int], /) -> int:
        """How many of the coming rounds it plays with this expert, given their losses of it.

        At least one of a non-empty sequence. Then these rounds are added to the total losses and
        ``settle`` is called.
        """

    def settle(self) -> None:
        """The totals include the rounds taken: choose the expert of the coming round."""


class ExpertsRecipe(Protocol):
    """A frozen recipe for prediction from experts."""

    @property
    def experts(self) -> int:
        """How many there are; they are numbered from 0."""

    @property
    def rounds(self) -> int: ...

    @property
    def loss_scale(self) -> int:
        """Losses are whole numbers from 0 to this, and stand for fractions of it."""

    @property
    def oblivious_only(self) -> bool:
        """Whether regret (never privacy) is promised against oblivious adversaries only."""

    @property
    def prefix_conditional(self) -> bool:
        """Whether privacy holds conditionally on every prefix, which makes restarts free."""

    def guarantee(self) -> PrivacyGuarantee:
        """The privacy of all experts played together."""

    def expected_regret_bound(self) -> float:
        """An upper bound on the expected regret, in units of the largest loss of a round."""

    def deviation_bound(self, *, failure_probability: float) -> float:
        """How far the loss may exceed its expectation, in the same units."""

    def for_rounds(self, rounds: int) -> "ExpertsRecipe":
        """The same, planned for another horizon."""

    def start(self, *, rng: Randomness) -> LearnerRun:
        """A run on losses that are handed over as arrays."""

    def strategy(self, totals: GrowingScores, rng: Randomness, /) -> Strategy:
        """A strategy that reads ``totals``, not begun."""
