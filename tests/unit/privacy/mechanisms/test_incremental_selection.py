"""Draws from growing scores: exact law, exact spans, saving and restoring."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.incremental_selection import IncrementalSelection
from littlestone.privacy.mechanisms.saved_run import fields_of, load_fields
from littlestone.privacy.rounding import exp_upper_bound
from littlestone.randomness import seeded

MECHANISM = ExponentialMechanism(epsilon=0.5, floor_bits=6)
WEIGHTS = MECHANISM._table.weights


class Scores:
    def __init__(self, scores: list[int]) -> None:
        self.scores = np.array(scores, dtype=np.int64)
        self.read_out = 0

    def as_array(self) -> NDArray[np.int64]:
        self.read_out += 1
        return self.scores.copy()

    def of(self, element: int, /) -> int:
        return int(self.scores[element])


def weight(score: int, reference: int) -> int:
    return WEIGHTS[min(score - reference, len(WEIGHTS) - 1)]


def law(scores: tuple[int, ...], reference: int) -> list[Fraction]:
    each = [weight(score, reference) for score in scores]
    return [Fraction(part, sum(each)) for part in each]


def proposal_law(then: tuple[int, ...], now: tuple[int, ...]) -> list[Fraction]:
    """Of what is kept in the end, from the law of one proposal and the chance to keep it."""
    least = min(then)
    kept = [
        p * Fraction(weight(b, least), weight(a, least))
        for p, a, b in zip(law(then, least), then, now, strict=True)
    ]
    return [k / sum(kept) for k in kept]


@pytest.mark.parametrize("growth", [(0, 0, 0), (1, 0, 3), (7, 7, 7), (0, 40, 2)])
def test_what_is_kept_has_the_law_of_the_present_scores(growth: tuple[int, ...]) -> None:
    then = (2, 0, 5)
    now = tuple(a + b for a, b in zip(then, growth, strict=True))
    assert proposal_law(then, now) == law(now, min(then))


def test_each_draw_spans_at_most_epsilon_whenever_the_weights_were_laid_out() -> None:
    # The reference is that of the neighbour's own scores if the change came before it, else common.
    largest = Fraction(0)
    for then, growth, change in product(
        product((0, 1, 4), repeat=3), product((0, 2), repeat=3), product((-1, 0, 1), repeat=3)
    ):
        now = tuple(a + b for a, b in zip(then, growth, strict=True))
        others = tuple(a + b for a, b in zip(now, change, strict=True))
        changed_then = tuple(a + b for a, b in zip(then, change, strict=True))
        for reference in (min(changed_then), min(then)):
            if min(others) < reference:
                continue  # a score below the reference: the change would have come before time 0
            pairs = zip(law(now, min(then)), law(others, reference), strict=True)
            ratios = [p / q for p, q in pairs]
            largest = max(largest, max(ratios) / min(ratios))
    assert exp_upper_bound(Fraction(1, 2) * Fraction(9, 10)) <= largest
    assert largest <= exp_upper_bound(Fraction(1, 2))


def test_a_difference_that_changes_is_no_neighbour_of_the_proof() -> None:
    """Within the range at every time, but not the same at the refresh and at the draw."""
    largest = Fraction(0)
    for at_refresh, at_draw in product(product((0, 1, 2), repeat=2), repeat=2):
        now = (9, 9)
        others = tuple(a + b for a, b in zip(now, at_draw, strict=True))
        reference = min(at_refresh)
        pairs = zip(law(now, 0), law(others, reference), strict=True)
        ratios = [p / q for p, q in pairs]
        largest = max(largest, *ratios, *(1 / ratio for ratio in ratios))
    shifted = [p / q for p, q in zip(law((9, 0), 0), law((9 + 20, 0 + 20), 0), strict=True)]
    largest = max(largest, max(shifted) / min(shifted))
    assert largest > exp_upper_bound(Fraction(1, 2))
    stated = IncrementalSelection.__doc__
    assert stated is not None and "one and the same vector" in " ".join(stated.split())


def test_scores_are_read_out_only_after_so_many_rounds() -> None:
    scores = Scores([0, 0, 0])
    run = IncrementalSelection(mechanism=MECHANISM, refresh=3).start(scores, rng=seeded(1))
    for _ in range(9):
        run.draw()
        scores.scores += 1
        run.passed(1)
    assert scores.read_out == 3


def test_a_restored_run_continues_identically() -> None:
    recipe = IncrementalSelection(mechanism=MECHANISM, refresh=10)
    scores = Scores([0, 3, 1, 2])
    run = recipe.start(scores, rng=seeded(5))
    for _ in range(4):
        run.draw()
        scores.scores += [1, 0, 1, 0]
        run.passed(1)
    saved = fields_of(run)
    restored, again = (recipe.start(scores, rng=seeded(9)) for _ in range(2))
    for continued in (restored, again):
        load_fields(continued, saved)
    assert [restored.draw() for _ in range(50)] == [again.draw() for _ in range(50)]
    assert restored._age == run._age == 4


def test_a_draw_costs_what_the_mechanism_costs() -> None:
    recipe = IncrementalSelection(mechanism=MECHANISM, refresh=2)
    assert recipe.guarantee() == MECHANISM.guarantee()
    assert recipe.zero_concentrated() == MECHANISM.zero_concentrated()
    with pytest.raises(ValueError, match="refresh must be at least 1"):
        IncrementalSelection(mechanism=MECHANISM, refresh=0)
