"""The irreducibility learner: teachers list functions, one is drawn privately, then a concept."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.losses.label_counts import Tallied, split_labels
from littlestone.concepts.protocols import ConceptClass, Hypothesis
from littlestone.errors import TooFewExamplesError
from littlestone.learners.batch.agnostic_empirical import log2_growth
from littlestone.learners.batch.proper_step import (
    ProperStep,
    irreducible_gap_bound,
    leaves_bound,
    step_excess_bound,
    top_functions,
)
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.sparse_sample import SparseSample
from littlestone.privacy.rounding import float_at_most
from littlestone.randomness import Randomness
from littlestone.theory.generalization import relative_failure_upper_bound
from littlestone.theory.outwards import upwards

_PARTS = 5
"""Five failures share the failure probability: misleading blocks, the watch, drawing None, the
proper step, and generalization."""


class Requirements(TypedDict):
    """The accuracy and privacy that a plan is for."""

    epsilon: float
    delta: float
    error: float
    failure_probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """The epsilons of the three steps."""

    watch: float
    sample: float
    choose: float

    @classmethod
    @require.checked
    def split(cls, epsilon: float) -> "Budgets":
        """Give half to the sample, which pays for two lists, and a quarter to each other step."""
        require.positive(epsilon=epsilon)
        quarter = float_at_most(Fraction(epsilon) / 4)
        return cls(watch=quarter, sample=2 * quarter, choose=quarter)


@dataclass(frozen=True, slots=True, kw_only=True)
class IrreduciblePlan:
    """The numbers of irreducible.md that make the learner (error, failure_probability)-PAC.

    >>> from littlestone.concepts.classes.sparse_sets import Points
    >>> plan = IrreduciblePlan.of(
    ...     Points(), epsilon=1.0, delta=1e-6, error=0.1, failure_probability=0.05)
    >>> plan.blocks, f"{plan.samples:.1e}"
    (520, '6.3e+08')
    """

    blocks: int
    block_size: int
    longest: int
    """Λ: a bound on the length of every list."""

    @property
    def samples(self) -> int:
        """The number of examples."""
        return self.blocks * self.block_size

    @classmethod
    @require.checked
    def of(cls, concepts: ConceptClass, **required: Unpack[Requirements]) -> "IrreduciblePlan":
        """Return the smallest plan that the proof supports, also for infinite classes."""
        require.usual(**required)
        budgets, delta, error = (
            Budgets.split(required["epsilon"]),
            required["delta"],
            required["error"],
        )
        share = required["failure_probability"] / _PARTS
        size, dimension = concepts.size, concepts.littlestone_dimension
        if dimension == 0:
            return cls(blocks=1, block_size=1, longest=1)
        samples = 1
        while True:
            longest = _longest(dimension, size, samples)
            blocks = _blocks(dimension, longest, budgets, delta, share)
            growth = log2_growth(concepts, samples) * math.log(2)
            needed = 225 * 16 * dimension**2 / error * (math.log(4 * blocks / share) + growth)
            block_size = max(math.ceil(upwards(needed)), -(-samples // blocks))
            plan = cls(blocks=blocks, block_size=block_size, longest=longest)
            if plan.samples <= samples:
                if plan._is_accurate(concepts, budgets, error, share):
                    return plan
                samples = 2 * samples
            else:
                samples = plan.samples

    def _is_accurate(
        self, concepts: ConceptClass, budgets: Budgets, error: float, share: float
    ) -> bool:
        """Return whether proper step and generalization stay within the rest of the error."""
        reach = self.samples * concepts.littlestone_dimension
        gap = irreducible_gap_bound(reach=reach, log2_growth=log2_growth(concepts, 2 * reach))
        beyond = step_excess_bound(
            epsilon=budgets.choose, size=self.samples, gap=gap, failure_probability=share
        )
        deviates = relative_failure_upper_bound(
            samples=self.samples,
            vc_dimension=concepts.vc_dimension,
            relative=0.9,
            additive=error / 2,
        )
        return 1.25 * error / 16 + beyond <= error / 4 and deviates <= share


def longest_list(concepts: ConceptClass, samples: int) -> int:
    """Return Λ for this many examples: no tree of any stage has more leaves."""
    return _longest(concepts.littlestone_dimension, concepts.size, samples)


def _longest(dimension: int, size: int | None, samples: int) -> int:
    largest_reach = (samples * dimension) << dimension
    leaves = leaves_bound(dimension=dimension, reach=largest_reach)
    return leaves if size is None else min(leaves, size)


def _blocks(dimension: int, longest: int, budgets: Budgets, delta: float, share: float) -> int:
    """Return k with k/2 above the watch's error plus what keeps the sample from drawing None."""
    watch = AboveThreshold(epsilon=budgets.watch, threshold=0).error_bound(
        queries=dimension + 1, failure_probability=share
    )
    bottom = SparseSample(epsilon=budgets.sample, delta=delta, lists=1, longest=longest).bottom
    margin = bottom + 2 * math.log(1 / share) / budgets.sample
    return 2 * math.ceil(upwards(watch + margin)) + 2


def spent(budgets: Budgets, delta: float) -> PrivacyGuarantee:
    """Return the cost of the three steps together."""
    epsilon = sum(map(Fraction, (budgets.watch, budgets.sample, budgets.choose)), Fraction(0))
    return PrivacyGuarantee.rounded_up(epsilon=epsilon, delta=delta)


_MARGIN = 16
"""Teachers tolerate a sixteenth of the wanted error."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class IrreducibleLearner:
    """Learn properly from a number of examples that depends on the dimension, not the class size.

    In the role of [P, Theorem proper_PAC], after [GGKM21], in the form of restriction trees.
    ``planned`` gives the sizes for which accuracy is proved; they are large (``IrreduciblePlan``).
    Any other sizes are as private, and promise no accuracy. ProperSelection needs fewer examples on
    every class that can be listed.

    Privacy:
        Releases:   one concept
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  (epsilon, delta)
        Assumes:    timing (docs/GUARANTEES.md): building the trees
        Proof:      irreducible.md

    >>> from littlestone.concepts.classes.sparse_sets import Points
    >>> from littlestone.randomness import seeded
    >>> learner = IrreducibleLearner(
    ...     concepts=FiniteClass.from_class(Points(4)), epsilon=4.0, delta=1e-3, error=0.5,
    ...     failure_probability=0.1, blocks=60, samples=600)
    >>> learner.guarantee()
    PrivacyGuarantee(epsilon=4.0, delta=0.001)
    >>> learner.learn([(x % 4, int(x % 4 == 2)) for x in range(600)], rng=seeded(1)).describe()
    '1 on 2 out of 0-3'
    """

    concepts: FiniteClass
    epsilon: float
    delta: float
    error: float
    failure_probability: float
    blocks: int
    samples: int
    """The fewest examples that ``learn`` accepts."""

    agnostic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.usual_fields(self)
        require.integer(blocks=self.blocks, at_least=1)
        require.integer(samples=self.samples, at_least=self.blocks)
        Budgets.split(self.epsilon)

    @classmethod
    @require.checked
    def planned(
        cls, *, concepts: FiniteClass, **required: Unpack[Requirements]
    ) -> "IrreducibleLearner":
        """Use the sizes for which the error is proved."""
        plan = IrreduciblePlan.of(concepts, **required)
        return cls(concepts=concepts, blocks=plan.blocks, samples=plan.samples, **required)

    def guarantee(self) -> PrivacyGuarantee:
        """Return the cost of the three steps together."""
        return spent(Budgets.split(self.epsilon), self.delta)

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """Return ``error``, on S and on its distribution, from the planned size on; 1 below it."""
        plan = self._plan(self.error, self.failure_probability)
        enough = size >= max(plan.samples, self.samples) and self.blocks >= plan.blocks
        proved = enough and size // self.blocks >= plan.block_size
        return self.error if proved and failure_probability >= self.failure_probability else 1.0

    def pac_error_bound(self, *, size: int, failure_probability: float) -> float:
        """Return ``error_bound``, which also holds on the distribution."""
        return self.error_bound(size=size, failure_probability=failure_probability)

    def needed(self, *, error: float, failure_probability: float) -> int:
        """Return the number of examples that ``planned`` needs."""
        return self._plan(error, failure_probability).samples

    def learn(self, dataset: Sequence[Any], *, rng: Randomness) -> Hypothesis:
        """Learn one concept from at least ``samples`` labelled examples.

        Raises:
            TooFewExamplesError: If there are fewer.
        """
        if len(dataset) < self.samples:
            raise TooFewExamplesError(
                size=len(dataset),
                needed=self.samples,
                error=self.error,
                failure_probability=self.failure_probability,
            )
        xs, ys = split_labels(dataset)
        points, labels = self.concepts.domain.check_many(xs), require.labels(ys)
        fallback = TableHypothesis(self.concepts.matrix[0].tobytes())
        if self.concepts.size == 1:
            return fallback
        zeros, ones = self._tallies(points, labels, rng)  # (L1)
        function = self._function(self._errors(zeros, ones), len(dataset), rng)
        if function is None:
            return fallback  # (L7)
        everything = Tallied(np.arange(zeros.shape[1]), zeros.sum(axis=0), ones.sum(axis=0))
        return self._step().choose(function, everything, rng=rng)  # (L8)

    def _tallies(
        self, points: NDArray[np.int64], labels: NDArray[np.uint8], rng: Randomness
    ) -> NDArray[np.int64]:
        """Assign the examples to blocks at random; count each point and label in each block.

        Fewer examples than there are blocks are left out.
        """
        each = len(points) // self.blocks
        order = rng.permutation(len(points))[: each * self.blocks]
        block = np.arange(each * self.blocks) // each
        width = 2 * len(self.concepts.sides)
        cells = block * width + 2 * points[order] + labels[order]
        counts: NDArray[np.int64] = np.bincount(cells, minlength=self.blocks * width)
        return counts.reshape(self.blocks, -1, 2).transpose(2, 0, 1)

    def _errors(self, zeros: NDArray[np.int64], ones: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the errors of every concept on every block."""
        rows = self.concepts.matrix.astype(np.float64)
        # Whole numbers below 2**53: the product is exact.
        errors: NDArray[np.int64] = ((zeros - ones) @ rows.T).astype(np.int64)
        errors += ones.sum(axis=1, keepdims=True)
        return errors

    def _function(self, errors: NDArray[np.int64], size: int, rng: Randomness) -> bytes | None:
        """Draw a function that many teachers list, in the first stage in which many agree."""
        budgets = Budgets.split(self.epsilon)
        watching = _watch(budgets.watch, -(-self.blocks // 2)).start(rng=rng)
        for stage in range(self.concepts.littlestone_dimension + 1):
            lists = self._lists(errors, stage, size)  # (L2, L3)
            shared = Counter(u for known in lists for u in known)
            if watching.ask(max(shared.values(), default=0)):  # (L4)
                longest = longest_list(self.concepts, size)
                sample = _sample(budgets.sample, self.delta, self.blocks, longest)
                drawn: bytes | None = sample.draw(lists, rng=rng)  # (L5)
                return drawn
        return None  # (L6)

    def _lists(self, errors: NDArray[np.int64], stage: int, size: int) -> list[frozenset[bytes]]:
        """Return, for each block, the top functions of the concepts that err little on it."""
        dimension = self.concepts.littlestone_dimension
        shrink = (1 - Fraction(1, 2 * dimension)) ** (stage + 1)
        allowed = shrink * Fraction(self.error) / _MARGIN * (size // self.blocks)
        reach = (size * dimension) << stage
        known: dict[int, frozenset[bytes]] = {}
        lists = []
        for row in errors <= int(allowed):
            members = int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")
            if members not in known:
                known[members] = top_functions(self.concepts, members, reach=reach)
            lists.append(known[members])
        return lists

    def _step(self) -> ProperStep:
        return ProperStep(
            concepts=self.concepts,
            epsilon=Budgets.split(self.epsilon).choose,
            failure_probability=self.failure_probability / 5,
        )

    def _plan(self, error: float, failure_probability: float) -> IrreduciblePlan:
        return IrreduciblePlan.of(
            self.concepts,
            epsilon=self.epsilon,
            delta=self.delta,
            error=error,
            failure_probability=failure_probability,
        )


@lru_cache(maxsize=16)
def _watch(epsilon: float, threshold: int) -> AboveThreshold:
    return AboveThreshold(epsilon=epsilon, threshold=threshold)


@lru_cache(maxsize=16)
def _sample(epsilon: float, delta: float, lists: int, longest: int) -> SparseSample:
    return SparseSample(epsilon=epsilon, delta=delta, lists=lists, longest=longest)
