"""Lemma 1 of docs/theory/floors.md, on all views of short games with few targets."""

from collections.abc import Iterator, Sequence
from itertools import product

import pytest

Pair = tuple[int, int]


def pairs(view: Sequence[int], targets: int, rank: int, starts: int) -> list[Pair]:
    """(s, j) with s among the first ``starts`` rounds, j not published at s, and N_s(j) = rank.

    ``view`` has, for each round, the target that is published, or 0 for none of 1 .. n.
    """
    return [
        (s, j)
        for s in range(min(starts, len(view)))
        for j in range(1, targets + 1)
        if view[s] != j and sum(other != j for other in view[s:]) == rank
    ]


def views(rounds: int, targets: int) -> Iterator[tuple[int, ...]]:
    return product(range(targets + 1), repeat=rounds)


def violations(rounds: int, targets: int, longest: int, starts: int) -> int:
    """Views in which some rank has two pairs, or the pairs of all ranks have two targets."""
    bad = 0
    for view in views(rounds, targets):
        found = [pairs(view, targets, rank, starts) for rank in range(1, longest + 1)]
        names = {j for some in found for _, j in some}
        bad += any(len(some) > 1 for some in found) or len(names) > 1
    return bad


SIZES = [(rounds, targets) for rounds in range(1, 6) for targets in (1, 2, 3)] + [(6, 2), (7, 2)]
SLOW = [(6, 3), (7, 3), (8, 1), (8, 2), (8, 3)]


@pytest.mark.parametrize(
    ("rounds", "targets"),
    [*SIZES, *(pytest.param(*size, marks=pytest.mark.slow) for size in SLOW)],
)
def test_each_rank_has_one_pair_and_all_ranks_one_target(rounds: int, targets: int) -> None:
    for longest in range(1, (rounds + 1) // 2 + 1):
        assert violations(rounds, targets, longest, rounds - 2 * longest + 1) == 0


@pytest.mark.parametrize(("rounds", "longest"), [(3, 1), (4, 2), (5, 2)])
def test_one_start_more_would_be_too_many(rounds: int, longest: int) -> None:
    assert violations(rounds, 2, longest, rounds - 2 * longest + 2) > 0
