"""Attack the hypotheses published so far, in turn."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from littlestone import require
from littlestone.adversaries.steady_attack import Move, SteadyAttack, fillers, standing
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, VersionSpace
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True)
class FrequentKiller:
    """An adaptive, realizable adversary against learners that publish from a list.

    It attacks the newest hypothesis when it appears, and then the last ``memory`` different ones
    in turn, so that a list of candidates is worn down as a whole before its next entry comes up.
    """

    concepts: ConceptClass
    _: KW_ONLY
    memory: int = 8

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.integer(memory=self.memory, at_least=1)

    def start(self, *, rng: Randomness) -> SteadyAttack:
        del rng  # deterministic
        space = self.concepts.version_space()
        return SteadyAttack(self.concepts.domain, _Position(self, space, (), 0))


@dataclass(frozen=True, slots=True)
class _Position:
    adversary: FrequentKiller
    space: VersionSpace
    known: tuple[Hypothesis, ...]
    """Newest first."""
    turn: int

    def move(self, seen: Hypothesis | None, /) -> Move:
        published = standing(self.space, seen)
        if published not in self.known:
            known = (published, *self.known)[: self.adversary.memory]
            return self._strike(self._mistakes((published,)), known, 1)
        mistakes = self._mistakes(self.known)
        if all(self.space.restrict(*mistake) == self.space for mistake in mistakes):
            return Move(mistakes, None) if mistakes else self._fillers()
        return self._strike(mistakes, self.known, self.turn + 1)

    def _strike(
        self, mistakes: tuple[Example, ...], known: tuple[Hypothesis, ...], turn: int
    ) -> Move:
        example = (mistakes or self._fillers().examples)[(turn - 1) % max(len(mistakes), 1)]
        after = _Position(self.adversary, self.space.restrict(*example), known, turn)
        return Move((example,), after)

    def _mistakes(self, hypotheses: tuple[Hypothesis, ...]) -> tuple[Example, ...]:
        """The hardest mistake of each, where there is one."""
        found = (self.space.hardest_mistake(hypothesis) for hypothesis in hypotheses)
        return tuple(mistake for mistake in found if mistake is not None)

    def _fillers(self) -> Move:
        return fillers(self.adversary.concepts, self.space)
