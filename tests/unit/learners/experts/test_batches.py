"""Public lengths of batches."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from littlestone.learners.experts.protocols import Batches


@given(st.integers(1, 50), st.fractions(1, 3), st.integers(1, 500))
def test_batches_cover_all_rounds_and_never_shrink(first: int, growth: float, rounds: int) -> None:
    batches = Batches(first=first, growth=growth)
    lengths = list(batches.lengths(rounds))
    for after in range(len(lengths) + 2):
        assert list(batches.lengths(rounds, after)) == lengths[after:]
    assert sum(lengths) == rounds
    assert all(a <= b for a, b in pairwise(lengths[:-1]))
    assert batches.count(rounds) == len(lengths)
    assert batches.sum_of_squares(rounds) == sum(length**2 for length in lengths)


def test_only_single_rounds_are_fit_for_adaptive_adversaries() -> None:
    assert Batches().single_rounds
    assert not Batches(first=2).single_rounds and not Batches(growth=1.1).single_rounds


@pytest.mark.parametrize("bad", [{"first": 0}, {"first": 1.5}, {"growth": 0.9}, {"growth": -1}])
def test_bad_batches_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        Batches(**bad)  # type: ignore[arg-type]
