"""The rates and the regret of noisy losses: which bound holds, and whose is taken."""

import math
from dataclasses import replace
from typing import Any

import pytest
from tests.reference.exact_regret import worst_expected_regret, worst_oblivious_regret

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.game.adversaries.random_stream import RandomStream
from littlestone.game.play import play
from littlestone.learners.agnostic_finite.noisy_losses import NoisyLosses
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.randomness import seeded
from littlestone.theory.expert_bounds import noisy_losses_regret_upper_bound


def learner(concepts: ConceptClass, *, rounds: int, **given: Any) -> AgnosticFinite:
    budget: Any = {"concepts": concepts, "rounds": rounds, "epsilon": 2.0, "delta": 1e-4}
    adversary: Any = "oblivious" if given.get("oblivious_only") else "adaptive"
    return AgnosticFinite(adversary=adversary, experts=NoisyLosses(**budget, **given), **budget)


def rival_of(concepts: ConceptClass, adversary: str, **budget: Any) -> Any:
    recipe = ExponentialWeights if adversary == "adaptive" else ShrinkingDartboard
    return recipe(experts=concepts.size or 0, **budget)


@pytest.mark.parametrize("adversary", ["adaptive", "oblivious"])
def test_the_smaller_bound_is_taken(adversary: Any) -> None:
    kinds = set()
    for n, epsilon in [(99, 1.0), (99, 0.1), (31, 1.0), (3, 8.0)]:
        concepts, budget = Thresholds(n), {"rounds": 10**5, "epsilon": epsilon, "delta": 1e-6}
        chosen = AgnosticFinite(concepts=concepts, adversary=adversary, **budget)  # type: ignore[arg-type]
        noisy = NoisyLosses(concepts=concepts, oblivious_only=adversary == "oblivious", **budget)  # type: ignore[arg-type]
        rival = rival_of(concepts, adversary, **budget)
        bound, most = chosen.expected_regret_bound(), rival.expected_regret_bound()
        assert bound <= min(most, noisy.expected_regret_bound())
        kinds.add(type(chosen.prediction))
        if isinstance(chosen.prediction, NoisyLosses):
            rate = chosen.prediction.rate
            # As sharp as planned, or as the rival's bound allows.
            assert rate == noisy.rate or bound == pytest.approx(most, rel=1e-5)
    assert kinds == {NoisyLosses, type(rival)}


def test_noisy_losses_are_taken_where_fresh_draws_would_be_paid_for() -> None:
    budget: Any = {"rounds": 10**5, "epsilon": 1.0, "delta": 1e-6}
    sharp = AgnosticFinite(concepts=Thresholds(99), **budget)
    assert isinstance(sharp.prediction, NoisyLosses)
    assert sharp.expected_regret_bound() < 6500  # fresh draws that are paid for: 6,607
    gentle = AgnosticFinite(concepts=Thresholds(31), **budget)
    planned = NoisyLosses(concepts=Thresholds(31), **budget)
    assert isinstance(gentle.prediction, NoisyLosses)
    assert gentle.prediction.rate is not None and planned.rate is not None
    assert planned.rate / 1.4 < gentle.prediction.rate < planned.rate


def test_a_rate_is_lowered_as_far_as_a_bound_asks_for() -> None:
    plan = NoisyLosses(concepts=Thresholds(31), rounds=10**5, epsilon=1.0, delta=1e-6)
    bound = plan.expected_regret_bound()
    assert plan.bounded_by(bound) is plan
    assert plan.bounded_by(0.9 * bound) is None
    assert plan.bounded_by(1.0) is None
    lower = plan.bounded_by(0.99 * bound)
    assert lower is not None
    assert 0.98999 * bound < lower.expected_regret_bound() <= 0.99 * bound
    assert lower.batch == plan.batch
    assert plan.rate is not None and lower.rate is not None and lower.rate < plan.rate
    flat = replace(plan, rate=plan.rate / 3)  # below the rate with the least bound
    assert flat.expected_regret_bound() > bound
    assert flat.bounded_by(bound) is None


def test_regret_stays_below_the_bound() -> None:
    # The bound is on the mean and far above what a random stream needs: a fixed seed suffices.
    concepts = Thresholds(31)
    for oblivious in (False, True):
        recipe = learner(concepts, rounds=4000, oblivious_only=oblivious)
        played = play(recipe, RandomStream(concepts, noise_rate=0.2), rounds=4000, rng=seeded(2))
        assert played.regret is not None and played.regret < recipe.expected_regret_bound()
        high = recipe.regret_bound(failure_probability=0.01)
        assert recipe.expected_regret_bound() < high <= 4000


@pytest.mark.parametrize("rate", [None, 0.1, 1.0])
@pytest.mark.parametrize(
    ("rounds", "batch", "epsilon"), [(40, 2, 5.0), (24, 1, 8.0), (20, 7, 3.0), (5, 9, 1.0)]
)
def test_no_adversary_exceeds_the_bound(
    rounds: int, batch: int, epsilon: float, rate: float | None
) -> None:
    plan = NoisyLosses(
        concepts=Thresholds(1), rounds=rounds, epsilon=epsilon, delta=0.01, batch=batch, rate=rate
    )
    found, bound = worst_expected_regret(plan), plan.expected_regret_bound()
    assert 0.3 * bound < found < bound
    if rate is None and plan.releases > 6:  # without the largest noise it would be exceeded
        oblivious = replace(plan, oblivious_only=True)
        assert 1.15 * oblivious.expected_regret_bound() < found


@pytest.mark.parametrize(
    ("rounds", "batch", "epoch", "epsilon"),
    [(60, 1, 5, 0.3), (30, 1, 2, 1.0), (120, 3, 60, 20.0), (61, 3, 3, 20.0)],
)
def test_no_oblivious_stream_exceeds_the_bound(
    rounds: int, batch: int, epoch: int, epsilon: float
) -> None:
    plan = NoisyLosses(
        concepts=Thresholds(1), rounds=rounds, epsilon=epsilon, delta=0.01, oblivious_only=True,
        batch=batch, epoch=epoch,
    )  # fmt: skip
    found = worst_oblivious_regret(plan)
    assert 0.3 * plan.expected_regret_bound() < found < plan.expected_regret_bound()
    noiseless = noisy_losses_regret_upper_bound(
        experts=2, rounds=rounds, batch=batch, noise_variance=0.0, rate=plan.rate
    )
    if epsilon <= 1:  # noise has its price
        assert 2 * noiseless < found


def test_the_largest_noise_is_counted_once() -> None:
    for oblivious in (False, True):
        recipe = learner(Thresholds(31), rounds=4000, batch=50, epoch=1, oblivious_only=oblivious)
        plan = recipe.prediction
        assert isinstance(plan, NoisyLosses) and plan.rate is not None
        logarithm, rare = math.log(32), math.log(3 / 0.1)
        spent = 80 * 50**2 / 8 + plan.noise_variance / 2
        draws = math.sqrt(4000 * rare / 2)
        noise = math.sqrt(2 * plan.noise_variance * (logarithm + rare))
        expected = (logarithm + rare) / plan.rate + plan.rate * spent + draws + noise
        assert recipe.regret_bound(failure_probability=0.1) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("oblivious", [False, True])
@pytest.mark.parametrize("rounds", [1, 1000])
def test_planned_rates_have_few_digits(oblivious: bool, rounds: int) -> None:
    """So that a recipe has one form on all machines."""
    plan = NoisyLosses(
        concepts=Thresholds(9), rounds=rounds, epsilon=1.0, delta=1e-6, oblivious_only=oblivious
    )
    lower = plan.bounded_by(0.995 * plan.expected_regret_bound())
    for one in (plan, lower):
        if one is not None and one.rate is not None:
            assert one.rate.as_integer_ratio()[0] < 1 << 20


def test_a_plan_without_releases_needs_no_noise_and_no_rate() -> None:
    """However small a budget: one batch, of uniform draws."""
    recipe = AgnosticFinite(concepts=Thresholds(3), rounds=50, epsilon=1e-12, delta=1e-30)
    plan = recipe.prediction
    assert isinstance(plan, NoisyLosses) and plan.releases == 0
    assert recipe.start(rng=seeded(1)).follow([0] * 50, [1] * 50).shape == (50,)
    least = 50 * math.sqrt(math.log(4) / 2)
    assert recipe.expected_regret_bound() == pytest.approx(least, rel=1e-6)
