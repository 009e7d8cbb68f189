"""Proper learners and the paper's Algorithms 3 and 4 in the two-world game."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from littlestone.audit.adversaries.questions import OneQuestion
from littlestone.audit.two_worlds import Audit, Deterministic, Subject, World
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.sanitized_batches.recipe import SanitizedBatches
from littlestone.mechanisms.sparse_sample import SparseSample
from littlestone.online.hedge_learner import HedgeLearner
from littlestone.proper.agnostic_empirical import AgnosticEmpirical
from littlestone.proper.irreducible import IrreducibleLearner
from littlestone.proper.proper_selection import ProperLearner, ProperSelection
from littlestone.proper.subsampling import Subsampled
from littlestone.sanitizers.specialised.tree_sanitizer import TreeSanitizer

COIN = FiniteClass([[0], [1]])
# One concept against twelve others on one point: an example moves it up and all others down.
SINGLED_OUT = FiniteClass([[int(i == j) for j in range(13)] for i in range(13)])
FEW = FiniteClass([[int(i == j) for j in range(5)] for i in range(5)])
LISTS = 100
BLOCKS = 120
# So steep that a hypothesis is nearly a function of the synthetic examples.
STEEP = 20.0


def proper(recipe: ProperLearner) -> Subject:
    """Takes a labelled dataset, answers with a concept."""
    return Subject.from_release(recipe, recipe.learn)


def _sparse_sample(epsilon: float, delta: float) -> Subject:
    """Takes lists, answers with an element or None."""
    recipe = SparseSample(epsilon=epsilon, delta=delta, lists=LISTS, longest=1)
    return Subject.from_release(recipe, recipe.draw)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstOfTheBatch(Deterministic):
    """Challenge with the first example, fill the batch, look at the hypothesis that follows it."""

    zero: Any
    one: Any
    others: tuple[Any, ...]
    point: Any

    def noticed(self, world: World) -> Hashable:
        published = world.challenge(self.zero, self.one)
        for example in self.others:
            published = world.send(example)
        label: Hashable = published.hypothesis(self.point)
        return label


def _lists(first: int) -> list[set[str]]:
    """``first`` lists with "a", the others with "b"."""
    return [{"a"}] * first + [{"b"}] * (LISTS - first)


def coins(ones: int, size: int) -> list[tuple[int, int]]:
    return [(0, 1)] * ones + [(0, 0)] * (size - ones)


def says(point: int) -> Any:
    return lambda rule: rule(point)


def _irreducible(epsilon: float, delta: float) -> Subject:
    recipe = IrreducibleLearner(
        concepts=COIN,
        epsilon=epsilon,
        delta=delta,
        error=0.5,
        failure_probability=0.1,
        blocks=BLOCKS,
        samples=BLOCKS,
    )
    return proper(recipe)


def _subsampled(epsilon: float, delta: float) -> Subject:
    del delta
    inner = ProperSelection(concepts=COIN, epsilon=min(1.0, 0.4 * epsilon))
    return proper(Subsampled(learner=inner, draws=3, size=3))


def _agnostic(epsilon: float, delta: float) -> Subject:
    """Of eight examples one is sampled; budgets as large as the accounting allows."""
    del delta
    scale = epsilon
    while True:
        recipe = AgnosticEmpirical(
            learner=ProperSelection(concepts=SINGLED_OUT, epsilon=scale),
            size=8,
            sampled=1,
            epsilon=scale / 20,
        )
        if recipe.guarantee().epsilon <= epsilon:
            return proper(recipe)
        scale *= 0.95


def _batches(epsilon: float, delta: float) -> Subject:
    concepts = Thresholds(2)
    return Subject.from_learner(
        SanitizedBatches(
            concepts=concepts,
            rounds=4,
            epsilon=epsilon,
            delta=delta,
            sanitizer=TreeSanitizer(concepts=concepts, epsilon=epsilon, labelled=True),
            base=HedgeLearner(concepts=concepts, rounds=2, rate=STEEP),
            batch=2,
        )
    )


AUDITS = (
    Audit(
        name="proper-selection",
        subject=lambda epsilon, _: proper(ProperSelection(concepts=SINGLED_OUT, epsilon=epsilon)),
        adversary=OneQuestion(zero=[(0, 1)], one=[(0, 0)], notice=says(0)),
        summary="ProperSelection: one example, with one label or the other",
        exact_rounds=1,
    ),
    Audit(
        name="permute-and-flip-selection",
        subject=lambda epsilon, _: proper(
            ProperSelection(concepts=FEW, epsilon=epsilon, selection="permute-and-flip")
        ),
        adversary=OneQuestion(zero=[(0, 1)], one=[(0, 0)], notice=says(0)),
        summary="ProperSelection by permute-and-flip: the same example",
        exact_rounds=1,
    ),
    Audit(
        name="sparse-sample",
        subject=_sparse_sample,
        adversary=OneQuestion(zero=_lists(49), one=_lists(48)),
        summary="SparseSample: one list of a hundred replaced",
        exact_rounds=1,
    ),
    Audit(
        name="irreducible-learner",
        subject=_irreducible,
        adversary=OneQuestion(zero=coins(58, BLOCKS), one=coins(57, BLOCKS), notice=says(0)),
        summary="IrreducibleLearner: one label flipped, which one teacher sees",
        goal=0.5,
        patience=6,
        remark=(
            "the claim is the sum of three steps (1/4 + 1/2 + 1/4); the flipped label shows in the "
            "draw of the second one only"
        ),
    ),
    Audit(
        name="subsampled-selection",
        subject=_subsampled,
        adversary=OneQuestion(zero=coins(1, 3), one=coins(0, 3), notice=says(0)),
        summary="Subsampled: three draws from three examples, one label flipped",
        goal=0.5,
        exact_rounds=1,
        remark=(
            "the claim is the general one for subsampling; of two concepts the inner draw shows "
            "half of its own epsilon"
        ),
    ),
    Audit(
        name="algorithm-4",
        subject=_agnostic,
        adversary=OneQuestion(zero=[(0, 1)] + [(1, 0)] * 7, one=[(1, 0)] * 8, notice=says(0)),
        summary="AgnosticEmpirical: one of eight examples replaced, of which one is sampled",
        goal=0.5,
        exact_rounds=1,
        remark=(
            "the claim is loose, not the adversary weak: it pays for any inner learner and any "
            "projection, and here the draw by the inner scores moves by hundredths"
        ),
    ),
    Audit(
        name="algorithm-3",
        subject=_batches,
        adversary=FirstOfTheBatch(zero=(0, 1), one=(0, 0), others=((1, 1),), point=0),
        summary="SanitizedBatches: the first example of a batch of two",
        goal=0.5,
        patience=6,
        remark=(
            "the claim is that of the sanitizer, whose release stays inside; one concept of three, "
            "drawn after it, shows about a third of that"
        ),
    ),
)
