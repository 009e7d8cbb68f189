"""Conjunctions with many features, their hypotheses, and monotone disjunctions."""

from collections.abc import Hashable
from itertools import islice, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes import conjunctions as module
from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.disjunctions import MonotoneDisjunctions
from littlestone.concepts.classes.version_spaces import count_hitting, fewest_hitting, minimal
from littlestone.concepts.finite_dimensions import shattered_tree
from littlestone.concepts.hypotheses.cube import ConjunctionHypothesis, WeightedFeatures

FAMILIES = st.frozensets(st.integers(1, 63), max_size=6)


@given(FAMILIES, st.integers(0, 6))
def test_hitting_sets_are_found_and_counted(family: frozenset[int], most: int) -> None:
    hitting = [s for s in range(64) if all(s & part for part in family)]
    assert fewest_hitting(family) == min(s.bit_count() for s in hitting)
    assert count_hitting(family, 63) == len(hitting)
    assert count_hitting(family, 63, most) == sum(s.bit_count() <= most for s in hitting)
    kept = minimal(family)
    assert kept <= family
    assert hitting == [s for s in range(64) if all(s & part for part in kept)]


def test_many_features_are_learned_within_the_dimension() -> None:
    space, mistakes = Conjunctions(40).version_space(), 0
    while (example := space.hardest_mistake(space.standard_optimal())) is not None:
        space, mistakes = space.restrict(*example), mistakes + 1
    assert mistakes == 41


def test_the_dimension_is_certified_by_a_tree() -> None:
    assert shattered_tree(Conjunctions(4)).is_shattered_by(Conjunctions(4))


def test_mistakes_of_conjunctions_over_many_features_need_no_scan() -> None:
    n = 40
    point = (1,) * n
    space = Conjunctions(n).version_space().restrict(point, 1)
    for feature in range(5, n):  # all features but five are needed
        space = space.restrict(tuple(int(i != feature) for i in range(n)), 0)
    found: list[Any] = list(space.mistakes_of(space.standard_optimal()))
    assert len(found) == 31 and all(y == 1 and x[5:] == point[5:] for x, y in found)
    always = ConjunctionHypothesis(n, ())
    assert list(islice(space.mistakes_of(always), 2)) == [
        ((0,) * n, 0),
        ((0,) * (n - 1) + (1,), 0),
    ]


def test_both_searches_for_the_best_conjunction_agree() -> None:
    generator = np.random.default_rng(5)
    for n in (1, 3, 6):
        gains = {
            x: int(generator.integers(-4, 5))
            for x in product((0, 1), repeat=n)
            if generator.random() < 0.8
        }
        assert module._best_sum(gains, n) == max(0, module._best_sum_at_once(gains, n))
    tally: dict[Hashable, tuple[int, int]] = {
        (0,) * 30: (0, 5),
        (1,) * 30: (0, 3),
        (0,) * 15 + (1,) * 15: (9, 1),
    }
    assert Conjunctions(30).fewest_mistakes(tally) == 4


@pytest.mark.parametrize(
    "term", [((1, 0), (0, 1)), ((0, 1), (0, 0)), ((4, 1),), ((0, 2),), ((-1, 1),), ((0.0, 1),)]
)
def test_bad_terms_are_refused(term: Any) -> None:
    with pytest.raises(ValueError, match="must"):
        ConjunctionHypothesis(4, term)


@pytest.mark.parametrize("bad", [0, -1, 1.0, True])
def test_bad_sizes_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="n must be"):
        Conjunctions(bad)
    with pytest.raises(ValueError, match="must be"):
        MonotoneDisjunctions(bad, 3)
    with pytest.raises(ValueError, match="must be"):
        MonotoneDisjunctions(1, bad)


def test_points_outside_the_cube_are_refused() -> None:
    space = Conjunctions(3).version_space()
    for bad in [(0, 1), (0, 1, 2), 5, None, (0, 1, float("nan"))]:
        with pytest.raises(ValueError, match="x must be 3 zeros and ones"):
            space.restrict(bad, 1)


@given(st.data())
def test_weighted_features_disagree_exactly_where_they_say(data: st.DataObject) -> None:
    threshold = data.draw(st.integers(1, 6))
    weights = st.tuples(*[st.integers(0, threshold)] * 4)
    left = WeightedFeatures(data.draw(weights), threshold)
    right = WeightedFeatures(data.draw(weights), data.draw(st.integers(6, 7)))
    points = list(product((0, 1), repeat=4))
    point = left.disagreement(right)
    if point is None:
        assert left.many(points).tolist() == right.many(points).tolist()
    else:
        assert left(point) != right(point)


@pytest.mark.parametrize("weights", [(), (3, 0), (-1, 0), (1.0, 0)])
def test_bad_weights_are_refused(weights: Any) -> None:
    with pytest.raises(ValueError, match="weights"):
        WeightedFeatures(weights, 2)


def test_disjunctions_of_many_features_are_played_at_single_features() -> None:
    space = MonotoneDisjunctions(2, 30).version_space()
    example = space.hardest_mistake(space.consistent())
    assert example is not None and not space.restrict(*example).is_empty
    with pytest.raises(ValueError, match="littlestone_dimension_upper_bound"):
        _ = space.dimension
    with pytest.raises(ValueError, match="Winnow"):
        space.standard_optimal()
