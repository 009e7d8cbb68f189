"""Forcing mistakes at ever new points: the position that two adversaries share."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from littlestone.adversaries.corrected import flipped
from littlestone.adversaries.steady_attack import Move, fillers, standing
from littlestone.concepts.keys import KeySet, key_set
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, VersionSpace


@dataclass(frozen=True, slots=True)
class Spreading:
    """Remembers the examples at which mistakes were forced, and prefers others.

    The mistakes that are still new are those of ``corrected``: the published hypothesis, put right
    at every old example on which it errs.
    """

    concepts: ConceptClass
    space: VersionSpace
    sparing: bool
    """Whether a new point may cost dimension only when there is no old one to repeat."""
    used: KeySet
    published: Hypothesis
    old_mistakes: KeySet
    corrected: Hypothesis
    again: Example | None = None
    """To be repeated first: the answer to it is not known yet, and going on might be a waste."""

    @classmethod
    def at_start(cls, concepts: ConceptClass, *, sparing: bool) -> "Spreading":
        space = concepts.version_space()
        start, nothing = standing(space, None), KeySet()
        return cls(concepts, space, sparing, nothing, start, nothing, start)

    def move(self, seen: Hypothesis | None, /) -> Move:
        if self.again is not None:
            return Move((self.again,), replace(self, again=None))
        facing = self._facing(standing(self.space, seen))
        fresh = self.space.hardest_mistake(facing.corrected)
        if fresh is None:
            return facing._repeat() if facing.old_mistakes else fillers(self.concepts, self.space)
        left = self.space.restrict(*fresh)
        costly = left.dimension < self.space.dimension
        if self.sparing and costly and facing.old_mistakes:
            return facing._repeat()
        after = replace(
            facing,
            space=left,
            used=self.used.adding(fresh),
            old_mistakes=facing.old_mistakes.adding(fresh),
            corrected=flipped(facing.corrected, [fresh[0]], self.concepts.domain),
            again=fresh if self.sparing else None,
        )
        return Move((fresh,), after)

    def _facing(self, published: Hypothesis) -> "Spreading":
        if published is self.published or published == self.published:
            return self
        old = [(x, y) for x, y in _examples(self.used) if published(x) != y]
        corrected = flipped(published, [x for x, _ in old], self.concepts.domain)
        return replace(self, published=published, old_mistakes=key_set(old), corrected=corrected)

    def _repeat(self) -> Move:
        return Move(tuple(_examples(self.old_mistakes)), None)


def _examples(keys: KeySet) -> Iterator[Example]:
    return cast(Iterator[Example], iter(keys))
