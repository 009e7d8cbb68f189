"""Walk down a shattered tree, always against the published hypothesis."""

from dataclasses import dataclass

from littlestone.adversaries.steady_attack import Forcing, Move, filling, standing
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, VersionSpace


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
