"""[L88]: the optimal mistake bound of a class is its Littlestone dimension."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.battery import CLASSES, WITHOUT_DIMENSION

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.protocols import ConceptClass, Example
from littlestone.game.adversaries.mistake_forcing import MistakeForcing, ShatteredTree
from littlestone.game.adversaries.replay import Replay
from littlestone.game.adversaries.spreading import KeepDimension
from littlestone.game.play import play
from littlestone.game.protocols import Adversary, OnlineLearner
from littlestone.learners.online.halving import Halving
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.randomness import seeded

# For theorems that are tried on many classes or adversaries each.
A_THIRD = settings(max_examples=settings().max_examples // 3)
WITH_DIMENSION = [name for name in CLASSES if name not in WITHOUT_DIMENSION]

matrices = st.integers(1, 6).flatmap(
    lambda points: st.lists(
        st.lists(st.integers(0, 1), min_size=points, max_size=points), min_size=1, max_size=12
    )
)
finite_classes = matrices.map(lambda rows: FiniteClass(np.array(rows)))


def realizable_stream(data: st.DataObject, concepts: ConceptClass, rounds: int) -> list[Example]:
    """Any stream that some concept fits: each label is free as long as it may be."""
    space = concepts.version_space()
    stream: list[Example] = []
    points = [x for x, _ in zip(concepts.domain, range(40), strict=False)]
    for _ in range(rounds):
        x = data.draw(st.sampled_from(points))
        y = data.draw(st.integers(0, 1))
        if space.restrict(x, y).is_empty:
            y = 1 - y
        space = space.restrict(x, y)
        stream.append((x, y))
    return stream


def mistakes_on(learner: OnlineLearner, stream: list[Example]) -> int:
    adversary = Replay(learner.concepts, stream, realizable=True)
    return play(learner, adversary, rounds=len(stream), rng=seeded(0)).mistakes


@given(concepts=finite_classes, data=st.data())
def test_mistakes_never_exceed_the_littlestone_dimension(
    concepts: FiniteClass, data: st.DataObject
) -> None:
    stream = realizable_stream(data, concepts, 20)
    assert mistakes_on(StandardOptimal(concepts), stream) <= concepts.littlestone_dimension


@pytest.mark.parametrize("name", WITH_DIMENSION)
@A_THIRD
@given(data=st.data())
def test_the_structured_classes_keep_the_bound(name: str, data: st.DataObject) -> None:
    concepts = CLASSES[name]
    stream = realizable_stream(data, concepts, 20)
    assert mistakes_on(StandardOptimal(concepts), stream) <= concepts.littlestone_dimension


@given(concepts=finite_classes, data=st.data())
def test_halving_errs_at_most_log_many_times(concepts: FiniteClass, data: st.DataObject) -> None:
    stream = realizable_stream(data, concepts, 20)
    assert mistakes_on(Halving(concepts), stream) <= concepts.size.bit_length() - 1


Forcing = Callable[[Any], Adversary]
FORCING: list[Forcing] = [MistakeForcing, ShatteredTree, KeepDimension]


@pytest.mark.parametrize("adversary", FORCING)
@pytest.mark.parametrize("peek", [False, True])
@A_THIRD
@given(concepts=finite_classes)
def test_the_forcing_adversaries_reach_the_littlestone_dimension(
    adversary: Forcing, peek: bool, concepts: FiniteClass
) -> None:
    check_forced(adversary, concepts, peek=peek)


@pytest.mark.parametrize("name", WITH_DIMENSION)
def test_the_forcing_adversaries_reach_it_on_structured_classes(name: str) -> None:
    for adversary, peek in product(FORCING, (False, True)):
        check_forced(adversary, CLASSES[name], peek=peek)


def check_forced(adversary: Forcing, concepts: ConceptClass, *, peek: bool) -> None:
    transcript = play(
        StandardOptimal(concepts), adversary(concepts), rounds=200, rng=seeded(0), peek=peek
    )
    assert transcript.mistakes == concepts.littlestone_dimension
