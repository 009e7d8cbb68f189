"""The discriminator chooses a concept that distinguishes guess and data, then tests it."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from littlestone import require
from littlestone.concepts.losses.label_counts import Counts
from littlestone.errors import HaltedError
from littlestone.learners.sanitizers.queries import FiniteQueries, Floats
from littlestone.privacy.ledger import Cost
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards


class Objection(NamedTuple):
    """The data give concept ``number`` more weight than the guess (sign 1), or less (-1)."""

    number: int
    sign: int


class Accuracy(NamedTuple):
    """What the answers mean, unless the noise is unusually large."""

    win: float
    """After "no objection" no concept differs by more."""
    gap: float
    """Every objection differs by at least this."""


class DiscriminatorRun(Protocol):
    """A run that holds the data."""

    def ask(self, weights: Floats, /) -> Objection | None:
        """Return an objection to a public guess, or None if the generator has won."""


class Discriminator(Protocol):
    """The recipe of a discriminator, made for a fixed number of guesses."""

    @property
    def rounds(self) -> int:
        """The number of guesses that it may judge, fixed before the data."""

    def costs(self) -> tuple[Cost, ...]:
        """Return the cost of all rounds together."""

    def accuracy(
        self, queries: FiniteQueries, /, *, size: int, failure_probability: float
    ) -> Accuracy:
        """Bound what the answers mean for ``size`` examples, unless the noise is too large."""

    def start(
        self, queries: FiniteQueries, tally: Counts, /, *, rng: Randomness
    ) -> DiscriminatorRun:
        """Start a run on the counts of the data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteDiscriminator:
    """Propose by the exponential mechanism, test by a sparse vector.

    Each round draws a concept or its complement by its surplus over the guess; one test over all
    rounds finds the first time that the drawn surplus is small.

    Privacy:
        Releases:   the objections, up to ``rounds`` of them, and whether there were no more
        Neighbours: datasets of one size that differ in one example
        Adversary:  adaptive; may choose each guess after seeing earlier objections
        Guarantee:  test_epsilon, and rounds * choose_epsilon**2 / 8 of rho (``costs``)
        Assumes:    nothing
        Proof:      discriminator.md

    >>> recipe = FiniteDiscriminator(
    ...     rounds=64, threshold=0.1, choose_epsilon=0.125, test_epsilon=0.5)
    >>> recipe.costs()
    (PrivacyGuarantee(epsilon=0.5, delta=0.0), ZeroConcentrated(rho=0.125))
    """

    rounds: int
    threshold: float
    """The share of the examples that counts as a surplus."""
    choose_epsilon: float
    test_epsilon: float
    _choose: ExponentialMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.usual_fields(self)
        require.positive(threshold=self.threshold, test_epsilon=self.test_epsilon)
        # A replaced example moves each count by -1, 0 or 1.
        choose = ExponentialMechanism(epsilon=self.choose_epsilon, range_width=2)
        object.__setattr__(self, "_choose", choose)

    def costs(self) -> tuple[Cost, ...]:
        """Return the cost of the test and of all choices."""
        return (
            self._test().guarantee(),
            self._choose.zero_concentrated().times(self.rounds),
        )

    def accuracy(
        self, queries: FiniteQueries, /, *, size: int, failure_probability: float
    ) -> Accuracy:
        """Bound what the answers about ``size`` examples mean."""
        noise = NoiseBounds.of(
            elements=2 * queries.concepts,
            rounds=self.rounds,
            choose_epsilon=self.choose_epsilon,
            test=self._test(),
            failure_probability=failure_probability,
        )
        surplus = self.surplus(size)
        half = 0.5 + size * 2.0**-40  # the guess is rounded to whole numbers of examples
        return Accuracy(
            win=upwards((surplus + noise.choose + noise.test + half) / size),
            gap=-upwards(-(surplus - noise.test - half) / size),
        )

    def surplus(self, size: int) -> int:
        """Return the threshold as a number of examples."""
        return math.ceil(Fraction(self.threshold) * size)

    def start(
        self, queries: FiniteQueries, tally: Counts, /, *, rng: Randomness
    ) -> "FiniteDiscriminatorRun":
        """Start a run on the counts of the data."""
        return FiniteDiscriminatorRun(self, queries, tally, rng)

    def _test(self) -> AboveThreshold:
        return ending_test(self.test_epsilon)


class FiniteDiscriminatorRun:
    """The counts of all concepts, and the test."""

    def __init__(
        self, recipe: FiniteDiscriminator, queries: FiniteQueries, tally: Counts, rng: Randomness
    ) -> None:
        self._queries, self._rng = queries, rng
        self._counts = queries.counts(tally)
        self._size = int(tally.sum())
        self._surplus = recipe.surplus(self._size)
        self._choose = recipe._choose
        self._test = recipe._test().start(rng=rng)  # (L1)
        self._left = recipe.rounds

    def ask(self, weights: Floats, /) -> Objection | None:
        """Return an objection to a public guess, or None if the generator has won."""
        if self._left == 0 or self._test.halted:
            raise HaltedError("this discriminator has judged all its guesses; start a new run")
        self._left -= 1
        surplus = self._counts - guessed_counts(self._queries, weights, self._size)  # (L2)
        scores = np.concatenate([-surplus, surplus])
        [chosen] = self._choose.draw(scores, rng=self._rng)  # (L3)
        if self._test.ask(self._surplus + int(scores[chosen])):  # (L4)
            return None
        side, number = divmod(chosen, self._queries.concepts)
        return Objection(number, -1 if side else 1)  # (L5)


@lru_cache(maxsize=64)
def ending_test(epsilon: float) -> AboveThreshold:
    """Return the sparse vector that ends a game."""
    return AboveThreshold(epsilon=epsilon, threshold=0)


def guessed_counts(queries: FiniteQueries, weights: Floats, size: int) -> Counts:
    """Return how many of ``size`` examples a public guess gives to each concept, rounded."""
    return np.rint(queries.answers(weights) * size).astype(np.int64)


class NoiseBounds(NamedTuple):
    """Bounds, in examples, on the errors of the choices and of the test in all rounds."""

    choose: float
    test: float

    @classmethod
    def of(
        cls,
        *,
        elements: int,
        rounds: int,
        choose_epsilon: float,
        test: AboveThreshold,
        failure_probability: float,
    ) -> "NoiseBounds":
        """Compute both bounds, each with half of the failure probability."""
        choose = selection_error(
            choose_epsilon,
            elements=elements,
            draws=rounds,
            failure_probability=failure_probability / 2,
        )
        return cls(
            choose=choose,
            test=test.error_bound(queries=rounds, failure_probability=failure_probability / 2),
        )


def selection_error(
    epsilon: float, *, elements: int, draws: int, failure_probability: float
) -> float:
    """Bound how far any drawn score exceeds the least one; infinite if nothing is proved.

    For the exponential mechanism with range width 2 and its usual floor, in one draw
    P(excess >= k) <= elements * (exp(-epsilon k / 2) (1 + 2**-55)**k + 2**-64).

    >>> round(selection_error(0.1, elements=1024, draws=1, failure_probability=0.05))
    199
    """
    floor = elements * draws * 2.0**-64
    if failure_probability <= 2 * floor:
        return math.inf
    chance = (failure_probability - floor) / (elements * draws)
    return upwards(-2 * math.log(chance) / epsilon)
