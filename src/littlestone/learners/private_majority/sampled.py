"""Majority votes of concepts drawn by exponential weights, phase by phase."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import Label
from littlestone.learners.private_majority.fresh import PhasesEngine
from littlestone.learners.private_majority.plan import EpochPlan, SampledPlan
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.private_majority.recipe import PrivateMajority


@dataclass(init=False, eq=False, repr=False)
class SampledEngine(PhasesEngine):
    """The losses are secret; the drawn concepts are public.

    Privacy:  ``SampledPlan.guarantee``, conditionally on every prefix (sampled.md).
    """

    _epoch_number: int
    _phase: int
    _losses: LossTable

    def __init__(self, recipe: "PrivateMajority", rng: Randomness) -> None:
        super().__init__(recipe, rng)
        assert isinstance(recipe.planned, SampledPlan)
        self._plan = recipe.planned
        self._losses = LossTable(recipe.concepts)

    def begin(self) -> None:
        """Begin the first epoch."""
        super().begin()
        self._epoch_number = 0
        self._begin_epoch()

    @property
    def status(self) -> str:
        """The current epoch, from the second one on."""
        again = f" (epoch {self._epoch_number + 1})" if self._epoch_number else ""
        return f"learning{again}"

    @property
    def _epoch(self) -> EpochPlan:
        return self._plan.epoch(self._epoch_number)

    def _learn(self, x: Any, y: Label) -> None:
        if self._phase <= len(self._epoch.weights):
            self._losses.add(x, y, self._epoch.weights[self._phase - 1])  # (L4)

    def _end_phase(self) -> None:
        if self._phase < self._epoch.phases:
            self._phase += 1
            self._begin_phase()
            return
        self.ledger.close(self._charge, last=self._played)
        self._epoch_number += 1
        self._begin_epoch()

    def _begin_epoch(self) -> None:
        self._charge = self._charged("one epoch")
        self._losses.load(0)  # (L1)
        self._phase = 1
        self._begin_phase()

    def _begin_phase(self) -> None:
        epoch, scores = self._epoch, self._losses.as_array()
        chosen = epoch.draw().draw(scores, rng=self._rng, count=epoch.votes)  # (L2)
        self.hypothesis = self._losses.majority_of(chosen)  # (L3)
        watch = self._plan.watch(epoch.thresholds[self._phase - 1])
        self._watch = watch.start(rng=self._rng)  # (L5)
