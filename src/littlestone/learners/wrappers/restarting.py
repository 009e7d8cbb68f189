"""Start again after a halt: free for some learners, charged for the others."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from littlestone import require
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.learners.engine import Engine
from littlestone.learners.run import PrivateLearner
from littlestone.learners.wrappers.wrapper import Wrapper
from littlestone.privacy.charge import Charge
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness

_MOST_RESTARTS = 1_000_000


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
        if self.restarts is not None and self.restarts > _MOST_RESTARTS:
            raise ValueError(f"restarts must be at most 10**6, got restarts={self.restarts!r}")

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


@dataclass(init=False, eq=False, repr=False)
class RestartingEngine(Engine):
    """One copy at a time; the ledger has a line for each."""

    _played: int
    _restarts: int
    ledger: Ledger
    _charge: Charge
    _copy: Engine

    def __init__(self, recipe: Restarting, rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._copy = recipe.learner.engine(rng)

    def begin(self) -> None:
        self._played, self._restarts = 0, 0
        self.ledger = Ledger(budget=self._recipe.per_example, private=self._rng.private)
        self._start_copy()

    @property
    def hypothesis(self) -> Hypothesis:
        return self._copy.hypothesis

    @property
    def halted(self) -> bool:
        return self._copy.halted

    @property
    def status(self) -> str:
        again = f" (restarted {self._restarts} times)" if self._restarts else ""
        return self._copy.status + again

    def step(self, x: Any, y: Label) -> None:
        self._copy.step(x, y)
        self._played += 1
        self._restart_if_halted()

    def steps(self, xs: Any, ys: Any) -> int:
        taken = self._copy.steps(xs, ys)
        self._played += taken
        self._restart_if_halted()
        return taken

    def _restart_if_halted(self) -> None:
        may = self._recipe.restarts is None or self._restarts < self._recipe.restarts
        if self._copy.halted and may:
            self.ledger.close(self._charge, last=self._played)
            self._restarts += 1
            self._start_copy()

    def _start_copy(self) -> None:
        learner = self._recipe.learner
        self._charge = self.ledger.charge(
            type(learner).__name__,
            learner.per_example,
            first=self._played + 1,
            prefix_conditional=learner.prefix_conditional,
        )
        self._copy = learner.engine(self._rng)
        self._copy.begin()
