"""Adaptive, realizable adversaries force mistakes for as long as some concept fits."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from itertools import repeat
from typing import ClassVar, Final

import numpy as np

from littlestone import require
from littlestone.concepts.domain import block_of
from littlestone.concepts.protocols import (
    ConceptClass,
    Example,
    Hypothesis,
    OnlineClass,
    VersionSpace,
)
from littlestone.concepts.schema import label_values
from littlestone.game.adversaries.attacks import (
    Block,
    Forcing,
    Move,
    StreamAttack,
    block_sizes,
    current_hypothesis,
    filling,
)
from littlestone.game.adversaries.entry import AdversaryEntry
from littlestone.game.adversaries.random_stream import labelled
from littlestone.randomness import Randomness

_MOVES_REMEMBERED: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class MistakeForcing(Forcing):
    """The greedy adaptive, realizable adversary.

    It plays an example on which the newest known hypothesis errs and which keeps the version space
    largest: first its dimension, then its size. It repeats an example while that is a mistake,
    since this costs nothing. Against the standard optimal algorithm it forces exactly as many
    mistakes as the Littlestone dimension.
    """

    def first_position(self) -> "_Position":
        """Return the first position."""
        return _Position(self.concepts, self.concepts.version_space(), None)


@dataclass(frozen=True, slots=True)
class _Position:
    concepts: OnlineClass
    space: VersionSpace
    last: Example | None

    def move(self, seen: Hypothesis | None, /) -> Move:
        return _move(self, current_hypothesis(self.space, seen))

    def after(self, example: Example) -> "_Position":
        return _Position(self.concepts, self.space.restrict(*example), example)


@lru_cache(maxsize=_MOVES_REMEMBERED)
def _move(position: _Position, published: Hypothesis) -> Move:
    last = position.last
    if last is not None and published(last[0]) != last[1]:
        return Move((last,), None)
    mistake = position.space.hardest_mistake(published)
    if mistake is None:
        return filling(position.concepts, position.space, position.after)
    return Move((mistake,), position.after(mistake))


@dataclass(frozen=True, slots=True)
class ShatteredTree(Forcing):
    """An adaptive, realizable adversary: the proof of the lower bound, as a player.

    At each vertex it plays the vertex's point with a label that the newest known hypothesis does
    not give, the one that keeps the largest dimension. It then repeats the example once, since it
    sees the learner's response one round later. So the standard optimal algorithm errs exactly as
    often as the Littlestone dimension. At a leaf one concept is left, and it plays where that
    concept and the published hypothesis differ.
    """

    def first_position(self) -> "_Vertex":
        """Return the first position."""
        space = self.concepts.version_space()
        space.standard_optimal()  # raises if dimensions are unknown
        return _Vertex(self.concepts, space, None)


@dataclass(frozen=True, slots=True)
class _Vertex:
    """A vertex of the tree, given by the concepts below it; ``again`` is repeated first."""

    concepts: OnlineClass
    space: VersionSpace
    again: Example | None

    def move(self, seen: Hypothesis | None, /) -> Move:
        if self.again is not None:
            return Move((self.again,), _Vertex(self.concepts, self.space, None))
        # At the hardest mistake of the optimal hypothesis, two labels keep all but one of the
        # dimension, so it is the root of a deepest tree.
        root = self.space.hardest_mistake(self.space.standard_optimal())
        published = current_hypothesis(self.space, seen)
        if root is None:
            last = self.space.hardest_mistake(published)
            return Move((last,), None) if last else filling(self.concepts, self.space, self._after)
        x, _ = root
        said, labels = published(x), range(len(label_values(self.concepts.domain)))
        wrong = [(x, y) for y in labels if y != said]
        example = max(wrong, key=lambda example: self.space.restrict(*example).dimension)
        return Move((example,), self._after(example))

    def _after(self, example: Example) -> "_Vertex":
        return _Vertex(self.concepts, self.space.restrict(*example), example)


@require.checked
@dataclass(frozen=True, slots=True)
class CoinTree:
    """An oblivious, realizable adversary: the floor of every private learner, as a player.

    It walks down a shattered tree by fair coins and plays each vertex ``repeats`` times. Every
    private learner errs at least ``coin_tree_lower_bound`` times on average, whatever the class.
    At a leaf one concept is left, which labels random points.
    """

    concepts: ConceptClass
    _: KW_ONLY
    repeats: int = 64

    adaptive: ClassVar[bool] = False
    realizable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.usual_fields(self)
        self.concepts.version_space().standard_optimal()  # raises if dimensions are unknown

    def start(self, *, rng: Randomness) -> StreamAttack:
        """Start an attack."""
        return StreamAttack(self.concepts.domain, self._blocks(rng.generator()))

    def _blocks(self, generator: np.random.Generator) -> Iterator[Block]:
        concepts, space = self.concepts, self.concepts.version_space()
        while (root := space.hardest_mistake(space.standard_optimal())) is not None:
            x, y = root[0], int(generator.integers(2))
            space = space.restrict(x, y)
            points = block_of(concepts.domain, list(repeat(x, self.repeats)))
            yield points, np.full(self.repeats, y, dtype=np.uint8)
        left = space.consistent()
        for size in block_sizes():
            yield labelled(concepts, left, size, generator)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequentKiller(Forcing):
    """An adaptive, realizable adversary against learners that publish from a list.

    It attacks the newest hypothesis when it appears, and then the last ``memory`` different ones
    in turn, so that it exhausts a list of candidates before the next entry is published.
    """

    memory: int = 8

    def __post_init__(self) -> None:
        require.usual_fields(self)

    def first_position(self) -> "_Rotation":
        """Return the first position."""
        return _Rotation(self, self.concepts.version_space(), (), (), 0)


@dataclass(frozen=True, slots=True)
class _Rotation:
    adversary: FrequentKiller
    space: VersionSpace
    known: tuple[Hypothesis, ...]
    """Newest first."""
    played: tuple[Example, ...]
    """Newest first; repeated where that is a mistake, since this costs nothing."""
    turn: int

    def move(self, seen: Hypothesis | None, /) -> Move:
        published = current_hypothesis(self.space, seen)
        if published not in self.known:
            met = self._meeting(published)
            move = met.move(seen)
            return Move(move.examples[:1], move.after or met)
        mistakes = self._mistakes()
        if not mistakes:
            return filling(self.adversary.concepts, self.space, self._after)
        if all(mistake in self.played for mistake in mistakes):
            return Move(mistakes, None)
        mistake = mistakes[self.turn % len(mistakes)]
        return Move((mistake,), self._after(mistake))

    def _meeting(self, newest: Hypothesis) -> "_Rotation":
        known = (newest, *self.known)[: self.adversary.memory]
        return _Rotation(self.adversary, self.space, known, self.played, 0)

    def _after(self, example: Example) -> "_Rotation":
        played = (example, *self.played)[: 2 * self.adversary.memory]
        space = self.space.restrict(*example)
        return _Rotation(self.adversary, space, self.known, played, self.turn + 1)

    def _mistakes(self) -> tuple[Example, ...]:
        """Return a mistake of each known hypothesis that still has one."""
        found = (self._mistake(hypothesis) for hypothesis in self.known)
        return tuple(mistake for mistake in found if mistake is not None)

    def _mistake(self, hypothesis: Hypothesis) -> Example | None:
        old = ((x, y) for x, y in self.played if hypothesis(x) != y)
        return next(old, None) or self.space.hardest_mistake(hypothesis)


ADVERSARIES = (
    AdversaryEntry(
        "mistake-forcing",
        MistakeForcing,
        "adaptive: forces a mistake whenever a consistent concept allows one",
    ),
    AdversaryEntry("shattered-tree", ShatteredTree, "adaptive: walks down a shattered tree"),
    AdversaryEntry(
        "coin-tree",
        CoinTree,
        "oblivious: walks down a shattered tree by coins, each vertex many times",
    ),
    AdversaryEntry(
        "frequent-killer",
        FrequentKiller,
        "adaptive: attacks the hypotheses published so far in turn",
    ),
)
