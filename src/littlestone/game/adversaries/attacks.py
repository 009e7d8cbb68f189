"""Attacks that follow positions, a schedule, or a stream of prepared examples."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, repeat
from typing import Any, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.capabilities import WithMargin
from littlestone.concepts.domain import block_of
from littlestone.concepts.protocols import (
    Domain,
    Example,
    Hypothesis,
    OnlineClass,
    Point,
    VersionSpace,
)
from littlestone.randomness import Randomness


def fits(concepts: OnlineClass, concept: Hypothesis, x: Point) -> bool:
    """Return whether ``x``, labelled by ``concept``, may occur in a realizable stream.

    >>> from littlestone.concepts.classes.halfspaces import MarginHalfspaces
    >>> from littlestone.concepts.hypotheses.linear import LinearHypothesis
    >>> concepts = MarginHalfspaces(2, 0.5)
    >>> concept = LinearHypothesis((1, 0))
    >>> fits(concepts, concept, (4, 3, 5)), fits(concepts, concept, (3, 9, 10))
    (True, False)
    """
    return not _has_margin(type(concepts)) or concepts.fits(concept, x)  # type: ignore[attr-defined]


def fitting(concepts: OnlineClass, concept: Hypothesis, points: Any) -> Any:
    """Return the points of a block that fit."""
    if not isinstance(concepts, WithMargin):
        return points
    fit: NDArray[np.bool_] = np.array([concepts.fits(concept, x) for x in points], dtype=bool)
    return points[fit]


# Cached, since it is needed for every point.
_has_margin = lru_cache(maxsize=64)(lambda kind: issubclass(kind, WithMargin))


_FILLERS: Final = 16
_TRIED: Final = 4096


class Position(Protocol):
    """The state of an adaptive adversary, a value that determines its next move."""

    def move(self, seen: Hypothesis | None, /) -> "Move":
        """Return what to play when ``seen`` is the newest hypothesis known."""


@dataclass(frozen=True, slots=True)
class Move:
    """What to play next.

    With a position ``after``: one example and the next position. Without: the examples do not
    change the position, so they are played in turn while ``seen`` stays newest.
    """

    examples: tuple[Example, ...]
    after: Position | None


class SteadyAttack:
    """Plays the moves of positions; cheap while nothing new is published."""

    def __init__(self, domain: Domain, position: Position) -> None:
        self._domain = domain
        self._position = position
        self._cycle: tuple[Example, ...] = ()
        self._seen: Hypothesis | None = None
        self._at = 0
        self._planned: tuple[Hypothesis | None, Move] | None = None

    def choose(self, seen: Hypothesis | None, /) -> Example:
        """Return the next example."""
        cycle = self._cycle
        if not cycle or (seen is not self._seen and seen != self._seen):
            move = self._position.move(seen)
            self._make(move, seen, 1)
            return move.examples[0]
        at = self._at
        self._at = at + 1 if at + 1 < len(cycle) else 0
        return cycle[at]

    def plan(self, seen: Hypothesis | None, most: int, /) -> tuple[Any, NDArray[np.uint8]]:
        """Return the next examples while ``seen`` stays the newest hypothesis."""
        if self._cycle and (seen is self._seen or seen == self._seen):
            self._planned = None
            return self._repeated(self._cycle, self._at, most)
        move = self._position.move(seen)
        self._planned = seen, move
        return self._repeated(move.examples, 0, most if move.after is None else 1)

    def played(self, count: int, /) -> None:
        """Record that the first ``count`` planned examples were played."""
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
        """Return ``count`` examples of the cycle, from number ``at`` on."""
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

    concepts: OnlineClass

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)

    @abstractmethod
    def first_position(self) -> Position:
        """Return the first position."""

    def start(self, *, rng: Randomness) -> SteadyAttack:
        """Start an attack."""
        del rng  # deterministic
        return SteadyAttack(self.concepts.domain, self.first_position())


def current_hypothesis(space: VersionSpace, seen: Hypothesis | None) -> Hypothesis:
    """Return the newest known hypothesis; before the first round, the standard optimal one."""
    if seen is not None:
        return seen
    try:
        return space.standard_optimal()
    except ValueError:  # classes with unknown dimensions
        return space.consistent()


def filling(
    concepts: OnlineClass, space: VersionSpace, after: Callable[[Example], Position]
) -> Move:
    """Return consistent examples for rounds in which no mistake can be forced."""
    concept = space.consistent()
    near = islice(concepts.domain, _TRIED)
    points = islice((x for x in near if fits(concepts, concept, x)), _FILLERS)
    examples = tuple((x, concept(x)) for x in points)
    for example in examples:
        if space.restrict(*example) != space:
            return Move((example,), after(example))
    return Move(examples, None)


_FIRST_BLOCK: Final = 1 << 8
_LARGEST_BLOCK: Final = 1 << 14

Block = tuple[Any, NDArray[np.uint8]]
"""Points, as ``Domain.check_many`` returns them, and their labels."""


def block_sizes() -> Iterator[int]:
    """Yield how many examples to prepare at a time, few at first for short games.

    Changing the sizes changes the games of every seed.
    """
    size = _FIRST_BLOCK
    while True:
        yield size
        size = min(2 * size, _LARGEST_BLOCK)


class StreamAttack:
    """Plays the examples of the blocks in order, one by one or many at once."""

    def __init__(self, domain: Domain, blocks: Iterator[Block]) -> None:
        self._domain = domain
        self._blocks = blocks
        self._points: Any = ()
        self._labels: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self._singles: Sequence[Example] = ()
        self._at = 0
        self._played = 0

    def choose(self, seen: Hypothesis | None, /) -> Example:
        """Return the next example."""
        at = self._at
        if at >= len(self._singles):
            self._prepare_singles()
            at = self._at
        self._at = at + 1
        return self._singles[at]

    def plan(self, seen: Hypothesis | None, most: int, /) -> tuple[Any, NDArray[np.uint8]]:
        """Return the next examples while ``seen`` stays the newest hypothesis."""
        if self._at == len(self._labels):
            self._next_block()
        end = self._at + most
        return self._points[self._at : end], self._labels[self._at : end]

    def played(self, count: int, /) -> None:
        """Record that the first ``count`` planned examples were played."""
        self._at += count

    def _prepare_singles(self) -> None:
        if self._at == len(self._labels):
            self._next_block()
        points = self._points
        if isinstance(points, np.ndarray):
            plain = points.ndim == 1
            points = points.tolist() if plain else map(self._domain.check, points)
        self._singles = list(zip(points, self._labels.tolist(), strict=True))

    def _next_block(self) -> None:
        block = next(self._blocks, None)
        while block is not None and not len(block[1]):
            block = next(self._blocks, None)
        self._played += len(self._labels)
        if block is None:
            raise ValueError(f"the stream ended after {self._played} examples; lower rounds")
        self._points, self._labels = block
        self._singles = ()
        self._at = 0


FOREVER: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Turn:
    """An example, and for how many rounds it is played while nothing new is published."""

    example: Example
    most: int


class Moment(Protocol):
    """The state of a timed adversary, a value."""

    def turn(self, seen: Hypothesis | None, /) -> Turn:
        """Return what to play when ``seen`` is the newest hypothesis known."""

    def after(self, seen: Hypothesis | None, count: int, /) -> "Moment":
        """Return the moment after ``count`` rounds of that turn."""


class TimedAttack:
    """Plays the turns of successive moments, one round or many rounds at a time."""

    def __init__(self, domain: Domain, moment: Moment) -> None:
        self._domain = domain
        self._moment = moment
        self._planned: Hypothesis | None = None

    def choose(self, seen: Hypothesis | None, /) -> Example:
        """Return the next example."""
        example = self._moment.turn(seen).example
        self._moment = self._moment.after(seen, 1)
        return example

    def plan(self, seen: Hypothesis | None, most: int, /) -> tuple[Any, NDArray[np.uint8]]:
        """Return the next examples while ``seen`` stays the newest hypothesis."""
        turn = self._moment.turn(seen)
        count = min(turn.most, most)
        self._planned = seen
        x, y = turn.example
        return block_of(self._domain, list(repeat(x, count))), np.full(count, y, dtype=np.uint8)

    def played(self, count: int, /) -> None:
        """Record that the first ``count`` planned examples were played."""
        if count:
            self._moment = self._moment.after(self._planned, count)
