"""The theorem's constants, with the exponent that its own recurrence allows."""

import math
from fractions import Fraction
from typing import Any

import pytest

from littlestone.theory.realizable_bounds import (
    EXPONENT,
    PRINTED_EXPONENT,
    frequent_pairs_lower_bound,
    instances_upper_bound,
    list_length_upper_bound,
    mistakes_upper_bound,
    printed_slots_lower_bound,
    sharp_slots_upper_bound,
    slots_upper_bound,
)

NEEDS: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "failure_probability": 0.05}


@pytest.mark.parametrize("exponent", [5, 6, 7, 8, 9])
@pytest.mark.parametrize("layer", [0, 1, 2, 3])
def test_the_recurrence_holds_for_every_exponent(exponent: int, layer: int) -> None:
    slots = 2**40
    here = frequent_pairs_lower_bound(layer=layer, slots=slots, exponent=exponent)
    above = frequent_pairs_lower_bound(layer=layer + 1, slots=slots, exponent=exponent)
    assert above == here**2 / (512 * Fraction(slots, 2 ** (layer + 1)))


def test_eight_is_the_smallest_exponent_that_fits_into_the_pairs_there_are() -> None:
    pairs = Fraction(2**20, 2)
    fits = [
        c
        for c in range(1, 12)
        if frequent_pairs_lower_bound(layer=0, slots=2**20, exponent=c) <= pairs
    ]
    assert min(fits) == EXPONENT == 8
    assert PRINTED_EXPONENT not in fits


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_lists_hold_no_more_than_all_pairs_over_half_of_the_frequent_ones(layer: int) -> None:
    slots = 2**400
    pairs = Fraction(slots, 2 ** (layer + 1))
    frequent = frequent_pairs_lower_bound(layer=layer, slots=slots)
    assert list_length_upper_bound(layer=layer) == pairs / (frequent / 2)


def test_the_printed_list_length_of_the_first_layer_is_below_one() -> None:
    assert Fraction(2**PRINTED_EXPONENT, 128) < 1 <= Fraction(2**EXPONENT, 128)


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_slots_are_those_of_the_formula(dimension: int) -> None:
    # Independently, in logarithms: 32·2^d + d bits and the factor 4d·ln(2Ad) + 2(…).
    bits = 32 * 2**dimension + dimension
    log_scale = bits * math.log(2)
    factor = 4 * dimension * (log_scale + math.log(2 * dimension)) + 2 * (
        dimension * math.log(7) + math.log(6 * dimension / 0.05)
    )
    slots = slots_upper_bound(dimension=dimension, **NEEDS)
    assert math.log2(slots) == pytest.approx(bits + math.log2(factor), abs=1e-9)
    assert slots % 2 ** (dimension + 1) == 0


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_sharp_number_of_slots_is_smaller_and_has_half_the_exponent(dimension: int) -> None:
    sharp = sharp_slots_upper_bound(dimension=dimension, **NEEDS)
    assert sharp < slots_upper_bound(dimension=dimension, **NEEDS)
    assert 16 * 2**dimension - 8 <= math.log2(sharp) <= 16 * 2**dimension + 8
    assert mistakes_upper_bound(
        dimension=dimension, rounds=1000, slots=sharp, **NEEDS
    ) < mistakes_upper_bound(dimension=dimension, rounds=1000, **NEEDS)


def test_half_of_the_sharp_slots_are_refused() -> None:
    sharp = sharp_slots_upper_bound(dimension=2, **NEEDS)
    with pytest.raises(ValueError, match="slots are too few"):
        mistakes_upper_bound(dimension=2, rounds=1000, slots=sharp // 2, **NEEDS)


def test_mistakes_sum_lists_times_instances() -> None:
    slots = sharp_slots_upper_bound(dimension=1, **NEEDS)
    overshoot = math.ceil(32 * (math.log(1000) + math.log(6 * 1000 / 0.05)) + 1)
    by_hand = (slots + overshoot) + 512 * (slots // 2 + overshoot)
    assert mistakes_upper_bound(dimension=1, rounds=1000, slots=slots, **NEEDS) == by_hand
    assert instances_upper_bound(dimension=1) == 513


def test_a_single_concept_costs_nothing() -> None:
    assert mistakes_upper_bound(dimension=0, rounds=10, **NEEDS) == 0
    assert slots_upper_bound(dimension=0, **NEEDS) == 2
    assert sharp_slots_upper_bound(dimension=0, **NEEDS) == 2


def test_numbers_beyond_every_float_stay_whole() -> None:
    slots = slots_upper_bound(dimension=6, **NEEDS)
    with pytest.raises(OverflowError):
        float(slots)
    assert math.log2(slots) > math.log2(printed_slots_lower_bound(dimension=6)) > 1024


def test_mistakes_grow_by_a_constant_for_each_factor_of_rounds() -> None:
    slots = sharp_slots_upper_bound(dimension=1, **NEEDS)

    def bound(rounds: int) -> int:
        return mistakes_upper_bound(dimension=1, rounds=rounds, slots=slots, **NEEDS)

    first, second = bound(10**6) - bound(10**3), bound(10**9) - bound(10**6)
    assert first > 0 and abs(first - second) <= 2 * 513
