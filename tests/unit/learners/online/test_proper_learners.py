"""Proper online learners: the past alone decides the distribution; regret on every stream."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chance import hoeffding

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.losses.label_counts import tallied
from littlestone.concepts.protocols import ConceptClass
from littlestone.game.adversaries.random_stream import Drifting
from littlestone.game.play import play
from littlestone.learners.online.critical_game import CriticalGame, greedy_cover, minimax
from littlestone.learners.online.proper import (
    HedgeLearner,
    ListedHedgeState,
    TalliedHedgeState,
)
from littlestone.learners.online.proper_agnostic import ProperAgnostic
from littlestone.randomness import Randomness, seeded

LONG = Thresholds(5000)
SCATTERED = FiniteClass(np.random.default_rng(3).integers(2, size=(10, 6)))
CLASSES: list[ConceptClass] = [Thresholds(7), Points(6), Intervals(5), SCATTERED]
LEARNERS = [
    pytest.param(kind(concepts=concepts, rounds=300), id=f"{kind.__name__}-{concepts!r}")
    for concepts in CLASSES
    for kind in (HedgeLearner, ProperAgnostic)
]


def regret_on(learner: Any, stream: list[tuple[int, int]]) -> float:
    state, expected = learner.begin(), 0.0
    for x, y in stream:
        expected += state.error_probability(x, y)
        state = state.after(x, y)
    best = min(sum(h(x) != y for x, y in stream) for h in learner.concepts.concepts())
    return expected - best


def hostile_stream(learner: Any, rounds: int) -> list[tuple[int, int]]:
    """The point on which the learner is least sure, with the label it expects less."""
    state, stream = learner.begin(), []
    for number in range(rounds):
        points = list(learner.concepts.domain)
        points = points[number % len(points) :] + points[: number % len(points)]
        x = max(points, key=lambda x: min(state.error_probability(x, y) for y in (0, 1)))
        y = max((0, 1), key=lambda y: state.error_probability(x, y))
        stream.append((x, y))
        state = state.after(x, y)
    return stream


@pytest.mark.parametrize("learner", LEARNERS)
def test_regret_stays_within_the_bound_on_a_hostile_stream(learner: Any) -> None:
    stream = hostile_stream(learner, 60)
    assert (
        regret_on(learner.for_rounds(60), stream) <= learner.for_rounds(60).expected_regret_bound()
    )


@pytest.mark.parametrize("kind", [HedgeLearner, ProperAgnostic])
@given(stream=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=40))
def test_regret_stays_within_the_bound_on_every_stream(
    kind: Any, stream: list[tuple[int, int]]
) -> None:
    learner = kind(concepts=SCATTERED, rounds=len(stream))
    assert regret_on(learner, stream) <= learner.expected_regret_bound() + 1e-9


def test_a_learner_that_never_learns_breaks_the_bound() -> None:
    learner = HedgeLearner(concepts=Points(6), rounds=300)
    frozen = HedgeLearner(concepts=Points(6), rounds=300, rate=1e-12)
    assert regret_on(frozen, [(3, 1)] * 300) > learner.expected_regret_bound()


DRAWS = 1500
# A frequency strays further than this with probability at most 5e-10 (Hoeffding).
SLACK = hoeffding(DRAWS, frequencies=2)


@pytest.mark.statistical
@pytest.mark.parametrize("learner", LEARNERS)
def test_error_probabilities_are_those_of_the_draws(learner: Any, rng: Randomness) -> None:
    state = learner.begin()
    for number in range(60):
        state = state.after(number % 2, 1)
    drawn = [state.draw(rng=rng) for _ in range(DRAWS)]
    for x in (0, 3):
        wrong = sum(h(x) == 0 for h in drawn) / DRAWS
        assert abs(wrong - state.error_probability(x, 1)) <= SLACK
        assert state.error_probability(x, 0) + state.error_probability(x, 1) == pytest.approx(1)


@pytest.mark.statistical
def test_draws_from_a_long_range_have_their_law(rng: Randomness) -> None:
    state = HedgeLearner(concepts=LONG, rounds=100).begin()
    for number in range(40):
        state = state.after(900 + number, int(number > 9))
    drawn = [state.draw(rng=rng) for _ in range(DRAWS)]
    for x in (905, 930):
        wrong = sum(h(x) == 0 for h in drawn) / DRAWS
        assert abs(wrong - state.error_probability(x, 1)) <= SLACK


@pytest.mark.statistical
def test_draws_that_ignore_the_examples_are_noticed(rng: Randomness) -> None:
    state = HedgeLearner(concepts=Thresholds(7), rounds=300).begin()
    drawn = [state.draw(rng=rng) for _ in range(DRAWS)]  # 7 of 8 thresholds err on (0, 1)
    for _ in range(60):
        state = state.after(0, 1)
    assert state.error_probability(0, 1) < 0.01
    assert 2 * SLACK + 0.01 < 7 / 8
    assert sum(h(0) == 0 for h in drawn) / DRAWS > SLACK + 0.01


@pytest.mark.parametrize("learner", LEARNERS)
def test_draws_are_concepts_and_leave_the_state_alone(learner: Any, rng: Randomness) -> None:
    members = set(learner.concepts.concepts())
    state = learner.begin().after(1, 1)
    before = state.error_probability(2, 0)
    assert {state.draw(rng=rng) for _ in range(50)} <= members
    assert state.error_probability(2, 0) == before
    assert learner.begin().after(1, 1).error_probability(2, 0) == before


def test_a_structured_class_has_the_weights_of_its_list() -> None:
    for concepts in (Thresholds(7), Points(7), Intervals(7)):
        learner = HedgeLearner(concepts=concepts, rounds=50)
        other = learner.begin()
        one = TalliedHedgeState(concepts, learner._rate, tallied(concepts, []))
        assert isinstance(other, ListedHedgeState)
        for number in range(30):
            x, y = number * 3 % 7, number % 2
            assert one.error_probability(x, y) == pytest.approx(other.error_probability(x, y))
            one, other = one.after(x, y), other.after(x, y)


def test_classes_on_other_points_are_welcome(rng: Randomness) -> None:
    concepts = Conjunctions(2)
    for learner in (
        HedgeLearner(concepts=concepts, rounds=9),
        ProperAgnostic(concepts=concepts, rounds=9),
    ):
        state = learner.begin().after((0, 1), 1)
        assert state.error_probability((0, 1), 1) < learner.begin().error_probability((0, 1), 1)
        assert state.draw(rng=rng) in set(concepts.concepts())


def test_every_point_has_at_most_one_label_that_keeps_the_dimension() -> None:
    game = CriticalGame(SCATTERED, 0.1)
    for members in range(1, 1 << SCATTERED.size, 7):
        points = [x for x, _ in game.critical(members)]
        assert len(points) == len(set(points))


def test_covers_cover_and_leaves_err_little() -> None:
    points = FiniteClass.from_class(Points(12))
    game = CriticalGame(points, 0.2)
    no_zero = points.version_space().members & ~1  # without "0 everywhere" the value is 1/|V|
    assert game.cover(no_zero) == ()
    few = no_zero & ((1 << 4) - 1)  # three points: 1/3 exceeds the tolerance
    cover = game.cover(few)
    assert cover and all(game.dimension(part) < game.dimension(few) for part in cover)
    union = 0
    for part in cover:
        union |= part
    assert union == few
    assert sum(share for _, share in game.leaves_of(few)) == pytest.approx(1)
    with pytest.raises(ValueError, match="not a leaf"):
        game.leaf(few)


def test_greedy_covers_hit_every_row() -> None:
    hits = np.random.default_rng(1).random((40, 9)) < 0.3
    hits[:, 0] |= ~hits.any(axis=1)
    assert hits[:, greedy_cover(hits)].any(axis=1).all()


def test_minimax_is_the_value_of_matching_pennies() -> None:
    weights = minimax(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert weights == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("kind", [HedgeLearner, ProperAgnostic])
def test_it_plays_in_the_game(kind: Any) -> None:
    learner = kind(concepts=Thresholds(15), rounds=200)
    game = play(learner, Drifting(Thresholds(15), period=40), rounds=200, rng=seeded(3))
    assert game.regret is not None and game.regret <= 200
    assert kind(concepts=FiniteClass([[0, 1]]), rounds=5).expected_regret_bound() == 0


def test_infinite_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="finitely many"):
        HedgeLearner(concepts=Points(), rounds=10)
    with pytest.raises(ValueError, match="finitely many"):
        ProperAgnostic(concepts=Points(), rounds=10)
