"""The attack of an adaptive adversary: moves from one position to the next."""

from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.protocols import ConceptClass, Domain, Example, Hypothesis, VersionSpace

_FILLERS: Final = 16


class Position(Protocol):
    """Where an adaptive adversary stands: a value, from which its next move follows."""

    def move(self, seen: Hypothesis | None, /) -> "Move":
        """What to play when ``seen`` is the newest hypothesis known."""
        ...


@dataclass(frozen=True, slots=True)
class Move:
    """What to play next.

    With a position ``after``: the one example, and where that leads. Without: any of the examples
    leaves the position as it is, so they are played in turn for as long as ``seen`` stays newest.
    """

    examples: tuple[Example, ...]
    after: Position | None


class SteadyAttack:
    """Plays the moves of a position; cheap while nothing new is published."""

    __slots__ = ("_at", "_cycle", "_domain", "_move", "_position", "_seen")

    def __init__(self, domain: Domain, position: Position) -> None:
        self._domain = domain
        self._position = position
        self._move: Move | None = None
        self._cycle: tuple[Example, ...] = ()
        self._seen: Hypothesis | None = None
        self._at = 0

    def choose(self, seen: Hypothesis | None, /) -> Example:
        if not self._cycle or (seen is not self._seen and seen != self._seen):
            self._decide(seen)
        example = self._cycle[self._at]
        self.played(1)
        return example

    def plan(self, seen: Hypothesis | None, most: int, /) -> tuple[Any, NDArray[np.uint8]]:
        if not self._cycle or (seen is not self._seen and seen != self._seen):
            self._decide(seen)
        if self._move is not None:
            most = 1
        points = self._domain.check_many([x for x, _ in self._cycle])
        labels = np.array([y for _, y in self._cycle], dtype=np.uint8)
        turns = np.arange(self._at, self._at + most) % len(labels)
        if isinstance(points, np.ndarray):
            return points[turns], labels[turns]
        repeated = points * (-(-(self._at + most) // len(points)))
        return repeated[self._at : self._at + most], labels[turns]

    def played(self, count: int, /) -> None:
        if self._move is None:
            at = self._at + count
            self._at = at if at < len(self._cycle) else at % len(self._cycle)
        elif count:
            assert self._move.after is not None
            self._position = self._move.after
            self._move, self._cycle = None, ()

    def _decide(self, seen: Hypothesis | None) -> None:
        """Prepare what to play; the position changes only when it is played."""
        move = self._position.move(seen)
        self._move = None if move.after is None else move
        self._cycle = move.examples
        self._seen = seen
        self._at = 0


def standing(space: VersionSpace, seen: Hypothesis | None) -> Hypothesis:
    """What is known to be published; before the first round, what the best learner would."""
    return space.standard_optimal() if seen is None else seen


def fillers(concepts: ConceptClass, space: VersionSpace) -> Move:
    """Harmless examples, for when every concept left equals what is published."""
    concept = space.consistent()
    points = (x for x, _ in zip(concepts.domain, range(_FILLERS), strict=False))
    return Move(tuple((x, concept(x)) for x in points), None)
