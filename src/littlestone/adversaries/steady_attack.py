"""The attack of an adaptive adversary moves from one position to the next."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.adversaries.fitting import fits
from littlestone.concepts.protocols import ConceptClass, Domain, Example, Hypothesis, VersionSpace
from littlestone.randomness import Randomness

_FILLERS: Final = 16
_TRIED: Final = 4096


class Position(Protocol):
    """Where an adaptive adversary stands: a value, from which its next move follows."""

    def move(self, seen: Hypothesis | None, /) -> "Move":
        """What to play when ``seen`` is the newest hypothesis known."""


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

    def __init__(self, domain: Domain, position: Position) -> None:
        self._domain = domain
        self._position = position
        self._cycle: tuple[Example, ...] = ()
        self._seen: Hypothesis | None = None
        self._at = 0
        self._planned: tuple[Hypothesis | None, Move] | None = None

    def choose(self, seen: Hypothesis | None, /) -> Example:
        cycle = self._cycle
        if not cycle or (seen is not self._seen and seen != self._seen):
            move = self._position.move(seen)
            self._make(move, seen, 1)
            return move.examples[0]
        at = self._at
        self._at = at + 1 if at + 1 < len(cycle) else 0
        return cycle[at]

    def plan(self, seen: Hypothesis | None, most: int, /) -> tuple[Any, NDArray[np.uint8]]:
        if self._cycle and (seen is self._seen or seen == self._seen):
            self._planned = None
            return self._repeated(self._cycle, self._at, most)
        move = self._position.move(seen)
        self._planned = seen, move
        return self._repeated(move.examples, 0, most if move.after is None else 1)

    def played(self, count: int, /) -> None:
        if self._planned is None:
            self._at = (self._at + count) % len(self._cycle)
        elif count:
            seen, move = self._planned
            self._make(move, seen, count)
            self._planned = None

    def _make(self, move: Move, seen: Hypothesis | None, count: int) -> None:
        if move.after is None:
            self._cycle, self._seen, self._at = move.examples, seen, count % len(move.examples)
        else:
            self._cycle, self._position = (), move.after

    def _repeated(
        self, cycle: tuple[Example, ...], at: int, count: int
    ) -> tuple[Any, NDArray[np.uint8]]:
        """``count`` examples of the cycle, from number ``at`` on."""
        points = self._domain.check_many([x for x, _ in cycle])
        labels = np.array([y for _, y in cycle], dtype=np.uint8)
        turns = np.arange(at, at + count) % len(cycle)
        if isinstance(points, np.ndarray):
            return points[turns], labels[turns]
        return (points * (1 + (at + count) // len(cycle)))[at : at + count], labels[turns]


@require.checked
@dataclass(frozen=True, slots=True)
class Forcing(ABC):
    """A deterministic, adaptive, realizable adversary; its moves follow from positions."""

    concepts: ConceptClass

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)

    @abstractmethod
    def first_position(self) -> Position: ...

    def start(self, *, rng: Randomness) -> SteadyAttack:
        del rng  # deterministic
        return SteadyAttack(self.concepts.domain, self.first_position())


def standing(space: VersionSpace, seen: Hypothesis | None) -> Hypothesis:
    """What is known to be published; before the first round, what the best learner would."""
    if seen is not None:
        return seen
    try:
        return space.standard_optimal()
    except ValueError:  # classes whose dimensions are not known
        return space.consistent()


def filling(
    concepts: ConceptClass, space: VersionSpace, after: Callable[[Example], Position]
) -> Move:
    """Harmless examples, for when no mistake can be forced; one that tells something comes once."""
    concept = space.consistent()
    near = islice(concepts.domain, _TRIED)
    points = islice((x for x in near if fits(concepts, concept, x)), _FILLERS)
    examples = tuple((x, concept(x)) for x in points)
    for example in examples:
        if space.restrict(*example) != space:
            return Move((example,), after(example))
    return Move(examples, None)
