"""Private halving: the drop of the potential over all small weightings."""

import itertools
import math

import pytest

from littlestone.theory.private_halving import potential_drop_lower_bound


@pytest.mark.parametrize("charge", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("margin", [0.0, 0.1, 0.25, 0.4])
def test_no_way_to_spread_the_charges_avoids_the_drop(charge: float, margin: float) -> None:
    # n mistakes, each charging a share ≥ ½ − γ of the weight: all integer spreads of the charges
    # over ten equal parts of the weight.
    mistakes, parts = 3, 10
    rate = charge / mistakes
    floor = math.exp(-potential_drop_lower_bound(margin=margin, charge=charge))
    least = math.ceil((0.5 - margin) * parts * mistakes)
    for spread in itertools.combinations_with_replacement(range(mistakes + 1), parts):
        if sum(spread) >= least:
            after = sum(math.exp(-rate * times) for times in spread) / parts
            assert after <= floor + 1e-12


def test_margins_of_a_half_are_refused() -> None:
    with pytest.raises(ValueError, match="margin"):
        potential_drop_lower_bound(margin=0.5, charge=1.0)
