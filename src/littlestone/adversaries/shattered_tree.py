"""Walk down a shattered tree, always against the published hypothesis."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import repeat
from typing import ClassVar

import numpy as np

from littlestone import require
from littlestone.adversaries.random_stream import labelled
from littlestone.adversaries.steady_attack import Forcing, Move, filling, standing
from littlestone.adversaries.stream_attack import Block, StreamAttack, block_sizes
from littlestone.concepts.domain import block_of
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, VersionSpace
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True)
class ShatteredTree(Forcing):
    """An adaptive, realizable adversary: the proof of the lower bound, as a player.

    At each vertex it asks for the point there, with the label that the newest known hypothesis
    does not give. It then repeats the example once, since what the learner answers to it becomes
    known only a round later. So the standard optimal algorithm errs exactly as often as the class
    has Littlestone dimension. At a leaf one concept is left, and it plays where that concept and
    the published hypothesis differ.
    """

    def first_position(self) -> "_Vertex":
        space = self.concepts.version_space()
        space.standard_optimal()  # refuses here if dimensions are not known
        return _Vertex(self.concepts, space, None)


@dataclass(frozen=True, slots=True)
class _Vertex:
    """A vertex of the tree, given by the concepts below it; ``again`` is to be repeated first."""

    concepts: ConceptClass
    space: VersionSpace
    again: Example | None

    def move(self, seen: Hypothesis | None, /) -> Move:
        if self.again is not None:
            return Move((self.again,), _Vertex(self.concepts, self.space, None))
        # Both labels of the point where the optimal hypothesis errs worst keep all but one of
        # the dimension: it is the root of a deepest tree.
        root = self.space.hardest_mistake(self.space.standard_optimal())
        published = standing(self.space, seen)
        if root is None:
            last = self.space.hardest_mistake(published)
            return Move((last,), None) if last else filling(self.concepts, self.space, self._after)
        x, _ = root
        example = (x, 1 - published(x))
        return Move((example,), self._after(example))

    def _after(self, example: Example) -> "_Vertex":
        return _Vertex(self.concepts, self.space.restrict(*example), example)


@require.checked
@dataclass(frozen=True, slots=True)
class CoinTree:
    """An oblivious, realizable adversary: the floor of every private learner, as a player.

    It walks down a shattered tree by fair coins and plays each vertex ``repeats`` times. Whoever
    is private errs ``coin_tree_lower_bound`` times on average, whatever the class. At a leaf one
    concept is left, and labels random points.
    """

    concepts: ConceptClass
    _: KW_ONLY
    repeats: int = 64

    adaptive: ClassVar[bool] = False
    realizable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(repeats=self.repeats, at_least=1)
        self.concepts.version_space().standard_optimal()  # refuses here without dimensions

    def start(self, *, rng: Randomness) -> StreamAttack:
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
