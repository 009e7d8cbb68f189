"""The exact binomial bounds behind every verdict."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, multinomial

from littlestone.audit.auditing import binomial_lower_bound, epsilon_lower_bound


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


@given(
    p=st.floats(0.05, 0.95),
    q=st.floats(0.05, 0.95),
    games=st.integers(1, 12),
    failure=st.floats(1e-3, 0.3),
    delta=st.sampled_from([0.0, 0.01, 0.2]),
)
def test_the_epsilon_bound_fails_no_more_often_than_allowed(
    p: float, q: float, games: int, failure: float, delta: float
) -> None:
    """Exactly: sum over every outcome of the games whose bound exceeds the true epsilon."""
    truth = math.log((p - delta) / q) if p > delta else -math.inf
    failing = 0.0
    for hits in range(games + 1):
        for others in range(games + 1 - hits):
            bound = epsilon_lower_bound(
                hits, others, games=games, failure_probability=failure, delta=delta
            )
            if bound > max(truth, 0.0):
                cells = [hits, others, games - hits - others]
                failing += multinomial.pmf(cells, games, [p / 2, q / 2, 1 - (p + q) / 2])
    assert failing <= failure * (1 + 1e-9)


@pytest.mark.parametrize("hits", [100, 1000, 10_000])
def test_a_perfect_attack_proves_no_more_than_its_sample_size_allows(hits: int) -> None:
    """All of n games on one side: r >= 0.05**(1/n), so epsilon is at least about ln(n / 3)."""
    bound = epsilon_lower_bound(hits, 0, games=2 * hits, failure_probability=0.05)
    assert bound == pytest.approx(math.log(hits / 3.0), abs=0.02)


def test_delta_alone_refutes_nothing() -> None:
    assert epsilon_lower_bound(5, 0, games=200, failure_probability=0.05, delta=0.2) == 0.0
    assert epsilon_lower_bound(0, 100, games=200, failure_probability=0.05) == 0.0
