"""Guarantees are two upper bounds; whatever is not a promise is refused or says so."""

import math
from fractions import Fraction

import pytest

from littlestone.privacy.guarantee import NOT_PRIVATE, PrivacyGuarantee
from littlestone.privacy.rounding import text_at_least


def test_a_guarantee_prints_as_it_is_written() -> None:
    assert repr(PrivacyGuarantee(epsilon=0.5)) == "PrivacyGuarantee(epsilon=0.5, delta=0.0)"
    assert str(PrivacyGuarantee(epsilon=1, delta=1e-6)) == "ε = 1, δ = 1e-06"


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (-1, 0),
        (math.nan, 0),
        (1, -0.1),
        (1, 1.5),
        (1, math.nan),
        ("1", 0),
        (True, 0),
        (-math.inf, 0),
    ],
)
def test_impossible_guarantees_are_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(ValueError, match=r"epsilon|delta"):
        PrivacyGuarantee(epsilon=epsilon, delta=delta)


def test_unknown_is_not_private_and_fits_into_no_promise() -> None:
    assert not NOT_PRIVATE.is_private
    assert str(NOT_PRIVATE) == "not private"
    assert not NOT_PRIVATE.within(PrivacyGuarantee(epsilon=1e9, delta=0.5))
    assert PrivacyGuarantee(epsilon=1e9, delta=0.5).within(NOT_PRIVATE)


@pytest.mark.parametrize("weaker", [(1.1, 1e-6), (1.0, 1.1e-6)])
def test_within_compares_both_numbers(weaker: tuple[float, float]) -> None:
    budget = PrivacyGuarantee(epsilon=1.0, delta=1e-6)
    assert budget.within(budget)
    assert not PrivacyGuarantee(epsilon=weaker[0], delta=weaker[1]).within(budget)


def test_exact_numbers_are_rounded_up_and_a_hopeless_delta_is_one() -> None:
    third = PrivacyGuarantee.rounded_up(epsilon=Fraction(1, 3), delta=Fraction(7, 2))
    assert Fraction(third.epsilon) > Fraction(1, 3)
    assert third.delta == 1.0
    assert PrivacyGuarantee.rounded_up(epsilon=Fraction(10) ** 400).epsilon == math.inf


def test_more_cannot_be_taken_from_a_budget_than_it_has() -> None:
    with pytest.raises(ValueError, match="cost must be within"):
        PrivacyGuarantee(epsilon=1.0).less(PrivacyGuarantee(epsilon=1.1))


def test_a_shown_cost_is_never_below_the_cost() -> None:
    assert text_at_least(0.123401) == "0.1235"
    assert text_at_least(math.inf) == "inf"
