"""The weights of a box's ends: how far is published, and what an accepted witness leaves."""

import math
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import littlestone as ls
from littlestone.concepts.witness_boxes import BoxSystem
from littlestone.concepts.witness_systems import PLACE


def weights_of(end: Any) -> dict[int, int]:
    """Every distance with its weight, written out."""
    first, stretches = end
    starts = accumulate((length for length, _ in stretches), initial=first)
    return {
        start + i: weight
        for start, (length, weight) in zip(starts, stretches, strict=False)
        for i in range(length)
    }


def potential(state: Any, target: list[int]) -> float:
    """ln of the product of all weights' sums over the weight of the ends sought."""
    each = [weights_of(end) for end in state[2]]
    sums = (math.log(sum(weights.values())) for weights in each)
    own = (math.log(weights[u]) for weights, u in zip(each, target, strict=True))
    return sum(sums) - sum(own)


@pytest.mark.parametrize(("k", "n"), [(2, 30), (3, 9), (4, 6)])
@given(data=st.data())
def test_every_true_witness_lowers_the_potential_as_proved(k: int, n: int, data: Any) -> None:
    system: Any = ls.concepts.Boxes(k, n).witness_system()
    state: Any = system.begin()
    for _ in range(k):
        state = system.after(state, (PLACE, data.draw(st.integers(0, n - 1))))
    most = [room for p in state[0] for room in (p, n - 1 - p)]
    target = [data.draw(st.integers(0, room)) for room in most]
    accepted = 0
    while True:
        reach = [system._reach(end) for end in state[2]]
        true = [(e, 1) for e, u in enumerate(target) if u > reach[e]]
        true += [(0, 0)] if any(u < reach[e] for e, u in enumerate(target)) else []
        if not true:
            break
        key = data.draw(st.sampled_from(true))
        before, state = potential(state, target), system.after(state, key)
        assert state is not None
        now = [system._reach(end) for end in state[2]]
        number, label = key
        moved = {number} if label else set(range(2 * k))
        for e, (old, new) in enumerate(zip(reach, now, strict=True)):
            assert (new > old if label else new <= old) if e in moved else new == old
        assert potential(state, target) <= before - least_drop(k) + 1e-9
        accepted += 1
    assert accepted <= system.rank
    assert reach == target


def least_drop(k: int) -> float:
    """What algorithm.md calls g, by its formula."""
    share = {2: 1 / 7, 3: 3 / 29, 4: 4 / 49}[k]
    ends = 2 * k
    outside = -math.log(1 - share)
    factor = (ends - 1) * share / (1 - share)
    return min(outside, (ends - 1) * math.log(factor) - ends * math.log(ends * share))


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 9)), min_size=1, max_size=6))
def test_the_reach_is_where_the_share_lies(stretches: list[tuple[int, int]]) -> None:
    for k, share in ((2, (1, 7)), (4, (4, 49))):
        system = BoxSystem(k, 99, lambda _: ls.Intervals(1).concept(0))
        end = (3, tuple(stretches))
        weights, reach = weights_of(end), system._reach(end)
        whole = sum(weights.values())
        up_to, before = (
            sum(w for u, w in weights.items() if u < limit) for limit in (reach + 1, reach)
        )
        assert up_to * share[1] >= share[0] * whole > before * share[1]


def test_ranks() -> None:
    ranks = [ls.Intervals(n).witness_system().rank for n in (1, 2, 3, 64, 2**20)]
    assert ranks == [0, 1, 2, 10, 38]
    assert [ls.concepts.Boxes(k, 64).witness_system().rank for k in (1, 2, 3, 4)] == [
        10,
        90,
        191,
        327,
    ]
