"""Budgets in two currencies add up and round the safe way."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.concepts.classes.sparse_sets import Points
from littlestone.errors import TooFewExamplesError
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramSanitizer
from littlestone.learners.sanitizers.protocols import refuse_small
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mixed_budget import MixedBudget, Receipt, total_guarantee
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.theory.outwards import smallest_size


@given(epsilon=st.floats(0.01, 8.0), delta=st.sampled_from([1e-3, 1e-6, 1e-9]))
def test_both_parts_together_stay_within_the_whole(epsilon: float, delta: float) -> None:
    budget = MixedBudget.split(epsilon=epsilon, delta=delta)
    assert budget.guarantee().within(PrivacyGuarantee(epsilon=epsilon, delta=delta))


@given(parts=st.integers(1, 30), rounds=st.integers(1, 5000))
def test_shares_and_choices_never_exceed_what_is_divided(parts: int, rounds: int) -> None:
    whole = MixedBudget(epsilon=0.3, rho=0.1, delta=1e-6)
    share = whole.divided(parts)
    assert parts * Fraction(share.rho) <= Fraction(whole.rho)
    assert parts * Fraction(share.epsilon) <= Fraction(whole.epsilon)
    width = Fraction(share.selection_epsilon(rounds))
    assert rounds * width**2 / 8 <= Fraction(share.rho)


def test_totals_convert_the_concentrated_part_once() -> None:
    costs = (PrivacyGuarantee(epsilon=0.25), ZeroConcentrated(rho=0.01)) * 2
    expected = ZeroConcentrated(rho=0.02).guarantee(delta=1e-6).epsilon + 0.5
    total = total_guarantee(costs, delta=1e-6)
    assert total.epsilon == pytest.approx(expected)
    assert total.delta == 1e-6


def test_a_receipt_uses_up_its_promise_exactly() -> None:
    receipt = Receipt(
        mechanism="sanitizer",
        costs=(PrivacyGuarantee(epsilon=0.25, delta=1e-9), ZeroConcentrated(rho=0.01)),
        delta=1e-6,
        size=10,
        private=True,
    )
    ledger = receipt.ledger()
    assert ledger.spent() == ledger.budget == total_guarantee(receipt.costs, delta=1e-6)


def test_too_few_examples_are_refused_with_the_number_needed() -> None:
    recipe = HistogramSanitizer(concepts=Points(), epsilon=1.0, delta=1e-6)
    with pytest.raises(TooFewExamplesError, match="5400; nothing was spent") as refusal:
        refuse_small(recipe, size=100, error=0.01, failure_probability=0.05)
    assert refusal.value.needed == 5400
    assert refusal.value.size == 100
    refuse_small(recipe, size=5400, error=0.01, failure_probability=0.05)


def test_an_error_that_no_size_reaches_is_refused() -> None:
    with pytest.raises(ValueError, match="no number of examples"):
        smallest_size(lambda size: 1.0, 0.5)
