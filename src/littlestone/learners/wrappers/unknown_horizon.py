"""Learn without knowing the number of rounds: epochs of doubling length."""

import math
from dataclasses import dataclass
from typing import Any

from littlestone import require
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.learners.engine import Engine
from littlestone.learners.run import PrivateLearner
from littlestone.learners.wrappers.wrapper import Wrapper
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownHorizon(Wrapper):
    """Run ``learner`` for n rounds, a fresh one for 2n, then 4n, and so on without end.

    Privacy:
        Releases:   the hypotheses of all epochs, one stream
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  the learner's own (epsilon, delta) if it is private conditionally on every
                    prefix, without end; else (epsilon, epochs * delta)
        Assumes:    nothing more than the learner does
        Proof:      unknown_horizon.md

    ``epochs`` may be left out only for a learner that declares ``prefix_conditional``: an
    adversary may wait for the epoch that suits it before it places the special round. After the
    last epoch the run keeps publishing its hypothesis.
    """

    learner: PrivateLearner
    first_rounds: int = 1024
    epochs: int | None = None

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(first_rounds=self.first_rounds, at_least=1)
        self.check_copies("epoch", epochs=self.epochs, at_least=1)

    @property
    def rounds(self) -> None:
        return None

    def epoch(self, number: int) -> PrivateLearner:
        """The learner of epoch ``number`` (from 0)."""
        return self.learner.for_rounds(self.first_rounds << number)

    def for_rounds(self, rounds: int) -> "UnknownHorizon":
        """Itself: every number of rounds is its horizon."""
        del rounds
        return self

    @property
    def per_example(self) -> PrivacyGuarantee:
        """Of the endless stream: what an epoch uses of the budget depends on its length."""
        return self.of_all_copies(self.learner.budget, self.epochs)

    def mistake_bound(self, *, failure_probability: float, rounds: int | None = None) -> float:
        """The sum of the epochs' bounds up to ``rounds``; infinite without them."""
        return self._of_all_epochs("mistake_bound", failure_probability, rounds)

    def regret_bound(self, *, failure_probability: float, rounds: int | None = None) -> float:
        """The sum of the epochs' bounds up to ``rounds``; infinite without them."""
        return self._of_all_epochs("regret_bound", failure_probability, rounds)

    def _of_all_epochs(self, name: str, share: float, rounds: int | None) -> float:
        """Epoch k may fail with 1/((k+1)(k+2)) of the failure probability ``share``."""
        require.open_probability(failure_probability=share)
        if rounds is None:
            return math.inf
        epochs = max(1, math.ceil(math.log2(rounds / self.first_rounds + 1)))
        if self.epochs is not None and epochs > self.epochs:
            return math.inf
        return sum(
            float(getattr(self.epoch(k), name)(failure_probability=share / (k + 1) / (k + 2)))
            for k in range(epochs)
        )

    def engine(self, rng: Randomness) -> "UnknownHorizonEngine":
        return UnknownHorizonEngine(self, rng)


@dataclass(init=False, eq=False, repr=False)
class UnknownHorizonEngine(Engine):
    """The engine of the current epoch, and the rounds that it has left."""

    _played: int
    _epoch: int
    ledger: Ledger

    def __init__(self, recipe: UnknownHorizon, rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng

    def begin(self) -> None:
        self._played, self._epoch = 0, 0
        self.ledger = Ledger(budget=self._recipe.per_example, private=self._rng.private)
        self._start_epoch()

    def state(self) -> tuple[Any, ...]:
        return *super().state(), self._inner.state()

    def load(self, state: tuple[Any, ...]) -> None:
        *own, inner = state
        super().load(tuple(own))
        # After the last epoch its engine goes on publishing.
        epoch = min(self._epoch, (self._recipe.epochs or self._epoch + 1) - 1)
        self._inner = self._recipe.epoch(epoch).engine(self._rng)
        self._inner.load(inner)

    @property
    def hypothesis(self) -> Hypothesis:
        return self._inner.hypothesis

    @property
    def halted(self) -> bool:
        return self._epoch == self._recipe.epochs

    @property
    def status(self) -> str:
        if self.halted:
            return f"all {self._epoch} epochs are over; still publishing"
        return f"epoch {self._epoch}: {self._inner.status}"

    def step(self, x: Any, y: Label) -> None:
        if self.halted:
            return
        self._inner.step(x, y)
        self._played += 1
        self._next_epoch_if_due()

    def steps(self, xs: Any, ys: Any) -> int:
        if self.halted:
            return len(ys)
        left = self._last_round - self._played
        taken = self._inner.steps(xs[:left], ys[:left])
        self._played += taken
        self._next_epoch_if_due()
        return taken

    @property
    def _last_round(self) -> int:
        return self._recipe.first_rounds * ((2 << self._epoch) - 1)

    def _next_epoch_if_due(self) -> None:
        if self._played == self._last_round:
            self._epoch += 1
            if not self.halted:
                self._start_epoch()

    def _start_epoch(self) -> None:
        learner = self._recipe.epoch(self._epoch)
        self.ledger.charge(
            type(learner).__name__,
            learner.per_example,
            first=self._played + 1,
            last=self._last_round,
            prefix_conditional=learner.prefix_conditional,
        )
        self._inner = learner.engine(self._rng)
        self._inner.begin()
