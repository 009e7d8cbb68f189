"""The irreducibility learner: many teachers list functions, a sparse choice, then a concept."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.hypotheses.table import TableHypothesis
from littlestone.concepts.losses.label_counts import Tallied, split_labels
from littlestone.concepts.protocols import Hypothesis
from littlestone.errors import TooFewExamplesError
from littlestone.mechanisms.above_threshold import AboveThreshold
from littlestone.mechanisms.sparse_sample import SparseSample
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.proper.irreducible_plan import (
    Asked,
    Budgets,
    IrreduciblePlan,
    longest_list,
    spent,
)
from littlestone.proper.proper_step import ProperStep
from littlestone.proper.restriction_tree import top_functions
from littlestone.randomness import Randomness

_MARGIN = 16
"""Teachers tolerate a sixteenth of the wanted error."""


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class IrreducibleLearner:
    """A proper PAC learner whose examples grow with the dimension, not with the class [GGKM21].

    In the role of [P, Theorem proper_PAC], in the form of restriction trees. ``planned`` gives the
    sizes for which accuracy is proved; they are large (``IrreduciblePlan``). Any other sizes are as
    private, and promise no accuracy. ProperSelection needs fewer examples on every class that can
    be written down.

    Privacy:
        Releases:   one concept
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; the dataset may depend on everything released before
        Guarantee:  (epsilon, delta)
        Assumes:    timing (docs/GUARANTEES.md): building the trees
        Proof:      irreducible.md

    >>> from littlestone.concepts.classes.points import Points
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
    """Fewer examples are refused."""

    agnostic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.usual_fields(self)
        require.integer(blocks=self.blocks, at_least=1)
        require.integer(samples=self.samples, at_least=self.blocks)
        Budgets.split(self.epsilon)

    @classmethod
    @require.checked
    def planned(cls, *, concepts: FiniteClass, **asked: Unpack[Asked]) -> "IrreducibleLearner":
        """With the sizes for which the error is proved."""
        plan = IrreduciblePlan.of(concepts, **asked)
        return cls(concepts=concepts, blocks=plan.blocks, samples=plan.samples, **asked)

    def guarantee(self) -> PrivacyGuarantee:
        return spent(Budgets.split(self.epsilon), self.delta)

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        """``error``, on S and on its distribution, from the planned size on; 1 below it."""
        require.open_probability(failure_probability=failure_probability)
        plan = self._plan(self.error, self.failure_probability)
        enough = size >= max(plan.samples, self.samples) and self.blocks >= plan.blocks
        proved = enough and size // self.blocks >= plan.block_size
        return self.error if proved and failure_probability >= self.failure_probability else 1.0

    def pac_error_bound(self, *, size: int, failure_probability: float) -> float:
        return self.error_bound(size=size, failure_probability=failure_probability)

    def needed(self, *, error: float, failure_probability: float) -> int:
        """What ``planned`` would ask for."""
        return self._plan(error, failure_probability).samples

    def learn(self, dataset: Sequence[Any], *, rng: Randomness) -> Hypothesis:
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
        """How often each block has each point with each label; chance fills the blocks.

        At most as many examples as there are blocks are left out.
        """
        each = len(points) // self.blocks
        order = rng.permutation(len(points))[: each * self.blocks]
        block = np.arange(each * self.blocks) // each
        width = 2 * len(self.concepts.sides)
        cells = block * width + 2 * points[order] + labels[order]
        counts: NDArray[np.int64] = np.bincount(cells, minlength=self.blocks * width)
        return counts.reshape(self.blocks, -1, 2).transpose(2, 0, 1)

    def _errors(self, zeros: NDArray[np.int64], ones: NDArray[np.int64]) -> NDArray[np.int64]:
        """The errors of every concept on every block."""
        rows = self.concepts.matrix.astype(np.float64)
        # Whole numbers below 2**53: the product is exact.
        errors: NDArray[np.int64] = ((zeros - ones) @ rows.T).astype(np.int64)
        errors += ones.sum(axis=1, keepdims=True)
        return errors

    def _function(self, errors: NDArray[np.int64], size: int, rng: Randomness) -> bytes | None:
        """A function that many teachers list in the first stage in which many agree."""
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
        """For each block, the top functions of the concepts that err little on it."""
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
