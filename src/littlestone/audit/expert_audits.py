"""Audits of prediction from experts: correct algorithms, and mistakes that must be caught."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone.audit.attacks import OneQuestion
from littlestone.audit.subjects import LearnerSubject
from littlestone.audit.suite import AuditEntry
from littlestone.audit.two_worlds import Conversation, Subject, TwoWorldAdversary, World
from littlestone.concepts.classes.points import Points
from littlestone.experts.dartboard_plan import DartboardPlan
from littlestone.experts.exponential_weights import ExponentialWeights
from littlestone.experts.keep_coin import KeepCoin
from littlestone.experts.lazy_switching import LazySwitching
from littlestone.experts.protocols import ExpertsRecipe
from littlestone.experts.realizable_experts import RealizableExperts
from littlestone.experts.run import ExpertsRun
from littlestone.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

# One favoured expert against this many others: the ratio of one draw shows most of its epsilon.
OTHERS = 12
EXPERTS = OTHERS + 1
ONE = PrivacyGuarantee(epsilon=1.0, delta=1e-6)
Losses = NDArray[np.uint8]


def only(expert: int) -> Losses:
    """A loss for this expert alone."""
    losses = np.zeros(EXPERTS, dtype=np.uint8)
    losses[expert] = 1
    return losses


def all_but(expert: int) -> Losses:
    """A loss for everybody else."""
    return 1 - only(expert)


@dataclass(frozen=True, slots=True)
class ExpertsSubject:
    """Takes the losses of one round, or of several; answers with the next expert.

    Of several rounds it takes as many as are played with one expert, and says how many.
    """

    recipe: ExpertsRecipe

    def guarantee(self) -> PrivacyGuarantee:
        return self.recipe.guarantee()

    def open(self, rng: Randomness) -> tuple[int, Conversation]:
        run = ExpertsRun(self.recipe, rng)

        def answer(losses: Losses) -> Any:
            if losses.ndim == 2:
                return run.observe_many(losses), run.play()
            run.observe(losses)
            return run.play()

        return run.play(), answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeTheFirst:
    """Charge the first expert, or all others; notice whether it is played next."""

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        first = world.opening
        return bool(world.challenge(only(first), all_but(first)) == first)


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfAgainstHalf:
    """Charge one half of the experts or the other; then count how often the first half plays."""

    rounds: int

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        half = (np.arange(EXPERTS) < EXPERTS // 2).astype(np.uint8)
        everybody = np.ones(EXPERTS, dtype=np.uint8)
        played = [world.challenge(half, 1 - half)]
        played += [world.send(everybody) for _ in range(self.rounds)]
        return int(sum(expert < EXPERTS // 2 for expert in played))


@dataclass(frozen=True, slots=True, kw_only=True)
class UntilItChanges:
    """A loss or none first, then only losses; notice how long the expert stays."""

    rounds: int

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        first = world.opening
        if world.challenge(only(first), np.zeros(EXPERTS, dtype=np.uint8)) != first:
            return 0
        taken, _ = world.send(np.tile(only(first), (self.rounds, 1)))
        return int(taken)


def _small_dartboard(kind: type[ShrinkingDartboard], epsilon: float, delta: float) -> Subject:
    """One coin and one draw; the coin gets three fifths of the budget."""
    rate = epsilon / 5.001
    fake = 1 / (1 + np.expm1(epsilon * 0.6 * 0.9999) / -np.expm1(-rate))
    plan = DartboardPlan(rate=rate, fake=float(fake), batch=1, cap=1)
    return ExpertsSubject(kind(experts=EXPERTS, rounds=2, epsilon=epsilon, delta=delta, plan=plan))


def _realizable(epsilon: float, delta: float) -> RealizableExperts:
    return RealizableExperts(experts=EXPERTS, rounds=500, epsilon=epsilon, delta=delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneExample:
    """Against a learner of points: one example on the point 0; notice whether {0} comes next."""

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        return int(world.challenge((0, 1), (0, 0))(0))


AUDITS: Mapping[str, AuditEntry] = {
    "exponential-weights": AuditEntry(
        subject=lambda epsilon, delta: ExpertsSubject(
            ExponentialWeights(
                experts=EXPERTS, rounds=2, epsilon=epsilon, delta=delta, spend_all=True
            )
        ),
        adversary=ChargeTheFirst(),
        summary="exponential weights: the losses of one round, the expert of the next",
    ),
    "shrinking-dartboard": AuditEntry(
        subject=lambda epsilon, delta: _small_dartboard(ShrinkingDartboard, epsilon, delta),
        adversary=ChargeTheFirst(),
        summary="shrinking dartboard: whether the expert is kept after one batch",
    ),
    "lazy-switching": AuditEntry(
        subject=lambda epsilon, delta: _small_dartboard(LazySwitching, epsilon, delta),
        adversary=ChargeTheFirst(),
        summary="lazy switching: whether the expert is kept after one batch",
    ),
    "realizable-experts": AuditEntry(
        subject=lambda epsilon, delta: ExpertsSubject(_realizable(epsilon, delta)),
        adversary=UntilItChanges(rounds=400),
        summary="realizable experts: how many losses an expert is allowed",
    ),
    "agnostic-finite": AuditEntry(
        subject=lambda epsilon, delta: LearnerSubject(
            AgnosticFinite(
                concepts=Points(OTHERS),
                rounds=2,
                epsilon=epsilon,
                delta=delta,
                experts=ExponentialWeights(
                    experts=EXPERTS, rounds=2, epsilon=epsilon, delta=delta, spend_all=True
                ),
            )
        ),
        adversary=OneExample(),
        summary="AgnosticFinite on points: one example, the concept of the next round",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenExperts:
    """A subject of the two-world game with its bug in words; it opens with an expert."""

    name: str
    bug: str
    claimed: PrivacyGuarantee
    start: Callable[[Randomness], tuple[int, Conversation]]

    def guarantee(self) -> PrivacyGuarantee:
        return self.claimed

    def open(self, rng: Randomness) -> tuple[int, Conversation]:
        return self.start(rng)


class _Totals:
    """Exponential weights by hand; correct if nothing but draws is released."""

    def __init__(self, rate: float, rng: Randomness) -> None:
        self.rate, self.rng = rate, rng
        self.totals = np.zeros(EXPERTS, dtype=np.int64)

    def draw(self, rate: float | None = None) -> int:
        known = _mechanism(self.rate if rate is None else rate)
        return known.draw(self.totals, rng=self.rng)[0]


@lru_cache
def _mechanism(rate: float) -> ExponentialMechanism:
    return ExponentialMechanism.with_eta(rate, floor_bits=40)


def _weights_published(rng: Randomness) -> tuple[int, Conversation]:
    board = _Totals(0.5, rng)

    def answer(losses: Losses) -> tuple[int, int]:
        board.totals += losses
        weights = np.exp(-board.rate * board.totals)
        return board.draw(), round(100 * weights[0] / weights.sum())

    return board.draw(), answer


def _rate_from_the_data(rng: Randomness) -> tuple[int, Conversation]:
    # Rates 0.049 · 2/√(1 + least loss) for twenty draws, each priced as if it were 0.049.
    board = _Totals(0.049, rng)

    def answer(losses: Losses) -> int:
        board.totals += losses
        return board.draw(2 * board.rate / float(np.sqrt(1 + board.totals.min())))

    return board.draw(), answer


def _no_fake_switches(rng: Randomness) -> tuple[int, Conversation]:
    board = _Totals(1 / 3, rng)  # one draw costs 2/3, and a keep 1/3
    coin = KeepCoin(fake=Fraction(0), rate=Fraction(1, 3))
    current = board.draw()

    def answer(losses: Losses) -> int:
        board.totals += losses
        return current if coin.draw(int(losses[current]), rng) else board.draw()

    return current, answer


def _no_cap(rng: Randomness) -> tuple[int, Conversation]:
    board = _Totals(0.3, rng)  # one draw costs 0.6, and the coin 0.4
    coin = KeepCoin(fake=Fraction(35, 100), rate=Fraction(3, 10))
    current = board.draw()

    def answer(losses: Losses) -> int:
        nonlocal current
        board.totals += losses
        if not coin.draw(int(losses[current]), rng):
            current = board.draw()  # the second and all later ones are not paid for
        return current

    return current, answer


def _importance_weighted(rng: Randomness) -> tuple[int, Conversation]:
    board = _Totals(0.5, rng)
    current = board.draw()

    def answer(losses: Losses) -> int:
        # The first expert is uniform, so its loss stands for EXPERTS times as much.
        board.totals[current] += EXPERTS * int(losses[current])
        return board.draw()

    return current, answer


BROKEN: Mapping[str, BrokenExperts] = {
    subject.name: subject
    for subject in (
        BrokenExperts(
            name="experts-weights-published",
            bug="exponential weights that publish a weight beside the expert",
            claimed=ONE,
            start=_weights_published,
        ),
        BrokenExperts(
            name="experts-rate-from-data",
            bug="exponential weights whose rate follows the least loss so far",
            claimed=ONE,
            start=_rate_from_the_data,
        ),
        BrokenExperts(
            name="dartboard-without-fake-switches",
            bug="a switch that is possible only after a loss (p = 0)",
            claimed=ONE,
            start=_no_fake_switches,
        ),
        BrokenExperts(
            name="dartboard-without-cap",
            bug="draws beyond the number that is paid for",
            claimed=ONE,
            start=_no_cap,
        ),
        BrokenExperts(
            name="experts-importance-weighted",
            bug="the loss of the expert that was drawn, divided by its probability",
            claimed=ONE,
            start=_importance_weighted,
        ),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveTheRate:
    """Tell two experts apart first; then the same loss for all, or none, and twenty draws."""

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        for _ in range(30):
            world.send(all_but(0))
        nobody = np.zeros(EXPERTS, dtype=np.uint8)
        played = [world.challenge(nobody, 1 - nobody)]
        played += [world.send(nobody) for _ in range(19)]
        return int(sum(expert == 0 for expert in played))


def _weight(answer: tuple[int, int]) -> Hashable:
    return answer[1]


CONTROLS: Mapping[str, TwoWorldAdversary] = {
    "experts-weights-published": OneQuestion(zero=only(0), one=all_but(0), notice=_weight),
    "experts-rate-from-data": MoveTheRate(),
    "dartboard-without-fake-switches": ChargeTheFirst(),
    "dartboard-without-cap": HalfAgainstHalf(rounds=30),
    "experts-importance-weighted": ChargeTheFirst(),
}
