"""PrivateWitnesses as its proof has it: query noise is tossed for every counter in every round."""

from collections.abc import Sequence
from typing import Any

from littlestone.concepts.keys import key_order
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.concepts.witness_systems import PLACE, CubeSystem, starts_again
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.privacy.mechanisms.noise.geometric import Geometric
from littlestone.randomness import Randomness


def plain_depth(system: Any, place: int, places: Sequence[int]) -> int:
    """On a line the fewer mistakes on one side; in a cube the fewest that share a feature."""
    if isinstance(system, CubeSystem):
        shared = (
            sum((x >> feature & 1) == (place >> feature & 1) for x in places)
            for feature in range(system.n)
        )
        return min(shared)
    return min(sum(x <= place for x in places), sum(x >= place for x in places))


class PlainWitnesses:
    """The tags are those of ``private_witnesses/recipe.md``."""

    def __init__(self, recipe: PrivateWitnesses, rng: Randomness) -> None:
        self._plan: Any = recipe.planned
        self._system: Any = recipe.system
        self._rng = rng
        self._query_noise = Geometric(rate=self._plan.query_rate)
        self._threshold_noise = Geometric(rate=self._plan.threshold_rate)
        if (drawing := self._plan.drawing) is not None:
            self._place_noise = Geometric(rate=drawing.threshold_epsilon)
            self._selection = drawing.selection()
        self._places: list[int] = []
        self._gaps: dict[Any, int] = {}
        self._enter(self._system.begin())

    @property
    def hypothesis(self) -> Hypothesis:
        return self._system.hypothesis(self._state)

    def observe(self, x: Any, y: Label) -> None:
        if self.hypothesis(x) != y:
            key = self._system.named_by(self._state, x, y)
            self._gaps[key] -= 1  # (L3)
            if key == PLACE:
                self._places.append(self._system.place(self._state, x))  # (L8)
        fired = [
            key
            for key in sorted(self._gaps, key=key_order)
            if int(self._noise(key).draw(self._rng)) >= self._gaps[key]  # (L4, L7)
        ]
        for key in fired:
            del self._gaps[key]
        state = self._state
        for key in fired:
            if key == PLACE:
                state = self._system.after(state, (PLACE, self._draw_place()))
            elif key in self._system.live(state):
                state = self._system.after(state, key)  # (L5)
            if state is None:
                self._gaps = {}
                state = self._system.begin()  # (L6)
                break
        self._enter(state)

    def _noise(self, key: Any) -> Geometric:
        return self._place_noise if key == PLACE else self._query_noise

    def _draw_place(self) -> int:
        """Every place with its own score, counted afresh."""
        scores = [
            -plain_depth(self._system, place, self._places) for place in range(self._system.places)
        ]
        self._places = []
        [place] = self._selection.draw(scores, rng=self._rng)  # (L9)
        return place

    def _enter(self, state: Any) -> None:
        self._state = state
        live = self._system.live(state)
        self._gaps = {key: gap for key, gap in self._gaps.items() if key in live}
        for key in live:
            if key not in self._gaps:
                self._gaps[key] = self._fresh_gap(key)

    def _fresh_gap(self, key: Any) -> int:
        if key == PLACE:
            noise = int(self._place_noise.draw(self._rng))
            return self._plan.drawing.threshold + noise  # (L7)
        threshold = self._plan.again if starts_again(key) else self._plan.threshold
        return threshold + int(self._threshold_noise.draw(self._rng))  # (L2)
