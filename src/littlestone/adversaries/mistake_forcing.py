"""Force a mistake in every round in which some consistent concept allows one."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

from littlestone.adversaries.steady_attack import Move, SteadyAttack, filling, standing
from littlestone.concepts.protocols import ConceptClass, Hypothesis, VersionSpace
from littlestone.randomness import Randomness

_MOVES_REMEMBERED: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class MistakeForcing:
    """An adaptive, realizable adversary: the greedy one.

    It plays an example on which the newest known hypothesis errs and which keeps the version space
    largest: first its dimension, then its size. A contradiction that costs nothing is repeated for
    as long as the hypothesis stays. Against the standard optimal algorithm it forces exactly
    Littlestone-dimension many mistakes.
    """

    concepts: ConceptClass

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = True

    def start(self, *, rng: Randomness) -> SteadyAttack:
        del rng  # deterministic
        return SteadyAttack(
            self.concepts.domain, _Position(self.concepts, self.concepts.version_space())
        )


@dataclass(frozen=True, slots=True)
class _Position:
    concepts: ConceptClass
    space: VersionSpace

    def move(self, seen: Hypothesis | None, /) -> Move:
        return _move(self, standing(self.space, seen))

    def narrowed(self, space: VersionSpace) -> "_Position":
        return _Position(self.concepts, space)


@lru_cache(maxsize=_MOVES_REMEMBERED)
def _move(position: _Position, published: Hypothesis) -> Move:
    mistake = position.space.hardest_mistake(published)
    if mistake is None:
        return filling(position.concepts, position.space, position.narrowed)
    left = position.space.restrict(*mistake)
    return Move((mistake,), None if left == position.space else position.narrowed(left))
