"""Sanitizers in the two-world game, and sanitizers that are wrong in one place each."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from littlestone.audit.attacks import OneQuestion
from littlestone.audit.broken import ONE, BrokenMechanism
from littlestone.audit.suite import AuditEntry
from littlestone.audit.two_worlds import Conversation, TwoWorldAdversary, World
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.mechanisms.noise.discrete_laplace import DiscreteLaplace
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mixed_budget import MixedBudget
from littlestone.randomness import Randomness
from littlestone.sanitizers.fooling.discriminator import FiniteDiscriminator
from littlestone.sanitizers.fooling.fooling_sanitizer import FoolingSanitizer
from littlestone.sanitizers.fooling.generator import HedgeGenerator
from littlestone.sanitizers.labels import LabelConversion
from littlestone.sanitizers.protocols import Sanitizer
from littlestone.sanitizers.realizable.realizable_sanitizer import RealizableSanitizer
from littlestone.sanitizers.realizable.winnow_generator import WinnowGenerator
from littlestone.sanitizers.specialised.histogram_sanitizer import HistogramSanitizer
from littlestone.sanitizers.specialised.tree_sanitizer import TreeSanitizer
from littlestone.sanitizers.stream.interval_sanitizer import IntervalSanitizer

COPIES = 60
# One round, nearly all of the budget on the watch: what a single release can show of it.
WATCHING = 0.98
ALTERNATIVE = FiniteClass([[0, 1]])


@dataclass(frozen=True, slots=True)
class SanitizerSubject:
    """A sanitizer: takes a dataset, answers with the release."""

    recipe: Sanitizer

    def guarantee(self) -> PrivacyGuarantee:
        return self.recipe.guarantee()

    def open(self, rng: Randomness) -> tuple[None, Conversation]:
        return None, lambda dataset: self.recipe.release(dataset, rng=rng)


@dataclass(frozen=True, slots=True)
class StreamSubject:
    """An interval sanitizer: takes examples, answers with the releases that each one ends."""

    recipe: IntervalSanitizer

    def guarantee(self) -> PrivacyGuarantee:
        return self.recipe.guarantee()

    def open(self, rng: Randomness) -> tuple[None, Conversation]:
        run = self.recipe.start(rng=rng)

        def answer(example: Any) -> list[Any]:
            run.observe(example)
            pieces = (run.pieces(left, run.rounds) for left in range(1, run.rounds + 1))
            return [release for parts in pieces for _, release in parts if len(parts) == 1]

        return None, answer


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstOfTwo:
    """Challenge with the first example of a stream of two and look at every interval."""

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        [first] = world.challenge(0, 1)
        both, _ = sorted(world.send(0), key=lambda release: release.weights.sum(), reverse=True)
        return _near(first.weights[0]), _near(both.weights[0])


def _near(share: float) -> int:
    """A share between 0 and 1, coarsely: below, in the middle, above."""
    return round(4 * share)


def _fooling(epsilon: float, delta: float) -> SanitizerSubject:
    budget = MixedBudget.split(epsilon=epsilon, delta=delta, watching=WATCHING)
    discriminator = FiniteDiscriminator(
        rounds=1,
        threshold=0.05,
        choose_epsilon=budget.selection_epsilon(1),
        watch_epsilon=budget.epsilon,
    )
    recipe = FoolingSanitizer(
        concepts=ALTERNATIVE,
        generator=HedgeGenerator(step=0.5),
        discriminator=discriminator,
        delta=delta,
    )
    return SanitizerSubject(recipe)


def _realizable(epsilon: float, delta: float) -> SanitizerSubject:
    budget = MixedBudget.split(epsilon=epsilon, delta=delta, watching=WATCHING)
    recipe = RealizableSanitizer(
        concepts=ALTERNATIVE,
        generator=WinnowGenerator(cut=0.75, raised=2.0, lowered=0.5),
        rounds=1,
        lower=0.1,
        upper=0.6,
        choose_epsilon=budget.selection_epsilon(1),
        watch_epsilon=budget.epsilon,
        delta=delta,
    )
    return SanitizerSubject(recipe)


def _conversion(epsilon: float, delta: float) -> SanitizerSubject:
    del delta
    concepts = Thresholds(2)
    recipe = LabelConversion(
        sanitizer=TreeSanitizer(concepts=concepts, epsilon=epsilon / 8),
        domain=concepts.domain,
        anchor=0,
        count_epsilon=3 * epsilon / 4,
    )
    return SanitizerSubject(recipe)


def _intervals(epsilon: float, delta: float) -> StreamSubject:
    del delta
    concepts = Thresholds(2)

    def family(size: int, parts: int) -> TreeSanitizer:
        del size
        return TreeSanitizer(concepts=concepts, epsilon=epsilon / parts)

    return StreamSubject(
        IntervalSanitizer(rounds=2, family=family, domain=concepts.domain, shortest=1)
    )


def _two_counts(release: Any) -> Hashable:
    counts = release.counts
    return tuple(np.clip([counts.get("a", 0) - COPIES, counts.get("b", 0) - COPIES], -1, 2))


AUDITS: Mapping[str, AuditEntry] = {
    "histogram-sanitizer": AuditEntry(
        subject=lambda epsilon, delta: SanitizerSubject(
            HistogramSanitizer(concepts=Points(), epsilon=epsilon, delta=delta)
        ),
        adversary=OneQuestion(
            zero=["a"] * (COPIES + 1) + ["b"] * COPIES,
            one=["a"] * COPIES + ["b"] * (COPIES + 1),
            notice=_two_counts,
        ),
        summary="HistogramSanitizer: one key replaced by another",
    ),
    "tree-sanitizer": AuditEntry(
        subject=lambda epsilon, _: SanitizerSubject(
            TreeSanitizer(concepts=Thresholds(2), epsilon=epsilon)
        ),
        adversary=OneQuestion(
            zero=[0] * 6 + [1] * 5,
            one=[0] * 5 + [1] * 6,
            notice=lambda release: round(22 * release.weights[0]),
        ),
        summary="TreeSanitizer: one point moved to the next cell",
    ),
    "fooling-sanitizer": AuditEntry(
        subject=_fooling,
        adversary=OneQuestion(
            # A surplus of 1,000 or 999 where 1,000 is the threshold; the choice is nearly certain.
            zero=np.repeat([0, 1], [9_000, 11_000]),
            one=np.repeat([0, 1], [9_001, 10_999]),
            notice=lambda release: release.weights[1] > release.weights[0],
        ),
        summary="FoolingSanitizer: one example that makes an objection more likely",
    ),
    "realizable-sanitizer": AuditEntry(
        subject=_realizable,
        adversary=OneQuestion(
            zero=[0] * 8 + [1] * 12, one=[0] * 9 + [1] * 11, notice=lambda release: release.won
        ),
        summary="RealizableSanitizer: one example that makes an objection more likely",
    ),
    "label-conversion": AuditEntry(
        subject=_conversion,
        adversary=OneQuestion(
            zero=[(1, 0)] * 6 + [(1, 1)] * 4,
            one=[(1, 0)] * 5 + [(1, 1)] * 5,
            notice=lambda release: release.share >= 0.5,
        ),
        summary="LabelConversion: one label flipped",
    ),
    "interval-sanitizer": AuditEntry(
        subject=_intervals,
        adversary=FirstOfTwo(),
        summary="IntervalSanitizer: the first of two examples replaced",
    ),
}


def _noise_without_size(rng: Randomness) -> Conversation:
    # Noise of scale 1 / (epsilon n), which is meant for shares, on the counts themselves.
    def answer(dataset: Sequence[int]) -> int:
        return sum(dataset) + DiscreteLaplace(rate=len(dataset)).draw(rng)

    return answer


def _budget_in_every_round(rng: Randomness, *, rounds: int = 8) -> Conversation:
    choose = ExponentialMechanism(epsilon=1.0)

    def answer(dataset: Sequence[int]) -> int:
        surplus = 2 * sum(dataset) - len(dataset)
        return sum(choose.draw([-surplus, surplus], rng=rng)[0] for _ in range(rounds))

    return answer


def _anchor_from_the_data(rng: Randomness) -> Conversation:
    concepts = Thresholds(2)
    sanitizer = TreeSanitizer(concepts=concepts, epsilon=0.25)

    def answer(dataset: Sequence[tuple[int, int]]) -> Any:
        recipe = LabelConversion(
            sanitizer=sanitizer, domain=concepts.domain, anchor=dataset[0][0], count_epsilon=0.5
        )
        return recipe.release(dataset, rng=rng)

    return answer


def _rounds_from_the_data(rng: Randomness) -> Conversation:
    # As many rounds as there are true objections left, each of them private by itself.
    choose = ExponentialMechanism.with_eta(Fraction(1, 64))

    def answer(dataset: Sequence[int]) -> int:
        guess, rounds = len(dataset) // 2, 0
        while abs(sum(dataset) - guess) > 2:
            choose.draw([guess - sum(dataset), sum(dataset) - guess], rng=rng)
            guess += 1 if sum(dataset) > guess else -1
            rounds += 1
        return rounds

    return answer


BROKEN: Mapping[str, BrokenMechanism] = {
    mechanism.name: mechanism
    for mechanism in (
        BrokenMechanism(
            name="sanitizer-noise-without-size",
            bug="noise of scale 1 / (epsilon n) is added to counts instead of shares",
            claimed=ONE,
            start=_noise_without_size,
        ),
        BrokenMechanism(
            name="sanitizer-budget-in-every-round",
            bug="each of eight rounds spends the whole budget",
            claimed=ONE,
            start=_budget_in_every_round,
        ),
        BrokenMechanism(
            name="anchor-from-the-data",
            bug="the anchor of the label conversion is the first example's point",
            claimed=ONE,
            start=_anchor_from_the_data,
        ),
        BrokenMechanism(
            name="sanitizer-rounds-from-the-data",
            bug="the game ends when no true objection is left",
            claimed=ONE,
            start=_rounds_from_the_data,
        ),
    )
}

CONTROLS: Mapping[str, TwoWorldAdversary] = {
    "sanitizer-noise-without-size": OneQuestion(zero=[0] * 20, one=[1] + [0] * 19),
    "sanitizer-budget-in-every-round": OneQuestion(
        zero=[0] * 10 + [1] * 10, one=[0] * 9 + [1] * 11
    ),
    "anchor-from-the-data": OneQuestion(
        zero=[(0, 1)] + [(1, 1)] * 39,
        one=[(1, 1)] * 40,
        notice=lambda release: _near(release.zeros.weights[0]),
    ),
    "sanitizer-rounds-from-the-data": OneQuestion(zero=[0] * 4 + [1] * 16, one=[0] * 5 + [1] * 15),
}
