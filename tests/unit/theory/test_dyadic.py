"""Dyadic intervals, counted by hand."""

import math

import pytest

from littlestone.theory.dyadic import (
    dyadic_constant_upper_bound,
    dyadic_count_upper_bound,
    dyadic_membership_upper_bound,
    dyadic_pieces_upper_bound,
)


def dyadic_intervals(rounds: int) -> list[tuple[int, int]]:
    return [
        (k * size + 1, (k + 1) * size)
        for size in (2**j for j in range(rounds.bit_length()))
        for k in range(rounds // size)
    ]


def fewest_pieces(rounds: int) -> dict[tuple[int, int], int]:
    """By dynamic programming over all covers, not by the greedy rule."""
    ends: dict[int, list[int]] = {}
    for left, right in dyadic_intervals(rounds):
        ends.setdefault(left, []).append(right)
    pieces: dict[tuple[int, int], int] = {}
    for right in range(1, rounds + 1):
        pieces[right + 1, right] = 0
        for left in range(right, 0, -1):
            pieces[left, right] = min(
                1 + pieces[end + 1, right] for end in ends[left] if end <= right
            )
    return pieces


@pytest.mark.parametrize("rounds", [1, 2, 3, 7, 8, 100, 129])
def test_counts_and_memberships(rounds: int) -> None:
    intervals = dyadic_intervals(rounds)
    assert len(intervals) <= dyadic_count_upper_bound(rounds=rounds)
    memberships = [
        sum(left <= t <= right for left, right in intervals) for t in range(1, rounds + 1)
    ]
    assert max(memberships) == dyadic_membership_upper_bound(rounds=rounds)


def test_the_number_of_pieces_is_exact() -> None:
    pieces = fewest_pieces(128)
    worst = 0
    for length in range(1, 63):
        worst = max(worst, *(pieces[left, left + length - 1] for left in range(1, 130 - length)))
        assert worst == dyadic_pieces_upper_bound(length=length)


@pytest.mark.parametrize("rounds", [2, 3, 5, 16, 31, 64, 100])
def test_one_constant_covers_all_three_parts(rounds: int) -> None:
    constant = dyadic_constant_upper_bound(rounds=rounds)
    assert constant == pytest.approx(2 / math.log(2) * math.log(rounds))
    assert max(fewest_pieces(rounds).values()) <= constant
    assert dyadic_membership_upper_bound(rounds=rounds) <= constant
    assert dyadic_count_upper_bound(rounds=rounds) <= 2 / math.log(2) * rounds
