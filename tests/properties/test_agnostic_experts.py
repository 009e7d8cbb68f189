"""[BPS09]: experts that imitate every concept, and their weights without listing them."""

from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chance import fewest_successes, hoeffding, most_failures
from tests.reference.agnostic_experts import (
    AgnosticExperts,
    StateWeights,
)
from tests.reference.listed_experts import (
    all_flips,
    expert_labels,
    expert_states,
    imitating_flips,
)

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.classes.version_spaces import subsets_up_to
from littlestone.errors import HorizonExceededError
from littlestone.game.adversaries.random_stream import RandomStream
from littlestone.game.play import play
from littlestone.game.protocols import OnlineLearner, OnlineState
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.randomness import Randomness

POINTS = 4
matrices = st.lists(
    st.lists(st.integers(0, 1), min_size=POINTS, max_size=POINTS), min_size=1, max_size=8
)
streams = st.lists(st.integers(0, POINTS - 1), min_size=1, max_size=14)
labelled = st.lists(
    st.tuples(st.integers(0, POINTS - 1), st.integers(0, 1)), min_size=1, max_size=6
)
learners = st.sampled_from([StandardOptimal, SparseMajority])


@given(matrix=matrices, xs=streams, learner=learners, data=st.data())
def test_some_expert_says_what_the_concept_says(
    matrix: list[list[int]], xs: list[int], learner: type[OnlineLearner], data: st.DataObject
) -> None:
    concepts = FiniteClass(matrix)
    base: OnlineLearner = learner(concepts)  # type: ignore[call-arg]
    concept = data.draw(st.sampled_from(list(concepts.concepts())))
    flips = imitating_flips(base, concept, xs)
    assert len(flips) <= base.mistake_bound
    assert expert_labels(base, flips, xs) == [concept(x) for x in xs]
    # If hypotheses are published, which cannot be flipped, only the flips themselves are lost.
    shown = [
        state.hypothesis(x) for state, x in zip(expert_states(base, flips, xs), xs, strict=True)
    ]
    assert sum(said != concept(x) for said, x in zip(shown, xs, strict=True)) == len(flips)


@given(
    matrix=matrices, examples=labelled, factor=st.fractions(Fraction(1, 9), 1, max_denominator=9)
)
def test_weights_by_states_are_those_of_all_experts_listed(
    matrix: list[list[int]], examples: list[tuple[int, int]], factor: Fraction
) -> None:
    base = StandardOptimal(FiniteClass(matrix))
    xs, rounds = [x for x, _ in examples], len(examples)
    listed = [
        list(expert_states(base, flips, [*xs, 0]))
        for flips in all_flips(rounds, base.mistake_bound)
    ]
    assert len(listed) == subsets_up_to(rounds, base.mistake_bound)
    weights = [Fraction(1, len(listed))] * len(listed)
    by_states = StateWeights(base, rounds=rounds, factor=factor)
    for t, (x, y) in enumerate(examples):
        expected: dict[OnlineState, Fraction] = defaultdict(Fraction)
        for expert, weight in zip(listed, weights, strict=True):
            expected[expert[t]] += weight
        assert by_states.by_state() == expected
        by_states.observe(x, y)
        weights = [
            weight * factor if expert[t].hypothesis(x) != y else weight
            for expert, weight in zip(listed, weights, strict=True)
        ]
    assert sum(by_states.by_state().values()) == sum(weights)


@pytest.mark.statistical
def test_regret_stays_below_the_bound(rng: Randomness) -> None:
    # The draws are independent given the past: Azuma–Hoeffding.
    rounds = 2000
    recipe = AgnosticExperts(concepts=Thresholds(7), rounds=rounds)
    foe = RandomStream(Thresholds(7), noise_rate=0.1)
    game = play(recipe, foe, rounds=rounds, rng=rng)
    limit = recipe.expected_regret_bound() + rounds * hoeffding(rounds)
    assert game.known_regret <= limit
    # Who tosses a coin errs in half of the rounds; the best errs where labels are flipped, at most.
    assert fewest_successes(rounds, 0.5) - most_failures(rounds, 0.1) > limit


def test_a_run_ends_with_its_horizon(rng: Randomness) -> None:
    run = AgnosticExperts(concepts=Thresholds(7), rounds=2).start(rng=rng)
    run.observe(3, 1)
    with pytest.raises(ValueError, match="label"):
        run.observe(3, 2)
    run.observe(3, 1)
    with pytest.raises(HorizonExceededError):
        run.observe(3, 1)


def test_weights_stay_finite_over_many_flips(rng: Randomness) -> None:
    recipe = AgnosticExperts(concepts=SparseSets(80), rounds=10**6)
    assert recipe.experts > 10**308
    run = recipe.start(rng=rng)
    for x in (5, 7, 9):
        run.observe(x, 1)
