"""zCDP against the exact divergences of mechanisms whose laws are known."""

import math

import pytest
from scipy import stats

from littlestone.privacy.zcdp import ZeroConcentrated


@pytest.mark.parametrize(
    ("epsilon", "delta", "rho"),
    [
        (1.0, 1e-6, 0.02436),
        (0.5, 1e-6, 0.00664),
        (0.1, 1e-6, 3.2e-4),
        (1.0, 1e-9, 0.01497),
        (4.0, 1e-6, 0.311),
    ],
)
def test_known_values_are_reproduced(epsilon: float, delta: float, rho: float) -> None:
    digits = len(f"{rho:g}".split(".")[-1]) if rho > 1e-3 else 5
    assert round(ZeroConcentrated.largest(epsilon=epsilon, delta=delta).rho, digits) == rho


@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2, 0.3])
def test_the_gaussian_mechanism_with_this_rho_keeps_the_converted_promise(
    rho: float, delta: float
) -> None:
    epsilon = ZeroConcentrated(rho=rho).epsilon_upper_bound(delta)
    assert gaussian_delta(rho, epsilon) <= delta
    classic = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert epsilon <= classic


def test_a_gaussian_with_twice_the_rho_breaks_the_converted_promise() -> None:
    epsilon = ZeroConcentrated(rho=0.1).epsilon_upper_bound(1e-6)
    assert gaussian_delta(0.2, epsilon) > 1e-6


@pytest.mark.parametrize("count", [1, 2, 10, 200])
@pytest.mark.parametrize("width", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("split", [0.1, 0.5, 0.9])
def test_compositions_of_bounded_range_stay_within_an_eighth_of_the_square(
    count: int, width: float, split: float
) -> None:
    total = ZeroConcentrated.from_bounded_range(width).times(count)
    for delta in (1e-9, 1e-4, 0.05):
        epsilon = total.epsilon_upper_bound(delta)
        assert coins_delta(*two_outcomes(width, split), count, epsilon) <= delta


@pytest.mark.parametrize("count", [1, 10, 200])
def test_compositions_of_pure_privacy_stay_within_half_of_the_square(count: int) -> None:
    epsilon = 0.3
    total = ZeroConcentrated.from_pure(epsilon).times(count)
    lie = 1 / (1 + math.exp(epsilon))
    for delta in (1e-9, 1e-4, 0.05):
        assert coins_delta(1 - lie, lie, count, total.epsilon_upper_bound(delta)) <= delta


def test_charging_pure_privacy_as_bounded_range_is_noticed() -> None:
    # Randomized response at 0.3 has a range of 0.6; calling it 0.3 must be caught.
    too_little = ZeroConcentrated.from_bounded_range(0.3).times(200)
    lie = 1 / (1 + math.exp(0.3))
    epsilon = too_little.epsilon_upper_bound(1e-6)
    assert coins_delta(1 - lie, lie, 200, epsilon) > 1e-6


@pytest.mark.parametrize("order", [1.0001, 1.5, 2.0, 10.0, 1000.0])
@pytest.mark.parametrize("width", [0.01, 1.0, 8.0])
def test_renyi_divergence_of_a_bounded_range_is_at_most_an_eighth_of_its_square_times_the_order(
    order: float, width: float
) -> None:
    for step in range(1, 40):
        _, q = two_outcomes(width, step / 40)
        # Both ratios are known exactly; the larger one is taken out of the sum.
        high, low = step / 40 * width, (step / 40 - 1) * width
        rest = (1 - q) / q * math.exp(order * (low - high))
        divergence = (order * high + math.log(q) + math.log1p(rest)) / (order - 1)
        assert divergence <= width**2 / 8 * order * (1 + 1e-9)


def test_nothing_costs_nothing_and_everything_everything() -> None:
    assert ZeroConcentrated(rho=0.0).guarantee(delta=0.0).epsilon == 0
    assert ZeroConcentrated(rho=0.1).epsilon_upper_bound(0.0) == math.inf
    assert ZeroConcentrated(rho=math.inf).epsilon_upper_bound(0.1) == math.inf
    assert ZeroConcentrated(rho=0.1).times(0).rho == 0


@pytest.mark.parametrize("rho", [-1.0, math.nan, "1"])
def test_impossible_costs_are_refused(rho: float) -> None:
    with pytest.raises(ValueError, match="rho"):
        ZeroConcentrated(rho=rho)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.0, 1e-6), (1.0, 0.0), (1.0, 1.0), (math.inf, 0.1)]
)
def test_impossible_budgets_are_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(ValueError, match=r"epsilon|delta"):
        ZeroConcentrated.largest(epsilon=epsilon, delta=delta)


def gaussian_delta(rho: float, epsilon: float) -> float:
    """Hockey-stick divergence of two unit Gaussians whose means are sqrt(2 rho) apart."""
    shift = math.sqrt(2 * rho)
    first = stats.norm.logcdf(shift / 2 - epsilon / shift)
    second = stats.norm.logcdf(-shift / 2 - epsilon / shift) + epsilon
    return float(math.exp(first) * -math.expm1(second - first))


def two_outcomes(width: float, split: float) -> tuple[float, float]:
    """Probabilities p, q of heads with ln(p/q) = split * width, ln((1-p)/(1-q)) lower by width."""
    high, low = split * width, (split - 1) * width
    q = -math.expm1(low) / (math.exp(high) - math.exp(low))
    return q * math.exp(high), q


def coins_delta(p: float, q: float, count: int, epsilon: float) -> float:
    """Hockey-stick divergence at ``epsilon`` of ``count`` coins: heads with p against q."""
    total = 0.0
    for heads in range(count + 1):
        first = math.log(p) * heads + math.log1p(-p) * (count - heads)
        second = math.log(q) * heads + math.log1p(-q) * (count - heads)
        if first > epsilon + second:
            ways = math.lgamma(count + 1) - math.lgamma(heads + 1) - math.lgamma(count - heads + 1)
            total += math.exp(ways + first) * -math.expm1(epsilon + second - first)
    return total
