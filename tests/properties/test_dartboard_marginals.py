"""The dartboard plays by the law of exponential weights, whatever the oblivious losses are."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

BATCHES = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=12)


def weights(totals: np.ndarray, rate: float) -> np.ndarray:
    each = np.exp(-rate * (totals - totals.min()))
    return each / each.sum()


def law_after(losses: list[list[int]], rate: float, fake: float, keep_rate: float) -> np.ndarray:
    """Of the expert played in the end, step by step through coin and draw."""
    totals = np.zeros(3)
    law = weights(totals, rate)
    for batch in losses:
        kept = law * (1 - fake) * np.exp(-keep_rate * np.array(batch))
        totals += batch
        law = kept + (1 - kept.sum()) * weights(totals, rate)
    return law


@given(BATCHES, st.floats(0.01, 2), st.floats(0.01, 1))
def test_the_expert_has_the_law_of_exponential_weights(
    losses: list[list[int]], rate: float, fake: float
) -> None:
    wanted = weights(np.sum(losses, axis=0).astype(float), rate)
    assert np.allclose(law_after(losses, rate, fake, rate), wanted, atol=1e-9)


def test_another_coin_gives_another_law() -> None:
    losses = [[4, 0, 1], [0, 2, 1]]
    wanted = weights(np.sum(losses, axis=0).astype(float), 1.0)
    assert not np.allclose(law_after(losses, 1.0, 0.1, 0.5), wanted, atol=1e-3)


@given(BATCHES, st.floats(0.01, 1))
def test_exponential_weights_never_exceed_their_bound(losses: list[list[int]], rate: float) -> None:
    totals, expected = np.zeros(3), 0.0
    for batch in losses:
        expected += float(weights(totals, rate) @ np.array(batch))
        totals += batch
    bound = math.log(3) / rate + rate * len(losses) * 4**2 / 8
    assert expected - totals.min() <= bound + 1e-9
