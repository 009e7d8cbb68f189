"""Proper learners, Algorithms 3 and 4 in the two-world game, and wrong versions of them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from littlestone.audit.attacks import OneQuestion
from littlestone.audit.broken import BrokenMechanism
from littlestone.audit.subjects import LearnerSubject
from littlestone.audit.suite import AuditEntry
from littlestone.audit.two_worlds import Conversation, TwoWorldAdversary, World
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import Hypothesis
from littlestone.learners.sanitized_batches.recipe import SanitizedBatches
from littlestone.mechanisms.sparse_sample import SparseSample
from littlestone.online.hedge_learner import HedgeLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.proper.agnostic_empirical import AgnosticEmpirical
from littlestone.proper.irreducible import IrreducibleLearner
from littlestone.proper.proper_selection import ProperSelection
from littlestone.proper.subsampling import Subsampled
from littlestone.randomness import Randomness
from littlestone.sanitizers.specialised.tree_sanitizer import TreeSanitizer

COIN = FiniteClass([[0], [1]])
# One concept against twelve others on one point: an example moves it up and all others down.
SINGLED_OUT = FiniteClass([[int(i == j) for j in range(13)] for i in range(13)])
LISTS = 100
BLOCKS = 120
# So steep that a hypothesis is nearly a function of the synthetic examples.
STEEP = 20.0


class _Recipe(Protocol):
    def guarantee(self) -> PrivacyGuarantee: ...

    def learn(self, dataset: Sequence[Any], *, rng: Randomness) -> Hypothesis: ...


@dataclass(frozen=True, slots=True)
class ProperSubject:
    """A proper learner: takes a labelled dataset, answers with a concept."""

    recipe: _Recipe

    def guarantee(self) -> PrivacyGuarantee:
        return self.recipe.guarantee()

    def open(self, rng: Randomness) -> tuple[None, Conversation]:
        return None, lambda dataset: self.recipe.learn(dataset, rng=rng)


@dataclass(frozen=True, slots=True)
class SampleSubject:
    """SparseSample: takes lists, answers with an element or None."""

    recipe: SparseSample

    def guarantee(self) -> PrivacyGuarantee:
        return self.recipe.guarantee()

    def open(self, rng: Randomness) -> tuple[None, Conversation]:
        return None, lambda lists: self.recipe.draw(lists, rng=rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstOfTheBatch:
    """Challenge with the first example, fill the batch, look at the hypothesis that follows it."""

    zero: Any
    one: Any
    others: tuple[Any, ...]
    point: Any

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        published = world.challenge(self.zero, self.one)
        for example in self.others:
            published = world.send(example)
        label: Hashable = published(self.point)
        return label


def _lists(first: int) -> list[set[str]]:
    """``first`` lists with "a", the others with "b"."""
    return [{"a"}] * first + [{"b"}] * (LISTS - first)


def _coins(ones: int, size: int) -> list[tuple[int, int]]:
    return [(0, 1)] * ones + [(0, 0)] * (size - ones)


def _says(point: int) -> Any:
    return lambda rule: rule(point)


def _irreducible(epsilon: float, delta: float) -> ProperSubject:
    recipe = IrreducibleLearner(
        concepts=COIN,
        epsilon=epsilon,
        delta=delta,
        error=0.5,
        failure_probability=0.1,
        blocks=BLOCKS,
        samples=BLOCKS,
    )
    return ProperSubject(recipe)


def _subsampled(epsilon: float, delta: float) -> ProperSubject:
    del delta
    inner = ProperSelection(concepts=COIN, epsilon=min(1.0, 0.4 * epsilon))
    return ProperSubject(Subsampled(learner=inner, draws=10, size=10))


def _agnostic(epsilon: float, delta: float) -> ProperSubject:
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
            return ProperSubject(recipe)
        scale *= 0.95


def _batches(epsilon: float, delta: float) -> LearnerSubject:
    concepts = Thresholds(2)
    return LearnerSubject(
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


AUDITS: Mapping[str, AuditEntry] = {
    "proper-selection": AuditEntry(
        subject=lambda epsilon, _: ProperSubject(
            ProperSelection(concepts=SINGLED_OUT, epsilon=epsilon)
        ),
        adversary=OneQuestion(zero=[(0, 1)], one=[(0, 0)], notice=_says(0)),
        summary="ProperSelection: one example, with one label or the other",
    ),
    "permute-and-flip-selection": AuditEntry(
        subject=lambda epsilon, _: ProperSubject(
            ProperSelection(concepts=SINGLED_OUT, epsilon=epsilon, selection="permute-and-flip")
        ),
        adversary=OneQuestion(zero=[(0, 1)], one=[(0, 0)], notice=_says(0)),
        summary="ProperSelection by permute-and-flip: the same example",
    ),
    "sparse-sample": AuditEntry(
        subject=lambda epsilon, delta: SampleSubject(
            SparseSample(epsilon=epsilon, delta=delta, lists=LISTS, longest=1)
        ),
        adversary=OneQuestion(zero=_lists(49), one=_lists(48)),
        summary="SparseSample: one list of a hundred replaced",
    ),
    "irreducible-learner": AuditEntry(
        subject=_irreducible,
        adversary=OneQuestion(zero=_coins(61, BLOCKS), one=_coins(60, BLOCKS), notice=_says(0)),
        summary="IrreducibleLearner: one label flipped, which one teacher sees",
    ),
    "subsampled-selection": AuditEntry(
        subject=_subsampled,
        adversary=OneQuestion(zero=_coins(1, 10), one=_coins(0, 10), notice=_says(0)),
        summary="Subsampled: ten draws from ten examples, one label flipped",
    ),
    "algorithm-4": AuditEntry(
        subject=_agnostic,
        adversary=OneQuestion(zero=[(0, 1)] + [(1, 0)] * 7, one=[(1, 0)] * 8, notice=_says(0)),
        summary="AgnosticEmpirical: one of eight examples replaced, of which one is sampled",
    ),
    "algorithm-3": AuditEntry(
        subject=_batches,
        adversary=FirstOfTheBatch(zero=(0, 1), one=(0, 0), others=((1, 1),), point=0),
        summary="SanitizedBatches: the first example of a batch of two",
    ),
}


def _bottom_too_low(rng: Randomness) -> Conversation:
    # Without a bottom the only list that has an element gives it away.
    def answer(lists: Sequence[set[str]]) -> str | None:
        found = sorted({u for known in lists for u in known})
        return found[rng.below(len(found))] if found else None

    return answer


def _blocks_overlap(rng: Randomness) -> Conversation:
    # Every teacher is given all the examples, so that all lists change at once.
    recipe = SparseSample(epsilon=1.0, delta=1e-6, lists=LISTS, longest=1)

    def answer(labels: Sequence[int]) -> str | None:
        best = "a" if 2 * sum(labels) > len(labels) else "b"
        drawn: str | None = recipe.draw([{best}] * LISTS, rng=rng)
        return drawn

    return answer


def _parameter_as_promise(rng: Randomness) -> Conversation:
    # Algorithm 4 is called (O(epsilon), ...)-private; here with the O left out.
    recipe = AgnosticEmpirical(
        learner=ProperSelection(concepts=SINGLED_OUT, epsilon=10.0),
        size=4,
        sampled=1,
        epsilon=0.1,
    )
    return lambda dataset: recipe.learn(dataset, rng=rng)


def _sample_too_large(rng: Randomness) -> Conversation:
    # As many draws as would be allowed if each example could be drawn only once.
    inner = ProperSelection(concepts=COIN, epsilon=1.0)
    recipe = Subsampled(learner=inner, draws=40, size=4)
    return lambda dataset: recipe.learn(dataset, rng=rng)


def _batch_as_it_is(rng: Randomness) -> Conversation:
    # When the sanitizer seems to have failed, the batch itself is passed on.
    concepts = Thresholds(2)
    sanitizer = TreeSanitizer(concepts=concepts, epsilon=1.0, labelled=True)
    state = HedgeLearner(concepts=concepts, rounds=2, rate=STEEP).begin()

    def answer(batch: Sequence[tuple[int, int]]) -> Hypothesis:
        released = sanitizer.release(batch, rng=rng)
        failed = any(
            abs(released.estimate(h) - sum(h(x) != y for x, y in batch) / len(batch)) > 0.2
            for h in concepts.concepts()
        )
        x, y = (batch if failed else released.dataset(len(batch)))[0]
        return state.after(x, y).draw(rng=rng)

    return answer


BROKEN: Mapping[str, BrokenMechanism] = {
    mechanism.name: mechanism
    for mechanism in (
        BrokenMechanism(
            name="sparse-sample-without-bottom",
            bug="an element that only one list has can come out with a large probability",
            claimed=PrivacyGuarantee(epsilon=1.0, delta=1e-6),
            start=_bottom_too_low,
        ),
        BrokenMechanism(
            name="teachers-share-examples",
            bug="every block holds all the examples, so that one of them changes every list",
            claimed=PrivacyGuarantee(epsilon=1.0, delta=1e-6),
            start=_blocks_overlap,
        ),
        BrokenMechanism(
            name="algorithm-4-parameter",
            bug="Algorithm 4 is said to cost the epsilon of its exponential mechanism",
            claimed=PrivacyGuarantee(epsilon=0.1),
            start=_parameter_as_promise,
        ),
        BrokenMechanism(
            name="subsample-with-repetition",
            bug="forty draws from four examples, priced as if each were drawn once",
            claimed=PrivacyGuarantee(epsilon=1.0),
            start=_sample_too_large,
        ),
        BrokenMechanism(
            name="batch-instead-of-synthetic",
            bug="a learner looks whether the sanitizer failed, and if so uses the batch itself",
            claimed=PrivacyGuarantee(epsilon=1.0),
            start=_batch_as_it_is,
        ),
    )
}

CONTROLS: Mapping[str, TwoWorldAdversary] = {
    "sparse-sample-without-bottom": OneQuestion(
        zero=[{"a"}] * 9 + [{"b"}], one=[{"a"}] * 10, notice=lambda drawn: drawn == "b"
    ),
    "teachers-share-examples": OneQuestion(zero=[1] * 6 + [0] * 5, one=[1] * 5 + [0] * 6),
    "algorithm-4-parameter": OneQuestion(
        zero=[(0, 1)] + [(1, 0)] * 3, one=[(1, 0)] * 4, notice=_says(0)
    ),
    "subsample-with-repetition": OneQuestion(zero=_coins(2, 4), one=_coins(1, 4), notice=_says(0)),
    "batch-instead-of-synthetic": OneQuestion(
        zero=[(0, 1), (0, 1)], one=[(0, 0), (0, 1)], notice=_says(0)
    ),
}
