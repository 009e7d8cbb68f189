"""Force a mistake in every round in which some consistent concept allows one."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from littlestone.adversaries.steady_attack import Forcing, Move, filling, standing
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, VersionSpace

_MOVES_REMEMBERED: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class MistakeForcing(Forcing):
    """An adaptive, realizable adversary: the greedy one.

    It plays an example on which the newest known hypothesis errs and which keeps the version space
    largest: first its dimension, then its size. It repeats an example for as long as that is a
    mistake, since this costs nothing. Against the standard optimal algorithm it forces exactly
    Littlestone-dimension many mistakes.
    """

    def first_position(self) -> "_Position":
        return _Position(self.concepts, self.concepts.version_space(), None)


@dataclass(frozen=True, slots=True)
class _Position:
    concepts: ConceptClass
    space: VersionSpace
    last: Example | None

    def move(self, seen: Hypothesis | None, /) -> Move:
        return _move(self, standing(self.space, seen))

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
