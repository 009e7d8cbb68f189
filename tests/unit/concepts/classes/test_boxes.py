"""Boxes where no table could be written: what is said without looking at every point."""

from functools import reduce
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import littlestone as ls
from littlestone.concepts.classes import boxes as module
from littlestone.concepts.classes.boxes import BoxHypothesis, inside


def test_of_two_negatives_that_span_the_same_with_the_core_either_may_come_first() -> None:
    examples = [((0, 0, 0), 0), ((0, 0, 1), 0), ((0, 1, 0), 1), ((0, 1, 1), 1)]
    start = ls.concepts.Boxes(3, 2).version_space()
    spaces = {
        reduce(lambda space, example: space.restrict(*example), order, start)
        for order in permutations(examples)
    }
    assert len(spaces) == 1


@given(data=st.data())
def test_corners_and_ends_show_a_mistake_if_there_is_one(data: Any) -> None:
    concepts = ls.concepts.Boxes(2, 4)
    everything = list(concepts.concepts())
    target, published = (data.draw(st.sampled_from(everything)) for _ in range(2))
    space = concepts.version_space()
    for x in data.draw(st.lists(st.sampled_from(list(concepts.domain)), max_size=12)):
        space = space.restrict(x, target(x))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_SCANNED", 0)
        few = set(space.mistakes_of(published))
        hardest = space.hardest_mistake(published)
    all_of_them = set(space.mistakes_of(published))
    assert few <= all_of_them and bool(few) == bool(all_of_them)
    assert (hardest in all_of_them) if all_of_them else hardest is None


def test_a_large_grid_is_never_listed() -> None:
    concepts = ls.concepts.Boxes(4, 2**20)
    assert concepts.size > 2**155 and concepts.vc_dimension == 8
    assert concepts.littlestone_dimension_lower_bound == 4 * 38
    space = concepts.version_space()
    middle, one = space.hardest_mistake(space.consistent()) or ((), 0)
    assert middle == (2**19 - 1,) * 4 and one == 1
    space = space.restrict(middle, 1)
    far = BoxHypothesis(4, 2**20, ((0, 2**20 - 1),) * 4)
    assert space.hardest_mistake(far) is not None
    with pytest.raises(ValueError, match="is at least 152 and at most"):
        _ = concepts.littlestone_dimension


def test_what_does_not_fit_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="k must be at most 4, got k=5"):
        ls.concepts.Boxes(5, 3)
    with pytest.raises(ValueError, match="bounds must be in order"):
        BoxHypothesis(1, 9, ((5, 4),))
    with pytest.raises(ValueError, match="x must be 2 integers from 0 to 8"):
        ls.concepts.Boxes(2, 9).domain.check_many(np.array([[0, 1], [3, 9]]))
    with pytest.raises(ValueError, match="the best box in hindsight is hard to find"):
        ls.concepts.Boxes(2, 999).fewest_mistakes({(i, i * i % 999): (1, 1) for i in range(999)})


def test_blocks_are_single_points() -> None:
    rule = BoxHypothesis(3, 50, ((0, 20), (10, 49), (5, 5)))
    points = np.random.default_rng(1).integers(50, size=(500, 3))
    points[::3, 2] = 5
    single = [rule(tuple(x)) for x in points.tolist()]
    assert rule.many(points).tolist() == single and 0 < sum(single) < 500
    assert [inside(tuple(x), rule.bounds or ()) for x in points.tolist()] == list(map(bool, single))
