"""Learn without knowing the number of rounds: epochs of doubling length."""

import math
from dataclasses import dataclass
from typing import Any, Final

from littlestone import require
from littlestone.errors import SnapshotError
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner, recipe_from_form
from littlestone.learners.wrappers.wrapper import CopiesEngine, Wrapper
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

_MOST_EPOCHS: Final = 400


@require.checked
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
        require.integer(number=number, at_least=0, at_most=_MOST_EPOCHS)
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
        require.integer(rounds=rounds, at_least=1)
        epochs = max(1, math.ceil(math.log2(rounds / self.first_rounds + 1)))
        if self.epochs is not None and epochs > self.epochs:
            return math.inf
        return sum(
            float(getattr(self.epoch(k), name)(failure_probability=share / (k + 1) / (k + 2)))
            for k in range(epochs)
        )

    def engine(self, rng: Randomness) -> "UnknownHorizonEngine":
        return UnknownHorizonEngine(self, rng)


class UnknownHorizonEngine(CopiesEngine):
    """The copy of the current epoch is over after its last round."""

    _recipe: UnknownHorizon

    def state(self) -> tuple[Any, ...]:
        """With the form of the present epoch's recipe, since its plan may be another one later.

        A later version may plan otherwise, and noise that was drawn for one plan is used a second
        time by another.
        """
        return (*super().state(), canonical_form(self._present))

    def load(self, state: tuple[Any, ...]) -> None:
        *fields, form = state
        learner = planned = self._learner(fields[1])
        if canonical_form(planned) != form:
            learner = recipe_from_form(form)
            same = learner.rounds == planned.rounds and learner.concepts == planned.concepts
            if not same or not learner.per_example.within(self._recipe.learner.budget):
                raise SnapshotError(f"no epoch of this recipe is {form}")
        self._resume(learner, tuple(fields))

    def _learner(self, number: int) -> PrivateLearner:
        # After the last epoch its engine goes on publishing.
        return self._recipe.epoch(min(number, (self._recipe.epochs or number + 1) - 1))

    @property
    def _last_round(self) -> int:
        return self._recipe.first_rounds * ((2 << self._over) - 1)

    @property
    def halted(self) -> bool:
        return self._over == self._recipe.epochs

    @property
    def status(self) -> str:
        if self.halted:
            return f"all {self._over} epochs are over; still publishing"
        return f"epoch {self._over}: {self._copy.status}"

    def _next_if_over(self) -> None:
        if self._played == self._last_round:
            self._over += 1
            if not self.halted:
                self._start_copy()
