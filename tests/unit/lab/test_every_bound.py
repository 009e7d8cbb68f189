"""Every bound has a row, and a row says what its function says."""

import inspect
import math
import pkgutil
from importlib import import_module

import pytest

import littlestone.theory
from littlestone.lab.bound import LARGEST_DIMENSION, Bound, Numbers
from littlestone.lab.every_bound import AXES, BOUNDS, GROUPS, along, at_setting
from littlestone.theory.floors import points_window_lower_bound
from littlestone.theory.realizable_bounds import mistakes_upper_bound

HELPERS = {"outwards", "tails"}


def test_no_public_function_of_theory_is_missing() -> None:
    found = {
        function
        for module in pkgutil.iter_modules(littlestone.theory.__path__)
        if module.name not in HELPERS
        for name, function in vars(import_module(f"littlestone.theory.{module.name}")).items()
        if inspect.isfunction(function)
        and not name.startswith("_")
        and function.__module__ == f"littlestone.theory.{module.name}"
    }
    rows = [bound.function for bound in BOUNDS]
    assert found == {row for row in rows if row.__module__.startswith("littlestone.theory.")}
    assert len(set(rows)) == len(rows)


def test_every_bound_has_a_number_at_the_usual_setting() -> None:
    assert [row.bound.name for row in at_setting(Numbers()) if row.refusal is not None] == []


def test_numbers_are_those_of_the_functions() -> None:
    rows = {row.bound.function: row.value for row in at_setting(Numbers(rounds=5000, epsilon=0.5))}
    assert rows[points_window_lower_bound] == points_window_lower_bound(
        rounds=5000, epsilon=0.5, delta=1e-6
    )
    assert rows[mistakes_upper_bound] == mistakes_upper_bound(
        dimension=2, rounds=5000, epsilon=0.5, delta=1e-6, failure_probability=0.05
    )


def test_the_dartboard_is_paid_from_the_budget() -> None:
    for setting in (*along(Numbers(), "epsilon"), *along(Numbers(), "rounds")):
        rows = {row.bound.function.__name__: row.value for row in at_setting(setting, ["agnostic"])}
        cost = rows["dartboard_zcdp_upper_bound"]
        assert cost is not None and cost <= setting["zcdp"]


def test_a_row_cites_the_statement_of_its_docstring() -> None:
    bounds = {bound.function.__name__: bound for bound in BOUNDS}
    assert bounds["coupon_failure_upper_bound"].source == "P, Lemma coupon"
    assert bounds["potential_drop_lower_bound"].source == "here"  # E_P[Δ] is no citation
    assert bounds["logarithmic_lower_bound"].side == "at least"
    assert "[" not in bounds["deterministic_lower_bound"].words


def test_what_does_not_apply_says_why() -> None:
    rows = at_setting(Numbers(epsilon=2.0), ["realizable"])
    (row,) = [row for row in rows if row.value is None]
    assert row.text == "–" and "epsilon must be at most 1" in str(row.refusal)
    assert row.to_json()["value"] is None


def test_the_astronomical_is_a_power_of_two() -> None:
    (row, *_) = at_setting(Numbers(dimension=LARGEST_DIMENSION), ["realizable"])
    assert row.log2 is not None and row.log2 > 1024
    assert row.text.startswith("2^") and row.to_json()["value"] is None


def test_small_numbers_are_written_out() -> None:
    half = Bound("floors", "mistakes", points_window_lower_bound, "epsilon=0.5")
    assert half.at(Numbers()).text == "20.01"
    assert half.at(Numbers()).to_json()["needs"] == "rounds=rounds epsilon=0.5 delta=delta"


@pytest.mark.parametrize("over", AXES)
def test_an_axis_changes_one_number_only(over: str) -> None:
    for setting, value in zip(along(Numbers(), over), AXES[over], strict=True):
        assert getattr(setting, over) == value
        others = {name for name in ("rounds", "epsilon", "dimension", "delta") if name != over}
        assert all(getattr(setting, name) == getattr(Numbers(), name) for name in others)


def test_what_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="dimension must be at most 6, got dimension=7"):
        Numbers(dimension=7)
    with pytest.raises(ValueError, match="unknown group 'x'; there are: realizable"):
        at_setting(Numbers(), ["x"])
    with pytest.raises(ValueError, match="over must be one of rounds, epsilon, dimension"):
        along(Numbers(), "delta")
    with pytest.raises(ValueError, match="epsilon"):
        Numbers(epsilon=math.nan)


def test_groups_are_those_of_the_help() -> None:
    assert GROUPS[:5] == ("realizable", "agnostic", "mechanisms", "sanitization", "floors")


def test_what_is_shown_is_rounded_away_from_the_truth() -> None:
    for row in at_setting(Numbers()):
        if row.value is None or row.text.startswith("2^") or row.bound.side == "of order":
            continue
        shown, value = float(row.text.replace(",", "")), float(row.value)
        assert shown <= value if row.bound.side == "at least" else shown >= value
        assert shown == pytest.approx(value, rel=1e-3)
