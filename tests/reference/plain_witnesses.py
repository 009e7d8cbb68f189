"""PrivateWitnesses as its proof has it: query noise is tossed for every counter in every round."""

from typing import Any

from littlestone.concepts.keys import key_order
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.concepts.witnesses import AGAIN
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.mechanisms.noise.geometric import Geometric
from littlestone.randomness import Randomness


class PlainWitnesses:
    """The tags are those of ``private_witnesses/algorithm.md``."""

    def __init__(self, recipe: PrivateWitnesses, rng: Randomness) -> None:
        self._plan, self._system, self._rng = recipe.planned, recipe.system, rng
        self._query_noise = Geometric(rate=self._plan.query_rate)
        self._threshold_noise = Geometric(rate=self._plan.threshold_rate)
        self._gaps: dict[Any, int] = {}
        self._enter(self._system.begin())

    @property
    def hypothesis(self) -> Hypothesis:
        return self._system.hypothesis(self._state)

    def observe(self, x: Any, y: Label) -> None:
        if self.hypothesis(x) != y:
            self._gaps[self._system.named_by(self._state, x, y)] -= 1  # (L3)
        fired = [
            key
            for key in sorted(self._gaps, key=key_order)
            if int(self._query_noise.draw(self._rng)) >= self._gaps[key]  # (L4)
        ]
        for key in fired:
            del self._gaps[key]
        state = self._state
        for key in fired:
            if key in self._system.live(state):
                state = self._system.after(state, key)  # (L5)
            if state is None:
                self._gaps = {}
                state = self._system.begin()  # (L6)
                break
        self._enter(state)

    def _enter(self, state: Any) -> None:
        self._state = state
        live = self._system.live(state)
        self._gaps = {key: gap for key, gap in self._gaps.items() if key in live}
        for key in live:
            if key not in self._gaps:
                threshold = self._plan.again if key == AGAIN else self._plan.threshold
                self._gaps[key] = threshold + int(self._threshold_noise.draw(self._rng))  # (L2)
