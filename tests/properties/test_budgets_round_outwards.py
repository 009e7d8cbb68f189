"""No budget is ever rounded in the dangerous direction: checked against exact rationals."""

import math
from decimal import Context, Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from littlestone.privacy.composition import (
    advanced_composition,
    basic_composition,
    optimal_composition,
    parallel_composition,
    user_level,
)
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.rounding import (
    exp_lower_bound,
    exp_upper_bound,
    float_at_least,
    float_at_most,
    ln_upper_bound,
    sqrt_upper_bound,
)
from littlestone.privacy.zcdp import (
    ZeroConcentrated,
    _best_order,
    _epsilon_nearly,
    compose_zero_concentrated,
)

# Twice the digits that the library computes with, and another way to every number.
DIGITS = Context(prec=160)
SMALLEST_FLOAT = Fraction(5e-324)

epsilons = st.floats(min_value=0.0, max_value=20.0)
deltas = st.floats(min_value=0.0, max_value=1e-3)
positive_deltas = st.floats(min_value=1e-30, max_value=0.5)
guarantees = st.builds(PrivacyGuarantee, epsilon=epsilons, delta=deltas)


@given(st.fractions())
def test_rounding_gives_the_nearest_float_on_the_safe_side(exact: Fraction) -> None:
    above, below = float_at_least(exact), float_at_most(exact)
    assert Fraction(below) <= exact <= Fraction(above)
    assert Fraction(math.nextafter(above, -math.inf)) < exact
    assert Fraction(math.nextafter(below, math.inf)) > exact


@given(st.lists(guarantees, max_size=30))
def test_basic_composition_is_the_exact_sum_rounded_up_once(costs: list[PrivacyGuarantee]) -> None:
    total = basic_composition(costs)
    epsilon = sum((Fraction(cost.epsilon) for cost in costs), Fraction(0))
    delta = sum((Fraction(cost.delta) for cost in costs), Fraction(0))
    assert total == PrivacyGuarantee(epsilon=float_at_least(epsilon), delta=float_at_least(delta))


@given(guarantees, st.integers(min_value=1, max_value=1000))
def test_shares_together_never_exceed_the_whole(total: PrivacyGuarantee, parts: int) -> None:
    share = total.divided(parts)
    assert Fraction(share.epsilon) * parts <= Fraction(total.epsilon)
    assert Fraction(share.delta) * parts <= Fraction(total.delta)
    assert basic_composition([share] * parts).within(total)


@given(guarantees, st.floats(min_value=0, max_value=1))
def test_a_cost_and_what_is_left_fit_together(budget: PrivacyGuarantee, part: float) -> None:
    cost = PrivacyGuarantee(epsilon=budget.epsilon * part, delta=budget.delta * part)
    assert basic_composition([cost, budget.less(cost)]).within(budget)


@given(st.lists(guarantees, min_size=1, max_size=10))
def test_parallel_composition_takes_the_largest_and_charges_deltas_when_it_must(
    costs: list[PrivacyGuarantee],
) -> None:
    free = parallel_composition(costs, prefix_conditional=True)
    paid = parallel_composition(costs, prefix_conditional=False)
    assert free.epsilon == paid.epsilon == max(cost.epsilon for cost in costs)
    assert free.delta == max(cost.delta for cost in costs)
    assert paid.delta == basic_composition(costs).delta


@given(guarantees, st.integers(min_value=1, max_value=50))
def test_user_level_equals_the_exact_sum_of_powers(cost: PrivacyGuarantee, people: int) -> None:
    odds = DIGITS.exp(Decimal(cost.epsilon))
    steps, power = Decimal(0), Decimal(1)
    for _ in range(people):
        steps, power = DIGITS.add(steps, power), DIGITS.multiply(power, odds)
    delta = Fraction(DIGITS.multiply(Decimal(cost.delta), steps))
    together = user_level(cost, max_contributions=people)
    if delta >= 1:
        assert not together.is_private
    else:
        assert Fraction(together.epsilon) >= Fraction(cost.epsilon) * people
        assert delta * (1 - Fraction(1, 10**100)) <= Fraction(together.delta)
        assert Fraction(together.delta) <= delta * (1 + Fraction(1, 2**50)) + SMALLEST_FLOAT


# Of few or large costs the plain sum is smaller; of many small ones the formula.
@given(
    st.lists(epsilons, min_size=1, max_size=20)
    | st.lists(st.floats(min_value=0.0, max_value=0.1), min_size=5, max_size=20).map(
        lambda few: 40 * few
    ),
    positive_deltas,
)
def test_advanced_composition_is_rounded_up_and_never_worse_than_basic(
    each: list[float], extra_delta: float
) -> None:
    costs = [PrivacyGuarantee(epsilon=epsilon) for epsilon in each]
    together = advanced_composition(costs, extra_delta=extra_delta)
    squares = sum((Fraction(epsilon) ** 2 for epsilon in each), Fraction(0))
    spread = _decimal(2 * squares) * -DIGITS.ln(Decimal(extra_delta))
    drift = sum((_drift(epsilon) for epsilon in each), Decimal(0))
    formula = Fraction(DIGITS.add(drift, DIGITS.sqrt(spread)))
    exact = min(formula * (1 - Fraction(1, 10**70)), sum(map(Fraction, each), Fraction(0)))
    assert (
        exact <= Fraction(together.epsilon) <= exact * (1 + Fraction(1, 2**50)) + Fraction(1, 2**99)
    )
    assert together.epsilon <= basic_composition(costs).epsilon


@given(
    st.floats(min_value=1e-3, max_value=2.0),
    st.integers(min_value=1, max_value=12),
    st.floats(min_value=1e-9, max_value=0.5),
)
def test_optimal_composition_is_the_exact_divergence_of_lying_coins(
    epsilon: float, count: int, extra_delta: float
) -> None:
    together = optimal_composition(
        PrivacyGuarantee(epsilon=epsilon), count=count, extra_delta=extra_delta
    )
    assert _delta_of_coins(epsilon, count, together.epsilon) <= extra_delta
    if together.epsilon > 0:  # and no smaller epsilon would do
        assert _delta_of_coins(epsilon, count, together.epsilon * (1 - 1e-9)) > extra_delta


@given(st.floats(min_value=1e-9, max_value=1e3), positive_deltas)
def test_conversion_from_zcdp_is_the_formula_at_its_best_order_rounded_up(
    rho: float, delta: float
) -> None:
    epsilon = ZeroConcentrated(rho=rho).epsilon_upper_bound(delta)
    # Every order gives a valid bound; on a grid around the best none is noticeably smaller.
    grid = [1 + math.exp(step / 25) for step in range(-750, 750)]
    near = min(grid, key=lambda a: _conversion(rho, delta, a))
    assert epsilon <= max(0.0, _conversion(rho, delta, near)) * (1 + 1e-9) + 1e-12
    order = _best_order(lambda a: _epsilon_nearly(rho, delta, a))
    assert Fraction(epsilon) >= _exact_conversion(rho, delta, order)
    finer = [1 + (near - 1) * math.exp(step / 500) for step in range(-20, 21)]
    best = min(_exact_conversion(rho, delta, a) for a in finer)
    assert epsilon >= best - Fraction(epsilon) / 10**5


@given(st.floats(min_value=1e-3, max_value=20.0), positive_deltas)
def test_the_largest_rho_fits_and_hardly_more_does(epsilon: float, delta: float) -> None:
    rho = ZeroConcentrated.largest(epsilon=epsilon, delta=delta).rho
    assert ZeroConcentrated(rho=rho).guarantee(delta=delta).epsilon <= epsilon
    assert ZeroConcentrated(rho=rho * (1 + 1e-9)).guarantee(delta=delta).epsilon > epsilon


@given(st.lists(st.floats(min_value=0, max_value=10), max_size=20))
def test_rhos_are_squared_and_added_exactly_then_rounded_up(widths: list[float]) -> None:
    pure = [ZeroConcentrated.from_pure(width) for width in widths]
    bounded = [ZeroConcentrated.from_bounded_range(width) for width in widths]
    for width, one, other in zip(widths, pure, bounded, strict=True):
        assert one.rho == float_at_least(Fraction(width) ** 2 / 2)
        assert other.rho == float_at_least(Fraction(width) ** 2 / 8)
    total = sum((Fraction(cost.rho) for cost in pure), Fraction(0))
    assert compose_zero_concentrated(pure).rho == float_at_least(total)


@given(st.fractions(min_value=-200, max_value=200), st.fractions(min_value=Fraction(1, 10**9)))
def test_transcendental_bounds_enclose_tightly(x: Fraction, y: Fraction) -> None:
    tight = 1 + Fraction(1, 10**60)
    power = Fraction(DIGITS.exp(_decimal(x)))
    assert exp_lower_bound(x) < power < exp_upper_bound(x) < exp_lower_bound(x) * tight
    logarithm = Fraction(DIGITS.ln(_decimal(y)))
    assert 0 < ln_upper_bound(y) - logarithm < (1 + abs(logarithm)) / 10**60
    assert y <= sqrt_upper_bound(y) ** 2 < y * tight


def _decimal(x: Fraction) -> Decimal:
    return DIGITS.divide(Decimal(x.numerator), Decimal(x.denominator))


def _drift(epsilon: float) -> Decimal:
    odds = DIGITS.exp(Decimal(epsilon))
    lean = DIGITS.divide(DIGITS.subtract(odds, Decimal(1)), DIGITS.add(odds, Decimal(1)))
    return DIGITS.multiply(Decimal(epsilon), lean)


def _delta_of_coins(epsilon: float, count: int, total: float) -> Fraction:
    """The hockey-stick divergence of ``count`` randomized responses, summed outcome by outcome."""
    odds = Fraction(DIGITS.exp(Decimal(epsilon)))
    allowed = Fraction(DIGITS.exp(Decimal(total)))
    everything = (1 + odds) ** count
    return sum(
        math.comb(count, lies)
        * max(Fraction(0), odds ** (count - lies) - allowed * odds**lies)
        / everything
        for lies in range(count + 1)
    ) + Fraction(0)


def _conversion(rho: float, delta: float, order: float) -> float:
    return rho * order + math.log(1 / (order * delta)) / (order - 1) + math.log1p(-1 / order)


def _exact_conversion(rho: float, delta: float, order: float) -> Fraction:
    a, ln = Fraction(order), lambda x: Fraction(DIGITS.ln(_decimal(x)))
    return Fraction(rho) * a + ln(1 / (a * Fraction(delta))) / (a - 1) + ln(1 - 1 / a)
