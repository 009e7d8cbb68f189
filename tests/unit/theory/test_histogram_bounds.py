"""The truncated noise of the private histogram, term by term."""

import math
from fractions import Fraction

import pytest

from littlestone.theory.histogram_bounds import (
    certain_inclusion_lower_bound,
    certain_inclusion_upper_bound,
    list_length_upper_bound,
    paper_error_upper_bound,
    truncated_error_upper_bound,
    truncation_upper_bound,
)

SETTINGS = [(e, d) for e in (0.05, 0.1, 0.25, 0.5, 1.0, 4.0) for d in (1e-3, 1e-6, 1e-12)]


def end_probability(epsilon: float, reach: int) -> float:
    total = sum(math.exp(-epsilon * abs(k)) for k in range(-reach, reach + 1))
    return math.exp(-epsilon * reach) / total


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_the_reach_is_the_first_whose_end_is_rare_enough(epsilon: float, delta: float) -> None:
    reach = truncation_upper_bound(epsilon=epsilon, delta=delta)
    assert end_probability(epsilon, reach) <= delta
    assert reach == 1 or end_probability(epsilon, reach - 1) > delta


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_every_error_is_below_the_papers(epsilon: float, delta: float) -> None:
    # One element replaced, as the paper's theorem has it: half the budget for each count.
    replaced = truncated_error_upper_bound(epsilon=epsilon / 2, delta=delta / 2)
    if epsilon <= 1:
        assert replaced < paper_error_upper_bound(epsilon=epsilon, delta=delta)
    assert truncated_error_upper_bound(epsilon=epsilon, delta=delta) <= replaced


def law(count: int, epsilon: float, reach: int) -> dict[int | None, Fraction]:
    """What a cell of this count releases at threshold reach + 1: its noisy count, or nothing."""
    weights = {k: Fraction(math.exp(-epsilon * abs(k))) for k in range(-reach, reach + 1)}
    total = sum(weights.values())
    released: dict[int | None, Fraction] = {None: Fraction(int(count == 0))}
    if count:
        for noise, weight in weights.items():
            key = count + noise if count + noise >= reach + 1 else None
            released[key] = released.get(key, Fraction(0)) + weight / total
    return released


@pytest.mark.parametrize("count", [0, 1, 2, 5, 30])
def test_one_more_element_costs_epsilon_and_delta(count: int) -> None:
    epsilon, delta = 0.5, 1e-3
    reach = truncation_upper_bound(epsilon=epsilon, delta=delta)
    here, there = law(count, epsilon, reach), law(count + 1, epsilon, reach)
    for one, other in ((here, there), (there, here)):
        excess = sum(
            max(0.0, float(p) - math.exp(epsilon) * float(other.get(key, 0)))
            for key, p in one.items()
        )
        assert excess <= delta * (1 + 1e-9)


def test_a_threshold_that_is_one_lower_would_cost_more_than_delta() -> None:
    epsilon, delta = 0.5, 1e-3
    reach = truncation_upper_bound(epsilon=epsilon, delta=delta)
    weights = [math.exp(-epsilon * abs(k)) for k in range(-reach, reach + 1)]
    assert sum(weights[-2:]) / sum(weights) > delta


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_nothing_certain_is_possible_much_earlier(epsilon: float, delta: float) -> None:
    lower = certain_inclusion_lower_bound(epsilon=epsilon, delta=delta)
    upper = certain_inclusion_upper_bound(epsilon=epsilon, delta=delta)
    assert upper - 3 <= lower <= upper


def test_the_table_of_the_documents() -> None:
    uppers = [certain_inclusion_upper_bound(epsilon=e, delta=1e-6) for e in (0.1, 0.25, 0.5, 1.0)]
    assert uppers == [219, 95, 51, 29]
    assert list_length_upper_bound(elements=1000, epsilon=1.0, delta=1e-6, threshold=24) == 100


def test_a_threshold_below_the_noise_is_refused() -> None:
    with pytest.raises(ValueError, match="threshold must be at least 15"):
        certain_inclusion_upper_bound(epsilon=1.0, delta=1e-6, threshold=14)
