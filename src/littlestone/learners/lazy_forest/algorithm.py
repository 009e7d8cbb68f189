"""The practical engine of Algorithm 2; ``reference.py`` has it as printed.

Names follow the paper. A *copy*, for which the paper has no word, is a fresh forest that follows
one whose last list is used up; the paper halts there.
"""

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from littlestone.concepts.json_form import canonical, one_form
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.learners.engine import Engine
from littlestone.learners.lazy_forest.layer import ForestTable
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Charge, Ledger
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThresholdRun
from littlestone.privacy.mechanisms.first_frequent import FirstFrequentRun
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.lazy_forest.recipe import LazyForest


@dataclass(init=False, eq=False, repr=False)
class LazyForestEngine(Engine):
    """Run [P, Algorithm 2], one copy after another."""

    _played: int
    _copies: int
    halted: bool
    _first_round: int
    _layer: int
    _forest: ForestTable
    _listed: deque[tuple[Hypothesis, int]]
    hypothesis: Hypothesis
    _above_threshold: CountAboveThresholdRun | None
    _first_frequent: FirstFrequentRun | None
    ledger: Ledger
    _charge: Charge

    def __init__(self, recipe: "LazyForest", rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._depth = recipe.depth  # (L1)
        self._check = recipe.concepts.domain.check

    def begin(self) -> None:
        """Start the first copy."""
        self._above_threshold, self._first_frequent, self._listed = None, None, deque()
        self.ledger = Ledger(budget=self._recipe.per_example, private=self._rng.private)
        self._played, self._copies, self.halted = 0, 0, False
        self._begin_copy()

    def _begin_copy(self) -> None:
        self._copies += 1
        self._first_round = self._played + 1
        self._layer = 0  # (L1)
        start, pairs = self._recipe.base.start(), self._recipe.plan.slots // 2
        self._forest = ForestTable.of_empty_sequences(start, pairs=pairs)  # (L2)
        self._listed.append((one_form(start.hypothesis), pairs))  # (L3)
        self._initiate()

    def _initiate(self) -> None:
        """Publish the first element of the list, with a new instance of AboveThreshold."""
        listed, slots = self._listed[0]
        self.hypothesis = canonical(listed)  # (L6)
        if self._recipe.plan.early_release and self._layer == 0:
            first_frequent = self._recipe.first_frequent()
            self._charge = self._charged("FirstFrequent", first_frequent.guarantee())
            self._first_frequent = first_frequent.start(rng=self._rng)
            return
        switch = self._recipe.switch(self._layer, slots)
        self._charge = self._charged("CountAboveThreshold", switch.guarantee())
        self._above_threshold = switch.start(rng=self._rng)  # (L4, L19)

    def _charged(self, mechanism: str, cost: PrivacyGuarantee) -> Charge:
        return self.ledger.charge(mechanism, cost, first=self._played + 1)

    @property
    def status(self) -> str:
        """The current layer and copy, or why learning cannot continue."""
        if self.halted:
            return "halted: the list of the last layer is used up; still publishing"
        first, rounds = self._recipe.plan.mistakes_per_layer[0], self._recipe.rounds
        if first > rounds:
            return f"waiting: the first layer needs {first} mistakes, and there are {rounds} rounds"
        return f"learning: layer {self._layer} of {self._depth}, copy {self._copies}"

    def step(self, x: Any, y: Label) -> None:
        """Take one round (L5)."""
        self._played += 1
        wrong = self.hypothesis(x) != y
        if self._above_threshold is not None:
            if wrong:
                self._insert(x, y)
            if self._above_threshold.observe(wrong):  # (L10, L11)
                self._halt_instance()
        elif self._first_frequent is not None:
            grown = self._insert(x, y) if wrong else None
            if self._first_frequent.observe(grown):
                self._release_early()

    def _insert(self, x: Any, y: Label) -> Hypothesis | None:
        """Route a mistake of the published hypothesis; return what the grown sequence predicts."""
        if self._layer == self._depth:
            return None
        # Departs from (L8): only pairs that agree on the published hypothesis take the example;
        # the theorem's proof uses no others. So a dart is thrown only for a mistake, where (L7)
        # throws one in each round: the other darts would hit nothing.
        listed, slots = self._listed[0]
        grown = self._forest.insert(listed, x, y, slots=slots, rng=self._rng)  # (L7, L8, L9)
        return None if grown is None or self._first_frequent is None else one_form(grown.hypothesis)

    def _halt_instance(self) -> None:
        """Remove the first element of the list and publish the next one."""
        self.ledger.close(self._charge, last=self._played)
        self._above_threshold = None
        self._listed.popleft()  # (L12)
        while self._layer < self._depth and not self._listed:  # (L13)
            self._update()
        if self._listed:
            self._initiate()
        elif self._recipe.restarts:  # departs from (L6), which halts
            self._begin_copy()
        else:
            self.halted = True

    def _update(self) -> None:
        """Update the whole layer; list the frequent hypotheses of the next one."""
        recipe, rng = self._recipe, self._rng
        living = self._forest.update(rng=rng)  # (L14)
        self._layer += 1  # (L15)
        if self._layer == self._depth:
            # Departs from (L16), also for the paper's numbers: it counts single sequences, not
            # pairs, as nothing is inserted any more.
            votes: dict[Hypothesis, int] = {}
            for state, count in living.items():
                hypothesis = one_form(state.hypothesis)
                votes[hypothesis] = votes.get(hypothesis, 0) + count
            self._forest = ForestTable()
        else:
            slots = None if recipe.plan.packed else recipe.plan.slots >> self._layer
            self._forest = ForestTable.placed(living, slots=slots, rng=rng)
            votes = dict(self._forest.agreeing())  # (L16)
        histogram = recipe.histogram(self._layer)
        self.ledger.charge(
            "PrivateHistogram", histogram.guarantee(), first=self._first_round, last=self._played
        )
        # A random order, since not every kind of key can be sorted.
        order = dict(zip(votes, rng.permutation(len(votes)).tolist(), strict=True))
        released = histogram.release(votes, rng=rng, order=order.__getitem__)  # (L17)
        frequent = sorted(released, key=released.__getitem__, reverse=True)  # (L18)
        for hypothesis in frequent:
            # The noisy count plus the largest error, so that every agreeing pair has its own slot.
            own = released[hypothesis] + histogram.noise_bound
            pairs = own if recipe.plan.packed else recipe.plan.slots >> (self._layer + 1)
            self._listed.append((hypothesis, pairs))

    def _release_early(self) -> None:
        """Go to layer 1 at once; the keys of FirstFrequent are its list."""
        assert self._first_frequent is not None
        self.ledger.close(self._charge, last=self._played)
        released = self._first_frequent.released
        self._first_frequent, self._forest = None, ForestTable()
        self._layer = 1
        self._listed = deque((hypothesis, 0) for hypothesis in released)
        self._initiate()

    def steps(self, xs: Any, ys: Any) -> int:
        if self.halted:
            return len(ys)
        wrong = np.flatnonzero(self.hypothesis.many(xs) != ys)
        if self._above_threshold is None:
            return self._steps_until_release(xs, ys, wrong.tolist())
        yes = self._above_threshold.observe_block(wrong, len(ys))  # (L10, L11)
        taken = len(ys) if yes is None else yes + 1
        self._played += taken
        if self._layer < self._depth:
            for position in wrong[: np.searchsorted(wrong, taken)].tolist():
                self._insert(self._check(xs[position]), int(ys[position]))
        if yes is not None:
            self._halt_instance()
        return taken

    def _steps_until_release(self, xs: Any, ys: Any, wrong: list[int]) -> int:
        release, taken = self._first_frequent, 0
        assert release is not None
        for position in wrong:
            yes = release.observe_zeros(position - taken)
            if yes is None:
                grown = self._insert(self._check(xs[position]), int(ys[position]))
                yes = position - taken if release.observe(grown) else None
            if yes is not None:
                return self._released_after(taken + yes + 1)
            taken = position + 1
        yes = release.observe_zeros(len(ys) - taken)
        if yes is not None:
            return self._released_after(taken + yes + 1)
        self._played += len(ys)
        return len(ys)

    def _released_after(self, rounds: int) -> int:
        self._played += rounds
        self._release_early()
        return rounds
