"""Start again after a halt: free for some learners, charged for the others."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from littlestone import require
from littlestone.learners.run import PrivateLearner
from littlestone.learners.wrappers.wrapper import CopiesEngine, Wrapper
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
        """The copy's own, or one delta per copy."""
        return self.of_all_copies(self.learner.per_example, self._copies)

    @property
    def budget(self) -> PrivacyGuarantee:
        return self.of_all_copies(self.learner.budget, self._copies)

    @property
    def _copies(self) -> int | None:
        return None if self.restarts is None else self.restarts + 1

    def mistake_bound(self, *, failure_probability: float) -> float:
        return self._until_it_stays(self.learner.mistake_bound, failure_probability)

    def regret_bound(self, *, failure_probability: float) -> float:
        return self._until_it_stays(self.learner.regret_bound, failure_probability)

    def _until_it_stays(self, bound: Callable[..., float], failure_probability: float) -> float:
        """As many copies as are needed at most, each within its own bound.

        A learner that knows its ``halting_probability`` (per copy, whatever came before) needs K
        copies at most, except with probability halting_probability**K.
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
        """The same wrapper around the learner planned for another horizon."""
        return Restarting(learner=self.learner.for_rounds(rounds), restarts=self.restarts)

    def engine(self, rng: Randomness) -> "RestartingEngine":
        return RestartingEngine(self, rng)


class RestartingEngine(CopiesEngine):
    """A fresh copy follows one that has halted."""

    _recipe: Restarting

    def _learner(self, number: int) -> PrivateLearner:
        del number  # all copies are alike
        return self._recipe.learner

    @property
    def halted(self) -> bool:
        return self._copy.halted

    @property
    def status(self) -> str:
        again = f" (restarted {self._over} times)" if self._over else ""
        return self._copy.status + again

    def _next_if_over(self) -> None:
        may = self._recipe.restarts is None or self._over < self._recipe.restarts
        if self._copy.halted and may:
            self.ledger.close(self._charge, last=self._played)
            self._over += 1
            self._start_copy()
