"""One noisy counter for each live witness; one that fires moves the public state on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from littlestone.concepts.protocols import Label, Point
from littlestone.concepts.witnesses import AGAIN
from littlestone.learners.counters import CountersEngine
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.private_witnesses.recipe import PrivateWitnesses


@dataclass(init=False, eq=False, repr=False)
class PrivateWitnessesEngine(CountersEngine):
    """The state is a function of which counters fired when; the counts are secret."""

    _state: Any

    def __init__(self, recipe: "PrivateWitnesses", rng: Randomness) -> None:
        plan = recipe.planned  # (L1, L4)
        super().__init__(
            recipe, rng, query_rate=plan.query_rate, threshold_rate=plan.threshold_rate
        )
        self._plan, self._system = plan, recipe.system

    def begin(self) -> None:
        self.begin_counting("counters of all witnesses")
        self._enter(self._system.begin())

    def _count_mistake(self, x: Any, y: Label) -> None:
        key = self._system.named_by(self._state, x, y)
        self._gaps[key] -= 1  # (L3)
        self._draw_turn(key, self._round)

    def _accept(self, due: list[Point]) -> None:
        state = self._state
        for key in due:
            if key in self._system.live(state):
                state = self._system.after(state, key)  # (L5)
            if state is None:
                self._gaps, self._newest = {}, {}
                state = self._system.begin()  # (L6)
                break
        self._enter(state)

    def _enter(self, state: Any) -> None:
        """Publish its hypothesis; witnesses that were not live get noise, others lose theirs."""
        self._state = state
        live = self._system.live(state)
        for key in self._gaps.keys() - set(live):
            del self._gaps[key]
            self._newest.pop(key, None)
        for key in live:
            if key not in self._gaps:
                threshold = self._plan.again if key == AGAIN else self._plan.threshold
                self._gaps[key] = threshold + self._noise.draw(self._rng)  # (L2)
                self._draw_turn(key, self._round + 1)
        published = self._system.hypothesis(state)
        if self._round == 0 or published != self.hypothesis:
            self.hypothesis = published
