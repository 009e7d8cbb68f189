"""Dyadic intervals, exhaustively for 1,024 rounds."""

from itertools import accumulate, pairwise
from math import log

import pytest

from littlestone.privacy.composition import basic_composition
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.binary_mechanism import DyadicIntervals
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.theory.dyadic import dyadic_pieces_upper_bound

ROUNDS = 1024
INTERVALS = DyadicIntervals(rounds=ROUNDS)
FAMILY = {
    (k * size + 1, (k + 1) * size)
    for size in (1 << j for j in range(11))
    for k in range(ROUNDS // size)
}


def test_every_interval_is_split_into_neighbouring_members_of_the_family() -> None:
    for left in range(1, 257):
        for right in range(left, 257):
            pieces = INTERVALS.decompose(left, right)
            assert pieces[0][0] == left and pieces[-1][1] == right
            assert FAMILY.issuperset(pieces)
            assert all(one[1] + 1 == other[0] for one, other in pairwise(pieces))


def test_the_bound_on_the_pieces_is_the_maximum_for_every_length() -> None:
    rounds = 512
    intervals = DyadicIntervals(rounds=rounds)
    most = [0] * (rounds + 1)
    for left in range(1, rounds + 1):
        for right in range(left, rounds + 1):
            pieces = len(intervals.decompose(left, right))
            if pieces > most[right - left + 1]:
                most[right - left + 1] = pieces
    largest = list(accumulate(most[1:], max))
    assert largest == [dyadic_pieces_upper_bound(length=n) for n in range(1, rounds + 1)]
    assert largest[-1] == 2 * 9 - 2


@pytest.mark.parametrize("rounds", [1, 2, 3, 7, 8, 100, 1024])
def test_closing_intervals_are_the_family_and_a_round_lies_in_one_per_level(rounds: int) -> None:
    intervals = DyadicIntervals(rounds=rounds)
    closing = [piece for t in range(1, rounds + 1) for piece in intervals.closing_at(t)]
    assert len(set(closing)) == len(closing) <= 2 * rounds - 1
    assert set(closing) == {piece for piece in FAMILY if piece[1] <= rounds}
    for t in range(1, rounds + 1):
        containing = [piece for piece in closing if piece[0] <= t <= piece[1]]
        assert len(containing) <= intervals.levels


@pytest.mark.parametrize("rounds", [2, 3, 4, 5, 16, 100, 1024])
def test_one_constant_serves_all_three_parts_of_the_fact(rounds: int) -> None:
    intervals, constant = DyadicIntervals(rounds=rounds), 2 / log(2)
    limit = constant * log(rounds) + 1e-9
    assert intervals.levels <= limit
    assert dyadic_pieces_upper_bound(length=rounds) <= limit
    assert max(len(intervals.decompose(1, t)) for t in range(1, rounds + 1)) <= intervals.levels


def test_shares_of_all_levels_stay_within_the_total() -> None:
    total = PrivacyGuarantee(epsilon=0.1, delta=1e-7)
    share = INTERVALS.share(total)
    assert basic_composition([share] * INTERVALS.levels).within(total)
    assert INTERVALS.share(ZeroConcentrated(rho=0.1)).times(INTERVALS.levels).rho <= 0.1


@pytest.mark.parametrize(("left", "right"), [(0, 3), (3, 2), (1, 1025), (1.0, 3), (True, 3)])
def test_intervals_outside_the_rounds_are_refused(left: int, right: int) -> None:
    with pytest.raises(ValueError, match=r"left|right"):
        INTERVALS.decompose(left, right)


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="rounds=0"):
        DyadicIntervals(rounds=0)
