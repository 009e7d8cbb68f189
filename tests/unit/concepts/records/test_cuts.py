"""Ranges and grids become a dozen cuts or so; the declared numbers are among them."""

import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.choose.request import Request
from littlestone.concepts.records.cuts import cuts_of_range, finer_cuts
from littlestone.concepts.schema import Schema
from littlestone.learners.forms import canonical_form

NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(-1e300, 1e300),
    st.fractions(-1000, 1000, max_denominator=97),
)


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_finer_cuts_increase_within_the_range_and_hold_the_declared_ones(drawn: list[Any]) -> None:
    cuts = tuple(sorted({Fraction(cut): cut for cut in drawn}.values()))
    finer = finer_cuts(cuts)
    assert set(cuts) <= set(finer) and finer[0] == cuts[0] and finer[-1] == cuts[-1]
    assert all(low < high for low, high in itertools.pairwise(finer))
    assert len(finer) == len(cuts) or 11 <= len(finer) <= 19
    again = finer_cuts(finer)
    assert again == finer


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300), st.sampled_from(["linear", "log"]))
def test_cuts_of_a_range_increase_from_one_end_to_the_other(
    one: float, other: float, scale: str
) -> None:
    low, high = sorted((one, other))
    if low == high:
        with pytest.raises(ValueError, match="range must increase"):
            cuts_of_range(low, high, scale=scale)
        return
    cuts = cuts_of_range(low, high, scale=scale)
    assert cuts[0] == low and cuts[-1] == high
    assert all(lower < higher for lower, higher in itertools.pairwise(cuts))
    assert len(cuts) >= 11 or high < low * (1 + 1e-12)


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [(0, 100, 10), (0, 60, 5), (0, 1, 0.1), (18, 90, 6), (-20, 180, 20), (0, 77, 7)],
)
def test_a_round_range_has_round_cuts(low: float, high: float, step: float) -> None:
    cuts = cuts_of_range(low, high)
    assert cuts[1] == low + step and len(cuts) == round((high - low) / step) + 1


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"range": [0]}, "range of field 'x' must be two numbers"),
        ({"range": [0, float("nan")]}, "range of field 'x' must be two numbers"),
        ({"range": [0, True]}, "range of field 'x' must be two numbers"),
        ({"range": [3, 3]}, "field 'x': range must increase"),
        ({"range": [0, 9], "scale": "log"}, "field 'x': range must be positive"),
        ({"range": [1, 9], "scale": "root"}, "field 'x': scale must be 'linear' or 'log'"),
        ({"grid": [1, 9], "scale": "log"}, "must declare either range"),
        ({"range": [1, 9], "grid": [1]}, "must declare either range"),
    ],
)
def test_a_range_that_is_none_is_refused_by_name(entry: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Schema.from_mapping({"x": entry})


def test_what_is_missing_has_its_own_cell_below_every_cut() -> None:
    schema = Schema.from_mapping({"x": {"range": [0, 10], "missing": "own value"}})
    assert schema.check({"x": None}) == (0,)
    assert schema.check({"x": -5}) == (1,) and schema.check({"x": 10}) == (12,)
    assert schema.refined() == schema == Schema.from_json(schema.to_json())


def test_hours_and_months_stay_whole() -> None:
    schema = Schema.from_mapping({"left": {"date": ["hour", "month", "weekday"]}})
    assert schema.refined() == schema


def test_a_recipe_over_finer_cuts_answers_the_request_and_one_over_others_does_not() -> None:
    request = Request(over={"x": {"grid": [0, 60]}})
    recipe = request.recipe()
    assert recipe.concepts.domain != request.space
    assert request.stored_recipe(canonical_form(recipe)) == recipe
    other = Request(over={"x": {"grid": [0, 61]}}).recipe()
    with pytest.raises(Exception, match="its recipe has schema"):
        request.stored_recipe(canonical_form(other))
