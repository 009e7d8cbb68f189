"""Proper online learners: in each round a distribution over the class; Hedge over the concepts."""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.capabilities import InRuns
from littlestone.concepts.losses.label_counts import Tallied, tallied
from littlestone.concepts.losses.listing import finder, labels_at
from littlestone.concepts.losses.loss_runs import LossRuns, losses_on, require_losses
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label
from littlestone.randomness import Randomness
from littlestone.theory.expert_bounds import hedge_regret_upper_bound


class ProperState(Protocol):
    """An immutable state that depends on past examples and on no past draw."""

    def draw(self, *, rng: Randomness) -> Hypothesis:
        """Draw a concept from the current distribution."""

    def error_probability(self, x: Any, y: Label, /) -> float:
        """Return how likely a drawn concept is to label ``x`` differently from ``y``."""

    def after(self, x: Any, y: Label, /) -> Self:
        """Return the state after one more example."""


class ProperOnlineLearner(Protocol):
    """A frozen recipe of a proper online learner.

    On *every* stream of at most ``rounds`` examples, the sum of the error probabilities exceeds the
    mistakes of the best concept by at most ``expected_regret_bound()``.
    """

    @property
    def concepts(self) -> ConceptClass:
        """The class that is learned."""

    @property
    def rounds(self) -> int:
        """The horizon."""

    def expected_regret_bound(self) -> float:
        """Bound the expected regret."""

    def for_rounds(self, rounds: int, /) -> "ProperOnlineLearner":
        """Return the same learner, tuned for another horizon."""

    def begin(self) -> ProperState:
        """Return the state before any example."""


def draw_position(weights: NDArray[np.float64], rng: Randomness) -> int:
    """Draw a position in proportion to its weight, in floating point: nothing here is secret."""
    ends = np.cumsum(weights)
    place = int(np.searchsorted(ends, rng.bits(53) * 2.0**-53 * ends[-1], side="right"))
    # Rounding can move the dart to the end; it then selects the last non-zero weight.
    return place if place < len(ends) else int(np.flatnonzero(weights)[-1])


class ProperRun:
    """Run a proper online learner: publish a fresh draw each round. Not private."""

    def __init__(self, learner: ProperOnlineLearner, rng: Randomness) -> None:
        self._rng = rng
        self._state = learner.begin()
        self.hypothesis = self._state.draw(rng=rng)

    def observe(self, x: Any, y: Label, /) -> None:
        """Take one example and publish a fresh draw."""
        self._state = self._state.after(x, y)
        self.hypothesis = self._state.draw(rng=self._rng)


# That far below the best, all concepts together weigh exp(-50), below a draw's resolution.
_DEEPEST: Final = 50.0
_LISTED_FASTER: Final = 1 << 11  # up to here listing all losses is faster than runs of them


@dataclass(frozen=True, slots=True, kw_only=True)
class HedgeLearner:
    """Draw concept h with probability proportional to exp(-rate * mistakes of h).

    Any class with finitely many concepts; thresholds, points and intervals are never listed.

    Regret:  at most sqrt(rounds * ln(concepts) / 2) in expectation, against adaptive adversaries
             who do not know the draw of the current round.
    Privacy: none.
    Source:  [CL06, Theorem 2.2 and Lemma 4.1].

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> learner = HedgeLearner(concepts=Thresholds(2**20), rounds=1000)
    >>> round(learner.expected_regret_bound(), 1)
    83.3
    >>> state = learner.begin().after(2**19, 1).after(0, 0)
    >>> round(state.error_probability(2**19, 1), 3)
    0.418
    """

    concepts: ConceptClass
    rounds: int
    rate: float | None = None
    """By default sqrt(8 * ln(concepts) / rounds), the best for the bound."""
    _rate: float = field(init=False, repr=False, compare=False)

    oblivious_only: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(rounds=self.rounds, at_least=1)
        size = require_losses(self.concepts)
        if self.rate is not None:
            require.positive(rate=self.rate)
        # One concept needs no rate; any positive one will do.
        best = math.sqrt(8 * math.log(size) / self.rounds) if size > 1 else 1.0
        object.__setattr__(self, "_rate", best if self.rate is None else self.rate)

    def expected_regret_bound(self) -> float:
        """Return ln(concepts) / rate + rate * rounds / 8; 0 for a single concept."""
        size = require_losses(self.concepts)
        if size == 1:
            return 0.0
        return hedge_regret_upper_bound(experts=size, rounds=self.rounds, rate=self._rate)

    def for_rounds(self, rounds: int, /) -> "HedgeLearner":
        """Return the learner with the best rate for another horizon, or with the given rate."""
        return HedgeLearner(concepts=self.concepts, rounds=rounds, rate=self.rate)

    def begin(self) -> "ListedHedgeState | TalliedHedgeState":
        """Return the state before any example."""
        size = require_losses(self.concepts)
        if size > _LISTED_FASTER and isinstance(self.concepts, InRuns):
            return TalliedHedgeState(self.concepts, self._rate, tallied(self.concepts, []))
        return ListedHedgeState(self.concepts, self._rate, np.zeros(size, dtype=np.int32))

    def start(self, *, rng: Randomness) -> ProperRun:
        """Start a run that publishes a fresh draw each round."""
        return ProperRun(self, rng)


@dataclass(frozen=True, slots=True, eq=False)
class ListedHedgeState:
    """The mistakes of each concept."""

    concepts: ConceptClass
    rate: float
    losses: NDArray[np.int32]

    def draw(self, *, rng: Randomness) -> Hypothesis:
        """Draw a concept from the current distribution."""
        return finder(self.concepts)(draw_position(self._weights(), rng))

    def error_probability(self, x: Any, y: Label, /) -> float:
        """Return how likely a drawn concept is to label ``x`` differently from ``y``."""
        weights = self._weights()
        return float(weights[self._wrong(x, require.label(y))].sum() / weights.sum())

    def after(self, x: Any, y: Label, /) -> "ListedHedgeState":
        """Return the state after one more example."""
        losses = self.losses + self._wrong(x, require.label(y))
        return ListedHedgeState(self.concepts, self.rate, losses)

    def _weights(self) -> NDArray[np.float64]:
        weights: NDArray[np.float64] = np.exp(-self.rate * (self.losses - self.losses.min()))
        return weights

    def _wrong(self, x: Any, y: Label) -> NDArray[np.bool_]:
        wrong: NDArray[np.bool_] = _column(self.concepts, self.concepts.domain.check(x)) != y
        return wrong


@dataclass(frozen=True, slots=True, eq=False)
class TalliedHedgeState:
    """The examples, for classes whose losses are constant between them."""

    concepts: ConceptClass
    rate: float
    tally: Tallied

    def draw(self, *, rng: Randomness) -> Hypothesis:
        """Draw a run of concepts with equal loss, then a concept of it."""
        runs = self._runs()
        assert runs.lengths is not None
        run = draw_position(_weights(runs, self.rate), rng)
        position = sum(runs.lengths[:run]) + rng.below(runs.lengths[run])
        return runs.concept(position)

    def error_probability(self, x: Any, y: Label, /) -> float:
        """Return p from the total weights with and without it: W' / W = 1 - p(1 - e^-rate)."""
        before, after = self._runs(), self.after(x, y)._runs()
        least = int(before.losses.min())
        ratio = _total(after, self.rate, least) / _total(before, self.rate, least)
        return min(max((1 - ratio) / -math.expm1(-self.rate), 0.0), 1.0)

    def after(self, x: Any, y: Label, /) -> "TalliedHedgeState":
        """Return the state after one more example."""
        point: Any = self.concepts.domain.check(x)
        tally = self.tally.and_one(point, require.label(y))
        return TalliedHedgeState(self.concepts, self.rate, tally)

    def _runs(self) -> LossRuns:
        deepest = math.ceil((_DEEPEST + math.log(require_losses(self.concepts))) / self.rate)
        return losses_on(self.concepts, self.tally, deepest=deepest)


@lru_cache(maxsize=256)
def _column(concepts: ConceptClass, x: Any) -> NDArray[np.uint8]:
    """Return each concept's label of x."""
    column: NDArray[np.uint8] = labels_at(concepts, [x])[:, 0]
    return column


def _weights(runs: LossRuns, rate: float) -> NDArray[np.float64]:
    lengths = np.array(runs.lengths, dtype=np.float64)
    # An empty run may have a smaller loss than any concept, but its weight is zero.
    least = runs.losses[lengths > 0].min()
    weights: NDArray[np.float64] = lengths * np.exp(-rate * np.maximum(runs.losses - least, 0))
    return weights


def _total(runs: LossRuns, rate: float, least: int) -> float:
    lengths = np.array(runs.lengths, dtype=np.float64)
    return float((lengths * np.exp(-rate * (runs.losses - least))).sum())
