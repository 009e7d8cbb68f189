"""The discriminator of [P, Lemma dis_strengthened], with its constants corrected."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.losses.label_counts import Counts
from littlestone.errors import HaltedError
from littlestone.learners.sanitizers.discriminator import (
    Accuracy,
    Objection,
    selection_error,
)
from littlestone.learners.sanitizers.queries import FiniteQueries, Floats
from littlestone.privacy.composition import basic_composition, optimal_composition
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Cost
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.laplace_count import LaplaceCount
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated, compose_zero_concentrated
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards


class EmpiricalLearner(Protocol):
    """A private proper agnostic empirical learner for any finite class."""

    def guarantee(self) -> PrivacyGuarantee:
        """The cost of learning once."""
        ...

    def zero_concentrated(self) -> ZeroConcentrated | None:
        """The same for zCDP, if it has such a bound."""
        ...

    def excess_bound(
        self, queries: FiniteQueries, /, *, size: int, failure_probability: float
    ) -> float:
        """How many more mistakes than the best one the learned concept makes, at most.

        For every part of H and the complements together, H being the class of ``queries``.
        """
        ...

    def learn(self, rows: NDArray[np.uint8], ones: Counts, /, *, rng: Randomness) -> int:
        """The row that errs (is 0) on few examples, all labelled 1; ``ones`` counts them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialLearner:
    """The exponential mechanism over the rows [P, Lemma exp].

    Privacy:
        Releases:   the number of one row
        Neighbours: counts that differ by moving one example to another cell
        Adversary:  adaptive; the counts may depend on everything released before
        Guarantee:  (epsilon, 0)
        Assumes:    nothing
        Proof:      bucketed.md, privacy/mechanisms/exponential.md
    """

    epsilon: float
    _mechanism: ExponentialMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_mechanism", ExponentialMechanism(epsilon=self.epsilon))

    def guarantee(self) -> PrivacyGuarantee:
        return self._mechanism.guarantee()

    def zero_concentrated(self) -> ZeroConcentrated:
        return self._mechanism.zero_concentrated()

    def excess_bound(
        self, queries: FiniteQueries, /, *, size: int, failure_probability: float
    ) -> float:
        del size
        return selection_error(
            self.epsilon,
            elements=2 * queries.concepts,
            draws=1,
            failure_probability=failure_probability,
        )

    def learn(self, rows: NDArray[np.uint8], ones: Counts, /, *, rng: Randomness) -> int:
        losses = ones.sum() - rows.astype(np.int64) @ ones
        return self._mechanism.draw(losses, rng=rng)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketedDiscriminator:
    """Choose a bucket of concepts of similar guess, learn in it, test what was learned.

    Departs from [P, Lemma dis_strengthened] where docs/ERRATA.md says so: the noise of the test
    is 3 / (epsilon n) on shares (S2), that is 3 / epsilon on counts, and empty buckets are left
    out (S3).

    Privacy:
        Releases:   the objections, up to ``rounds`` of them, and whether there were no more
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; may choose each guess after seeing earlier objections
        Guarantee:  epsilon in each round, plus the learner's delta; see ``costs`` for all rounds
        Assumes:    the learner's guarantee
        Proof:      bucketed.md

    >>> BucketedDiscriminator(rounds=10, error=0.1, epsilon=0.3).buckets
    100
    """

    rounds: int
    error: float
    epsilon: float
    """The cost of one round; a third of it for each of the three steps."""
    learner: EmpiricalLearner | None = None
    extra_delta: float = 1e-9
    """For composing the rounds, if the learner has no zCDP bound."""
    _choose: ExponentialMechanism = field(init=False, repr=False, compare=False)
    _test: LaplaceCount = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.integer(rounds=self.rounds, at_least=1)
        require.open_probability(error=self.error, extra_delta=self.extra_delta)
        require.positive(epsilon=self.epsilon)
        third = float_at_most(Fraction(self.epsilon) / 3)
        if self.learner is None:
            object.__setattr__(self, "learner", ExponentialLearner(epsilon=third))
        object.__setattr__(self, "_choose", ExponentialMechanism(epsilon=third))
        object.__setattr__(self, "_test", LaplaceCount(epsilon=third))

    @property
    def buckets(self) -> int:
        """k: concepts in one bucket have guesses within 1 / k, at most a tenth of the error."""
        return math.ceil(10 / Fraction(self.error))

    def costs(self) -> tuple[Cost, ...]:
        steps = [self._choose.zero_concentrated(), self._test.zero_concentrated()]
        learning = self._learner.zero_concentrated()
        if learning is not None:
            return (compose_zero_concentrated([*steps, learning]).times(self.rounds),)
        each = basic_composition(
            [self._choose.guarantee(), self._learner.guarantee(), self._test.guarantee()]
        )
        return (optimal_composition(each, count=self.rounds, extra_delta=self.extra_delta),)

    def accuracy(
        self, queries: FiniteQueries, /, *, size: int, failure_probability: float
    ) -> Accuracy:
        """α/2 and α, if the size allows it; in general what the noise leaves of them."""
        share = failure_probability / (3 * self.rounds)
        choose = selection_error(
            self._choose.epsilon, elements=self.buckets, draws=1, failure_probability=share
        )
        learn = self._learner.excess_bound(queries, size=size, failure_probability=share)
        test = self._test.error_upper_bound(failure_probability=share)
        margin = self.margin(size)
        # Ends of buckets are rounded to whole examples, and may be missed by floating point.
        bucket = size / self.buckets + 1 + size * 2.0**-40
        return Accuracy(
            win=upwards((margin + test + learn + choose + bucket) / size),
            gap=-upwards(-(margin - test - 1 - size * 2.0**-40) / size),
        )

    def margin(self, size: int) -> int:
        """3α/5, in examples."""
        return math.ceil(Fraction(3, 5) * Fraction(self.error) * size)

    def start(
        self, queries: FiniteQueries, tally: Counts, /, *, rng: Randomness
    ) -> "BucketedDiscriminatorRun":
        return BucketedDiscriminatorRun(self, queries, tally, rng)

    @property
    def _learner(self) -> EmpiricalLearner:
        assert self.learner is not None  # __post_init__ has set it
        return self.learner


class BucketedDiscriminatorRun:
    """Holds the tally of the data."""

    def __init__(
        self, recipe: BucketedDiscriminator, queries: FiniteQueries, tally: Counts, rng: Randomness
    ) -> None:
        self._recipe, self._queries, self._tally, self._rng = recipe, queries, tally, rng
        self._size = int(tally.sum())
        counts = queries.counts(tally)
        self._counts = np.concatenate([counts, self._size - counts])
        self._left, self._won = recipe.rounds, False

    def ask(self, weights: Floats, /) -> Objection | None:
        if self._left == 0 or self._won:
            raise HaltedError("this discriminator has judged all the guesses that it was made for")
        self._left -= 1
        answers = self._queries.answers(weights)
        buckets = self._buckets(np.concatenate([answers, 1.0 - answers]))  # (L1)
        members, end = self._choose(buckets)
        learned = self._learn(members)  # (L4)
        surplus = int(self._counts[learned]) - end
        noisy = self._recipe._test.release(surplus, rng=self._rng)  # (L5)
        self._won = noisy < self._recipe.margin(self._size)  # (L6)
        if self._won:
            return None
        side, number = divmod(learned, self._queries.concepts)
        return Objection(number, -1 if side else 1)

    def _buckets(self, guesses: Floats) -> dict[int, NDArray[np.int64]]:
        """The members of each non-empty bucket; public."""
        k = self._recipe.buckets
        numbers = np.clip(np.ceil(guesses * k), 1, k).astype(np.int64)
        return {i: np.flatnonzero(numbers == i) for i in np.unique(numbers).tolist()}  # (L2)

    def _choose(self, buckets: dict[int, NDArray[np.int64]]) -> tuple[NDArray[np.int64], int]:
        """A bucket whose best concept exceeds its end by much, and that end in examples."""
        ends = [round(Fraction(i * self._size, self._recipe.buckets)) for i in buckets]
        best = [int(self._counts[members].max()) for members in buckets.values()]
        scores = [end - most for end, most in zip(ends, best, strict=True)]
        [chosen] = self._recipe._choose.draw(scores, rng=self._rng)  # (L3)
        return list(buckets.values())[chosen], ends[chosen]

    def _learn(self, members: NDArray[np.int64]) -> int:
        rows = np.array([self._row(member) for member in members.tolist()], dtype=np.uint8)
        return int(members[self._recipe._learner.learn(rows, self._tally, rng=self._rng)])

    def _row(self, member: int) -> Floats:
        side, number = divmod(member, self._queries.concepts)
        row = self._queries.row(number)
        return 1.0 - row if side else row
