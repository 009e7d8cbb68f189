"""Attack the hypotheses published so far, in turn."""

from dataclasses import dataclass

from littlestone import require
from littlestone.adversaries.steady_attack import Forcing, Move, filling, standing
from littlestone.concepts.protocols import Example, Hypothesis, VersionSpace


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequentKiller(Forcing):
    """An adaptive, realizable adversary against learners that publish from a list.

    It attacks the newest hypothesis when it appears, and then the last ``memory`` different ones
    in turn, so that a list of candidates is worn down as a whole before its next entry comes up.
    """

    memory: int = 8

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(memory=self.memory, at_least=1)

    def first_position(self) -> "_Position":
        return _Position(self, self.concepts.version_space(), (), (), 0)


@dataclass(frozen=True, slots=True)
class _Position:
    adversary: FrequentKiller
    space: VersionSpace
    known: tuple[Hypothesis, ...]
    """Newest first."""
    played: tuple[Example, ...]
    """Newest first; to be repeated where that is a mistake, since this costs nothing."""
    turn: int

    def move(self, seen: Hypothesis | None, /) -> Move:
        published = standing(self.space, seen)
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

    def _meeting(self, newest: Hypothesis) -> "_Position":
        known = (newest, *self.known)[: self.adversary.memory]
        return _Position(self.adversary, self.space, known, self.played, 0)

    def _after(self, example: Example) -> "_Position":
        played = (example, *self.played)[: 2 * self.adversary.memory]
        space = self.space.restrict(*example)
        return _Position(self.adversary, space, self.known, played, self.turn + 1)

    def _mistakes(self) -> tuple[Example, ...]:
        """A mistake of each known hypothesis that still has one."""
        found = (self._mistake(hypothesis) for hypothesis in self.known)
        return tuple(mistake for mistake in found if mistake is not None)

    def _mistake(self, hypothesis: Hypothesis) -> Example | None:
        old = ((x, y) for x, y in self.played if hypothesis(x) != y)
        return next(old, None) or self.space.hardest_mistake(hypothesis)
