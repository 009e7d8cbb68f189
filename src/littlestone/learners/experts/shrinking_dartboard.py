"""Keep the expert while it does well, hiding switches among fake ones (oblivious adversaries)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

from littlestone import require
from littlestone.learners.experts.dartboard_plan import DartboardPlan, KeepCoin, best_plan
from littlestone.learners.experts.run import Drawing, DrawingRecipe, table_error
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards
from littlestone.theory.tails import binomial_upper_tail


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkingDartboard(DrawingRecipe):
    """After a batch with loss L keep the expert with probability (1 - fake) * exp(-rate * L).

    Otherwise draw again by exponential weights, at most ``cap`` times [AFKT23]. The expert of every
    round has the law of exponential weights, but few rounds pay for a draw. ``plan`` is found by
    ``best_plan`` unless given; its exact cost must fit into the budget.

    Privacy:
        Releases:   the expert of every round, and after which batches it was drawn anew
        Neighbours: streams in which the losses of one round differ
        Adversary:  adaptive, as far as privacy goes
        Guarantee:  (epsilon, delta)
        Assumes:    timing (docs/GUARANTEES.md): how long a draw takes depends on the losses
        Proof:      shrinking_dartboard.md

    Regret: ln N / rate + rate * T * batch / 8 (+ 1 / T with a planned cap) in expectation, against
    oblivious adversaries only: an adaptive one attacks the expert that it sees.

    >>> recipe = ShrinkingDartboard(experts=100, rounds=10**6, epsilon=1.0, delta=1e-6)
    >>> recipe.guarantee().within(PrivacyGuarantee(epsilon=1.0, delta=1e-6))
    True
    >>> recipe.expected_regret_bound() < 2650
    True
    """

    epsilon: float
    delta: float
    loss_scale: int = 1
    plan: DartboardPlan | None = None

    oblivious_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check_sizes()
        if self.plan is None:
            require.settle(self, plan=self._best_plan())
        require.settle(self, _guarantee=self._plan.guarantee(delta=self.delta))
        budget = PrivacyGuarantee(epsilon=self.epsilon, delta=self.delta)
        if not self.guarantee().within(budget):
            raise ValueError(
                f"plan must cost at most {budget}, got {self.plan} for {self.guarantee()}"
            )
        require.settle(self, _selection=self._drawing(self._plan.rate))

    def _best_plan(self) -> DartboardPlan:
        return best_plan(
            experts=self.experts,
            rounds=self.rounds,
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            batch=self._batch(),
        )

    def _batch(self) -> int | None:
        """Return the batch length; None to plan it."""
        return None

    @property
    def _plan(self) -> DartboardPlan:
        assert self.plan is not None
        return self.plan

    def expected_regret_bound(self) -> float:
        """Bound the expected regret against oblivious adversaries, cap and table included."""
        plan = self._plan
        padded = self._batches * plan.batch
        # The error of each draw; a fake switch forgets the draw before.
        off = table_error(self._selection, experts=self.experts) / plan.fake
        return upwards(
            math.log(self.experts) / plan.rate
            + plan.rate * padded * plan.batch / 8
            + self.rounds * (self._cap_exceeded() + off)
        )

    @property
    def _batches(self) -> int:
        return -(-self.rounds // self._plan.batch)

    def _cap_exceeded(self) -> float:
        """Bound the probability that oblivious losses need more draws than ``cap``."""
        plan = self._plan
        if plan.cap >= self._batches - 1:
            return 0.0
        return upwards(binomial_upper_tail(plan.cap, self._batches, self._switch_probability()))

    def _switch_probability(self) -> float:
        """Bound the probability of a switch after the worst batch."""
        plan = self._plan
        return min(1.0, upwards(1 - (1 - plan.fake) * math.exp(-plan.rate * plan.batch)))

    def deviation_bound(self, *, failure_probability: float) -> float:
        """Bound how far the loss exceeds its expectation, against oblivious adversaries.

        Freedman's inequality: a fake switch forgets the past, so no batch moves the expected rest
        by more than batch / fake, and only a switch moves it at all (shrinking_dartboard.md).
        """
        allowed = failure_probability - self._cap_exceeded()
        if allowed <= 0:
            return float(self.rounds)
        reach, logarithm = self._plan.batch / self._plan.fake, math.log(1 / allowed)
        switches = self._batches * self._switch_probability()
        freedman = reach * (math.sqrt(2 * switches * logarithm) + 2 * logarithm / 3)
        azuma = reach * math.sqrt(self._batches * logarithm / 2)
        return upwards(min(freedman, azuma, self.rounds))

    def for_rounds(self, rounds: int) -> Self:
        """Return the recipe for another horizon, planned again unless another plan was given."""
        planned = self.plan == self._best_plan()
        return replace(self, rounds=rounds, plan=None if planned else self.plan)

    def strategy_of(self, drawing: Drawing, rng: Randomness, /) -> "DartboardStrategy":
        """Return the strategy that keeps its expert by a coin."""
        return DartboardStrategy(self, drawing, rng)


@dataclass(init=False, eq=False, repr=False)
class DartboardStrategy:
    """Play one expert until a coin, weighted by its loss in the last batch, says otherwise."""

    _left: int
    _rounds: int
    _loss: int
    _used: int
    expert: int
    _drawing: Drawing

    def __init__(self, recipe: ShrinkingDartboard, drawing: Drawing, rng: Randomness) -> None:
        plan = recipe._plan
        rate = recipe._selection.mechanism.eta  # per unit of loss, the one that draws use
        self._coin = KeepCoin(fake=Fraction(plan.fake), rate=rate)
        self._drawing, self._rng = drawing, rng
        self._length, self._cap = plan.batch, plan.cap
        self._left, self._rounds, self._loss, self._used = plan.batch, recipe.rounds, 0, 0
        self._switching = False

    def begin(self) -> None:
        """Draw the first expert."""
        self.expert = self._drawing.draw()  # (L1)

    @property
    def status(self) -> str:
        """``learning``, or that all switches are used."""
        return "halted: all switches are used" if self._used == self._cap else "learning"

    def take(self, own: Sequence[int], /) -> int:
        """Take rounds until the expert must be drawn again; return how many."""
        taken = 0
        while taken < len(own) and not self._switching:
            count = min(len(own) - taken, self._left)  # (L2)
            self._loss += sum(own[taken : taken + count])
            taken += count
            self._left -= count
            self._rounds -= count
            if not self._left:
                self._end_batch()
        self._drawing.passed(taken)
        return taken

    def _end_batch(self) -> None:
        loss, self._loss, self._left = self._loss, 0, self._length
        if self._used < self._cap and self._rounds:  # (L5)
            self._switching = not self._coin.draw(loss, self._rng)  # (L3)

    def settle(self) -> None:
        """Draw the next expert if a batch ended in a switch."""
        if self._switching:
            self._switching = False
            self._used += 1
            self.expert = self._drawing.draw()  # (L4)
