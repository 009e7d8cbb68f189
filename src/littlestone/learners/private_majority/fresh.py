"""Private halving of a public version space: every phase learns from its own mistakes only."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Witnesses
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label, VersionSpace
from littlestone.learners.engine import Engine
from littlestone.learners.private_majority.plan import FreshPlan
from littlestone.mechanisms.count_above_threshold import CountAboveThresholdRun
from littlestone.privacy.charge import Charge
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness


@dataclass(init=False, eq=False, repr=False)
class FreshEngine(Engine):
    """The version space is a function of what was published; the counts are secret.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  ``FreshPlan.guarantee``; conditionally on every prefix
        Assumes:    timing (docs/GUARANTEES.md): a mistake takes longer than a correct round
        Proof:      fresh.md
    """

    _played: int
    _restarts: int
    ledger: Ledger
    _charge: Charge
    _space: VersionSpace
    _counts: NDArray[np.int64]
    _watch: CountAboveThresholdRun

    def __init__(
        self,
        *,
        concepts: ConceptClass,
        witnesses: Witnesses,
        plan: FreshPlan,
        budget: PrivacyGuarantee,
        cost: PrivacyGuarantee,
        rng: Randomness,
    ) -> None:
        self._concepts, self._witnesses, self._plan, self._rng = concepts, witnesses, plan, rng
        self._watch_recipe, self._selection = plan.watch(), plan.selection()
        self._budget, self._cost = budget, cost

    def begin(self) -> None:
        self._played, self._restarts = 0, 0
        self.ledger = Ledger(budget=self._budget, private=self._rng.private)
        self._begin_phase(self._concepts.version_space())  # (L1)

    def loaded(self) -> None:
        self._hypothesis = self._space.standard_optimal()

    @property
    def hypothesis(self) -> Hypothesis:
        return self._hypothesis

    @property
    def halted(self) -> bool:
        """Never: a contradiction starts a new epoch instead."""
        return False

    @property
    def status(self) -> str:
        again = f" (started again {self._restarts} times)" if self._restarts else ""
        return f"learning{again}"

    def step(self, x: Any, y: Label) -> None:
        self._played += 1
        mistake = self._hypothesis(x) != y
        if mistake:
            self._counts[self._witnesses.named_by(self._space, x, y)] += 1  # (L3)
        if self._watch.observe(mistake):  # (L4)
            self._end_phase()

    def steps(self, xs: Any, ys: Any) -> int:
        mistakes = np.flatnonzero(self._hypothesis.many(xs) != ys)
        fired = self._watch.observe_block(mistakes, len(ys))  # (L4)
        taken = len(ys) if fired is None else fired + 1
        for i in mistakes[: np.searchsorted(mistakes, taken)].tolist():
            named = self._witnesses.named_by(self._space, xs[i], int(ys[i]))
            self._counts[named] += 1  # (L3)
        self._played += taken
        if fired is not None:
            self._end_phase()
        return taken

    def _end_phase(self) -> None:
        self.ledger.close(self._charge, last=self._played)
        [number] = self._selection.draw(-self._counts, rng=self._rng)  # (L5)
        witness = self._witnesses.example(self._space, number)
        left = None if witness is None else self._space.restrict(*witness)  # (L6)
        if left is None or left.is_empty:
            self._restarts += 1
            left = self._concepts.version_space()  # (L7)
        self._begin_phase(left)

    def _begin_phase(self, space: VersionSpace) -> None:
        self._charge = self.ledger.charge("one phase", self._cost, first=self._played + 1)
        self._space = space
        self._hypothesis = space.standard_optimal()  # (L2)
        self._counts = np.zeros(self._witnesses.count(), dtype=np.int64)
        self._watch = self._watch_recipe.start(rng=self._rng)  # (L4)
