"""[P, Lemma online_majority]: O(d) mistakes with predictors that are majorities of few concepts."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.hypotheses.vote import MajorityVote
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.learners.online.sparse_majority import (
    SparseMajority,
    SparseMajorityState,
    best_rate,
)
from littlestone.learners.online.sparse_majority_positions import SLACK

LABELLINGS = list(product((0, 1), repeat=3))
EVERY_SMALL_CLASS = [
    FiniteClass([row for i, row in enumerate(LABELLINGS) if chosen >> i & 1])
    for chosen in range(1, 256)
]

matrices = st.integers(1, 6).flatmap(
    lambda points: st.lists(
        st.lists(st.integers(0, 1), min_size=points, max_size=points), min_size=1, max_size=20
    )
)
margins = st.sampled_from([0.02, 0.05, 0.125, 0.25])


def labels_of(hypothesis: Hypothesis, table: FiniteClass) -> list[int]:
    labels: list[int] = hypothesis.many(np.arange(table.matrix.shape[1])).tolist()
    return labels


def most_mistakes(learner: SparseMajority, table: FiniteClass, give_up: int) -> int:
    """The value of the game against every realizable adversary, cut off above ``give_up``."""
    known: dict[tuple[SparseMajorityState, int], int] = {}

    def value(state: SparseMajorityState, left: int, depth: int) -> int:
        if depth > give_up:
            return 1
        if (state, left) not in known:
            wrong = [
                (x, 1 - label, left & table.sides[x][1 - label])
                for x, label in enumerate(labels_of(state.hypothesis, table))
            ]
            known[state, left] = max(
                (1 + value(state.after(x, y), rest, depth + 1) for x, y, rest in wrong if rest),
                default=0,
            )
        return known[state, left]

    return value(learner.start(), (1 << table.size) - 1, 0)


class Forgetful(SparseMajority):
    """A control: it never learns."""

    def start(self) -> SparseMajorityState:
        class Stuck(SparseMajorityState):
            def after(self, x: object, y: int, /) -> SparseMajorityState:
                return self

        return Stuck(self, self._form.start())


def test_no_adversary_beats_the_bound_on_any_class_of_three_points() -> None:
    for table in EVERY_SMALL_CLASS:
        learner = SparseMajority(table)
        assert most_mistakes(learner, table, learner.mistake_bound) <= learner.mistake_bound
        assert learner.mistake_bound <= learner.mistake_factor * table.littlestone_dimension


@given(matrix=matrices, margin=margins)
def test_no_adversary_beats_the_bound(matrix: list[list[int]], margin: float) -> None:
    table = FiniteClass(matrix)
    learner = SparseMajority(table, margin=margin)
    assert most_mistakes(learner, table, learner.mistake_bound) <= learner.mistake_bound


def test_a_learner_that_forgets_is_beaten() -> None:
    table = FiniteClass(np.eye(4, dtype=int))
    learner = Forgetful(table)
    assert most_mistakes(learner, table, learner.mistake_bound) > learner.mistake_bound


@given(matrix=matrices, margin=margins, data=st.data())
def test_the_weights_move_as_the_proof_says(
    matrix: list[list[int]], margin: float, data: st.DataObject
) -> None:
    """Weight on the target, relative to all weight, grows by a fixed factor at each mistake."""
    table = FiniteClass(matrix)
    learner = SparseMajority(table, margin=margin)
    rare, _ = best_rate(Fraction(margin))
    share = 1 - (Fraction(1, 2) + Fraction(margin)) / (1 - rare - SLACK)
    shrink = 1 - (1 - rare) * share
    target = data.draw(st.integers(0, table.size - 1))
    space = table.version_space()
    floor = rare**space.dimension
    state: Any = learner.start()
    form: Any = learner._form
    for _ in range(12):
        total = sum(weight for _, weight in state.position)
        on_target = sum(
            weight * rare ** form._game.dimension(leaf)
            for leaf, weight in state.position
            if leaf >> target & 1
        )
        assert on_target >= floor * total
        labels = labels_of(state.hypothesis, table)
        wrong = [x for x, label in enumerate(labels) if label != table.matrix[target, x]]
        if not wrong:
            break
        x = data.draw(st.sampled_from(wrong))
        state = state.after(x, int(table.matrix[target, x]))
        floor /= shrink


@given(
    matrix=matrices, margin=margins, stream=st.lists(st.tuples(st.integers(0, 99), st.booleans()))
)
def test_every_predictor_is_a_majority_of_few_concepts_on_any_stream(
    matrix: list[list[int]], margin: float, stream: list[tuple[int, bool]]
) -> None:
    table = FiniteClass(matrix)
    learner = SparseMajority(table, margin=margin)
    concepts = set(table.concepts())
    state = learner.start()
    for x, y in stream:
        hypothesis = state.hypothesis
        jury = hypothesis.members if isinstance(hypothesis, MajorityVote) else (hypothesis,)
        assert concepts.issuperset(jury)
        assert len(jury) % 2 == 1 and len(jury) <= learner.votes
        assert not state.failed
        state = state.after(x % table.matrix.shape[1], int(y))


@given(matrix=matrices, stream=st.lists(st.tuples(st.integers(0, 99), st.booleans()), max_size=12))
def test_the_input_decides_everything(
    matrix: list[list[int]], stream: list[tuple[int, bool]]
) -> None:
    table = FiniteClass(matrix)
    states = [SparseMajority(table).start(), SparseMajority(FiniteClass(matrix)).start()]
    for x, y in stream:
        states = [state.after(x % table.matrix.shape[1], int(y)) for state in states]
    assert states[0] == states[1] and hash(states[0]) == hash(states[1])
    assert states[0].hypothesis == states[1].hypothesis


@given(matrix=matrices, data=st.data())
def test_only_a_mistake_changes_the_state(matrix: list[list[int]], data: st.DataObject) -> None:
    table = FiniteClass(matrix)
    state = SparseMajority(table).start()
    for _ in range(4):
        x = data.draw(st.integers(0, table.matrix.shape[1] - 1))
        label = state.hypothesis(x)
        assert state.after(x, label) is state
        state = state.after(x, 1 - label)


@pytest.mark.parametrize("concepts", [Thresholds(9), Points(6), SparseSets(2, 5)], ids=repr)
def test_the_closed_forms_err_at_most_the_dimension(concepts: ConceptClass) -> None:
    table = FiniteClass.from_class(concepts)
    learner = SparseMajority(concepts)
    assert learner.mistake_bound == concepts.littlestone_dimension
    assert learner.votes == 1
    # Closed forms number their concepts in their own order; only the value of the game matters.
    value = most_mistakes(learner, table, learner.mistake_bound)
    assert value <= concepts.littlestone_dimension
    rows = {row.tobytes() for row in table.matrix}
    state = learner.start()
    for x, y in [(0, 1), (3, 1), (2, 0), (3, 0)]:
        assert state.hypothesis.many(np.arange(table.matrix.shape[1])).tobytes() in rows
        state = state.after(x, y)
