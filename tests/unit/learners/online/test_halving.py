"""The halving algorithm against counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.online.halving import Halving

matrices = st.integers(1, 5).flatmap(
    lambda points: st.lists(
        st.lists(st.integers(0, 1), min_size=points, max_size=points), min_size=1, max_size=9
    )
)


@given(rows=matrices, data=st.data())
def test_the_prediction_is_what_most_consistent_concepts_say(
    rows: list[list[int]], data: st.DataObject
) -> None:
    concepts = FiniteClass(np.array(rows))
    state, left = Halving(concepts).start(), concepts.matrix
    while True:
        votes = left.sum(axis=0, dtype=int)
        expected = (2 * votes > len(left)).astype(int)  # a tie is a 0
        assert [state.hypothesis(x) for x in range(left.shape[1])] == expected.tolist()
        split = np.flatnonzero((votes > 0) & (votes < len(left)))
        if not len(split):
            break
        x, y = int(data.draw(st.sampled_from(split.tolist()))), data.draw(st.integers(0, 1))
        state, left = state.after(x, y), left[left[:, x] == y]


@given(data=st.data())
def test_votes_over_a_cube_are_counted_the_same_way(data: st.DataObject) -> None:
    concepts = Conjunctions(3)
    state = Halving(concepts).start()
    left = list(concepts.concepts())
    points = list(concepts.domain)
    for _ in range(4):
        x, y = data.draw(st.sampled_from(points)), data.draw(st.integers(0, 1))
        if any(concept(x) == y for concept in left):
            state, left = state.after(x, y), [concept for concept in left if concept(x) == y]
        for point in points:
            ones = sum(concept(point) for concept in left)
            assert state.hypothesis(point) == int(2 * ones > len(left))


def test_equal_concepts_count_once() -> None:
    assert Halving(Conjunctions(1)).mistake_bound == 2  # never, always, x0, not x0
    assert Halving(FiniteClass([[0, 1], [0, 1], [1, 1]])).mistake_bound == 1


@pytest.mark.parametrize("concepts", [Points(), Thresholds(2**20)], ids=repr)
def test_classes_that_do_not_fit_in_a_table_are_refused(concepts: ConceptClass) -> None:
    with pytest.raises(ValueError, match="concepts must have at most"):
        Halving(concepts)
