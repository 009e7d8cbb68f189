"""Private halving of a public version space: every phase learns from its own mistakes only."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import Label, VersionSpace
from littlestone.learners.private_majority.phases import PhasesEngine
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.private_majority.recipe import PrivateMajority


@lru_cache(maxsize=64)
def _mechanisms(plan: FreshPlan) -> tuple[CountAboveThreshold, ExponentialMechanism]:
    """Made once for all runs of a plan, with the tables of their noise."""
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
        super().begin()
        self._restarts = 0
        self._begin_phase(self._recipe.concepts.version_space())  # (L1)

    @property
    def status(self) -> str:
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
