"""Start again after a halt: free for prefix-conditional learners, charged for others."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from littlestone import require
from littlestone.learners.run import PrivateLearner
from littlestone.learners.wrapper import CopiesEngine, Wrapper
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Restarting(Wrapper):
    """Run ``learner``; whenever it halts, run a fresh copy on the rest of the stream.

    Privacy:
        Releases:   the hypotheses of all copies, one stream
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  the learner's own (epsilon, delta) if it is private conditionally on every
                    prefix, however often it restarts; else (epsilon, (restarts + 1) delta)
        Assumes:    a copy halts because of what it published only (``Engine.halted``)
        Proof:      restarting.md

    ``restarts`` may be left out only for a learner that declares ``prefix_conditional``. After the
    last restart a halted copy keeps publishing.
    """

    learner: PrivateLearner
    restarts: int | None = None

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_copies("restart", restarts=self.restarts, at_least=0)

    @property
    def per_example(self) -> PrivacyGuarantee:
        """The learner's own guarantee, or one delta per copy."""
        return self.cost_of_copies(self.learner.per_example, self._copies)

    @property
    def budget(self) -> PrivacyGuarantee:
        """The learner's budget for all copies together."""
        return self.cost_of_copies(self.learner.budget, self._copies)

    @property
    def _copies(self) -> int | None:
        return None if self.restarts is None else self.restarts + 1

    def mistake_bound(self, *, failure_probability: float) -> float:
        """Bound the mistakes of all copies that are needed, except with ``failure_probability``."""
        return self._bound_of_copies(self.learner.mistake_bound, failure_probability)

    def regret_bound(self, *, failure_probability: float) -> float:
        """Bound the regret of all copies that are needed, except with ``failure_probability``."""
        return self._bound_of_copies(self.learner.regret_bound, failure_probability)

    def _bound_of_copies(self, bound: Callable[..., float], failure_probability: float) -> float:
        """Bound by as many copies as are needed, each within its own bound.

        A learner with a ``halting_probability`` (of each copy, given the past) needs more than K
        copies with probability at most halting_probability**K.
        """
        require.open_probability(failure_probability=failure_probability)
        halts = getattr(self.learner, "halting_probability", 1.0)
        copies = self._copies or math.inf
        if halts == 0:
            copies = 1
        elif halts < 1:
            likely = math.ceil(math.log(failure_probability / 2) / math.log(halts))
            copies = min(copies, max(1, likely))
        if math.isinf(copies):
            return self._most_mistakes
        each = bound(failure_probability=failure_probability / 2 / copies)
        return min(self._most_mistakes, copies * each)

    def for_rounds(self, rounds: int) -> "Restarting":
        """Return the same wrapper around the learner for another horizon."""
        return Restarting(learner=self.learner.for_rounds(rounds), restarts=self.restarts)

    def engine(self, rng: Randomness) -> "RestartingEngine":
        return RestartingEngine(self, rng)


class RestartingEngine(CopiesEngine):
    """Start a fresh copy after one that has halted."""

    _recipe: Restarting

    def _learner(self, number: int) -> PrivateLearner:
        del number  # all copies are alike
        return self._recipe.learner

    @property
    def halted(self) -> bool:
        """Whether the current copy has halted."""
        return self._copy.halted

    @property
    def status(self) -> str:
        """The current copy's status, and the number of restarts."""
        again = f" (restarted {self._ended} times)" if self._ended else ""
        return self._copy.status + again

    def _start_next(self) -> None:
        may = self._recipe.restarts is None or self._ended < self._recipe.restarts
        if self._copy.halted and may:
            self.ledger.close(self._charge, last=self._played)
            self._ended += 1
            self._start_copy()
