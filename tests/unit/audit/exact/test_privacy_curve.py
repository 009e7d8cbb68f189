"""Exact privacy curves against closed forms; broken variants must exceed what is claimed."""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from littlestone.audit.attacks import ChargeTheFirst, FirstRound, OneQuestion, ThenWait
from littlestone.audit.exact.privacy_curve import PrivacyCurve, privacy_curve
from littlestone.audit.registry import CONTROLS
from littlestone.audit.subjects import expert_subjects, mechanism_subjects
from littlestone.audit.substitution import replaced, with_engine
from littlestone.audit.two_worlds import Conversation, Subject, World
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.errors import LittlestoneError
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.learners.lazy_forest.algorithm import LazyForestEngine
from littlestone.learners.lazy_forest.plan import ForestBudgets, ForestPlan
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.private_majority.plan import EpochPlan, FreshPlan, SampledPlan
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.privacy.mechanisms.noise.geometric import TruncatedLaplace
from littlestone.randomness import Randomness

EPSILON = 1.0
Q = math.exp(-EPSILON)
DELTA = 0.15
COARSE = Fraction(1, 1 << 30)
LIGHT = Fraction(1, 1 << 16)


def near(curve: PrivacyCurve, epsilon: float, delta: float) -> bool:
    low, high = curve.delta_bounds(epsilon)
    return float(low) - 1e-12 <= delta <= float(high) + 1e-12 and high - low < 1e-9


@dataclass(frozen=True)
class Stream:
    """Sends the same inputs, but for the challenged one; ends early when something happens."""

    before: tuple[Any, ...]
    zero: Any
    one: Any
    after: tuple[Any, ...] = ()

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        quiet = getattr(world.opening, "shown", None)
        for example in self.before:
            if world.send(example) != quiet and quiet:
                return None
        shown = world.challenge(self.zero, self.one)
        for example in self.after:
            if shown != quiet and quiet:
                return None
            shown = world.send(example)
        return None


def started(recipe: Any, ask: Callable[[Any, Any], Any]) -> Subject:
    """A mechanism with a state; nothing is said after its last answer."""

    def start(rng: Randomness) -> tuple[None, Conversation]:
        run = recipe.start(rng=rng)
        return None, lambda data: ask(run, data)

    return Subject(name=repr(recipe), claimed=recipe.guarantee(), open=start)


def test_a_laplace_count() -> None:
    recipe = LaplaceCount(epsilon=EPSILON)
    curve = privacy_curve(
        Subject.from_release(recipe, recipe.release), OneQuestion(zero=0, one=1), rounds=1
    )
    for epsilon in (0.0, 0.25, 0.5, 0.9):
        assert near(curve, epsilon, (1 - math.exp(epsilon - EPSILON)) / (1 + Q))
    assert curve.epsilon_lower_bound(1e-9) == pytest.approx(EPSILON, abs=1e-6)
    assert curve.epsilon_upper_bound(1e-9) == pytest.approx(EPSILON, abs=1e-6)


def test_count_above_threshold() -> None:
    recipe = CountAboveThreshold(epsilon=EPSILON, threshold=1)
    curve = privacy_curve(mechanism_subjects.monitor(recipe), FirstRound(), rounds=1)
    # Yes with probability P(noise >= noise') = 1 / (1 + q), or q times that.
    for epsilon in (0.0, 0.5, 0.9):
        assert near(curve, epsilon, (1 - math.exp(epsilon - EPSILON)) / (1 + Q))


def test_count_above_threshold_over_several_rounds_costs_no_more() -> None:
    recipe = CountAboveThreshold(epsilon=EPSILON, threshold=2)
    curve = privacy_curve(mechanism_subjects.monitor(recipe), ThenWait(rounds=4), rounds=6)
    assert curve.delta_bounds(EPSILON)[1] < 1e-9
    assert curve.epsilon_lower_bound(1e-9) > 0.99


@pytest.mark.parametrize("name", ["threshold-noise-reused", "noise-skipped-when-correct"])
def test_a_broken_threshold_exceeds_its_claim(name: str) -> None:
    control = CONTROLS[name]
    adversary = Stream((), 1, 0, (0, 0, 1, 1)) if "reused" in name else control.adversary
    curve = privacy_curve(control.subject, adversary, rounds=6)
    assert curve.epsilon_lower_bound(0.0) > 1.0


@pytest.mark.parametrize(("value", "other"), [(1, 0), (0, 1)])
def test_above_threshold_of_one_query(value: int, other: int) -> None:
    recipe = AboveThreshold(epsilon=EPSILON, threshold=1)
    subject = started(recipe, lambda run, query: not run.halted and run.ask(query))
    curve = privacy_curve(subject, OneQuestion(zero=value, one=other), rounds=1)
    a, b = math.exp(-EPSILON / 4), math.exp(-EPSILON / 2)

    def yes(query: int) -> float:  # P(X >= 1 - query + Y)
        return a ** (1 - query) * (1 - b) / (1 - a * b)

    for epsilon in (0.0, 0.1, 0.2):
        often = yes(1) - math.exp(epsilon) * yes(0)
        rarely = 1 - yes(0) - math.exp(epsilon) * (1 - yes(1))
        assert near(curve, epsilon, max(0.0, often, rarely))


def test_above_threshold_costs_its_epsilon_when_noes_precede_the_yes() -> None:
    recipe = AboveThreshold(epsilon=2.0, threshold=1)
    subject = started(recipe, lambda run, query: not run.halted and run.ask(query))

    @dataclass(frozen=True)
    class Both:
        """In one message, since one example moves all queries."""

        def play(self, world: World, rng: Randomness) -> Hashable:
            del rng
            return tuple(world.challenge([0] * 12 + [1], [1] * 12 + [0]))

    def answers(run: Any, queries: list[int]) -> list[bool]:
        said = []
        for query in queries:
            if not run.halted:
                said.append(run.ask(query))
        return said

    subject = started(recipe, answers)
    curve = privacy_curve(subject, Both(), rounds=1)
    assert 1.5 < curve.epsilon_lower_bound(0.0) <= 2.0
    assert curve.delta_bounds(2.0)[1] < 1e-9


def test_the_exponential_mechanism() -> None:
    mechanism = ExponentialMechanism(epsilon=EPSILON)
    curve = privacy_curve(
        mechanism_subjects.selection(mechanism),
        OneQuestion(zero=[0, 1, 1], one=[1, 0, 0]),
        rounds=1,
    )
    table = mechanism._table.weights
    first = Fraction(table[0], table[0] + 2 * table[1])
    second = Fraction(table[1], table[1] + 2 * table[0])
    for epsilon in (0.0, 0.4):
        growth = math.exp(epsilon)
        excess = max(first - growth * second, (1 - second) - growth * (1 - first))
        assert near(curve, epsilon, float(excess))


def test_a_histogram_spends_its_delta_at_the_edges_of_the_noise() -> None:
    recipe = PrivateHistogram(epsilon=EPSILON, delta=0.01, neighbours="add-remove")
    n, bound = 60, recipe.noise_bound
    curve = privacy_curve(
        Subject.from_release(recipe, recipe.release),
        OneQuestion(zero=["key"] * n, one=["key"] * (n + 1)),
        rounds=1,
    )
    whole = sum(Q ** abs(k) for k in range(-bound, bound + 1))
    assert near(curve, EPSILON, Q**bound / whole)
    assert curve.delta_bounds(EPSILON)[1] <= 0.01


def test_a_histogram_threshold_one_too_low_exceeds_its_claim() -> None:
    control = CONTROLS["histogram-threshold-low"]
    curve = privacy_curve(control.subject, control.adversary, rounds=1)
    assert curve.delta_bounds(1.0)[0] > control.subject.claimed.delta


def first_frequent() -> tuple[FirstFrequent, Subject]:
    recipe = FirstFrequent(epsilon=2.0, delta=0.25, rounds=9)

    def ask(run: Any, key: Any) -> Any:
        if not run.released:
            run.observe(key)
        return run.released

    return recipe, started(recipe, ask)


def test_first_frequent() -> None:
    recipe, subject = first_frequent()
    one = privacy_curve(subject, Stream((), "a", None), rounds=1, negligible=COARSE)
    a, b = math.exp(-recipe.query_rate), math.exp(-recipe.threshold_rate)
    # A key seen once against one never seen: released at once with this probability.
    released = a ** (recipe.threshold - 1) * (1 - b) / (1 - a * b)
    low, high = one.delta_bounds(2.0)
    assert float(low) - 1e-7 <= released <= float(high) + 1e-7
    stream = Stream(("a", "b"), "a", "b")
    curve = privacy_curve(subject, stream, rounds=3, negligible=Fraction(1, 1 << 20))
    low, high = curve.delta_bounds(2.0)
    assert high <= recipe.delta


def test_the_shrinking_dartboard() -> None:
    subject = expert_subjects.small_dartboard(ShrinkingDartboard, 1.0, 1e-6)
    curve = privacy_curve(subject, ChargeTheFirst(), rounds=1)
    assert curve.delta_bounds(subject.claimed.epsilon)[1] <= subject.claimed.delta + 1e-9
    assert curve.epsilon_lower_bound(1e-6) > 0.5
    broken = CONTROLS["dartboard-without-fake-switches"]
    curve = privacy_curve(broken.subject, broken.adversary, rounds=1)
    assert curve.epsilon_lower_bound(broken.subject.claimed.delta) > 1.0


def fresh_majority(*, watch: float, draw: float) -> PrivateMajority:
    plan = FreshPlan(threshold_epsilon=watch, threshold=1, selection_rate=draw)
    epsilon = plan.guarantee(delta=0.0).epsilon
    return PrivateMajority(concepts=Points(2), rounds=100, epsilon=epsilon, plan=plan)


def test_a_private_majority_with_fresh_evidence_costs_both_of_its_parts() -> None:
    """The yes shows all of the watch; the witness after it nearly all of the draw."""
    recipe = fresh_majority(watch=0.8, draw=0.2)
    curve = privacy_curve(
        Subject.from_learner(recipe), Stream((), (0, 1), (0, 0)), rounds=1, negligible=LIGHT
    )
    assert curve.delta_bounds(1.0)[1] < 1e-3
    assert curve.epsilon_lower_bound(0.0) > 0.85


def test_a_draw_priced_for_one_witness_exceeds_its_claim() -> None:
    """A mistake that names another witness moves two counts: it costs 2 · 0.8, not 0.2 + 0.8."""
    subject = Subject.from_learner(fresh_majority(watch=0.2, draw=0.8))
    curve = privacy_curve(
        subject, Stream(((1, 1), (1, 1)), (0, 1), (1, 1)), rounds=3, negligible=LIGHT
    )
    assert 1.0 < curve.epsilon_lower_bound(0.0) <= subject.claimed.epsilon == 1.6


def test_a_private_majority_with_sampled_votes() -> None:
    epoch = EpochPlan(votes=1, rate=0.5, weights=(1,), thresholds=(1, 1))
    plan = SampledPlan(threshold_epsilon=0.5, epochs=(epoch,))
    cost = plan.guarantee(delta=1e-3)
    recipe = PrivateMajority(
        concepts=Points(2), rounds=100, epsilon=cost.epsilon, delta=1e-3, plan=plan
    )
    curve = privacy_curve(
        Subject.from_learner(recipe), Stream((), (0, 1), (0, 0)), rounds=1, negligible=COARSE
    )
    assert curve.delta_bounds(cost.epsilon)[1] <= 1e-3
    assert curve.epsilon_lower_bound(1e-3) > 0.3


def tiny_forest() -> LazyForest:
    """Four pairs, two mistakes fill layer 0; then a noisy list of keys, and a turn of each."""
    cost = PrivacyGuarantee(epsilon=1.0, delta=DELTA)
    histogram = PrivateHistogram(epsilon=1.0, delta=DELTA)
    plan = ForestPlan(
        slots=8,
        packed=True,
        mistakes_per_layer=(1, 1),
        mistakes_per_slot=(1.0,),
        margins=(1, 1),
        list_thresholds=(histogram.noise_bound + 1,),
        budgets=ForestBudgets.from_listing((cost,), epsilon=2.0),
    )
    concepts = Points(2)
    return LazyForest(
        concepts=concepts,
        rounds=100,
        epsilon=2.0,
        delta=DELTA,
        base=StandardOptimal(concepts),
        plan=plan,
    )


class _Noiseless(LazyForestEngine):
    """The noise of a list is replaced by its largest value: all that occurs is listed."""

    def _update(self) -> None:
        with replaced(TruncatedLaplace, draw=lambda noise, rng: noise.bound):
            super()._update()


def test_a_tiny_forest_keeps_its_promise_and_one_without_noise_does_not() -> None:
    forest = tiny_forest()
    broken = with_engine(forest, _Noiseless)
    moved, gone = Stream(((0, 1),), (0, 1), (1, 1)), Stream(((0, 1),), (0, 1), (0, 0))
    for stream in (moved, gone):
        curve = privacy_curve(Subject.from_learner(forest), stream, rounds=2, negligible=LIGHT)
        assert curve.delta_bounds(2.0)[1] <= DELTA
    # Of 2, the layer that pays all of it: its switch, and the list that follows.
    assert curve.epsilon_lower_bound(0.0) > 1.6
    curve = privacy_curve(Subject.from_learner(broken), moved, rounds=2, negligible=LIGHT)
    assert curve.delta_bounds(2.0)[0] > DELTA


def test_a_game_that_is_longer_than_said_is_refused() -> None:
    recipe = LaplaceCount(epsilon=1.0)
    with pytest.raises(LittlestoneError, match="longer"):
        privacy_curve(
            Subject.from_release(recipe, recipe.release), Stream((), 0, 1, (0,)), rounds=1
        )


def test_a_curve_between_bounds_that_round_outwards() -> None:
    recipe = LaplaceCount(epsilon=1.0)
    curve = privacy_curve(
        Subject.from_release(recipe, recipe.release), OneQuestion(zero=0, one=1), rounds=1,
        negligible=Fraction(1, 100),
    )  # fmt: skip
    assert curve.missing > 0.001
    for epsilon in np.linspace(0, 1.5, 7).tolist():
        low, high = curve.delta_bounds(epsilon)
        truth = max(0.0, (1 - math.exp(epsilon - 1)) / (1 + Q))
        assert low <= truth <= high
    assert curve.epsilon_upper_bound(0.0) == math.inf
