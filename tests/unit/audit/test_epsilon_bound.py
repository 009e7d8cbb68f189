"""The exact binomial bounds behind every verdict."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from littlestone.audit.epsilon_bound import (
    binomial_lower_bound,
    binomial_upper_bound,
    epsilon_lower_bound,
)


@given(p=st.floats(0.01, 0.99), trials=st.integers(1, 60), failure=st.floats(1e-6, 0.4))
def test_the_lower_bound_fails_no_more_often_than_allowed(
    p: float, trials: int, failure: float
) -> None:
    """Exactly: sum the probability of every count whose bound exceeds p."""
    failing = sum(
        binom.pmf(hits, trials, p)
        for hits in range(trials + 1)
        if binomial_lower_bound(hits, trials, failure_probability=failure) > p
    )
    assert failing <= failure * (1 + 1e-9)


def test_a_bound_without_its_failure_probability_would_fail_too_often() -> None:
    """The control: the plain frequency exceeds p about half of the time."""
    failing = sum(binom.pmf(hits, 50, 0.3) for hits in range(51) if hits / 50 > 0.3)
    assert failing > 0.4


def test_upper_and_lower_bounds_mirror_each_other() -> None:
    upper = binomial_upper_bound(3, 10, failure_probability=0.01)
    assert upper == pytest.approx(1 - binomial_lower_bound(7, 10, failure_probability=0.01))


@pytest.mark.parametrize(("trials", "most"), [(100, 3.3), (1000, 5.6), (10_000, 7.9)])
def test_a_perfect_attack_proves_no_more_than_its_sample_size_allows(
    trials: int, most: float
) -> None:
    bound = epsilon_lower_bound(trials, 0, trials=trials, failure_probability=0.05)
    assert bound == pytest.approx(most, abs=0.05)


def test_delta_alone_refutes_nothing() -> None:
    assert epsilon_lower_bound(5, 0, trials=100, failure_probability=0.05, delta=0.2) == 0.0
    assert math.isfinite(epsilon_lower_bound(0, 100, trials=100, failure_probability=0.05))
