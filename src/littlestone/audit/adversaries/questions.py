"""Adversaries of the two-world game, each built against one mechanism or one mistake."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from littlestone.audit.two_worlds import Deterministic, World


@dataclass(frozen=True, slots=True, kw_only=True)
class OneQuestion(Deterministic):
    """Challenge at once with two inputs, and notice some feature of the one answer."""

    zero: Any
    one: Any
    notice: Callable[[Any], Hashable] = lambda answer: answer

    def noticed(self, world: World) -> Hashable:
        return self.notice(world.challenge(self.zero, self.one))


def above_or_below(answers: tuple[Any, ...]) -> Hashable:
    """The pattern of a sparse vector's answers: how many noes, and how it ended."""
    return len(answers), answers[-1]


def yes_counts(answers: tuple[bool, ...]) -> Hashable:
    """How many yeses in the first and in the second half of a list of answers."""
    half = len(answers) // 2
    return sum(answers[:half]), sum(answers[half:])


def finer_than_the_grid(answer: float) -> Hashable:
    """Whether a small answer has bits that 1 + noise could not have kept."""
    return abs(answer) < 0.25 and not float(answer * 2.0**53).is_integer()


class FirstRound(Deterministic):
    """Against AboveThreshold: a one or a zero in the first round, with the threshold at one.

    The first answer is yes with probability P(noise >= noise') or exp(-epsilon) times that, so
    a single round shows the whole epsilon.
    """

    def noticed(self, world: World) -> Hashable:
        answer: Hashable = world.challenge(1, 0)
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ThenWait(Deterministic):
    """A one or a zero first, then ``rounds`` zeros, a last bit; notice how long it took."""

    before: tuple[Any, ...] = ()
    rounds: int = 8
    last: Any = 0

    def noticed(self, world: World) -> Hashable:
        for bit in self.before:
            if world.send(bit):
                return "too early"
        if world.challenge(1, 0):
            return 0
        for waited in range(1, self.rounds + 1):
            if world.send(0):
                return waited
        return "last" if world.send(self.last) else "never"


class FractionalBits(Deterministic):
    """Make two sums differ by a whole step on some rounds and by none on others."""

    def noticed(self, world: World) -> Hashable:
        half = Fraction(1, 2)
        if world.challenge(half, Fraction(0)) or world.send(half):
            return "early"
        for _ in range(12):
            if world.send(Fraction(0)):
                return "early"
        answer: Hashable = world.send(half)
        return answer


class LearnTheThreshold(Deterministic):
    """Wait after the challenge, then measure the reused threshold noise with later instances."""

    def noticed(self, world: World) -> Hashable:
        quiet = not world.challenge(1, 0)
        for _ in range(12):
            quiet = quiet and not world.send(0)
        while not world.send(1):  # bring the current instance to its end
            pass
        ones = 0
        for _ in range(60):
            ones += 1
            while not world.send(1):
                ones += 1
        return quiet, ones // 7  # coarsely


class SeveralYeses(Deterministic):
    """Ask for a yes in three rounds in a row."""

    def noticed(self, world: World) -> Hashable:
        return world.challenge(1, 0), world.send(0), world.send(0)


class CompareTwoAnswers(Deterministic):
    """Subtract two answers that should have had independent noise."""

    def noticed(self, world: World) -> Hashable:
        difference: int = world.challenge(0, 1) - world.send(0)
        return difference
