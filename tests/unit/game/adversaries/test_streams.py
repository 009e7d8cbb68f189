"""Oblivious adversaries: replayed, random and drifting streams."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
from tests.battery import CLASSES
from tests.chance import hoeffding

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.multiclass import MulticlassTable
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.game.adversaries.attacks import fits
from littlestone.game.adversaries.random_stream import Drifting, RandomStream, random_concept
from littlestone.game.adversaries.replay import Examples, Replay
from littlestone.game.play import play
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.randomness import Randomness, seeded

CONCEPTS = Thresholds(50)
STREAM = [(x % 50, int(x % 50 >= 20)) for x in range(0, 7000, 7)]
FALSE_FAILURE_PROBABILITY = 1e-9


def played(adversary: Any, count: int) -> list[tuple[Any, int]]:
    attack = adversary.start(rng=seeded(3))
    return [attack.choose(None) for _ in range(count)]


@pytest.mark.parametrize(
    "stream",
    [
        STREAM,
        tuple(STREAM),
        Examples([x for x, _ in STREAM], [y for _, y in STREAM]),
        Examples(np.array([x for x, _ in STREAM]), np.array([y for _, y in STREAM])),
        lambda: iter(STREAM),
        lambda: STREAM,
    ],
    ids=["list", "tuple", "columns", "arrays", "iterator", "sequence"],
)
def test_a_stream_is_played_as_it_is_however_it_is_given(stream: Any) -> None:
    adversary = Replay(CONCEPTS, stream, realizable=True)
    assert played(adversary, 1000) == STREAM
    assert played(adversary, 1000) == STREAM  # a second start begins again
    game = play(StandardOptimal(CONCEPTS), adversary, rounds=1000, rng=seeded(1))
    assert game.regret == game.mistakes <= 5


LABELLED = [(0, 2)] * 400 + [(1, 0)] * 400 + [(1, 1)] * 400


@pytest.mark.parametrize(
    "stream",
    [LABELLED, Examples(*zip(*LABELLED, strict=True), label_count=3), lambda: LABELLED],
    ids=["list", "columns", "sequence"],
)
@pytest.mark.parametrize("blocks", [True, False])
def test_a_stream_has_the_labels_of_the_class(stream: Any, blocks: bool) -> None:
    table = MulticlassTable([[2, 2], [1, 0]])
    game = play(
        StandardOptimal(table), Replay(table, stream), rounds=1200, rng=seeded(1), blocks=blocks
    )
    assert game.fewest_mistakes == 800
    with pytest.raises(ValueError, match="label must be 0 or 1"):
        play(StandardOptimal(CONCEPTS), Replay(CONCEPTS, stream), rounds=1200, rng=seeded(1))


def test_the_best_tree_with_three_labels_is_found() -> None:
    label = {"values": ["ok", "late", "cancelled"]}
    trees = DecisionTrees(Schema.from_mapping({"a": {"grid": [0]}, "label": label}), 1)
    stream: list[Any] = [({"a": -1}, 2), ({"a": 1}, 1), ({"a": 1}, 1), ({"a": 1}, 0)] * 10
    learner = DisjointBatches(concepts=trees, rounds=40, epsilon=1.0)
    for blocks in (True, False):
        game = play(learner, Replay(trees, stream), rounds=40, rng=seeded(1), blocks=blocks)
        assert game.fewest_mistakes == 10


def test_streams_in_memory_are_values() -> None:
    arrays = Examples(np.array([x for x, _ in STREAM]), [y for _, y in STREAM])
    assert Replay(CONCEPTS, STREAM) == Replay(CONCEPTS, arrays)
    assert hash(Replay(CONCEPTS, STREAM)) == hash(Replay(CONCEPTS, arrays))
    assert Replay(CONCEPTS, STREAM) != Replay(CONCEPTS, STREAM[1:])
    assert len(repr(Replay(CONCEPTS, STREAM))) < 100


def test_changing_the_given_arrays_afterwards_changes_nothing() -> None:
    points, labels = np.array([1, 2, 3]), np.array([0, 0, 1], dtype=np.uint8)
    adversary = Replay(CONCEPTS, Examples(points, labels))
    points[:], labels[:] = 9, 1
    assert played(adversary, 3) == [(1, 0), (2, 0), (3, 1)]


@pytest.mark.parametrize("stream", [STREAM, lambda: iter(STREAM)])
@pytest.mark.parametrize("blocks", [True, False])
def test_a_stream_that_ends_too_early_says_so(stream: Any, blocks: bool) -> None:
    with pytest.raises(ValueError, match="ended after 1000 examples"):
        play(
            StandardOptimal(CONCEPTS),
            Replay(CONCEPTS, stream),
            rounds=1001,
            rng=seeded(1),
            blocks=blocks,
        )


@pytest.mark.parametrize("bad", [(50, 1), (-1, 0), (2.5, 0), (3, 2), (3, "1"), (3, None)])
def test_a_bad_stream_in_memory_is_refused_at_once(bad: Any) -> None:
    with pytest.raises(ValueError, match="got"):
        Replay(CONCEPTS, [(1, 0), bad])


def test_points_and_labels_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="equally long"):
        Examples([1, 2, 3], [0, 1])


def test_records_are_played_in_canonical_form() -> None:
    concepts = CLASSES["stumps"]
    records: list[Any] = [{"delay": delay, "carrier": "UA"} for delay in (-3, 7, 20, 99)] * 30
    stream = [(record, int(record["delay"] >= 15)) for record in records]
    adversary = Replay(concepts, stream, realizable=True)
    for blocks in (True, False):
        game = play(StandardOptimal(concepts), adversary, rounds=120, rng=seeded(1), blocks=blocks)
        assert game.mistakes <= concepts.littlestone_dimension
    assert played(adversary, 1) == [(concepts.domain.check(records[0]), 0)]


def test_a_given_concept_labels_the_random_points() -> None:
    concept = list(CONCEPTS.concepts())[17]
    stream = played(RandomStream(CONCEPTS, concept=concept), 2000)
    assert all(concept(x) == y for x, y in stream)
    assert {x for x, _ in stream} == set(range(50))


@pytest.mark.statistical
@pytest.mark.parametrize("noise_rate", [0.1, 0.4])
def test_labels_are_flipped_at_the_noise_rate(noise_rate: float, rng: Randomness) -> None:
    rounds, concept = 40_000, list(CONCEPTS.concepts())[17]
    attack = RandomStream(CONCEPTS, concept=concept, noise_rate=noise_rate).start(rng=rng)
    stream = [attack.choose(None) for _ in range(rounds)]
    share = sum(concept(x) != y for x, y in stream) / rounds
    # The two rates of this test are each other's negative control: so far apart that no share is
    # near both.
    tolerance = hoeffding(rounds)
    assert abs(0.5 - 2 * noise_rate) > 2 * tolerance
    assert abs(share - noise_rate) <= tolerance
    assert abs(share - (0.5 - noise_rate)) > tolerance


@pytest.mark.parametrize("noise_rate", [-0.1, 1, float("nan"), "0"])
def test_a_bad_noise_rate_is_refused(noise_rate: Any) -> None:
    with pytest.raises(ValueError, match="noise_rate"):
        RandomStream(CONCEPTS, noise_rate=noise_rate)


@pytest.mark.parametrize("name", CLASSES)
def test_random_concepts_belong_to_the_class(name: str, rng: Randomness) -> None:
    concepts, generator = CLASSES[name], rng.generator()
    for _ in range(5):
        concept = random_concept(concepts, generator)
        points = [x for x in concepts.domain.sample(12, generator) if fits(concepts, concept, x)]
        points += [x for x in islice(concepts.domain, 12) if fits(concepts, concept, x)]
        space = concepts.version_space()
        for x in points:
            space = space.restrict(x, concept(x))
        assert not space.is_empty


def test_random_concepts_vary(rng: Randomness) -> None:
    generator = rng.generator()
    # Each is "0 everywhere" with probability 2**-12, so all of them with 2**-480.
    found = {random_concept(Points(), generator) for _ in range(40)}
    assert len(found) > 1


def test_the_target_drifts_on_schedule() -> None:
    concepts: ConceptClass = Thresholds(2**40)
    stream = played(Drifting(concepts, period=300), 1200)
    for start in range(0, 1200, 300):
        space = concepts.version_space()
        for x, y in stream[start : start + 300]:
            space = space.restrict(x, y)
        assert not space.is_empty  # one concept labels the whole period
    whole = concepts.version_space()
    for x, y in stream:
        whole = whole.restrict(x, y)
    assert whole.is_empty


@pytest.mark.parametrize("period", [0, -5, 2.5])
def test_a_bad_period_is_refused(period: Any) -> None:
    with pytest.raises(ValueError, match="period"):
        Drifting(CONCEPTS, period=period)
