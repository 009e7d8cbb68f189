"""One noisy counter for each live witness; a counter that fires advances the public state."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from littlestone.concepts.protocols import Label, Point
from littlestone.concepts.witness_systems import PLACE, starts_again
from littlestone.learners.counters import CountersEngine
from littlestone.privacy.mechanisms.noise.geometric import Geometric
from littlestone.privacy.mechanisms.noise.waiting_time import WaitingTime
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.private_witnesses.recipe import PrivateWitnesses


@dataclass(init=False, eq=False, repr=False)
class PrivateWitnessesEngine(CountersEngine):
    """The state is a function of which counters fired when, and of the drawn places.

    The counts, and where mistakes were made, are secret.
    """

    _state: Any
    _places: list[int]

    def __init__(self, recipe: "PrivateWitnesses", rng: Randomness) -> None:
        plan = recipe.planned  # (L1, L4)
        super().__init__(
            recipe, rng, query_rate=plan.query_rate, threshold_rate=plan.threshold_rate
        )
        self._plan = plan
        self._system: Any = recipe.system
        if (drawing := plan.drawing) is not None:  # (L7)
            self._place_threshold = drawing.threshold
            self._place_noise = Geometric(rate=drawing.threshold_epsilon)
            self._place_waiting = WaitingTime(rate=drawing.threshold_epsilon)
            self._selection = drawing.selection()

    def begin(self) -> None:
        """Enter the first state, with noise for its live witnesses."""
        self.begin_counting("counters of all witnesses")
        self._places = []
        self._enter(self._system.begin())

    def _count_mistake(self, x: Any, y: Label) -> None:
        key = self._system.named_by(self._state, x, y)
        self._gaps[key] -= 1  # (L3)
        if key == PLACE:
            self._places.append(self._system.place(self._state, x))  # (L8)
        self._draw_turn(key, self._round)

    def _waiting_of(self, key: Point) -> WaitingTime:
        return self._place_waiting if key == PLACE else self._waiting

    def _accept(self, due: list[Point]) -> None:
        state = self._state
        for key in due:
            if key == PLACE:
                state = self._system.after(state, (PLACE, self._drawn_place()))
            elif key in self._system.live(state):
                state = self._system.after(state, key)  # (L5)
            if state is None:
                self._gaps, self._newest = {}, {}
                state = self._system.begin()  # (L6)
                break
        self._enter(state)

    def _drawn_place(self) -> int:
        found, lengths = self._system.depths(self._places)
        scores = [-depth for depth in found]
        [position] = self._selection.draw(scores, multiplicities=lengths, rng=self._rng)  # (L9)
        place: int = self._system.place_at(self._places, position)
        self._places = []
        return place

    def _fresh_gap(self, key: Point) -> int:
        if key == PLACE:
            return int(self._place_threshold + self._place_noise.draw(self._rng))  # (L7)
        threshold = self._plan.again if starts_again(key) else self._plan.threshold
        return int(threshold + self._noise.draw(self._rng))  # (L2)

    def _enter(self, state: Any) -> None:
        """Publish the state's hypothesis; newly live witnesses get noise, dead ones lose theirs."""
        self._state = state
        live = self._system.live(state)
        for key in self._gaps.keys() - set(live):
            del self._gaps[key]
            self._newest.pop(key, None)
        for key in live:
            if key not in self._gaps:
                self._gaps[key] = self._fresh_gap(key)
                self._draw_turn(key, self._round + 1)
        published = self._system.hypothesis(state)
        if self._round == 0 or published != self.hypothesis:
            self.hypothesis = published
