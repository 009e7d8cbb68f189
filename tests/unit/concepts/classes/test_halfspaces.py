"""Halfspaces with a margin: exact points, exact weights, exact margins."""

from fractions import Fraction
from itertools import islice, product
from math import gcd
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.halfspaces import (
    MarginHalfspaces,
    inner,
    nearest_to_origin,
)
from littlestone.concepts.domain import RationalBall
from littlestone.concepts.hypotheses.linear import LinearHypothesis

BALL = RationalBall(3)


def test_points_are_exact_and_in_lowest_terms() -> None:
    assert BALL.check((0.5, -0.25, 0)) == (2, -1, 0, 4)
    assert BALL.check((2, -1, 0, 4)) == (2, -1, 0, 4)
    assert BALL.check((4, -2, 0, 8)) == (2, -1, 0, 4)
    assert BALL.check(np.array([0.5, 0.5, 0.5])) == (1, 1, 1, 2)
    assert BALL.check(np.array([1, 0, 0, 2])) == (1, 0, 0, 2)
    assert BALL.check((Fraction(1, 3), 0, Fraction(1, 2))) == (2, 0, 3, 6)
    assert BALL.check((0.1, 0, 0))[-1] == 2**55  # the rational number that the float is


@pytest.mark.parametrize(
    "bad",
    [
        (1, 1, 0),
        (1, 2),
        (0, 0, 0, 0, 1),
        (float("nan"), 0, 0),
        (float("inf"), 0, 0),
        ("1", 0, 0),
        (True, 0, 0),
        5,
        None,
        (1, 0, 0, 0),
        (1, 0, 0, -1),
        (0.5, 0.5, 0.5, 1),
        (3, 3, 0, 4),
    ],
)
def test_points_outside_the_ball_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"x must (be 3 finite rational|have length)"):
        BALL.check(bad)
    with pytest.raises(ValueError, match=r"x must (be 3 finite rational|have length)"):
        BALL.check_many([(0, 0, 0), bad])


def test_the_ball_lists_and_samples_its_points() -> None:
    first = list(islice(BALL, 40))
    assert len(set(first)) == 40 and all(BALL.check(x) == x for x in first)
    listed = [
        (*row, below)
        for below in (1, 2, 3)
        for row in product(range(-below, below + 1), repeat=3)
        if sum(part**2 for part in row) <= below**2 and gcd(below, *row) == 1
    ]
    assert list(islice(BALL, len(listed))) == listed
    assert next(iter(RationalBall(1000))) == (-1, *[0] * 999, 1)  # a passed round needs a point
    drawn = BALL.sample(20, np.random.default_rng(1))
    lengths = [sum(part**2 for part in x[:-1]) / x[-1] ** 2 for x in drawn]
    assert all(0.99 < length <= 1 for length in lengths)


@given(st.data())
def test_halfspaces_disagree_at_a_point_unless_they_are_equal(data: st.DataObject) -> None:
    weights = st.tuples(*[st.integers(-(10**9), 10**9) | st.integers(-2, 2)] * 3)
    left = LinearHypothesis.towards(data.draw(weights))
    near = [2**40 * weight + shift for weight, shift in zip(left.weights, (1, 0, -1), strict=True)]
    right = LinearHypothesis.towards(data.draw(weights | st.just(near)))
    point = left.disagreement(right)
    if point is None:
        assert left == right
    else:
        assert left(point) != right(point)
        assert left.many(BALL.check_many([point])).tolist() == [left(point)]


def test_blocks_of_points_do_not_wrap_around() -> None:
    rule = LinearHypothesis((2**62 - 1, 2**62 - 1, 1))
    points = [(0.5, 0.5, 0), (-0.5, 0.5, 0.5), (0.25, -0.5, 0)]
    assert rule.many(points).tolist() == [rule(x) for x in points] == [1, 1, 0]
    tiny = [(Fraction(1, 3**50), 0, 0), (0, 0, Fraction(-1, 3**50))]
    assert rule.many(tiny).tolist() == [1, 0]


@pytest.mark.parametrize("weights", [(), (2, 4), (1.0, 0), (True, 0)])
def test_bad_weights_are_refused(weights: Any) -> None:
    with pytest.raises(ValueError, match="weights"):
        LinearHypothesis(weights)


@given(st.lists(st.tuples(*[st.fractions(-1, 1, max_denominator=7)] * 3), min_size=1, max_size=7))
def test_the_nearest_point_is_certified(vectors: list[Any]) -> None:
    corners, point = nearest_to_origin(vectors)
    assert set(corners) <= set(vectors)
    assert all(inner(point, vector) >= inner(point, point) for vector in vectors)
    assert all(inner(point, corner) == inner(point, point) for corner in corners)


def test_the_version_space_is_empty_exactly_when_the_margin_is_used_up() -> None:
    concepts = MarginHalfspaces(2, Fraction(3, 5))
    space = concepts.version_space().restrict((1, 0), 1)
    assert not space.restrict((0, 1), 1).is_empty  # margin 1/sqrt(2)
    assert space.restrict((0, 1), 1).squared_margin == Fraction(1, 2)
    assert space.restrict((-1, 0), 1).is_empty
    tight = space.restrict((Fraction(-7, 25), Fraction(24, 25)), 1)  # cosine of twice 53.13°
    assert tight.squared_margin == Fraction(9, 25) and not tight.is_empty
    assert tight.restrict((0.1, 0.1), 1).is_empty
    assert all(tight.consistent()(x) for x in [(1, 0), (Fraction(-7, 25), Fraction(24, 25))])


def test_mistakes_are_allowed_and_wrong() -> None:
    space = MarginHalfspaces(3, 0.5).version_space().restrict((1, 0, 0), 1)
    for hypothesis in (LinearHypothesis((1, 2, 3)), LinearHypothesis((0, 0, 0))):
        found = list(space.mistakes_of(hypothesis))
        assert found and len({x for x, _ in found}) == len(found)
        for x, y in found:
            assert hypothesis(x) != y and not space.restrict(x, y).is_empty
        hardest = space.hardest_mistake(hypothesis)
        margins = [space.restrict(*example).squared_margin for example in found]
        assert hardest is not None and space.restrict(*hardest).squared_margin == max(margins)


def test_bounds_are_named_where_dimensions_are_unknown() -> None:
    concepts = MarginHalfspaces(3, 0.1)
    assert concepts.margin == Fraction(1, 10)
    assert concepts.littlestone_dimension_upper_bound == 100
    assert (concepts.vc_dimension, concepts.dual_vc_dimension) == (3, 3)
    assert MarginHalfspaces(50, 0.5).vc_dimension == 4
    for name in ("littlestone_dimension", "dual_littlestone_dimension"):
        with pytest.raises(ValueError, match="no known closed form"):
            getattr(concepts, name)
    with pytest.raises(ValueError, match="Perceptron"):
        concepts.version_space().standard_optimal()
    with pytest.raises(ValueError, match="Perceptron"):
        _ = concepts.version_space().dimension


def test_the_best_halfspace_in_hindsight_leaves_out_as_little_as_possible() -> None:
    generator = np.random.default_rng(2)
    concepts = MarginHalfspaces(2, 0.3)
    for _ in range(8):
        points = concepts.domain.sample(4, generator)
        tally: Any = {x: tuple(generator.integers(0, 3, size=2).tolist()) for x in points}
        examples = [(x, y, n) for x, two in tally.items() for y, n in enumerate(two) if n]
        costs = []
        for kept in product((0, 1), repeat=len(examples)):
            space = concepts.version_space()
            for keep, (x, y, _) in zip(kept, examples, strict=True):
                space = space.restrict(x, y) if keep else space
            if not space.is_empty:
                pairs = zip(kept, examples, strict=True)
                costs.append(sum(n for keep, (_, _, n) in pairs if not keep))
        assert concepts.fewest_mistakes(tally) == min(costs)


def test_a_hard_search_in_hindsight_is_refused() -> None:
    concepts = MarginHalfspaces(2, 0.3)
    points = concepts.domain.sample(20, np.random.default_rng(4))
    with pytest.raises(ValueError, match="tally must be realizable or have at most 16"):
        concepts.fewest_mistakes(dict.fromkeys(points, (1, 1)))
    direction = LinearHypothesis((1, 0))
    far = [x for x in points if abs(x[0]) * 2 > x[-1]]
    assert concepts.fewest_mistakes({x: (1 - direction(x), direction(x)) for x in far}) == 0


@pytest.mark.parametrize("margin", [0, -0.5, 1.5, float("nan"), "0.5", None, True])
def test_bad_margins_are_refused(margin: Any) -> None:
    with pytest.raises(ValueError, match="margin must"):
        MarginHalfspaces(2, margin)


@pytest.mark.parametrize("dimension", [0, -1, 2.0, True])
def test_bad_dimensions_are_refused(dimension: Any) -> None:
    with pytest.raises(ValueError, match="dimension must"):
        MarginHalfspaces(dimension, 0.5)


def test_concepts_are_listed_without_repeats() -> None:
    first = list(islice(MarginHalfspaces(2, 0.5).concepts(), 30))
    assert len(set(first)) == 30
