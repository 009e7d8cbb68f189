"""Sanitizers that are wrong in one place each."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from littlestone.audit.adversaries.questions import OneQuestion
from littlestone.audit.subjects.sanitizer_subjects import CUT_FIRST_OR_LATER, near, one_cut
from littlestone.audit.two_worlds import Control
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.mechanisms.noise.discrete_laplace import DiscreteLaplace
from littlestone.randomness import Randomness
from littlestone.sanitizers.labels import LabelConversion
from littlestone.sanitizers.specialised.tree_sanitizer import TreeSanitizer


def _noise_without_size(dataset: Sequence[int], rng: Randomness) -> int:
    # Noise of scale 1 / (epsilon n), which is meant for shares, on the counts themselves.
    return sum(dataset) + DiscreteLaplace(rate=len(dataset)).draw(rng)


def _budget_in_every_round(dataset: Sequence[int], rng: Randomness) -> int:
    choose, surplus = ExponentialMechanism(epsilon=1.0), 2 * sum(dataset) - len(dataset)
    return sum(choose.draw([-surplus, surplus], rng=rng)[0] for _ in range(8))


def _anchor_from_the_data(dataset: Sequence[tuple[int, int]], rng: Randomness) -> Any:
    concepts = Thresholds(2)
    recipe = LabelConversion(
        sanitizer=TreeSanitizer(concepts=concepts, epsilon=0.25),
        domain=concepts.domain,
        anchor=dataset[0][0],
        count_epsilon=0.5,
    )
    return recipe.release(dataset, rng=rng)


def _rounds_from_the_data(dataset: Sequence[int], rng: Randomness) -> int:
    # As many rounds as there are true objections left, each of them private by itself.
    choose = ExponentialMechanism.from_eta(Fraction(1, 64))
    guess, rounds = len(dataset) // 2, 0
    while abs(sum(dataset) - guess) > 2:
        choose.draw([guess - sum(dataset), sum(dataset) - guess], rng=rng)
        guess += 1 if sum(dataset) > guess else -1
        rounds += 1
    return rounds


def _moved_row_pays_for_one_part(table: Sequence[Sequence[float]], rng: Randomness) -> Any:
    # Parts are disjoint, so each gets the whole: true of a row that leaves, not of one that moves.
    return one_cut(2.0).release(table, rng=rng)


CONTROLS = (
    Control.one_shot(
        "sanitizer-noise-without-size",
        "noise of scale 1 / (epsilon n) is added to counts instead of shares",
        _noise_without_size,
        OneQuestion(zero=[0] * 20, one=[1] + [0] * 19),
    ),
    Control.one_shot(
        "sanitizer-budget-in-every-round",
        "each of eight rounds spends the whole budget",
        _budget_in_every_round,
        OneQuestion(zero=[0] * 10 + [1] * 10, one=[0] * 9 + [1] * 11),
    ),
    Control.one_shot(
        "anchor-from-the-data",
        "the anchor of the label conversion is the first example's point",
        _anchor_from_the_data,
        OneQuestion(
            zero=[(0, 1)] + [(1, 1)] * 39,
            one=[(1, 1)] * 40,
            notice=lambda release: near(release.zeros.weights[0]),
        ),
    ),
    Control.one_shot(
        "cuts-moved-row-pays-once",
        "a row that leaves one part and comes into another is charged for one of them",
        _moved_row_pays_for_one_part,
        CUT_FIRST_OR_LATER,
    ),
    Control.one_shot(
        "sanitizer-rounds-from-the-data",
        "the game ends when no true objection is left",
        _rounds_from_the_data,
        OneQuestion(zero=[0] * 4 + [1] * 16, one=[0] * 5 + [1] * 15),
    ),
)
