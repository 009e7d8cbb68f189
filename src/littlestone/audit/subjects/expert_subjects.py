"""Prediction from experts in the two-world game."""

import math
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from littlestone.audit.adversaries.expert_attacks import (
    EXPERTS,
    OTHERS,
    ChargeTheFirst,
    Losses,
    OneMoreLoss,
)
from littlestone.audit.adversaries.questions import OneQuestion
from littlestone.audit.exact.privacy_curve import PrivacyCurve, privacy_curve
from littlestone.audit.subjects.mechanism_subjects import selection
from littlestone.audit.two_worlds import (
    Audit,
    Conversation,
    Subject,
    TwoWorldAdversary,
)
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.experts.dartboard_plan import DartboardPlan
from littlestone.experts.exponential_weights import ExponentialWeights
from littlestone.experts.lazy_switching import LazySwitching
from littlestone.experts.protocols import ExpertsRecipe
from littlestone.experts.realizable_experts import RealizableExperts
from littlestone.experts.run import ExpertsRun
from littlestone.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses
from littlestone.learners.agnostic_finite.noisy_losses_engine import NoisyLossesEngine
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.randomness import Randomness, seeded


def experts(recipe: ExpertsRecipe) -> Subject:
    """Takes the losses of one round, or of several; answers with the next expert.

    Of several rounds it takes as many as are played with one expert, and says how many.
    """

    def start(rng: Randomness) -> tuple[int, Conversation]:
        run = ExpertsRun(recipe, rng)

        def answer(losses: Losses) -> Any:
            if losses.ndim == 2:
                return run.observe_many(losses), run.play()
            run.observe(losses)
            return run.play()

        return run.play(), answer

    return Subject(name=repr(recipe), claimed=recipe.guarantee(), open=start)


def small_dartboard(kind: type[ShrinkingDartboard], epsilon: float, delta: float) -> Subject:
    """One coin and one draw; the coin gets three fifths of the budget."""
    rate = epsilon / 5.001
    fake = 1 / (1 + np.expm1(epsilon * 0.6 * 0.9999) / -np.expm1(-rate))
    plan = DartboardPlan(rate=rate, fake=float(fake), batch=1, cap=1)
    return experts(kind(experts=EXPERTS, rounds=2, epsilon=epsilon, delta=delta, plan=plan))


def _realizable(epsilon: float, delta: float) -> Subject:
    """Answers with the expert and the phase, which shows even if the same expert is drawn anew."""
    recipe = RealizableExperts(experts=2, rounds=1000, epsilon=epsilon, delta=delta)

    def start(rng: Randomness) -> tuple[Any, Conversation]:
        run = ExpertsRun(recipe, rng)

        def answer(losses: Losses) -> tuple[int, int]:
            run.observe(losses)
            return run.play(), run._strategy._phase  # type: ignore[attr-defined]

        return (recipe, run.play()), answer

    return Subject(name=repr(recipe), claimed=recipe.guarantee(), open=start)


def _phase_and_draws(subject: Subject, adversary: TwoWorldAdversary) -> PrivacyCurve:
    """The first phase with the draw after it, and all later draws (``OneMoreLoss``)."""
    recipe: RealizableExperts = subject.open(seeded(0))[0][0]
    rounds = recipe.monitor.threshold
    phase = privacy_curve(subject, adversary, rounds=rounds, negligible=Fraction(1, 1 << 32))
    draw = privacy_curve(
        selection(recipe._selection.mechanism), OneQuestion(zero=[1, 0], one=[0, 1]), rounds=1
    )
    return phase.then(draw.times(recipe.phases - 2))


def noisy_losses(plan: NoisyLosses) -> Subject:
    """All that a batch releases: the noisy answers so far, and the concepts drawn from them."""

    def start(rng: Randomness) -> tuple[Any, Conversation]:
        engine = NoisyLossesEngine(plan, rng)
        engine.begin()

        def answer(example: Any) -> Any:
            engine.step(*example)
            return tuple(map(int, engine._sums.total)), engine.hypothesis

        return engine.hypothesis, answer

    return Subject(name=repr(plan), claimed=plan.guarantee(), open=start)


def one_answer(epsilon: float, delta: float, *, rounds: int = 2) -> NoisyLosses:
    """One question, one example a batch; rates do not matter to who sees the answers."""
    return NoisyLosses(
        concepts=Thresholds(1), rounds=rounds, epsilon=epsilon, delta=delta, batch=1, rate=0.01
    )


_DEVIATION: Final = math.sqrt(float(one_answer(1.0, 1e-6).variance))


def far_out(answer: Any) -> int:
    """The answer's distance from 0, in deviations at (1, 1e-6), as a whole number."""
    total: int = answer[0][0]
    return round(total / _DEVIATION)


_one_draw = partial(Audit, adversary=ChargeTheFirst(), goal=0.5, exact_rounds=1)

AUDITS = (
    _one_draw(
        name="exponential-weights",
        subject=lambda epsilon, delta: experts(
            ExponentialWeights(
                experts=EXPERTS, rounds=2, epsilon=epsilon, delta=delta, spend_all=True
            )
        ),
        summary="exponential weights: the losses of one round, the expert of the next",
    ),
    _one_draw(
        name="shrinking-dartboard",
        subject=lambda epsilon, delta: small_dartboard(ShrinkingDartboard, epsilon, delta),
        summary="shrinking dartboard: whether the expert is kept after one batch",
    ),
    _one_draw(
        name="lazy-switching",
        subject=lambda epsilon, delta: small_dartboard(LazySwitching, epsilon, delta),
        summary="lazy switching: whether the expert is kept after one batch",
    ),
    Audit(
        name="realizable-experts",
        subject=_realizable,
        adversary=OneMoreLoss(),
        summary="realizable experts: one loss more for the expert that plays, or for the other",
        epsilon=8.0,
        goal=0.5,
        witness=_phase_and_draws,
        remark=(
            "a game shows the end of one phase and one draw; exact are these and the eight later "
            "draws, which are independent of them"
        ),
    ),
    Audit(
        name="noisy-losses",
        subject=lambda epsilon, delta: noisy_losses(one_answer(epsilon, delta)),
        adversary=OneQuestion(zero=(0, 0), one=(0, 1), notice=far_out),
        summary="noisy losses: the label of one example, the answer of its batch",
        goal=0.4,
        exact_rounds=1,
    ),
    Audit(
        name="agnostic-finite",
        subject=lambda epsilon, delta: Subject.from_learner(
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
        adversary=OneQuestion(zero=(0, 1), one=(0, 0), notice=lambda shown: shown.hypothesis(0)),
        summary="AgnosticFinite on points: one example, the concept of the next round",
        goal=0.6,
        exact_rounds=1,
    ),
)
