"""AgnosticFinite: runs keep their duties, one example moves little."""

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.errors import HorizonExceededError
from littlestone.game.adversaries.boundary import Boundary
from littlestone.game.adversaries.random_stream import RandomStream
from littlestone.game.play import play
from littlestone.learners.agnostic_finite.recipe import MOST_CONCEPTS, AgnosticFinite
from littlestone.learners.experts.exponential_weights import ExponentialWeights, Hedge
from littlestone.learners.experts.protocols import Batches
from littlestone.learners.experts.realizable_experts import RealizableExperts
from littlestone.learners.run import PrivateRun
from littlestone.privacy.composition import user_level
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.incremental_selection import IncrementalSelectionRun
from littlestone.randomness import seeded

SCHEMA = Schema.from_mapping(
    {"delay": {"grid": [0, 15, 30]}, "hour": {"grid": [12]}, "carrier": {"values": ["UA", "AA"]}}
)
CLASSES: dict[str, ConceptClass] = {
    "thresholds": Thresholds(9),
    "points": Points(7),
    "intervals": Intervals(6),
    "table": FiniteClass(np.random.default_rng(3).integers(2, size=(12, 6))),
    "stumps": Stumps(SCHEMA, depth=2),
    "sparse-sets": SparseSets(2, 5),
    "conjunctions": Conjunctions(3),
    "trees": DecisionTrees(SCHEMA, 1),
}
every_class = pytest.mark.parametrize("concepts", CLASSES.values(), ids=CLASSES)


def examples(concepts: ConceptClass, count: int, seed: int = 1) -> tuple[list[Any], list[int]]:
    generator = np.random.default_rng(seed)
    return list(concepts.domain.sample(count, generator)), generator.integers(
        2, size=count
    ).tolist()


def learner(concepts: ConceptClass, **given: Any) -> AgnosticFinite:
    sizes = {"rounds": 300, "epsilon": 2.0, "delta": 1e-4, **given}
    return AgnosticFinite(concepts=concepts, **sizes)


@every_class
@pytest.mark.parametrize("adversary", ["adaptive", "oblivious"])
def test_blocks_are_played_like_single_rounds(concepts: ConceptClass, adversary: str) -> None:
    recipe = learner(concepts, adversary=adversary)
    xs, ys = examples(concepts, 300)
    singly, blocks = recipe.start(rng=seeded(5)), recipe.start(rng=seeded(5))
    published = []
    for x, y in zip(xs, ys, strict=True):
        published.append(singly.hypothesis)
        singly.observe(x, y)
    again: list[Any] = []
    while len(again) < 300:
        rule, played = blocks.hypothesis, len(again)
        again += [rule] * blocks.observe_many(xs[played : played + 77], ys[played : played + 77])
    assert again == published
    assert singly.switches == blocks.switches


@every_class
@pytest.mark.parametrize("adversary", ["adaptive", "oblivious"])
def test_a_restored_run_continues_identically(concepts: ConceptClass, adversary: str) -> None:
    recipe = learner(concepts, adversary=adversary)
    xs, ys = examples(concepts, 300)
    run = recipe.start(rng=seeded(6))
    for x, y in zip(xs[:120], ys[:120], strict=True):
        run.observe(x, y)
    restored = recipe.restore(run.snapshot())
    for x, y in zip(xs[120:], ys[120:], strict=True):
        assert restored.hypothesis == run.hypothesis
        run.observe(x, y)
        restored.observe(x, y)
    assert (restored.switches, restored.status) == (run.switches, run.status)
    assert restored.ledger.spent() == run.ledger.spent()


def test_what_is_published_is_a_concept_of_the_class() -> None:
    concepts = Intervals(12)
    run = learner(concepts).start(rng=seeded(1))
    known = set(concepts.concepts())
    for x, y in zip(*examples(concepts, 200), strict=True):
        assert run.hypothesis in known
        run.observe(x, y)


def test_adaptive_adversaries_are_refused_by_name() -> None:
    concepts = Thresholds(9)
    oblivious = learner(concepts, adversary="oblivious")
    with pytest.raises(ValueError, match="AgnosticFinite promises accuracy against oblivious"):
        play(oblivious, Boundary(concepts), rounds=20, rng=seeded(1))
    play(oblivious, Boundary(concepts), rounds=20, rng=seeded(1), even_if_oblivious_only=True)
    play(learner(concepts), Boundary(concepts), rounds=20, rng=seeded(1))


def test_regret_stays_below_the_bound_on_noisy_thresholds() -> None:
    # The bound is on the mean, and the adversary is far from the worst: a fixed seed suffices.
    concepts = Thresholds(63)
    for adversary in ("adaptive", "oblivious"):
        recipe = learner(concepts, rounds=5000, adversary=adversary)
        played = play(recipe, RandomStream(concepts, noise_rate=0.2), rounds=5000, rng=seeded(2))
        assert played.regret is not None and played.regret < recipe.expected_regret_bound()
        assert (
            recipe.expected_regret_bound() < recipe.regret_bound(failure_probability=0.01) <= 5000
        )


def test_oblivious_adversaries_cost_less() -> None:
    concepts = Thresholds(63)
    adaptive, oblivious = (
        learner(concepts, rounds=10**5, epsilon=1.0, adversary=adversary)
        for adversary in ("adaptive", "oblivious")
    )
    assert oblivious.expected_regret_bound() < adaptive.expected_regret_bound() / 4


def test_another_recipe_for_experts_can_be_given() -> None:
    concepts = Thresholds(9)
    growing = ExponentialWeights(
        experts=10, rounds=300, epsilon=2.0, delta=1e-4, batches=Batches(first=5, growth=1.5)
    )
    recipe = learner(concepts, adversary="oblivious", experts=growing)
    assert recipe.expected_regret_bound() == growing.expected_regret_bound()
    assert recipe.oblivious_only
    assert recipe.for_rounds(77).prediction == growing.for_rounds(77)
    realizable = RealizableExperts(experts=10, rounds=300, epsilon=2.0, delta=1e-4)
    run = learner(concepts, adversary="oblivious", experts=realizable).start(rng=seeded(1))
    for x, y in zip(*examples(concepts, 300), strict=True):
        run.observe(x, y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rounds": 0}, "rounds must be at least 1"),
        ({"adversary": "kind"}, "adversary must be 'adaptive' or 'oblivious'"),
        ({"concepts": Points()}, "concepts must have at most"),
        ({"concepts": Thresholds(MOST_CONCEPTS)}, "concepts must have at most"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"delta": 0.0}, "delta must lie"),
        ({"experts": Hedge(experts=10, rounds=300)}, "experts must be private"),
        (
            {"experts": ExponentialWeights(experts=9, rounds=300, epsilon=2.0, delta=1e-4)},
            "experts must be for 10 experts",
        ),
        (
            {"experts": ExponentialWeights(experts=10, rounds=300, epsilon=9.0, delta=1e-4)},
            "experts must be private within",
        ),
        (
            {"experts": RealizableExperts(experts=10, rounds=300, epsilon=2.0, delta=1e-4)},
            "experts must promise regret against adaptive",
        ),
    ],
)
def test_bad_recipes_are_refused_by_name(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learner(**{"concepts": Thresholds(9), **given})


def test_bad_examples_are_refused_without_effect() -> None:
    recipe = learner(Thresholds(9), rounds=3)
    run = recipe.start(rng=seeded(3))
    for bad in ((9, 1), ("x", 0), (3, 2), (3, None)):
        with pytest.raises(ValueError, match=r"x must|label must"):
            run.observe(*bad)
    assert run.rounds_played == 0
    while run.rounds_played < 3:  # a block that is too long is cut
        run.observe_many([1, 2, 3, 4], [0, 1, 0, 1])
    with pytest.raises(HorizonExceededError):
        run.observe(1, 1)


def test_the_promise_is_per_user() -> None:
    one, five = (learner(Thresholds(9), max_contributions=k) for k in (1, 5))
    assert one.guarantee().within(PrivacyGuarantee(epsilon=2.0, delta=1e-4))
    assert five.guarantee() == user_level(
        one.guarantee(), max_contributions=5, concentrated=one.concentrated
    )
    assert five.start(rng=seeded(1)).ledger.budget == five.per_example == one.per_example


class Records:
    """Draws that are decided beforehand, so that two worlds publish the same."""

    def __init__(self, choices: list[int]) -> None:
        self.choices = iter(choices)
        self.scores: list[list[int]] = []

    def draw(self, run: IncrementalSelectionRun) -> int:
        self.scores.append(run._scores.as_array().tolist())
        return next(self.choices)


@every_class
@pytest.mark.parametrize("batches", [Batches(), Batches(first=4)], ids=["fresh", "batched"])
def test_one_example_moves_each_total_by_at_most_one(
    concepts: ConceptClass, batches: Batches
) -> None:
    assert concepts.size is not None
    experts = ExponentialWeights(
        experts=concepts.size, rounds=60, epsilon=2.0, delta=1e-4, batches=batches
    )
    recipe = learner(concepts, rounds=60, adversary="oblivious", experts=experts)
    xs, ys = examples(concepts, 61)
    choices = np.random.default_rng(1).integers(concepts.size, size=61).tolist()

    def scores_with(stream: list[tuple[Any, int]]) -> list[list[int]]:
        records = Records(choices)
        with mock.patch.object(IncrementalSelectionRun, "draw", lambda run: records.draw(run)):
            run: PrivateRun = recipe.start(rng=seeded(1))
            for x, y in stream:
                run.observe(x, y)
        return records.scores

    stream = list(zip(xs[:60], ys[:60], strict=True))
    neighbour = [*stream]
    neighbour[20] = (xs[60], 1 - ys[20])
    first, second = scores_with(stream), scores_with(neighbour)
    assert len(first) == len(second) == batches.count(60)
    changes = [np.subtract(b, a) for a, b in zip(first, second, strict=True)]
    drawn_before = -(-21 // batches.first)
    assert all(not change.any() for change in changes[:drawn_before])
    assert all(np.abs(change).max() <= 1 for change in changes)
    assert all((change == changes[-1]).all() for change in changes[drawn_before:])


def test_a_run_whose_batches_are_too_long_is_refused_at_once() -> None:
    """It took 20 seconds and a gigabyte to draw the first of them."""
    recipe = AgnosticFinite(
        concepts=Thresholds(16), rounds=10**15, epsilon=1.0, delta=1e-6, adversary="oblivious"
    )
    with pytest.raises(ValueError, match="rounds must be fewer"):
        recipe.start()
    with pytest.raises(ValueError, match="rounds must be fewer"):
        recipe.refuse_to_start()
    replace(recipe, rounds=10**9, experts=None).refuse_to_start()
