"""Learn without knowing the number of rounds: epochs of doubling length."""

import math
from dataclasses import dataclass
from typing import Any, Final

from littlestone import require
from littlestone.errors import SnapshotError
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner, recipe_from_form
from littlestone.learners.wrapper import CopiesEngine, Wrapper
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

_MOST_EPOCHS: Final = 400


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownHorizon(Wrapper):
    """Run ``learner`` for n rounds, a fresh one for 2n, then 4n, and so on.

    Privacy:
        Releases:   the hypotheses of all epochs, one stream
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  the learner's own (epsilon, delta) if it is private conditionally on every
                    prefix, without end; else (epsilon, epochs * delta)
        Assumes:    nothing more than the learner does
        Proof:      unknown_horizon.md

    ``epochs`` may be left out only for a learner that declares ``prefix_conditional``: an
    adversary could wait for the epoch that suits it before it places the differing round. After
    the last epoch the run keeps publishing its hypothesis.
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
        """None: there is no horizon."""
        return None

    def epoch(self, number: int) -> PrivateLearner:
        """Return the learner of epoch ``number`` (from 0)."""
        require.integer(number=number, at_least=0, at_most=_MOST_EPOCHS)
        return self.learner.for_rounds(self.first_rounds << number)

    def for_rounds(self, rounds: int) -> "UnknownHorizon":
        """Return itself: it fits every number of rounds."""
        del rounds
        return self

    @property
    def per_example(self) -> PrivacyGuarantee:
        """The guarantee for the endless stream: the budget, as each epoch may use all of it."""
        return self.cost_of_copies(self.learner.budget, self.epochs)

    def mistake_bound(self, *, failure_probability: float, rounds: int | None = None) -> float:
        """Sum the epochs' mistake bounds up to ``rounds``; infinite if that is None."""
        return self._sum_of_epochs("mistake_bound", failure_probability, rounds)

    def regret_bound(self, *, failure_probability: float, rounds: int | None = None) -> float:
        """Sum the epochs' regret bounds up to ``rounds``; infinite if that is None."""
        return self._sum_of_epochs("regret_bound", failure_probability, rounds)

    def _sum_of_epochs(self, name: str, share: float, rounds: int | None) -> float:
        """Sum the bounds; epoch k gets 1/((k+1)(k+2)) of the failure probability ``share``."""
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
    """Replace the copy after the last round of its epoch."""

    _recipe: UnknownHorizon

    def state(self) -> tuple[Any, ...]:
        """Return the state, with the form of the current epoch's recipe.

        Another version of the library may plan otherwise, and the noise of one plan must not be
        used with another.
        """
        return (*super().state(), canonical_form(self._present))

    def load(self, state: tuple[Any, ...]) -> None:
        """Continue with the recipe that the state names.

        Raises:
            SnapshotError: If that recipe is no epoch of this one.
        """
        *fields, form = state
        learner = planned = self._learner(fields[1])
        if canonical_form(planned) != form:
            learner = recipe_from_form(form)
            same = learner.rounds == planned.rounds and learner.concepts == planned.concepts
            if not same or not learner.per_example.within(self._recipe.learner.budget):
                raise SnapshotError(f"no epoch of this recipe has the form {form}")
        self._resume(learner, tuple(fields))

    def _learner(self, number: int) -> PrivateLearner:
        # After the last epoch its engine keeps publishing.
        return self._recipe.epoch(min(number, (self._recipe.epochs or number + 1) - 1))

    @property
    def _last_round(self) -> int:
        return self._recipe.first_rounds * ((2 << self._ended) - 1)

    @property
    def halted(self) -> bool:
        """Whether all epochs are over."""
        return self._ended == self._recipe.epochs

    @property
    def status(self) -> str:
        """The current epoch and its status."""
        if self.halted:
            return f"all {self._ended} epochs are over; still publishing"
        return f"epoch {self._ended}: {self._copy.status}"

    def _start_next(self) -> None:
        if self._played == self._last_round:
            self._ended += 1
            if not self.halted:
                self._start_copy()
