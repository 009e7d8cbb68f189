"""Experts, and learners from constructed experts, in the two-world game."""

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from littlestone.audit.attacks import (
    EXPERTS,
    OTHERS,
    ChargeTheFirst,
    Losses,
    OneMoreLoss,
    OneQuestion,
)
from littlestone.audit.exact.privacy_curve import PrivacyCurve, privacy_curve
from littlestone.audit.subjects.mechanism_subjects import selection
from littlestone.audit.two_worlds import (
    Audit,
    Conversation,
    Deterministic,
    Subject,
    TwoWorldAdversary,
    World,
)
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import Example
from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses
from littlestone.learners.agnostic_finite.noisy_losses_engine import NoisyLossesEngine
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.experts.dartboard_plan import DartboardPlan
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.learners.experts.lazy_switching import LazySwitching
from littlestone.learners.experts.protocols import ExpertsRecipe
from littlestone.learners.experts.realizable_experts import RealizableExperts
from littlestone.learners.experts.run import ExpertsRun
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.learners.sanitized.recipe import SanitizedExperts
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramSanitizer
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.randomness import Randomness, seeded


def experts(recipe: ExpertsRecipe) -> Subject:
    """Make a subject that takes the losses of rounds and answers with the next expert.

    Of several rounds it takes as many as are played with one expert, and returns their number.
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
    """Return a dartboard with one coin and one draw; the coin gets three fifths of the budget."""
    rate = epsilon / 5.001
    fake = 1 / (1 + np.expm1(epsilon * 0.6 * 0.9999) / -np.expm1(-rate))
    plan = DartboardPlan(rate=rate, fake=float(fake), batch=1, cap=1)
    return experts(kind(experts=EXPERTS, rounds=2, epsilon=epsilon, delta=delta, plan=plan))


def _realizable(epsilon: float, delta: float) -> Subject:
    """Return a subject that answers with the expert and the phase."""
    recipe = RealizableExperts(experts=2, rounds=1000, epsilon=epsilon, delta=delta)

    def start(rng: Randomness) -> tuple[Any, Conversation]:
        run = ExpertsRun(recipe, rng)

        def answer(losses: Losses) -> tuple[int, int]:
            run.observe(losses)
            return run.play(), run._strategy._phase  # type: ignore[attr-defined]

        return (recipe, run.play()), answer

    return Subject(name=repr(recipe), claimed=recipe.guarantee(), open=start)


def _phase_and_draws(subject: Subject, adversary: TwoWorldAdversary) -> PrivacyCurve:
    """Return the curve of the first phase with its draw and all later draws (``OneMoreLoss``)."""
    recipe: RealizableExperts = subject.open(seeded(0))[0][0]
    rounds = recipe.monitor.threshold
    phase = privacy_curve(subject, adversary, rounds=rounds, negligible=Fraction(1, 1 << 32))
    draw = privacy_curve(
        selection(recipe._selection.mechanism), OneQuestion(zero=[1, 0], one=[0, 1]), rounds=1
    )
    return phase.then(draw.times(recipe.phases - 2))


def noisy_losses(plan: NoisyLosses) -> Subject:
    """Make a subject that releases a batch's noisy answers and the concepts drawn from them."""

    def start(rng: Randomness) -> tuple[Any, Conversation]:
        engine = NoisyLossesEngine(plan, rng)
        engine.begin()

        def answer(example: Any) -> Any:
            engine.step(*example)
            return tuple(map(int, engine._sums.total)), engine.hypothesis

        return engine.hypothesis, answer

    return Subject(name=repr(plan), claimed=plan.guarantee(), open=start)


def one_answer(epsilon: float, delta: float, *, rounds: int = 2) -> NoisyLosses:
    """Return a plan with one query and batches of one example."""
    return NoisyLosses(
        concepts=Thresholds(1), rounds=rounds, epsilon=epsilon, delta=delta, batch=1, rate=0.01
    )


_DEVIATION: Final = math.sqrt(float(one_answer(1.0, 1e-6).variance))


def far_out(answer: Any) -> int:
    """Return the answer in standard deviations at (1, 1e-6), rounded to an integer."""
    total: int = answer[0][0]
    return round(total / _DEVIATION)


_one_draw = partial(Audit, adversary=ChargeTheFirst(), goal=0.5, exact_rounds=1)


SHARE = 0.9
# Draws after the release: an expert with a quarter of the mass is missed with probability 0.1 %.
LOOKS = 24


def construction(
    recipe: SanitizedExperts, *, also: Callable[[Any], Hashable] | None = None
) -> Subject:
    """Make a subject that shows its public recipe and takes several examples at once.

    Its answer is everything published meanwhile, newest last. ``also`` names a part of the engine
    that a control publishes, too.
    """

    def start(rng: Randomness) -> tuple[SanitizedExperts, Conversation]:
        run = recipe.start(rng=rng)

        def answer(examples: Sequence[Example]) -> list[Any]:
            published = []
            for x, y in examples:
                run.observe(x, y)
                published.append(run.hypothesis)
            return published if also is None else [*published, also(run._engine)]

        return recipe, answer

    return Subject(name=repr(recipe), claimed=recipe.guarantee(), open=start)


def small(epsilon: float, delta: float) -> SanitizedExperts:
    """Return a recipe with one switch time, after a block in which two keys can be borderline."""
    share = PrivateHistogram(epsilon=SHARE * epsilon, delta=SHARE * delta)
    block = 1 << (4 * share.noise_bound).bit_length()
    return SanitizedExperts(
        concepts=Points(),
        rounds=block + LOOKS + 2,
        epsilon=epsilon,
        delta=delta,
        sanitizer="histogram",
        sanitizer_share=SHARE,
        switch_grid=block,
    )


class TwoBorderlineKeys(Deterministic):
    """Bring two keys just below the histogram's threshold; send one more example of one.

    The noise N of a key has P(N >= 0) = e**rate * P(N >= 1), so each key shows its whole share of
    epsilon. Notices which of the two ever become experts.
    """

    def noticed(self, world: World) -> Hashable:
        recipe: SanitizedExperts = world.opening
        block = recipe.plan.construction.switch_grid
        below = _histogram(recipe).noise_bound
        filler = [(i, 0) for i in range(block - 2 * below - 1)]
        world.send([("one", 0), ("two", 0)] * below + filler)
        seen = world.challenge([("one", 0)], [("two", 0)])
        seen += world.send([("later", 0)] * LOOKS)
        return tuple(any(h(key) for h in seen) for key in ("one", "two"))


def _histogram(recipe: SanitizedExperts) -> PrivateHistogram:
    construction = recipe.plan.construction
    sanitizer = construction.intervals.sanitizers[construction.switch_grid]
    assert isinstance(sanitizer, HistogramSanitizer)
    return sanitizer._histogram


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
            "a game shows the end of one phase and one draw; the exact number adds the eight later "
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
    Audit(
        name="sanitized-experts",
        subject=lambda epsilon, delta: construction(small(epsilon, delta)),
        adversary=TwoBorderlineKeys(),
        summary="SanitizedExperts on points: one example moved between two borderline keys",
        epsilon=2.0,
        delta=1e-2,
        goal=0.6,
        patience=6,
    ),
)
