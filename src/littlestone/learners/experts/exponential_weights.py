"""Draw each expert by exponential weights: privately, also against adaptive adversaries, or not."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from littlestone import require
from littlestone.learners.experts.protocols import Batches
from littlestone.learners.experts.run import Drawing, DrawingRecipe, table_error, zcdp_budget
from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness
from littlestone.theory.expert_bounds import hedge_regret_upper_bound
from littlestone.theory.outwards import upwards

_EVERY_ROUND = Batches()


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialWeights(DrawingRecipe):
    """Draw expert i afresh with probability proportional to exp(-rate * total loss of i).

    In the role of [JT14], with zCDP accounting. Losses are whole numbers from 0 to ``loss_scale``
    and stand for fractions of it. With ``batches`` an expert is kept for several rounds, so there
    are fewer draws and each may cost more; but an adaptive adversary can then attack the expert it
    sees, and regret is promised against oblivious ones only. With ``spend_all`` the draws are as
    sharp as the budget allows: better where the same experts stay good, worse in the worst case.

    Privacy:
        Releases:   the expert of every round
        Neighbours: streams in which the losses of one round differ
        Adversary:  adaptive
        Guarantee:  (epsilon, delta)
        Assumes:    timing (docs/GUARANTEES.md): how long a draw takes depends on the losses
        Proof:      exponential_weights.md

    Regret: at most ln N / rate + rate * T / 8 in expectation, against adaptive adversaries; with
    batches of B rounds rate * T * B / 8, against oblivious ones.

    >>> recipe = ExponentialWeights(experts=100, rounds=10**6, epsilon=1.0, delta=1e-6)
    >>> recipe.guarantee().within(PrivacyGuarantee(epsilon=1.0, delta=1e-6))
    True
    >>> round(recipe.expected_regret_bound(), -2)
    20900.0
    """

    epsilon: float
    delta: float
    loss_scale: int = 1
    batches: Batches = _EVERY_ROUND
    spend_all: bool = False
    """Use the rate that the budget allows even if it exceeds the best worst-case rate."""
    rate: float = field(init=False)
    """The coefficient in the exponent, for losses between 0 and 1."""
    _draws: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check_sizes()
        # The first batch's expert depends on no data, and nothing is drawn after the last batch.
        require.settle(self, _draws=self.batches.count(self.rounds) - 1)
        require.settle(self, rate=self._affordable_rate())
        require.settle(self, _selection=self._drawing(self.rate))
        require.settle(self, _guarantee=self._cost())

    def _affordable_rate(self) -> float:
        """Return the rate without privacy, or the largest that all draws can afford."""
        squares = self.batches.sum_of_squares(self.rounds)
        wanted = math.sqrt(8 * math.log(max(self.experts, 2)) / squares)
        if self._draws == 0:
            return wanted
        # A few draws are cheaper by plain addition: 2 * rate each.
        plain = float_at_most(Fraction(self.epsilon) / (2 * self._draws))
        affordable = max(plain, self._concentrated_rate())
        return affordable if self.spend_all else min(wanted, affordable)

    def _concentrated_rate(self) -> float:
        budget = Fraction(zcdp_budget(float(self.epsilon), float(self.delta)))
        rate = math.sqrt(2 * budget / self._draws)
        # The square root was rounded to nearest.
        while self._draws * Fraction(rate) ** 2 / 2 > budget:
            rate = float_at_most(Fraction(rate) * (1 - Fraction(1, 1 << 52)))
        return rate

    @property
    def oblivious_only(self) -> bool:
        """Whether regret is promised against oblivious adversaries only."""
        return not self.batches.single_rounds

    def zero_concentrated(self) -> ZeroConcentrated:
        """Return the zCDP cost of all draws together."""
        return self._selection.zero_concentrated().times(self._draws)

    def _cost(self) -> PrivacyGuarantee:
        draw = self._selection
        concentrated = self.zero_concentrated().guarantee(delta=self.delta)
        plain = PrivacyGuarantee.rounded_up(
            epsilon=Fraction(draw.guarantee().epsilon) * self._draws
        )
        return plain if plain.epsilon <= concentrated.epsilon else concentrated

    def expected_regret_bound(self) -> float:
        """Return ln N / rate + rate * (sum of squared batch lengths) / 8, plus the table error."""
        squares = self.batches.sum_of_squares(self.rounds)
        error = table_error(self._selection, experts=self.experts)
        return upwards(
            math.log(self.experts) / self.rate + self.rate * squares / 8 + self.rounds * error
        )

    def deviation_bound(self, *, failure_probability: float) -> float:
        """Apply Azuma–Hoeffding: given the past, the batches' losses are independent draws."""
        squares = self.batches.sum_of_squares(self.rounds)
        return upwards(math.sqrt(squares * math.log(1 / failure_probability) / 2))

    def strategy_of(self, drawing: Drawing, rng: Randomness, /) -> "BatchedStrategy":
        """Return the strategy that draws once a batch."""
        return BatchedStrategy(self.batches, self.rounds, drawing)


@dataclass(init=False, eq=False, repr=False)
class BatchedStrategy:
    """Keep the expert for a batch, then draw the next from the totals."""

    _batch: int
    _left: int
    expert: int
    _drawing: Drawing

    status: ClassVar[str] = "learning"

    def __init__(self, batches: Batches, rounds: int, drawing: Drawing) -> None:
        self._batches, self._rounds, self._drawing = batches, rounds, drawing
        self._lengths: Iterator[int]

    def begin(self) -> None:
        """Draw the first expert."""
        self._lengths = self._batches.lengths(self._rounds)
        self._batch, self._left = 1, next(self._lengths)
        self.expert = self._drawing.draw()  # (L1)

    def loaded(self) -> None:
        """Skip the batches that are over."""
        require.integer(batch=self._batch, at_least=1)
        self._lengths = self._batches.lengths(self._rounds, after=self._batch)

    def take(self, own: Sequence[int], /) -> int:
        """Take rounds up to the end of the batch; return how many."""
        count = min(len(own), self._left)  # (L2)
        self._left -= count
        self._drawing.passed(count)  # (L3)
        return count

    def settle(self) -> None:
        """Draw the next expert at the end of a batch."""
        if self._left:
            return
        length = next(self._lengths, None)
        if length is not None:  # nothing is drawn after the last round
            self._batch, self._left = self._batch + 1, length
            self.expert = self._drawing.draw()  # (L4)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Hedge(DrawingRecipe):
    """Draw each expert with probability proportional to exp(-rate * total loss) [CL06].

    Regret: at most sqrt(T ln N / 2) in expectation, against adaptive adversaries.
    Privacy: none is promised; the rate is what the horizon wants.

    >>> round(Hedge(experts=100, rounds=10**6).expected_regret_bound())
    1517
    """

    loss_scale: int = 1
    rate: float = field(init=False)

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._check_sizes()
        rate = math.sqrt(8 * math.log(max(self.experts, 2)) / self.rounds)
        require.settle(self, rate=rate, _selection=self._drawing(rate))

    def guarantee(self) -> PrivacyGuarantee:
        """Return ``NOT_PRIVATE``."""
        return NOT_PRIVATE

    def expected_regret_bound(self) -> float:
        """Bound the expected regret against adaptive adversaries."""
        error = table_error(self._selection, experts=self.experts)
        bound = hedge_regret_upper_bound(experts=self.experts, rounds=self.rounds, rate=self.rate)
        return upwards(bound + self.rounds * error)

    def deviation_bound(self, *, failure_probability: float) -> float:
        """Apply Azuma–Hoeffding over the rounds."""
        return upwards(math.sqrt(self.rounds * math.log(1 / failure_probability) / 2))

    def strategy_of(self, drawing: Drawing, rng: Randomness, /) -> BatchedStrategy:
        """Return the strategy that draws in every round."""
        return BatchedStrategy(Batches(), self.rounds, drawing)
