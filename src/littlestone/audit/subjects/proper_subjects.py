"""Proper learners and the paper's Algorithms 3 and 4 in the two-world game."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from littlestone.audit.attacks import OneQuestion
from littlestone.audit.two_worlds import Audit, Subject
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.losses.listing import finder
from littlestone.concepts.protocols import Hypothesis
from littlestone.learners.batch.agnostic_empirical import AgnosticEmpirical
from littlestone.learners.batch.irreducible import IrreducibleLearner
from littlestone.learners.batch.proper_selection import ProperLearner, ProperSelection
from littlestone.learners.batch.subsampling import Subsampled
from littlestone.learners.online.proper import HedgeLearner
from littlestone.learners.sanitized.batches import SanitizedBatches
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.sparse_sample import SparseSample
from littlestone.randomness import Randomness

COIN = FiniteClass([[0], [1]])
# One concept against twelve on one point: an example moves it up and all others down.
SINGLED_OUT = FiniteClass([[int(i == j) for j in range(13)] for i in range(13)])
FEW = FiniteClass([[int(i == j) for j in range(5)] for i in range(5)])
LISTS = 100
BLOCKS = 6
# Steep enough that a hypothesis is nearly a function of the synthetic examples.
STEEP = 20.0


def proper(recipe: ProperLearner) -> Subject:
    """Make a subject that takes a labelled dataset and answers with a concept."""
    return Subject.from_release(recipe, recipe.learn)


def _sparse_sample(epsilon: float, delta: float) -> Subject:
    """Make a subject that takes lists and answers with an element or None."""
    recipe = SparseSample(epsilon=epsilon, delta=delta, lists=LISTS, longest=1)
    return Subject.from_release(recipe, recipe.draw)


@dataclass(frozen=True, slots=True, kw_only=True)
class TellsThePoint:
    """A private learner that reveals as much as allowed: whether it saw point 0.

    Algorithm 4's guarantee follows from the inner learner's guarantee alone, so it may contain this
    one. The revealing concept is rare, which makes its odds e**epsilon.
    """

    epsilon: float
    concepts: ClassVar[FiniteClass] = FiniteClass([[0, 0], [0, 1], [1, 0], [1, 1]])
    agnostic: ClassVar[bool] = False

    def guarantee(self) -> PrivacyGuarantee:
        """Return the claimed guarantee."""
        return self._mechanism.guarantee()

    @property
    def _mechanism(self) -> ExponentialMechanism:
        return ExponentialMechanism(epsilon=self.epsilon, range_width=1)

    def learn(self, dataset: Sequence[Any], *, rng: Randomness) -> Hypothesis:
        """Return a concept that depends on whether point 0 was seen."""
        scores = [0, 2 - any(x == 0 for x, _ in dataset)]
        return finder(self.concepts)(self._mechanism.draw(scores, rng=rng)[0])

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """Return the claimed error."""
        del size, failure_probability
        return 1.0

    pac_error_bound = error_bound

    def needed(self, *, error: float, failure_probability: float) -> int:
        """Raise a ValueError, since it learns nothing."""
        raise ValueError(f"it learns nothing, got {error=}, {failure_probability=}")


def _lists(first: int) -> list[set[str]]:
    """Return ``first`` lists with "a" and the others with "b"."""
    return [{"a"}] * first + [{"b"}] * (LISTS - first)


def coins(ones: int, size: int) -> list[tuple[int, int]]:
    """Return a dataset of one point with ``ones`` labels 1."""
    return [(0, 1)] * ones + [(0, 0)] * (size - ones)


def says(point: int) -> Any:
    """Return a function from a rule to its label at one point."""
    return lambda rule: rule(point)


def _one_label_less(ones: int) -> OneQuestion:
    return OneQuestion(zero=coins(ones, BLOCKS), one=coins(ones - 1, BLOCKS), notice=says(0))


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
    inner = ProperSelection(concepts=SINGLED_OUT, epsilon=min(1.0, epsilon))
    return proper(Subsampled(learner=inner, draws=1, size=8))


def _agnostic(epsilon: float, delta: float) -> Subject:
    """Sample one of two examples; the inner budget is as large as the accounting allows."""
    del delta
    scale = epsilon
    while True:
        inner, choose = TellsThePoint(epsilon=scale), scale / 400
        recipe = AgnosticEmpirical(learner=inner, size=2, sampled=1, epsilon=choose)
        if recipe.guarantee().epsilon <= epsilon:
            return proper(recipe)
        scale *= 0.95


def _batches(epsilon: float, delta: float) -> Subject:
    concepts = Thresholds(1)
    return Subject.from_learner(
        SanitizedBatches(
            concepts=concepts,
            rounds=2,
            epsilon=epsilon,
            delta=delta,
            sanitizer=TreeSanitizer(concepts=concepts, epsilon=epsilon, labelled=True),
            base=HedgeLearner(concepts=concepts, rounds=2, rate=STEEP),
            batch=1,
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
        adversary=_one_label_less(3),
        rivals=tuple(_one_label_less(ones) for ones in (1, 2, 4, 5, 6)),
        summary="IrreducibleLearner: one label flipped, which one teacher sees",
        epsilon=60.0,
        delta=1e-3,
        goal=0.5,
        exact_rounds=1,
        negligible_bits=60,
        remark=(
            "the claim is the sum of three steps (1/4 + 1/2 + 1/4); where every function is a "
            "concept, only the draw of the second step shows a flipped label"
        ),
    ),
    Audit(
        name="subsampled-selection",
        subject=_subsampled,
        adversary=OneQuestion(zero=coins(1, 8), one=coins(0, 8), notice=says(0)),
        summary="Subsampled: one draw from eight examples, one label flipped",
        goal=0.5,
        exact_rounds=1,
    ),
    Audit(
        name="algorithm-4",
        subject=_agnostic,
        adversary=OneQuestion(zero=[(0, 1), (1, 0)], one=[(1, 1), (1, 0)], notice=says(1)),
        summary="AgnosticEmpirical: one of two examples replaced, of which one is sampled",
        epsilon=5.0,
        goal=0.5,
        exact_rounds=1,
        remark=(
            "the claim holds for every inner learner, and this inner learner reveals the most; the "
            "factor 4 of the claim is never attained, which matters less for a larger epsilon"
        ),
    ),
    Audit(
        name="algorithm-3",
        subject=_batches,
        adversary=OneQuestion(zero=(0, 1), one=(0, 0), notice=lambda shown: shown.hypothesis(0)),
        summary="SanitizedBatches: a batch of one example, with one label or the other",
        epsilon=4.0,
        goal=0.6,
        exact_rounds=1,
        negligible_bits=18,
        remark=(
            "the claim is that of the sanitizer, whose release is not shown; the concept drawn "
            "from it shows half of a small epsilon, and more of a larger one"
        ),
    ),
)
