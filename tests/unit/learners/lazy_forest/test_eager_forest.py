"""The eager forest: the invariant of its trees, one example one tree, and learning."""

from collections import Counter
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.audit.grey_box import check_sensitivity
from littlestone.audit.visits import SensitivityError
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.adversaries.replay import Replay
from littlestone.game.play import play
from littlestone.learners.lazy_forest import eager_forest
from littlestone.learners.lazy_forest.eager_forest import ROOT, EagerForest, TournamentTree
from littlestone.learners.lazy_forest.fresh_copies import FreshCopies
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.privacy.mechanisms.frequent_release import FrequentRelease
from littlestone.randomness import Randomness, seeded

CONCEPTS = Thresholds(7)
EXAMPLES = st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 1))


def small_forest(**changes: Any) -> EagerForest:
    settings: dict[str, Any] = {
        "concepts": CONCEPTS,
        "rounds": 10_000,
        "epsilon": 8.0,
        "delta": 1e-3,
        "trees": 40,
        "leaves": 4,
        "release": FrequentRelease(epsilon=8.0, delta=1e-3, selections=4, rare_below=20),
        "base": StandardOptimal(CONCEPTS),
    }
    return EagerForest(**{**settings, **changes})


def height(tree: TournamentTree, node: int) -> int:
    return tree.leaves.bit_length() - node.bit_length()


@given(examples=st.lists(EXAMPLES, max_size=40), seed=st.integers(0, 1000))
def test_every_leaf_keeps_exactly_one_pertinent_ancestor(
    examples: list[tuple[int, int, int]], seed: int
) -> None:
    tree = TournamentTree.fresh(4, StandardOptimal(CONCEPTS).start(), seeded(seed))
    for leaf, x, y in examples:
        tree.insert(leaf, x, y)
        for node in range(4, 8):
            above = [node >> up for up in range(3)]
            assert sum(ancestor in tree.pertinent for ancestor in above) == 1


@given(examples=st.lists(EXAMPLES, max_size=40), seed=st.integers(0, 1000))
def test_a_node_of_height_r_has_lost_r_dimensions(
    examples: list[tuple[int, int, int]], seed: int
) -> None:
    """Every step up adds a mistake, and a mistake of the SOA costs a dimension."""
    start = StandardOptimal(CONCEPTS).start()
    tree = TournamentTree.fresh(4, start, seeded(seed))
    for leaf, x, y in examples:
        tree.insert(leaf, x, y)
    state: Any
    for node, state in tree.pertinent.items():
        lost = CONCEPTS.littlestone_dimension - state.consistent.dimension
        assert state.failed or lost >= height(tree, node)
    assert tree.shown in tree.pertinent or tree.shown == ROOT


@given(
    stream=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1)), min_size=1, max_size=60),
    instead=st.tuples(st.integers(0, 6), st.integers(0, 1)),
    seed=st.integers(0, 1000),
    data=st.data(),
)
def test_one_example_reaches_one_tree(
    stream: list[tuple[int, int]], instead: tuple[int, int], seed: int, data: st.DataObject
) -> None:
    changed = data.draw(st.integers(0, len(stream) - 1))
    check_sensitivity(small_forest(), stream, changed_round=changed, instead=instead, seed=seed)


def test_routing_by_the_example_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a forest that sends every example to two trees."""

    class Twice(eager_forest.Forest):
        def insert(self, x: Any, y: int) -> None:
            super().insert(x, y)
            super().insert(x, y)

    monkeypatch.setattr(eager_forest, "Forest", Twice)
    forest = small_forest(trees=4, leaves=2)
    stream = [(3, 1), (2, 0)] * 10
    with pytest.raises(SensitivityError):
        for seed in range(20):
            check_sensitivity(forest, stream, changed_round=0, instead=(3, 0), seed=seed)


def test_the_counts_always_equal_what_the_trees_show(rng: Randomness) -> None:
    engine = small_forest().engine(rng)
    engine.begin()
    generator = rng.generator()
    for _ in range(300):
        engine.step(int(generator.integers(7)), int(generator.integers(2)))
        forest = engine._forest
        grown = Counter(tree.display for tree in forest.grown.values())
        untouched = forest.trees - len(forest.grown)
        grown[forest.base.start().hypothesis] += untouched
        assert +forest.shown == Counter({h: n for h, n in grown.items() if h is not None})


def test_it_finds_the_point_on_an_oblivious_stream() -> None:
    concepts = Points()
    learner = EagerForest(concepts=concepts, rounds=30_000, epsilon=1.0, delta=1e-6)
    game = play(learner, Replay(concepts, [("a", 1)] * 30_000), rounds=30_000, rng=seeded(1))
    assert 0 < game.mistakes < 15_000


def test_fresh_copies_find_the_point_when_epsilon_is_large() -> None:
    concepts = Points()
    learner = FreshCopies(concepts=concepts, rounds=300, epsilon=100.0, delta=1e-3)
    game = play(learner, Replay(concepts, [("a", 1)] * 300), rounds=300, rng=seeded(1))
    assert 0 < game.mistakes < 200


@pytest.mark.parametrize(
    "recipe",
    [
        small_forest(),
        FreshCopies(concepts=CONCEPTS, rounds=200, epsilon=50.0, delta=1e-3),
    ],
    ids=["eager-forest", "fresh-copies"],
)
def test_a_snapshot_continues_identically(recipe: Any) -> None:
    run = recipe.start(rng=seeded(5))
    stream = [(x % 7, int(x % 7 >= 3)) for x in range(60)]
    for x, y in stream[:30]:
        run.observe(x, y)
    restored = recipe.restore(run.snapshot())
    for x, y in stream[30:]:
        run.observe(x, y)
        restored.observe(x, y)
        assert restored.hypothesis == run.hypothesis
    assert restored.status == run.status


@pytest.mark.parametrize("kind", ["eager", "fresh"])
def test_keys_that_json_does_not_know_cause_no_error(kind: str) -> None:
    """An error would tell that some tree has met such a key."""
    concepts = Points()
    learner: Any = (
        small_forest(concepts=concepts, base=StandardOptimal(concepts), trees=8, leaves=2)
        if kind == "eager"
        else FreshCopies(concepts=concepts, rounds=60, epsilon=100.0, delta=1e-3, trees=40)
    )
    for seed in range(5):
        run = learner.start(rng=seeded(seed))
        for _ in range(60):
            run.observe(date(2024, 2, 29), 1)
        assert run.rounds_played == 60


def test_the_deltas_of_fresh_copies_stay_below_the_promise() -> None:
    for rounds in range(1, 60):
        learner = FreshCopies(concepts=Points(), rounds=rounds, epsilon=5.0, delta=0.1)
        spent = Fraction(learner.histogram().delta) * rounds + Fraction(0.1) / 2
        assert spent <= Fraction(0.1)


def test_a_release_beyond_the_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="within the budget"):
        small_forest(epsilon=7.9)
    with pytest.raises(ValueError, match="leaves"):
        small_forest(leaves=3)


def test_a_user_with_two_examples_pays_twice() -> None:
    learner = EagerForest(concepts=Points(), rounds=100, epsilon=0.5, delta=1e-6)
    assert replace(learner, max_contributions=2).guarantee().epsilon == 1.0


@pytest.mark.parametrize("kind", [EagerForest, FreshCopies])
def test_another_horizon_keeps_what_was_chosen_and_plans_the_rest(kind: Any) -> None:
    basics: dict[str, Any] = {"concepts": CONCEPTS, "epsilon": 8.0, "delta": 1e-3}
    planned, longer = kind(rounds=100, **basics), kind(rounds=2000, **basics)
    assert planned.for_rounds(2000) == longer
    assert planned.for_rounds(2000).plan == longer.plan != planned.plan
    chosen = kind(rounds=100, trees=40, **basics).for_rounds(2000)
    assert (chosen.plan.trees, chosen.rounds) == (40, 2000)
    assert chosen.plan.leaves == planned.plan.leaves == 8


def test_a_chosen_failure_probability_survives_another_horizon() -> None:
    basics: dict[str, Any] = {"concepts": CONCEPTS, "epsilon": 8.0, "delta": 1e-3}
    careful = EagerForest(rounds=100, failure_probability=1e-6, **basics)
    longer = careful.for_rounds(2000)
    assert longer == EagerForest(rounds=2000, failure_probability=1e-6, **basics)
    assert isinstance(longer, EagerForest)
    assert longer.plan != EagerForest(rounds=2000, **basics).plan
