"""Discriminators: what their answers mean, what they cost, when they refuse."""

from fractions import Fraction

import numpy as np
import pytest
from tests.reference.bucket_learner import ProperBucketLearner
from tests.reference.bucketed import BucketedDiscriminator, ExponentialLearner

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import HaltedError
from littlestone.learners.batch.proper_selection import ProperSelection
from littlestone.learners.sanitizers.discriminator import (
    Discriminator,
    FiniteDiscriminator,
    NoiseBounds,
    ending_test,
    selection_error,
)
from littlestone.learners.sanitizers.queries import queries_of
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness, seeded
from littlestone.theory.sanitization import discriminator_samples_upper_bound

QUERIES = queries_of(Thresholds(15))
SIZE = 40_000
FINITE = FiniteDiscriminator(rounds=20, threshold=0.05, choose_epsilon=0.1, test_epsilon=0.2)
BUCKETED = BucketedDiscriminator(rounds=20, error=0.2, epsilon=0.6)
BOTH = pytest.mark.parametrize("recipe", [FINITE, BUCKETED], ids=lambda r: type(r).__name__)


def tally(*, low: float) -> np.ndarray:
    """A share ``low`` of the examples on the first point, the rest on the last."""
    counts = np.zeros(15, dtype=np.int64)
    counts[0] = round(low * SIZE)
    counts[-1] = SIZE - counts[0]
    return counts


@BOTH
def test_answers_mean_what_accuracy_says(recipe: Discriminator, rng: Randomness) -> None:
    # Each run may be wrong with probability 1e-11, and there are fewer than 100.
    accuracy = recipe.accuracy(QUERIES, size=SIZE, failure_probability=1e-11)
    assert 0 < accuracy.gap < accuracy.win < 0.4
    for low in np.linspace(0, 1, 21):
        data = tally(low=float(low))
        guess = np.full(15, 1 / 15)
        surplus = data / SIZE - guess
        differences = QUERIES.answers(surplus)
        objection = recipe.start(QUERIES, data, rng=rng).ask(guess)
        if objection is None:
            assert np.abs(differences).max() <= accuracy.win
        else:
            assert objection.sign * differences[objection.number] >= accuracy.gap


@BOTH
def test_clear_differences_are_objected_to_and_none_is_invented(
    recipe: Discriminator, rng: Randomness
) -> None:
    data = tally(low=0.3)
    assert recipe.start(QUERIES, data, rng=rng).ask(data / SIZE) is None
    assert recipe.start(QUERIES, data, rng=rng).ask(np.full(15, 1 / 15)) is not None


@BOTH
def test_a_run_judges_no_more_guesses_than_were_paid_for(recipe: Discriminator) -> None:
    run = recipe.start(QUERIES, tally(low=1.0), rng=seeded(1))
    guess = np.eye(15)[-1]
    for _ in range(recipe.rounds):
        assert run.ask(guess) is not None
    with pytest.raises(HaltedError):
        run.ask(guess)


@BOTH
def test_a_run_is_over_once_the_generator_has_won(recipe: Discriminator) -> None:
    data = tally(low=0.5)
    run = recipe.start(QUERIES, data, rng=seeded(1))
    assert run.ask(data / SIZE) is None
    with pytest.raises(HaltedError):
        run.ask(data / SIZE)


def test_the_finite_discriminator_pays_for_its_watch_once() -> None:
    plain, rho = FINITE.costs()
    assert plain == PrivacyGuarantee(epsilon=0.2)
    assert isinstance(rho, ZeroConcentrated)
    assert Fraction(rho.rho) >= 20 * Fraction(0.1) ** 2 / 8
    assert rho.rho == pytest.approx(20 * 0.1**2 / 8)


def test_a_round_of_the_bucketed_one_costs_three_thirds() -> None:
    [rho] = BUCKETED.costs()
    third = 0.2
    assert isinstance(rho, ZeroConcentrated)
    assert rho.rho == pytest.approx(20 * (third**2 / 8 + third**2 / 8 + third**2 / 2))


def test_a_learner_without_concentrated_bound_is_composed_as_it_is() -> None:
    class Approximate(ExponentialLearner):
        def zero_concentrated(self) -> None:  # type: ignore[override]
            return None

        def guarantee(self) -> PrivacyGuarantee:
            return PrivacyGuarantee(epsilon=self.epsilon, delta=1e-8)

    recipe = BucketedDiscriminator(
        rounds=20, error=0.2, epsilon=0.6, learner=Approximate(epsilon=0.2), extra_delta=1e-7
    )
    [cost] = recipe.costs()
    assert isinstance(cost, PrivacyGuarantee)
    assert 0.6 < cost.epsilon <= 12.0
    assert cost.delta >= 20e-8 + 1e-7


def test_the_bucketed_one_reaches_the_papers_numbers_at_the_corrected_size() -> None:
    # S1: 60 ln(60 / (alpha beta)) / (epsilon alpha) for buckets and test; the learner its own.
    error, epsilon, failure = 0.1, 1.0, 0.05
    recipe = BucketedDiscriminator(rounds=1, error=error, epsilon=epsilon)
    size = discriminator_samples_upper_bound(
        error=error, epsilon=epsilon, failure_probability=failure
    )
    learn = recipe.learner.excess_bound(  # type: ignore[union-attr]
        QUERIES, size=size, failure_probability=failure / 3
    )
    enough = max(size, int(learn * 10 / error))
    accuracy = recipe.accuracy(QUERIES, size=enough, failure_probability=failure)
    assert accuracy.gap >= error / 2 - 2 / enough
    assert accuracy.win <= error + 3 / enough
    third_of_the_size = recipe.accuracy(QUERIES, size=size // 3, failure_probability=failure)
    assert third_of_the_size.win > error  # the printed constant, 20 for 60


def test_empty_buckets_are_never_chosen(rng: Randomness) -> None:
    queries = queries_of(FiniteClass([[0, 1], [1, 1]]))
    recipe = BucketedDiscriminator(rounds=30, error=0.3, epsilon=0.9)
    run = recipe.start(queries, np.array([500, 500]), rng=rng)
    guess = np.array([1.0, 0.0])
    for _ in range(30):
        objection = run.ask(guess)
        assert objection is not None and objection.number in (0, 1)


def test_selection_error_is_that_of_the_mechanisms_own_weights() -> None:
    mechanism = ExponentialMechanism(epsilon=0.1)
    bound = selection_error(0.1, elements=50, draws=10, failure_probability=0.01)
    weights = mechanism._table.weights
    # All 50 elements but one at this excess: the chance of any of them, in ten draws.
    chance = 10 * 49 * weights[int(np.ceil(bound))] / weights[0]
    assert 0.005 < chance <= 0.01


def test_nothing_is_proved_below_the_floor_of_the_table() -> None:
    assert selection_error(0.1, elements=10, draws=1, failure_probability=1e-19) == float("inf")


def test_noise_bounds_share_the_failure_probability() -> None:
    noise = NoiseBounds.of(
        elements=8,
        rounds=3,
        choose_epsilon=0.5,
        test=ending_test(0.25),
        failure_probability=0.1,
    )
    assert noise.test == ending_test(0.25).error_bound(queries=3, failure_probability=0.05)
    assert noise.choose == selection_error(0.5, elements=8, draws=3, failure_probability=0.05)


@pytest.mark.parametrize(
    "parameters", [{"rounds": 0}, {"threshold": 0.0}, {"test_epsilon": 0.0}, {"choose_epsilon": 0}]
)
def test_bad_parameters_are_refused_by_name(parameters: dict[str, float]) -> None:
    good = {"rounds": 2, "threshold": 0.1, "choose_epsilon": 0.1, "test_epsilon": 0.1}
    with pytest.raises(ValueError, match=next(iter(parameters)).split("_")[-1]):
        FiniteDiscriminator(**{**good, **parameters})  # type: ignore[arg-type]


def test_the_papers_pipeline_any_proper_learner_fits_in(rng: Randomness) -> None:
    def build(concepts: ConceptClass) -> ProperSelection:
        return ProperSelection(concepts=concepts, epsilon=0.2)

    learner = ProperBucketLearner(build=build, cost=PrivacyGuarantee(epsilon=0.2))
    recipe = BucketedDiscriminator(rounds=20, error=0.2, epsilon=0.6, learner=learner)
    data = np.array([600, 200, 200])
    queries = queries_of(Thresholds(3))
    accuracy = recipe.accuracy(queries, size=10_000, failure_probability=1e-10)
    assert 0 < accuracy.gap < accuracy.win < 0.5
    assert recipe.start(queries, data * 10, rng=rng).ask(data / 1000) is None
    objection = recipe.start(queries, data * 10, rng=rng).ask(np.array([0.0, 0.0, 1.0]))
    assert objection is not None and objection.sign == -1  # x >= 1 and x >= 2 hold too often
    [cost] = recipe.costs()
    assert isinstance(cost, PrivacyGuarantee)


def test_a_learner_that_costs_more_than_declared_is_refused(rng: Randomness) -> None:
    learner = ProperBucketLearner(
        build=lambda concepts: ProperSelection(concepts=concepts, epsilon=0.2),
        cost=PrivacyGuarantee(epsilon=0.1),
    )
    with pytest.raises(ValueError, match="must not cost more"):
        learner.learn(np.array([[0, 1], [1, 1]], dtype=np.uint8), np.array([1, 2]), rng=rng)
