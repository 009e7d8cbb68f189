"""PrivateKeys as its proof has it: query noise is tossed for every counter in every round."""

from typing import Any

from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.keys import key_order
from littlestone.concepts.protocols import Label, Point
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.privacy.mechanisms.noise.geometric import Geometric
from littlestone.randomness import Randomness


class PlainKeys:
    """The tags are those of ``private_keys/recipe.md``."""

    def __init__(self, recipe: PrivateKeys, rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._query_noise = Geometric(rate=recipe.watch.query_rate)
        self._threshold_noise = Geometric(rate=recipe.watch.threshold_rate)
        self._gaps: dict[Point, int] = {}
        self.listed: frozenset[Point] = frozenset()

    @property
    def hypothesis(self) -> FiniteSupport:
        return FiniteSupport(self.listed)

    def observe(self, x: Any, y: Label) -> None:
        if (x in self.listed) != bool(y):
            if x not in self._gaps:
                noise = int(self._threshold_noise.draw(self._rng))
                self._gaps[x] = self._recipe.reports + noise  # (L2)
            self._gaps[x] -= 1  # (L3)
        fired = frozenset(
            key
            for key in sorted(self._gaps, key=key_order)
            if int(self._query_noise.draw(self._rng)) >= self._gaps[key]  # (L4)
        )
        for key in fired:
            del self._gaps[key]
        self.listed ^= fired  # (L5)
        for key in sorted(fired & self.listed, key=key_order):
            noise = int(self._threshold_noise.draw(self._rng))
            self._gaps[key] = self._recipe.complaints + noise  # (L6)
