"""The standard optimal algorithm by its definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.online.standard_optimal import StandardOptimal

matrices = st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=1, max_size=10)


def dimension(rows: list[tuple[int, ...]]) -> int:
    """By the definition, on lists."""
    if len(rows) <= 1:
        return len(rows) - 1
    splits = ([[r for r in rows if r[x] == y] for y in (0, 1)] for x in range(len(rows[0])))
    return max(1 + min(map(dimension, sides)) for sides in splits if all(sides))


@given(rows=matrices, data=st.data())
def test_it_predicts_the_label_that_keeps_the_larger_dimension(
    rows: list[list[int]], data: st.DataObject
) -> None:
    left = sorted({tuple(row) for row in rows})
    state = StandardOptimal(FiniteClass(np.array(rows))).start()
    for _ in range(3):
        for x in range(4):
            zeros, ones = ([r for r in left if r[x] == y] for y in (0, 1))
            # Ties go to 0.
            assert state.hypothesis(x) == int(dimension(ones) > dimension(zeros))
        x = data.draw(st.integers(0, 3))
        y = data.draw(st.sampled_from(sorted({row[x] for row in left})))
        left, state = [row for row in left if row[x] == y], state.after(x, y)


def test_an_example_that_tells_nothing_gives_the_same_state() -> None:
    state = StandardOptimal(Thresholds(9)).start().after(4, 1)
    assert state.after(6, 1) is state
    assert state.after(4, 1) is state
