"""The library's sanitizers in the two-world game."""

import math
from collections.abc import Hashable
from functools import partial
from typing import Any

import numpy as np

from littlestone.audit.attacks import OneQuestion
from littlestone.audit.two_worlds import Audit, Conversation, Deterministic, Subject, World
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.sanitizers.discriminator import FiniteDiscriminator
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.generator import HedgeGenerator
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramSanitizer
from littlestone.learners.sanitizers.interval_sanitizer import IntervalSanitizer
from littlestone.learners.sanitizers.labels import LabelConversion
from littlestone.learners.sanitizers.private_cuts import PrivateCuts
from littlestone.learners.sanitizers.realizable_sanitizer import RealizableSanitizer
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.learners.sanitizers.winnow_generator import WinnowGenerator
from littlestone.privacy.mixed_budget import MixedBudget
from littlestone.randomness import Randomness

COPIES = 60
# One round with nearly all of the budget on the test: the most that one release can show.
WATCHING = 0.98
ALTERNATIVE = FiniteClass([[0, 1]])


# In one world half of the values lie below all 19 candidates and one above the first only; in the
# # other a value has moved from below all to above all, and the first is worse than the others.
CUT_FIRST_OR_LATER = OneQuestion(
    zero=[[-99.0] * 30 + [-8.5] + [99.0] * 29],
    one=[[-99.0] * 29 + [-8.5] + [99.0] * 30],
    notice=lambda released: released[0] == (-9.0,),
)


def one_cut(epsilon: float) -> PrivateCuts:
    """Return a recipe that cuts one column at one of the numbers from -9 to 9."""
    return PrivateCuts(epsilon=epsilon, columns=1, levels=1, digits=1, least=0, most=0)


def stream(recipe: IntervalSanitizer) -> Subject:
    """Make a subject that takes examples and answers with the releases that each one ends."""

    def start(rng: Randomness) -> tuple[None, Conversation]:
        run = recipe.start(rng=rng)

        def answer(example: Any) -> list[Any]:
            run.observe(example)
            pieces = (run.pieces(left, run.rounds) for left in range(1, run.rounds + 1))
            return [release for parts in pieces for _, release in parts if len(parts) == 1]

        return None, answer

    return Subject(name=repr(recipe), claimed=recipe.guarantee(), open=start)


class FirstOfTwo(Deterministic):
    """Challenge with the first example of a stream of two and look at the only interval."""

    def noticed(self, world: World) -> Hashable:
        world.challenge(0, 1)
        both, *_ = world.send(0)
        return near(both.weights[0])


def near(share: float) -> int:
    """Round a share between 0 and 1 to below, middle or above."""
    return round(4 * share)


_enumerated = partial(Audit, goal=0.5, exact_rounds=1, negligible_bits=20)


def _fooling(epsilon: float, delta: float) -> Subject:
    """Return a generator whose second guess is as far above the data as the first was below."""
    budget = MixedBudget.split(epsilon=epsilon, delta=delta, watching=WATCHING)
    discriminator = FiniteDiscriminator(
        rounds=2,
        threshold=0.05,
        choose_epsilon=budget.selection_epsilon(2),
        test_epsilon=budget.epsilon,
    )
    recipe = FoolingSanitizer(
        concepts=ALTERNATIVE,
        generator=HedgeGenerator(step=math.log(1.5)),
        discriminator=discriminator,
        delta=delta,
    )
    return Subject.from_release(recipe)


def _realizable(epsilon: float, delta: float) -> Subject:
    budget = MixedBudget.split(epsilon=epsilon, delta=delta, watching=WATCHING)
    recipe = RealizableSanitizer(
        concepts=ALTERNATIVE,
        generator=WinnowGenerator(cut=0.75, raised=4.0, lowered=0.25),
        rounds=3,
        lower=0.1,
        upper=0.6,
        choose_epsilon=budget.selection_epsilon(3),
        test_epsilon=budget.epsilon,
        delta=delta,
    )
    return Subject.from_release(recipe)


def _conversion(epsilon: float, delta: float) -> Subject:
    del delta
    concepts = Thresholds(2)
    recipe = LabelConversion(
        sanitizer=TreeSanitizer(concepts=concepts, epsilon=epsilon / 8),
        domain=concepts.domain,
        anchor=0,
        count_epsilon=3 * epsilon / 4,
    )
    return Subject.from_release(recipe)


def _intervals(epsilon: float, delta: float) -> Subject:
    del delta
    concepts = Thresholds(2)

    def family(size: int, parts: int) -> TreeSanitizer:
        del size
        return TreeSanitizer(concepts=concepts, epsilon=epsilon / parts)

    return stream(IntervalSanitizer(rounds=2, family=family, domain=concepts.domain, shortest=2))


def _two_counts(release: Any) -> Hashable:
    counts = release.counts
    return tuple(np.clip([counts.get("a", 0) - COPIES, counts.get("b", 0) - COPIES], -1, 2))


AUDITS = (
    _enumerated(
        name="histogram-sanitizer",
        subject=lambda epsilon, delta: Subject.from_release(
            HistogramSanitizer(concepts=Points(), epsilon=epsilon, delta=delta)
        ),
        adversary=OneQuestion(
            zero=["a"] * (COPIES + 1) + ["b"] * COPIES,
            one=["a"] * COPIES + ["b"] * (COPIES + 1),
            notice=_two_counts,
        ),
        summary="HistogramSanitizer: one key replaced by another",
    ),
    _enumerated(
        name="tree-sanitizer",
        subject=lambda epsilon, _: Subject.from_release(
            TreeSanitizer(concepts=Thresholds(2), epsilon=epsilon)
        ),
        adversary=OneQuestion(
            zero=[0] * 6 + [1] * 5,
            one=[0] * 5 + [1] * 6,
            notice=lambda release: round(22 * release.weights[0]),
        ),
        summary="TreeSanitizer: one point moved to the next cell",
    ),
    _enumerated(
        name="fooling-sanitizer",
        subject=_fooling,
        adversary=OneQuestion(
            # Both guesses are off by 1,000 (the threshold), or one by 999 and one by 1,001: a
            # change that # makes the first yes more likely makes the second less likely.
            zero=np.repeat([0, 1], [9_000, 11_000]),
            one=np.repeat([0, 1], [9_001, 10_999]),
            notice=lambda release: round(100 * release.weights[1]),
        ),
        summary="FoolingSanitizer: one example that makes an objection more likely",
    ),
    _enumerated(
        name="realizable-sanitizer",
        subject=_realizable,
        adversary=OneQuestion(
            zero=[0] * 8 + [1] * 12, one=[0] * 9 + [1] * 11, notice=lambda release: release.won
        ),
        summary="RealizableSanitizer: one example that makes an objection more likely",
    ),
    Audit(
        name="private-cuts",
        subject=lambda epsilon, _: Subject.from_release(one_cut(epsilon)),
        adversary=CUT_FIRST_OR_LATER,
        summary="PrivateCuts: one value moves from below all candidates to above all",
        exact_rounds=1,
    ),
    Audit(
        name="label-conversion",
        subject=_conversion,
        adversary=OneQuestion(
            zero=[(1, 0)] * 6 + [(1, 1)] * 4,
            one=[(1, 0)] * 5 + [(1, 1)] * 5,
            notice=lambda release: release.share >= 0.5,
        ),
        summary="LabelConversion: one label flipped",
        goal=0.5,
    ),
    Audit(
        name="interval-sanitizer",
        subject=_intervals,
        adversary=FirstOfTwo(),
        summary="IntervalSanitizer: the first of two examples replaced",
        goal=0.5,
        exact_rounds=2,
        negligible_bits=20,
    ),
)
