"""Any private proper learner inside the bucketed discriminator."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.losses.label_counts import Counts
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.batch.proper_selection import ProperLearner
from littlestone.learners.sanitizers.queries import FiniteQueries
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True, kw_only=True)
class ProperBucketLearner:
    """Learn in a bucket with ``build(bucket)``, as [P, Theorem sanitizer] does.

    ``build`` makes a learner for any finite class; none may cost more than ``cost``, and its
    error bound must not grow when concepts are left out of its class.

    Privacy:
        Releases:   the number of one concept of the bucket
        Neighbours: counts that differ by moving one example to another cell
        Adversary:  adaptive; the counts may depend on everything released before
        Guarantee:  ``cost``
        Assumes:    that what ``build`` makes keeps its guarantee
        Proof:      bucketed.md

    >>> from littlestone.learners.batch.proper_selection import ProperSelection
    >>> learner = ProperBucketLearner(
    ...     build=lambda concepts: ProperSelection(concepts=concepts, epsilon=0.1),
    ...     cost=PrivacyGuarantee(epsilon=0.1))
    >>> from littlestone.randomness import seeded
    >>> learner.learn(np.array([[1, 0], [0, 1]]), np.array([50, 950]), rng=seeded(1))
    1
    """

    build: Callable[[ConceptClass], ProperLearner]
    cost: PrivacyGuarantee

    def guarantee(self) -> PrivacyGuarantee:
        return self.cost

    def zero_concentrated(self) -> None:
        """Nothing is known of the learner but its cost."""
        return None

    def excess_bound(
        self, queries: FiniteQueries, /, *, size: int, failure_probability: float
    ) -> float:
        rows = np.array([queries.row(number) for number in range(queries.concepts)])
        learner = self.build(FiniteClass(np.concatenate([rows, 1 - rows])))
        return size * learner.error_bound(size=size, failure_probability=failure_probability)

    def learn(self, rows: NDArray[np.uint8], ones: Counts, /, *, rng: Randomness) -> int:
        learner = self.build(FiniteClass(rows))
        if not learner.guarantee().within(self.cost):
            raise ValueError(
                f"build must not cost more than {self.cost!r}, got {learner.guarantee()!r}"
            )
        # In random order: sorted lists of neighbours differ in many places, and a learner may be
        # private for one place only. With coupled permutations they differ in one.
        ordered = np.repeat(np.arange(len(ones)), ones)
        points = ordered[rng.permutation(len(ordered))].tolist()
        learned = learner.learn([(x, 1) for x in points], rng=rng)
        labels = learned.many(np.arange(len(ones)))
        return int(np.flatnonzero((rows == labels).all(axis=1))[0])
