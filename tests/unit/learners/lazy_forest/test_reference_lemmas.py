"""What the paper proves of its algorithms, tested of the printed ones."""

import itertools
import math
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.learners.lazy_forest import reference
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.randomness import Randomness, seeded
from littlestone.randomness.word_sources import Seeded


class Replayed(Randomness):
    """Darts and permutations of a seed; one answer for all guesses, so that two worlds share it."""

    __slots__ = ("_guess",)

    def __init__(self, seed: int, guess: int) -> None:
        super().__init__(Seeded(np.random.SeedSequence(seed)))
        self._guess = guess

    def coin(self) -> int:
        return self._guess


def layers_of(
    concepts: Any, stream: list[tuple[int, int]], rng: Randomness, *, slots: int
) -> list[reference.Sequences]:
    """The layers as Update created them, each after a third of the stream, whatever it says."""
    created, update = list[reference.Sequences](), reference.update
    third, rounds = len(stream) // 3, itertools.count(1)

    class Timed:
        def observe(self, bit: bool) -> bool:
            del bit
            return next(rounds) % third == 0

    def recorded(sequences: Any, soa: Any, rng: Any) -> Any:
        children = update(sequences, soa, rng)
        created.append(dict(children))  # as created: later, both of a pair may differ (R6)
        return children

    # Public lists: the same in both worlds, as the lemma has it.
    listed = concepts.version_space().standard_optimal()
    learning = reference.realizable_learner(
        concepts,
        T=len(stream),
        ε=1.0,
        δ=0.1,
        β=0.1,
        N_0=slots,
        above_threshold=lambda ε, τ: Timed(),
        private_histogram=lambda ε, δ, votes: {listed: slots},
        rng=rng,
    )
    next(learning)
    with suppress(StopIteration), patch.object(reference, "update", recorded):
        for example in stream:
            learning.send(example)
    return created


CONCEPTS = Thresholds(6)
EXAMPLES = st.tuples(st.integers(0, 5), st.integers(0, 1))


@given(
    stream=st.lists(EXAMPLES, min_size=30, max_size=30),
    instead=EXAMPLES,
    position=st.integers(0, 29),
    seed=st.integers(0, 100),
    guess=st.integers(0, 1),
)
def test_one_example_changes_one_sequence_of_each_new_layer(
    stream: list[tuple[int, int]], instead: tuple[int, int], position: int, seed: int, guess: int
) -> None:
    """[P, Lemma realizable_privacy], as corrected in docs/ERRATA.md, R6."""
    other = [*stream[:position], instead, *stream[position + 1 :]]
    for here, there in zip(
        layers_of(CONCEPTS, stream, Replayed(seed, guess), slots=16),
        layers_of(CONCEPTS, other, Replayed(seed, guess), slots=16),
        strict=True,
    ):
        assert sum(here[i] != there[i] for i in here) <= 1


def examples(sequence: reference.Sequence) -> list[tuple[Any, int]]:
    return list(sequence or ())


def test_layer_s_has_s_mistakes_in_a_sequence_and_layer_d_the_target() -> None:
    """The two facts about the SOA that end the proof of [P, Lemma realizable_utility]."""
    soa: Any = reference.standard_optimal(CONCEPTS)
    reached = 0
    for seed, target in itertools.product(range(5), range(7)):
        points = np.random.default_rng(seed).integers(6, size=900).tolist()
        stream = [(x, int(x >= target)) for x in points]
        layers = layers_of(CONCEPTS, stream, seeded(seed), slots=256)
        assert len(layers) == CONCEPTS.littlestone_dimension == 2
        for s, layer in enumerate(layers, start=1):
            for sequence in filter(None, layer.values()):
                before = [soa(sequence[:t]) for t in range(len(sequence))]
                pairs = zip(before, sequence, strict=True)
                assert all(h is None or h(x) != y for h, (x, y) in pairs)
                assert len(sequence) >= s
                if s == 2 and soa(sequence) is not None:
                    fits = [
                        k for k in range(7) if all((x >= k) == y for x, y in examples(sequence))
                    ]
                    assert [[int(x >= k) for x in range(6)] for k in fits] == [
                        [soa(sequence)(x) for x in range(6)]
                    ]
                    reached += fits == [target]
    assert reached > 20


@pytest.mark.parametrize("concepts", [Points(), Thresholds(1)])
def test_as_printed_it_learns_when_privacy_is_cheap(concepts: Any, rng: Randomness) -> None:
    """With d = 1, N_0 = 4096 and a huge ε. The target has 190 pairs of layer 1 on average and needs
    48 (L18); by the Chernoff bound it has fewer with a probability below 1e-20.
    """
    learner_rng, adversary_rng = rng.spawn(2)
    turns = itertools.count(1)

    def histogram(ε: float, δ: float, V: Any) -> Any:  # noqa: N803
        mechanism = PrivateHistogram(epsilon=ε, delta=δ, neighbours="add-remove")
        return mechanism.release(V, rng=learner_rng, order=lambda h: next(turns))

    def above_threshold(ε: float, τ: float) -> Any:
        return CountAboveThreshold(epsilon=ε, threshold=math.ceil(τ)).start(rng=learner_rng)

    learning = reference.realizable_learner(
        concepts,
        T=20_000,
        ε=1000.0,
        δ=0.1,
        β=0.1,
        N_0=4096,
        above_threshold=above_threshold,
        private_histogram=histogram,
        rng=learner_rng,
    )
    foe, h, mistakes = MistakeForcing(concepts).start(rng=adversary_rng), next(learning), []
    for _ in range(19_999):
        x, y = foe.choose(h)
        mistakes.append(h(x) != y)
        h = learning.send((x, y))
    assert 4096 <= sum(mistakes) < 3 * 4096
    assert not any(mistakes[-1000:])
