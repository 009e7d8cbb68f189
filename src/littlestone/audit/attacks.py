"""Adversaries of the two-world game against mechanisms, experts and private prediction."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from littlestone.audit.two_worlds import Deterministic, World


@dataclass(frozen=True, slots=True, kw_only=True)
class OneQuestion(Deterministic):
    """Challenge at once with two inputs and notice a feature of the only answer."""

    zero: Any
    one: Any
    notice: Callable[[Any], Hashable] = lambda answer: answer

    def noticed(self, world: World) -> Hashable:
        return self.notice(world.challenge(self.zero, self.one))


def above_or_below(answers: tuple[Any, ...]) -> Hashable:
    """Return the pattern of sparse-vector answers: how many noes, and how it ended."""
    return len(answers), answers[-1]


def yes_counts(answers: tuple[bool, ...]) -> Hashable:
    """Return how many yeses in the first and in the second half of a list of answers."""
    half = len(answers) // 2
    return sum(answers[:half]), sum(answers[half:])


def finer_than_the_grid(answer: float) -> Hashable:
    """Return whether a small answer has bits that 1 + noise would have rounded away."""
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
    """Send a one or a zero, then ``rounds`` zeros and a last bit; notice how long it took."""

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
        while not world.send(1):  # end the current instance
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


# One favoured expert against this many: the ratio of one draw shows most of its epsilon.
OTHERS = 12
EXPERTS = OTHERS + 1
Losses = NDArray[np.uint8]


def only(expert: int) -> Losses:
    """Return a loss for this expert alone."""
    losses = np.zeros(EXPERTS, dtype=np.uint8)
    losses[expert] = 1
    return losses


def all_but(expert: int) -> Losses:
    """Return a loss for all other experts."""
    return 1 - only(expert)


class ChargeTheFirst(Deterministic):
    """Charge the first expert, or all others; notice whether it is played next."""

    def noticed(self, world: World) -> Hashable:
        first = world.opening
        return bool(world.challenge(only(first), all_but(first)) == first)


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfAgainstHalf(Deterministic):
    """Charge one half of the experts or the other; then count how often the first half plays."""

    rounds: int

    def noticed(self, world: World) -> Hashable:
        half = (np.arange(EXPERTS) < EXPERTS // 2).astype(np.uint8)
        all_charged = np.ones(EXPERTS, dtype=np.uint8)
        played = [world.challenge(half, 1 - half)]
        played += [world.send(all_charged) for _ in range(self.rounds)]
        return int(sum(expert < EXPERTS // 2 for expert in played))


class OneMoreLoss(Deterministic):
    """Charge both experts until a loss may end the phase; then charge the playing one or the other.

    Notices the answer and the expert that plays next. If the phase ends too early, the special
    round comes at once. Before and after it both experts err, so later draws are independent and
    each shows the special round once more.
    """

    def noticed(self, world: World) -> Hashable:
        recipe, played = world.opening
        both, phase = np.ones(2, dtype=np.uint8), 1
        for _ in range(recipe.monitor.threshold - 1):
            if phase == 1:
                played, phase = world.send(both)
        alone = np.arange(2, dtype=np.uint8) == played
        after = world.challenge(alone.astype(np.uint8), (~alone).astype(np.uint8))
        return phase, played, after


class MoveTheRate(Deterministic):
    """Separate two experts first; then charge all or none, and watch twenty draws."""

    def noticed(self, world: World) -> Hashable:
        for _ in range(30):
            world.send(all_but(0))
        none_charged = np.zeros(EXPERTS, dtype=np.uint8)
        played = [world.challenge(none_charged, 1 - none_charged)]
        played += [world.send(none_charged) for _ in range(19)]
        return int(sum(expert == 0 for expert in played))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgain(Deterministic):
    """Teach that a point is 1, or not; then query it until the run halts.

    A concept has at most one 1, so the label 0 that follows contradicts a copy that has learned the
    1, and that copy stays unchanged.
    """

    most: int
    width: int = 1
    """The width of the bins into which numbers of ones are grouped."""

    def noticed(self, world: World) -> Hashable:
        shown = world.challenge((0, 1), (0, 0))
        ones = rounds = 0
        while rounds < self.most and not shown.halted:
            shown = world.send((0, 0))
            ones, rounds = ones + shown.said, rounds + 1
        return round((2 * ones - rounds) / self.width)
