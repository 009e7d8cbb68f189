"""Private halving of a public version space: every phase learns from its own mistakes only.

``PhasesEngine`` is shared with ``sampled.py``.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import Hypothesis, Label, VersionSpace
from littlestone.learners.engine import Engine
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.privacy.ledger import Charge, Ledger
from littlestone.privacy.mechanisms.count_above_threshold import (
    CountAboveThreshold,
    CountAboveThresholdRun,
)
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.private_majority.recipe import PrivateMajority


@dataclass(init=False, eq=False, repr=False)
class PhasesEngine(Engine):
    """Watch a hypothesis by AboveThreshold, phase by phase; on a failure learning restarts."""

    _played: int
    ledger: Ledger
    _charge: Charge
    _watch: CountAboveThresholdRun
    hypothesis: Hypothesis

    def __init__(self, recipe: "PrivateMajority", rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._check = recipe.concepts.domain.check

    def begin(self) -> None:
        """Open the ledger; subclasses begin the first phase."""
        self._played = 0
        self.ledger = Ledger(budget=self._recipe.budget, private=self._rng.private)

    @abstractmethod
    def _learn(self, x: Any, y: Label) -> None:
        """Take a mistake into account."""

    @abstractmethod
    def _end_phase(self) -> None:
        """End the phase: AboveThreshold has fired."""

    def _charged(self, what: str) -> Charge:
        return self.ledger.charge(what, self._recipe.per_example, first=self._played + 1)

    def step(self, x: Any, y: Label) -> None:
        self._played += 1
        mistake = self.hypothesis(x) != y
        if mistake:
            self._learn(x, y)
        if self._watch.observe(mistake):
            self._end_phase()

    def steps(self, xs: Any, ys: Any) -> int:
        """Take rounds until a phase ends or the block does; return how many."""
        mistakes = np.flatnonzero(self.hypothesis.many(xs) != ys)
        fired = self._watch.observe_block(mistakes, len(ys))
        taken = len(ys) if fired is None else fired + 1
        for i in mistakes[: np.searchsorted(mistakes, taken)].tolist():
            self._learn(self._check(xs[i]), int(ys[i]))
        self._played += taken
        if fired is not None:
            self._end_phase()
        return taken


@lru_cache(maxsize=64)
def _mechanisms(plan: FreshPlan) -> tuple[CountAboveThreshold, ExponentialMechanism]:
    """Make the mechanisms of a plan once for all runs, with the tables of their noise."""
    return plan.watch(), plan.selection()


@dataclass(init=False, eq=False, repr=False)
class FreshEngine(PhasesEngine):
    """The version space is a function of what was published; the counts are secret.

    Privacy:  ``FreshPlan.guarantee``, conditionally on every prefix (fresh.md).
    """

    _restarts: int
    _space: VersionSpace
    _counts: NDArray[np.int64]

    def __init__(self, recipe: "PrivateMajority", rng: Randomness) -> None:
        super().__init__(recipe, rng)
        plan, witnesses = recipe.planned, recipe._witnesses
        assert isinstance(plan, FreshPlan) and witnesses is not None
        self._witnesses = witnesses
        self._watch_recipe, self._selection = _mechanisms(plan)

    def begin(self) -> None:
        """Begin the first phase with the whole class."""
        super().begin()
        self._restarts = 0
        self._begin_phase(self._recipe.concepts.version_space())  # (L1)

    @property
    def status(self) -> str:
        """Whether and how often learning has started again."""
        again = f" (started again {self._restarts} times)" if self._restarts else ""
        return f"learning{again}"

    def _learn(self, x: Any, y: Label) -> None:
        self._counts[self._witnesses.named_by(self._space, x, y)] += 1  # (L3)

    def _end_phase(self) -> None:
        self.ledger.close(self._charge, last=self._played)
        [number] = self._selection.draw(-self._counts, rng=self._rng)  # (L5)
        witness = self._witnesses.example(self._space, number)
        left = None if witness is None else self._space.restrict(*witness)  # (L6)
        if left is None or left.is_empty:
            self._restarts += 1
            left = self._recipe.concepts.version_space()  # (L7)
        self._begin_phase(left)

    def _begin_phase(self, space: VersionSpace) -> None:
        self._charge = self._charged("one phase")
        self._space = space
        self.hypothesis = space.standard_optimal()  # (L2)
        self._counts = np.zeros(self._witnesses.count(), dtype=np.int64)
        self._watch = self._watch_recipe.start(rng=self._rng)  # (L4)
