"""Private prediction: the inequality of its proof, exact laws, refusals and the proved bound."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from littlestone.audit.attacks import AskAgain
from littlestone.audit.controls.broken_learners import NoNoise, TeachesAll, with_run
from littlestone.audit.exact.privacy_curve import PrivacyCurve, privacy_curve
from littlestone.audit.subjects.learner_subjects import few_copies
from littlestone.audit.two_worlds import Answered, Subject, World
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import HorizonExceededError, LittlestoneError
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.learners.experts.play_experts import play_predictions
from littlestone.learners.experts.prediction_plan import PredictionPlan
from littlestone.learners.experts.private_prediction import PredictionRun, PrivatePrediction
from littlestone.randomness import seeded

SMALL = PredictionPlan(copies=3, rate=0.01, cap=10, cap_epsilon=0.2)


def learner(**changed: Any) -> PrivatePrediction:
    given = {"concepts": Thresholds(8), "rounds": 100, "epsilon": 1.0, "delta": 1e-6, "plan": SMALL}
    return PrivatePrediction(**{**given, **changed})


def probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))


def one_round(z: float, shift: float, order: float, price: float) -> float:
    """E_Q exp(order · L - price · D) over both coins: step 2 of the proof, by its definition."""
    q, p, total = probability(z), probability(z + shift), 0.0
    for coins in product((0, 1), repeat=2):
        under_q = math.prod(q if coin else 1 - q for coin in coins)
        under_p = math.prod(p if coin else 1 - p for coin in coins)
        total += under_q * (under_p / under_q) ** order * math.exp(-price * (coins[0] != coins[1]))
    return total


def largest_of_a_round(price_of: Any) -> float:
    """The largest value of ``one_round`` over many settings, minus 1."""
    return max(
        one_round(z, sign * rate, order, price_of(order, rate)) - 1
        for z in (-8, -3, -1, -0.2, 0, 0.1, 2, 9)
        for sign in (-1, 0, 1)
        for rate in (0.001, 0.01, 0.1)
        for order in (1.01, 2, 5, 8)
        if order * rate < 0.9
    )


def price(order: float, rate: float) -> float:
    return -math.log1p(-order * (order - 1) / 2 * rate**2 * math.exp(order * rate))


def test_a_disagreement_pays_for_the_loss_of_its_round() -> None:
    assert largest_of_a_round(price) <= 1e-12
    # Half of it does not, and so the test can fail.
    assert largest_of_a_round(lambda order, rate: price(order, rate) / 2) > 1e-4


@pytest.mark.parametrize(("order", "rate"), [(2, 0.01), (5, 0.02), (30, 0.001), (3, 0.1)])
def test_whole_runs_near_a_tie_cost_hardly_less_than_is_charged(order: int, rate: float) -> None:
    # One copy decides the sign of the log-odds, ± rate / 2, in every round until the cap-th
    # disagreement. Pairs of coins that agree are 11 or 00, with log-likelihood ratio ± rate, and so
    # many of them come between two disagreements as a geometric law says.
    one = probability(-rate / 2)
    disagree = 2 * one * (1 - one)
    both = one**2 / (1 - disagree)
    factor = both * math.exp(order * rate) + (1 - both) * math.exp(-order * rate)
    exact_price = math.log(disagree / (1 - (1 - disagree) * factor))
    assert 0.6 * price(order, rate) < exact_price <= price(order, rate)


def test_the_cost_is_about_that_of_the_cap_times_half_the_squared_rate() -> None:
    plan = PredictionPlan(copies=1, rate=0.002, cap=10_000, cap_epsilon=0.05)
    rho, level = 10_000 * 0.002**2 / 2, math.log(1e6)
    nearly = 0.05 + rho + 2 * math.sqrt(rho * level)
    cost = plan.guarantee(delta=1e-6).epsilon
    assert 0.85 * nearly < cost < nearly
    assert replace(plan, cap=20_000).guarantee(delta=1e-6).epsilon > 1.3 * cost
    assert not replace(plan, rate=2.0).guarantee(delta=1e-6).is_private


def exact(run: type[PredictionRun], epsilon: float, delta: float, copies: int) -> PrivacyCurve:
    recipe = with_run(few_copies(epsilon, delta, copies=copies, cap=10), run)
    subject = Subject.from_predictor(recipe)
    return privacy_curve(subject, AskAgain(most=1), rounds=2, negligible=Fraction(1, 1 << 24))


@pytest.mark.parametrize("copies", [1, 2])
def test_exact_laws_keep_the_promise(copies: int) -> None:
    curve = exact(PredictionRun, 4.0, 1e-3, copies)
    assert curve.epsilon_upper_bound(1e-3) <= 4.0
    assert curve.epsilon_lower_bound(1e-3) > 0  # something is seen


@pytest.mark.parametrize(("run", "copies"), [(NoNoise, 1), (TeachesAll, 150)])
def test_exact_laws_of_broken_ones_do_not(run: type[PredictionRun], copies: int) -> None:
    assert exact(run, 1.0, 1e-3, copies).epsilon_lower_bound(1e-3) > 1.0


def test_the_special_answer_is_hidden_and_labels_may_follow_answers() -> None:
    world = World(Subject.from_predictor(learner()), 0, seeded(1))
    told: list[int] = []

    def contrary(said: int) -> int:
        told.append(said)
        return 1 - said

    assert world.send((3, contrary)).said == told[0]
    assert world.challenge((3, 1), (3, 0)) == Answered(said=None, halted=False)


def test_other_copies_do_not_learn_of_the_special_round() -> None:
    runs = [learner().start(rng=seeded(5)) for _ in range(2)]
    for run, y in zip(runs, (0, 1), strict=True):
        run.predict(3)
        run.observe(y)
    apart = sum(a != b for a, b in zip(runs[0]._copies, runs[1]._copies, strict=True))
    assert apart <= 1


def test_groups_count_the_copies() -> None:
    run = learner(rounds=60).start(rng=seeded(2))
    for t in range(60):
        run.predict(t % 8)
        run.observe(int(t % 8 >= 3))
        for x in range(8):
            assert run.halted or run._ones(x) == sum(c.hypothesis(x) for c in run._copies)


def test_after_the_halt_nothing_is_remembered() -> None:
    plan = PredictionPlan(copies=3, rate=0.01, cap=1, cap_epsilon=0.5)
    run = learner(plan=plan).start(rng=seeded(3))
    first = Thresholds(8).version_space().standard_optimal()
    for _ in range(100):
        halted = run.halted
        assert run.predict(3) == first(3) or not halted
        run.observe(1)
    assert run.halted and not run._copies


def test_streams_that_no_concept_fits_are_taken() -> None:
    run = learner(concepts=Points(2), rounds=300).start(rng=seeded(4))
    for t in range(300):
        run.predict(0)
        run.observe(t % 2)
    assert run.rounds_played == 300


def test_refusals() -> None:
    with pytest.raises(ValueError, match="plan must stay within"):
        learner(epsilon=0.1)
    with pytest.raises(ValueError, match="delta"):
        learner(delta=0.0)
    run = learner(rounds=1).start(rng=seeded(1))
    with pytest.raises(LittlestoneError, match="call predict before observe"):
        run.observe(1)
    with pytest.raises(ValueError, match="8"):
        run.predict(8)
    run.predict(1)
    with pytest.raises(LittlestoneError, match="call observe with this round"):
        run.predict(1)
    run.observe(1)
    with pytest.raises(HorizonExceededError):
        run.predict(1)


def test_the_planned_bound_holds_and_grows_with_the_square_of_the_dimension() -> None:
    bounds = [
        PrivatePrediction(
            concepts=Thresholds(n), rounds=10**7, epsilon=8.0, delta=1e-6
        ).mistake_bound(failure_probability=0.05)
        for n in (1, 7)
    ]
    assert 4 < bounds[1] / bounds[0] < 9.5 and bounds[1] < 10**5


def test_a_game_stays_below_its_bound() -> None:
    concepts = Points(64)
    predictor = PrivatePrediction(concepts=concepts, rounds=20_000, epsilon=16.0, delta=1e-6)
    bound = predictor.mistake_bound(failure_probability=0.05)
    game = play_predictions(predictor, MistakeForcing(concepts), rounds=20_000, rng=seeded(1))
    assert 10 < game.mistakes <= bound < 20_000
    assert game.mistakes == game.curve[-1][1]


def test_both_sides_need_the_same_class() -> None:
    with pytest.raises(ValueError, match="same class"):
        play_predictions(learner(), MistakeForcing(Points(3)), rounds=10, rng=seeded(1))
