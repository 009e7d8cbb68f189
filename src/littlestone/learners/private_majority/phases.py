"""What both kinds of evidence share: a hypothesis, watched by AboveThreshold, phase by phase."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.learners.engine import Engine
from littlestone.mechanisms.count_above_threshold import CountAboveThresholdRun
from littlestone.privacy.charge import Charge
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.private_majority.recipe import PrivateMajority


@dataclass(init=False, eq=False, repr=False)
class PhasesEngine(Engine):
    """It never halts: whatever has gone wrong, everything begins again."""

    _played: int
    ledger: Ledger
    _charge: Charge
    _watch: CountAboveThresholdRun
    hypothesis: Hypothesis

    def __init__(self, recipe: "PrivateMajority", rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._check = recipe.concepts.domain.check

    def begin(self) -> None:
        self._played = 0
        self.ledger = Ledger(budget=self._recipe.budget, private=self._rng.private)

    @abstractmethod
    def _learn(self, x: Any, y: Label) -> None:
        """Take a mistake into account."""

    @abstractmethod
    def _end_phase(self) -> None:
        """There were enough mistakes."""

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
        mistakes = np.flatnonzero(self.hypothesis.many(xs) != ys)
        fired = self._watch.observe_block(mistakes, len(ys))
        taken = len(ys) if fired is None else fired + 1
        for i in mistakes[: np.searchsorted(mistakes, taken)].tolist():
            self._learn(self._check(xs[i]), int(ys[i]))
        self._played += taken
        if fired is not None:
            self._end_phase()
        return taken
