"""Majority votes of concepts drawn from exponential weights, phase by phase."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label
from littlestone.learners.engine import Engine
from littlestone.learners.private_majority.plan import EpochPlan, SampledPlan
from littlestone.mechanisms.count_above_threshold import CountAboveThresholdRun
from littlestone.privacy.charge import Charge
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness


@dataclass(init=False, eq=False, repr=False)
class SampledEngine(Engine):
    """The losses are secret; the drawn concepts are public.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  ``SampledPlan.guarantee``; conditionally on every prefix
        Assumes:    timing (docs/GUARANTEES.md): a mistake takes longer than a correct round
        Proof:      sampled.md
    """

    _played: int
    _epoch_number: int
    _phase: int
    _chosen: list[int]
    ledger: Ledger
    _charge: Charge
    _losses: LossTable
    _watch: CountAboveThresholdRun

    def __init__(
        self,
        *,
        concepts: ConceptClass,
        plan: SampledPlan,
        budget: PrivacyGuarantee,
        cost: PrivacyGuarantee,
        rng: Randomness,
    ) -> None:
        self._plan, self._rng = plan, rng
        self._check = concepts.domain.check
        self._losses = LossTable(concepts)
        self._budget, self._cost = budget, cost

    def begin(self) -> None:
        self._played, self._epoch_number = 0, 0
        self.ledger = Ledger(budget=self._budget, private=self._rng.private)
        self._begin_epoch()

    def loaded(self) -> None:
        self._hypothesis = self._losses.majority_of(self._chosen)

    @property
    def hypothesis(self) -> Hypothesis:
        return self._hypothesis

    @property
    def halted(self) -> bool:
        """Never: after its last phase an epoch is followed by another one."""
        return False

    @property
    def status(self) -> str:
        again = f" (epoch {self._epoch_number + 1})" if self._epoch_number else ""
        return f"learning{again}"

    def step(self, x: Any, y: Label) -> None:
        self._played += 1
        mistake = self._hypothesis(x) != y
        if mistake:
            self._learn(x, y)
        if self._watch.observe(mistake):  # (L5)
            self._end_phase()

    def steps(self, xs: Any, ys: Any) -> int:
        mistakes = np.flatnonzero(self._hypothesis.many(xs) != ys)
        fired = self._watch.observe_block(mistakes, len(ys))  # (L5)
        taken = len(ys) if fired is None else fired + 1
        for i in mistakes[: np.searchsorted(mistakes, taken)].tolist():
            self._learn(self._check(xs[i]), int(ys[i]))
        self._played += taken
        if fired is not None:
            self._end_phase()
        return taken

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
        self._charge = self.ledger.charge("one epoch", self._cost, first=self._played + 1)
        self._losses.load(0)  # (L1)
        self._phase = 1
        self._begin_phase()

    def _begin_phase(self) -> None:
        epoch = self._epoch
        scores = self._losses.as_array()
        self._chosen = epoch.draw().draw(scores, rng=self._rng, count=epoch.votes)  # (L2)
        self._hypothesis = self._losses.majority_of(self._chosen)  # (L3)
        self._watch = self._watch_recipe().start(rng=self._rng)  # (L5)

    def _watch_recipe(self) -> Any:
        return self._plan.watch(self._epoch.thresholds[self._phase - 1])
