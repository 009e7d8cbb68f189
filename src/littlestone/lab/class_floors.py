"""Lower bounds for every private learner of a class, from the structure of the class."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from littlestone import require
from littlestone.concepts.capabilities import Agreeing, SetsOfKeys, agreeing
from littlestone.concepts.protocols import ConceptClass
from littlestone.theory import adaptive_floors, floors

Order = Literal["publish, then answer", "either order"]
ORDERS: Final[dict[Order, str]] = {
    "publish, then answer": (
        "the adversary knows h_t when it chooses (x_t, y_t); if it does not, "
        "mistakes + switches + 1 is at least the floor"
    ),
    "either order": "the stream depends on nothing that is published",
}
_MOST_LISTED: Final = 1 << 11
_MOST_CELLS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ClassFloor:
    """Expected mistakes that some realizable adversary forces on every private learner."""

    mistakes: float
    """Rounded downwards."""
    order: Order
    """What the adversary knows (``ORDERS``)."""
    theorem: str
    """Its name in docs/theory/floors.md."""
    structure: str
    """The structure of the class that the floor uses."""

    @property
    def text(self) -> str:
        """Format with one decimal, rounded down.

        >>> ClassFloor(24.39, "publish, then answer", "2′", "any number of keys").text
        '24.3'
        """
        return f"{math.floor(self.mistakes * 10) / 10:,.1f}"


@require.checked
def mistakes_floor(
    concepts: ConceptClass, *, rounds: int, epsilon: float, delta: float = 0.0
) -> ClassFloor | None:
    """Return the largest known floor if the adversary sees h_t (``play(peek=True)``).

    Against an adversary that does not see h_t, mistakes + switches + 1 is at least the floor. None
    if no floor of the class is known.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> floor = mistakes_floor(Thresholds(1024), rounds=10**6, epsilon=1.0)
    >>> floor.text, floor.theorem, floor.structure
    ('106.5', 'B', 'a shattered tree of depth 10')
    """
    found = (
        *_answering(concepts, rounds, epsilon, delta),
        *_oblivious(concepts, rounds, epsilon, delta),
    )
    return max(found, key=lambda floor: floor.mistakes, default=None)


@require.checked
def oblivious_mistakes_floor(
    concepts: ConceptClass, *, rounds: int, epsilon: float, delta: float = 0.0
) -> ClassFloor | None:
    """Return the largest known floor for oblivious streams.

    It holds in either order of a round. None if no floor of the class is known.
    """
    found = _oblivious(concepts, rounds, epsilon, delta)
    return max(found, key=lambda floor: floor.mistakes, default=None)


def _answering(
    concepts: ConceptClass, rounds: int, epsilon: float, delta: float
) -> Iterator[ClassFloor]:
    budget = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    order: Order = "publish, then answer"
    if isinstance(concepts, SetsOfKeys):
        keys, universe = concepts.largest_set or 1, concepts.domain.size
        mistakes = adaptive_floors.key_sets_lower_bound(keys=keys, universe=universe, **budget)  # type: ignore[arg-type]
        some = "any number of" if universe is None else f"{universe:,}"
        stages = "one key" if keys == 1 else f"{keys} keys, one after another,"
        yield ClassFloor(mistakes, order, "1, 2′, A", f"{stages} of {some} keys")
    if isinstance(concepts, Agreeing):
        depth = concepts.agreed()[1]
        mistakes = adaptive_floors.wait_down_tree_lower_bound(depth=depth, **budget)  # type: ignore[arg-type]
        yield ClassFloor(mistakes, order, "B", f"a shattered tree of depth {depth}")
    dimension = _dimension(concepts)
    if dimension is not None:
        mistakes = adaptive_floors.dimension_lower_bound(littlestone_dimension=dimension, **budget)  # type: ignore[arg-type]
        yield ClassFloor(mistakes, order, "B", f"its Littlestone dimension {dimension}")
    if _is_small(concepts):
        number = len(agreeing(concepts, _MOST_LISTED)[1])
        for theorem, mistakes in (
            ("A", adaptive_floors.wait_lower_bound(concepts=number, **budget)),  # type: ignore[arg-type]
            ("2′", adaptive_floors.burst_and_wait_lower_bound(concepts=number, **budget)),  # type: ignore[arg-type]
        ):
            yield ClassFloor(mistakes, order, theorem, f"{number:,} concepts that agree at a point")


def _oblivious(
    concepts: ConceptClass, rounds: int, epsilon: float, delta: float
) -> Iterator[ClassFloor]:
    dimension, size = _dimension(concepts), concepts.domain.size
    if dimension is not None:
        mistakes = floors.coin_tree_lower_bound(
            littlestone_dimension=dimension, rounds=rounds, epsilon=epsilon, delta=delta
        )
        yield ClassFloor(
            mistakes, "either order", "coins", f"its Littlestone dimension {dimension}"
        )
    if isinstance(concepts, SetsOfKeys):
        keys = concepts.largest_set or 1
        fresh = rounds if size is None else min(rounds, size)
        mistakes = floors.sparse_sets_lower_bound(
            littlestone_dimension=keys, rounds=fresh, epsilon=epsilon, delta=delta
        )
        yield ClassFloor(mistakes, "either order", "windows", f"sets of {keys} of {fresh:,} keys")


def _dimension(concepts: ConceptClass) -> int | None:
    try:
        return concepts.littlestone_dimension
    except ValueError:  # unknown or infinite
        return None


def _is_small(concepts: ConceptClass) -> bool:
    points, number = concepts.domain.size, concepts.size
    if points is None or number is None or isinstance(concepts, SetsOfKeys):
        return False
    return number <= _MOST_LISTED and points * number <= _MOST_CELLS
