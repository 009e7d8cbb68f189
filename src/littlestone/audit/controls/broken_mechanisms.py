"""Mechanisms with one bug each, which the auditor must find.

The bugs were published or are likely [LSL17, Figure 1]. Each is a
subject for the two-world game and claims the guarantee that its author believed in. None of them
is in the catalogue.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from littlestone.audit import attacks as ask
from littlestone.audit.attacks import OneQuestion
from littlestone.audit.subjects.mechanism_subjects import (
    COPIES,
    ONE_QUESTION,
    ONE_UP_OTHERS_DOWN,
    a_tree_or_another,
    one_sum,
    selection,
    selection_of_trees,
)
from littlestone.audit.two_worlds import Control, Conversation
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.correlated_sums import CorrelatedSums
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.mechanisms.noise.geometric import (
    DiscreteLaplace,
    Geometric,
    TruncatedLaplace,
)
from littlestone.privacy.mechanisms.tree_selection import TreeSelection
from littlestone.randomness import Randomness

Answers = Sequence[int]
"""The true answers to a list of queries; neighbours move each of them by at most one."""

HALF = Fraction(1, 2)
LAPLACE = DiscreteLaplace(rate=HALF)
UNIT = Geometric(rate=1)


class PlainMonitor:
    """One-sided AboveThreshold for running counts, round by round; correct."""

    def __init__(self, threshold: int, rng: Randomness) -> None:
        self.rng = rng
        self.count: int | Fraction = 0
        self.noisy_threshold = threshold + UNIT.draw(rng)

    def observe(self, bit: int | Fraction) -> bool:
        """Take one bit; return whether the count has passed."""
        self.count += bit
        return self.count + UNIT.draw(self.rng) >= self.noisy_threshold


def _releases_the_noisy_answer(queries: Answers, rng: Randomness) -> tuple[int | None, ...]:
    noisy_threshold = LAPLACE.draw(rng)
    released: list[int | None] = []
    for query in queries:
        noisy = query + LAPLACE.draw(rng)
        released.append(noisy if noisy >= noisy_threshold else None)
        if noisy >= noisy_threshold:
            break
    return tuple(released)


def _query_noise_not_scaled(queries: Answers, rng: Randomness) -> tuple[bool, ...]:
    noisy_threshold = DiscreteLaplace(rate=HALF / 2).draw(rng)
    query_noise = DiscreteLaplace(rate=3 * HALF / 2)
    released: list[bool] = []
    for query in queries:
        released.append(query + query_noise.draw(rng) >= noisy_threshold)
        if sum(released) == 5:
            break
    return tuple(released)


def _no_query_noise(queries: Answers, rng: Randomness) -> tuple[bool, ...]:
    noisy_threshold = LAPLACE.draw(rng)
    return tuple(query >= noisy_threshold for query in queries)


def _no_cut_off(queries: Answers, rng: Randomness) -> tuple[bool, ...]:
    noisy_threshold = LAPLACE.draw(rng)
    return tuple(query + LAPLACE.draw(rng) >= noisy_threshold for query in queries)


def _noisy_max_with_its_value(counts: Answers, rng: Randomness) -> int:
    laplace = DiscreteLaplace(rate=1)
    return max(count + laplace.draw(rng) for count in counts)


def _histogram_scale_inverted(count: int, rng: Randomness) -> int:
    return count + DiscreteLaplace(rate=4).draw(rng)  # 1/epsilon = 4 is meant to be the scale


def _float_laplace(count: int, rng: Randomness) -> float:
    magnitude = -math.log((rng.bits(53) + 0.5) * 2.0**-53)
    return count + (magnitude if rng.coin() else -magnitude)


def _threshold_noise_reused(rng: Randomness) -> Conversation:
    monitor = PlainMonitor(1, rng)

    def answer(bit: int) -> bool:
        above = monitor.observe(bit)
        if above:
            monitor.count = 0  # the noisy threshold should be drawn again here
        return above

    return answer


def _overlapping_instances(rng: Randomness) -> Conversation:
    first, second = PlainMonitor(1, rng), PlainMonitor(1, rng)
    return lambda bit: (first.observe(bit), second.observe(bit))


def _histogram_threshold_one_too_low(keys: Sequence[Any], rng: Randomness) -> tuple[Any, ...]:
    bound = PrivateHistogram(epsilon=1.0, delta=0.01, neighbours="add-remove").noise_bound
    noise = TruncatedLaplace(rate=1, bound=bound)
    counts = {key: keys.count(key) for key in keys}
    return tuple(key for key in sorted(counts) if counts[key] + noise.draw(rng) >= bound)


def _noise_reused_after_a_restore(rng: Randomness) -> Conversation:
    noise = DiscreteLaplace(rate=1).draw(rng)  # saved, then continued twice
    return lambda count: count + noise


def _fractional_bits(rng: Randomness) -> Conversation:
    return PlainMonitor(1, rng).observe


def _add_remove_budget_for_replacements(keys: Sequence[Any], rng: Randomness) -> dict[Any, int]:
    histogram = PrivateHistogram(epsilon=1.0, delta=1e-6, neighbours="add-remove")
    return histogram.release(keys, rng=rng)


def _query_noise_skipped_when_correct(rng: Randomness) -> Conversation:
    monitor = PlainMonitor(2, rng)

    def answer(bit: int) -> bool:
        if bit == 0:
            return monitor.count >= monitor.noisy_threshold
        return monitor.observe(bit)

    return answer


def _counts_not_reset(rng: Randomness) -> Conversation:
    monitor = PlainMonitor(2, rng)

    def answer(bit: int) -> bool:
        above = monitor.observe(bit)
        if above:
            monitor.noisy_threshold = 2 + UNIT.draw(rng)  # the count stays
        return above

    return answer


class _TreesThatErrOneWay(TreeSelection):
    @property
    def eta(self) -> Fraction:
        return Fraction(self.epsilon)


class _SumsOfComingAndGoing(CorrelatedSums):
    @property
    def _shift_squared(self) -> int:
        return self.longest_squared * sum(weight * weight for weight in self.mix)


CONTROLS = (
    Control.one_shot(
        "releases-noisy-answer",
        "sparse vector that releases the noisy answer itself [LSL17, Algorithm 3]",
        _releases_the_noisy_answer,
        OneQuestion(zero=[0] * 8 + [1], one=[1] * 8 + [0], notice=ask.above_or_below),
    ),
    Control.one_shot(
        "query-noise-not-scaled",
        "query noise not scaled by the number of positives [LSL17, Algorithm 4]",
        _query_noise_not_scaled,
        OneQuestion(zero=[0] * 5 + [1] * 5, one=[1] * 5 + [0] * 5),
    ),
    Control.one_shot(
        "no-query-noise",
        "noise on the threshold only, no cut-off [LSL17, Algorithm 5]",
        _no_query_noise,
        OneQuestion(zero=[0, 1], one=[1, 0]),
    ),
    Control.one_shot(
        "no-cut-off",
        "continues after the first yes [LSL17, Algorithm 6]",
        _no_cut_off,
        OneQuestion(zero=[0] * 12, one=[1] * 6 + [-1] * 6, notice=ask.yes_counts),
    ),
    Control.one_shot(
        "noisy-max-value",
        "a noisy maximum that releases the value at the price of the position",
        _noisy_max_with_its_value,
        OneQuestion(zero=[0] * 6, one=[1] * 6),
    ),
    Control.one_shot(
        "histogram-scale-inverted",
        "noise of scale epsilon instead of 1/epsilon",
        _histogram_scale_inverted,
        OneQuestion(zero=0, one=1),
        PrivacyGuarantee(epsilon=0.25),
    ),
    Control.one_shot(
        "float-laplace",
        "Laplace noise in floating point",
        _float_laplace,
        OneQuestion(zero=0, one=1, notice=ask.finer_than_the_grid),
    ),
    Control.of(
        "threshold-noise-reused",
        "AboveThreshold continued after a yes without fresh threshold noise",
        _threshold_noise_reused,
        ask.LearnTheThreshold(),
    ),
    Control.of(
        "overlapping-instances",
        "two instances on the same rounds, epsilon paid once",
        _overlapping_instances,
        ask.FirstRound(),
    ),
    Control.one_shot(
        "histogram-threshold-low",
        "histogram threshold t = a where a + 1 is needed",
        _histogram_threshold_one_too_low,
        OneQuestion(zero=["key"], one=[], notice=lambda released: "key" in released),
        PrivacyGuarantee(epsilon=1.0, delta=0.01),
    ),
    Control.of(
        "noise-reused-after-restore",
        "a snapshot continued twice, so that two answers share their noise",
        _noise_reused_after_a_restore,
        ask.CompareTwoAnswers(),
    ),
    Control.of(
        "fractional-bits",
        "fractional bits fed to AboveThreshold with geometric noise (costs exactly 2 epsilon)",
        _fractional_bits,
        ask.FractionalBits(),
    ),
    Control.one_shot(
        "add-remove-for-replace",
        "a histogram that pays for an added element, used where elements are replaced",
        _add_remove_budget_for_replacements,
        OneQuestion(
            zero=["a"] * (COPIES + 1) + ["b"] * COPIES,
            one=["a"] * COPIES + ["b"] * (COPIES + 1),
            notice=lambda released: released["a"] - released["b"],
        ),
        PrivacyGuarantee(epsilon=1.0, delta=1e-6),
    ),
    Control.of(
        "noise-skipped-when-correct",
        "no query noise on rounds without a mistake",
        _query_noise_skipped_when_correct,
        ask.ThenWait(before=(0,), rounds=1),
    ),
    Control.of(
        "counts-not-reset",
        "the count survives into the next AboveThreshold instance",
        _counts_not_reset,
        ask.SeveralYeses(),
    ),
    Control(
        subject=replace(
            selection(ExponentialMechanism(epsilon=1.0, range_width=1)),
            name="exponential-half-sensitivity",
        ),
        adversary=ONE_UP_OTHERS_DOWN,
        bug="an exponential mechanism that pays for scores that all move one way",
    ),
    Control(
        subject=replace(
            selection_of_trees(_TreesThatErrOneWay(trees=ONE_QUESTION, epsilon=1.0)),
            name="trees-half-sensitivity",
        ),
        adversary=a_tree_or_another(3),
        bug="trees and others drawn as if their errors all moved one way",
    ),
    Control(
        subject=replace(
            one_sum(1.0, 1e-3, kind=_SumsOfComingAndGoing), name="sums-without-the-factor-two"
        ),
        adversary=OneQuestion(zero=1, one=-1),
        bug="correlated sums with noise for an added vector, not for a replaced one",
    ),
)
