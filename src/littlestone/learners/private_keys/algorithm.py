"""One noisy counter for each key: of reports while it is not listed, of complaints while it is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import Label, Point
from littlestone.learners.counters import CountersEngine
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.private_keys.recipe import PrivateKeys


@dataclass(init=False, eq=False, repr=False)
class PrivateKeysEngine(CountersEngine):
    """The gap of an unlisted key counts reports, that of a listed key complaints."""

    hypothesis: FiniteSupport

    def __init__(self, recipe: "PrivateKeys", rng: Randomness) -> None:
        watch = recipe.watch  # (L1, L4)
        super().__init__(
            recipe, rng, query_rate=watch.query_rate, threshold_rate=watch.threshold_rate
        )

    def begin(self) -> None:
        """Publish the empty set."""
        self.begin_counting("counters of all keys")
        self.hypothesis = FiniteSupport(frozenset())

    def _count_mistake(self, x: Any, y: Label) -> None:
        self._count(x, not y)

    def _count(self, key: Point, listed: bool) -> None:
        gap = self._gaps.get(key)
        if gap is None:
            assert not listed  # a listed key got its noise when it was listed
            gap = self._recipe.reports + self._noise.draw(self._coins(key, "reports"))  # (L2)
        self._gaps[key] = gap - 1  # (L3)
        self._draw_turn(key, self._round)

    def _accept(self, due: list[Point]) -> None:
        """List and unlist the keys that are due."""
        listed = self.hypothesis.positives ^ frozenset(due)  # (L5)
        for key in filter(listed.__contains__, due):
            noise = self._noise.draw(self._coins(key, "complaints"))
            self._gaps[key] = self._recipe.complaints + noise  # (L6)
            self._draw_turn(key, self._round + 1)
        self.hypothesis = FiniteSupport(listed)
