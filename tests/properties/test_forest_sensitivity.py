"""Neighbouring streams, replayed with the same coins, leave forests that differ in one pair.

The list of rounds at which layers are updated and hypotheses published stands for what was
released; the privacy proof fixes it, too (lazy_forest_engine.md, Section 2).
"""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from tests.reference.forest_array import ForestArray, Sequence

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.randomness import seeded

CONCEPTS = Thresholds(16)
DEPTH = 3
PAIRS = 32
examples = st.tuples(st.integers(0, 15), st.integers(0, 1))


def layers(stream: list[tuple[int, int]], published: list[int], seed: int) -> list[ForestArray]:
    """The forest at the end of each layer; ``published`` says which hypothesis is up when."""
    rng = seeded(seed)
    start = StandardOptimal(CONCEPTS).start()
    forest = ForestArray.of_empty_sequences(start, pairs=PAIRS, packed=False)
    hypotheses = [start.hypothesis, *CONCEPTS.concepts()]
    per_layer = len(stream) // DEPTH
    ends: list[ForestArray] = []
    for number, (x, y) in enumerate(stream):
        layer = min(number // per_layer, DEPTH - 1)
        if layer > len(ends):
            ends.append(forest)
            forest = ForestArray.placed(forest.update(rng=rng), packed=False, rng=rng)
        # Which slot is drawn must not depend on whether the published hypothesis errs.
        hypothesis = hypotheses[0] if layer == 0 else hypotheses[published[number]]
        if hypothesis(x) != y:
            forest.insert(hypothesis, x, y, slots=PAIRS >> layer, rng=rng)
        else:
            rng.below(PAIRS >> layer)
    return [*ends, forest]


def pairs(forest: ForestArray) -> list[tuple[Sequence, Sequence, bool]]:
    both = zip(forest.sequences[::2], forest.sequences[1::2], strict=True)
    return [(*siblings, split) for siblings, split in zip(both, forest.split, strict=True)]


Worlds = tuple[list[tuple[int, int]], list[tuple[int, int]]]


@st.composite
def neighbours(draw: st.DrawFn) -> Worlds:
    """Two streams that differ in one example."""
    stream = draw(st.lists(examples, min_size=90, max_size=120))
    position, replacement = draw(st.integers(0, 89)), draw(examples)
    return stream, [*stream[:position], replacement, *stream[position + 1 :]]


WORLDS = given(
    worlds=neighbours(),
    published=st.lists(st.integers(0, 17), min_size=120, max_size=120),
    seed=st.integers(0, 2**32),
)


@WORLDS
def test_one_example_changes_one_pair_per_layer(
    worlds: Worlds, published: list[int], seed: int
) -> None:
    for one, other in zip(*(layers(world, published, seed) for world in worlds), strict=True):
        differing = [a != b for a, b in zip(pairs(one), pairs(other), strict=True)]
        assert sum(differing) <= 1


@WORLDS
def test_one_example_changes_one_count_of_a_new_layer_by_one(
    worlds: Worlds, published: list[int], seed: int
) -> None:
    created = []
    for world in worlds:
        last = layers(world, published, seed)[-1]
        rng = seeded(seed + 1)
        created.append(ForestArray.placed(last.update(rng=rng), packed=False, rng=rng))
    one, other = created
    different = [a != b for a, b in zip(one.sequences, other.sequences, strict=True)]
    assert sum(different) <= 1
    votes, neighbours = one.agreeing(), other.agreeing()
    change = Counter({h: votes[h] - neighbours[h] for h in votes | neighbours})
    assert sum(map(abs, change.values())) <= 1  # added or removed, never replaced


def test_the_replay_would_notice_a_second_changed_pair() -> None:
    """The control: coins drawn for mistakes only send all later examples elsewhere."""
    start = StandardOptimal(CONCEPTS).start()

    def routed_by_mistakes(world: list[tuple[int, int]]) -> ForestArray:
        forest, rng = ForestArray.of_empty_sequences(start, pairs=PAIRS, packed=False), seeded(1)
        for x, y in world:
            if start.hypothesis(x) != y:
                forest.insert(start.hypothesis, x, y, slots=PAIRS, rng=rng)
        return forest

    stream = [(0, 1), (3, 1)] * 10
    worlds = [routed_by_mistakes(world) for world in (stream, [(0, 0), *stream[1:]])]
    assert sum(a != b for a, b in zip(*map(pairs, worlds), strict=True)) > 1
