"""Hedge: concepts weighted by the exponential of their mistakes, and a fresh draw each round."""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.capabilities import InRuns
from littlestone.concepts.losses.label_counts import Tallied, tallied
from littlestone.concepts.losses.listing import finder, labels_at
from littlestone.concepts.losses.loss_runs import LossRuns, losses_on, require_losses
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label
from littlestone.online.proper import ProperRun, draw_position
from littlestone.randomness import Randomness
from littlestone.theory.expert_bounds import hedge_regret_upper_bound

# So far below the best, all concepts together weigh exp(-50): less than a draw can notice.
_DEEPEST: Final = 50.0
_LISTED_FASTER: Final = 1 << 11  # up to here a list of all losses is faster than runs of them


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
    """By default sqrt(8 * ln(concepts) / rounds), which is best for the bound."""
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
        """ln(concepts) / rate + rate * rounds / 8; nothing at all for a single concept."""
        size = require_losses(self.concepts)
        if size == 1:
            return 0.0
        return hedge_regret_upper_bound(experts=size, rounds=self.rounds, rate=self._rate)

    def for_rounds(self, rounds: int, /) -> "HedgeLearner":
        """With the best rate for another horizon, unless a rate was given."""
        return HedgeLearner(concepts=self.concepts, rounds=rounds, rate=self.rate)

    def begin(self) -> "ListedHedgeState | TalliedHedgeState":
        size = require_losses(self.concepts)
        if size > _LISTED_FASTER and isinstance(self.concepts, InRuns):
            return TalliedHedgeState(self.concepts, self._rate, tallied(self.concepts, []))
        return ListedHedgeState(self.concepts, self._rate, np.zeros(size, dtype=np.int32))

    def start(self, *, rng: Randomness) -> ProperRun:
        """A run that publishes a fresh draw each round."""
        return ProperRun(self, rng)


@dataclass(frozen=True, slots=True, eq=False)
class ListedHedgeState:
    """The mistakes of each concept."""

    concepts: ConceptClass
    rate: float
    losses: NDArray[np.int32]

    def draw(self, *, rng: Randomness) -> Hypothesis:
        return finder(self.concepts)(draw_position(self._weights(), rng))

    def error_probability(self, x: Any, y: Label, /) -> float:
        weights = self._weights()
        return float(weights[self._wrong(x, require.label(y))].sum() / weights.sum())

    def after(self, x: Any, y: Label, /) -> "ListedHedgeState":
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
        runs = self._runs()
        assert runs.lengths is not None
        run = draw_position(_weights(runs, self.rate), rng)
        position = sum(runs.lengths[:run]) + rng.below(runs.lengths[run])
        return runs.concept(position)

    def error_probability(self, x: Any, y: Label, /) -> float:
        """Weights of the classes with and without this mistake: W' / W = 1 - p(1 - e^-rate)."""
        before, after = self._runs(), self.after(x, y)._runs()
        least = int(before.losses.min())
        ratio = _total(after, self.rate, least) / _total(before, self.rate, least)
        return min(max((1 - ratio) / -math.expm1(-self.rate), 0.0), 1.0)

    def after(self, x: Any, y: Label, /) -> "TalliedHedgeState":
        point: Any = self.concepts.domain.check(x)
        tally = self.tally.and_one(point, require.label(y))
        return TalliedHedgeState(self.concepts, self.rate, tally)

    def _runs(self) -> LossRuns:
        deepest = math.ceil((_DEEPEST + math.log(require_losses(self.concepts))) / self.rate)
        return losses_on(self.concepts, self.tally, deepest=deepest)


@lru_cache(maxsize=256)
def _column(concepts: ConceptClass, x: Any) -> NDArray[np.uint8]:
    """What each concept says about x."""
    column: NDArray[np.uint8] = labels_at(concepts, [x])[:, 0]
    return column


def _weights(runs: LossRuns, rate: float) -> NDArray[np.float64]:
    lengths = np.array(runs.lengths, dtype=np.float64)
    # An empty run may have a smaller loss than any concept; its weight is zero all the same.
    least = runs.losses[lengths > 0].min()
    weights: NDArray[np.float64] = lengths * np.exp(-rate * np.maximum(runs.losses - least, 0))
    return weights


def _total(runs: LossRuns, rate: float, least: int) -> float:
    lengths = np.array(runs.lengths, dtype=np.float64)
    return float((lengths * np.exp(-rate * (runs.losses - least))).sum())
