"""Lower bounds on epsilon from guesses of the hidden bit, by players who learn as they go."""

import math

from scipy.special import bdtrc

from littlestone import require
from littlestone.audit.epsilon_bound import binomial_lower_bound

_FIRST_LOOK, _NEXT_LOOK = 10, 1.25


def guessing_lower_bound(
    right: int, guesses: int, *, games: int, failure_probability: float, delta: float = 0.0
) -> float:
    """An epsilon that ``right`` of ``guesses`` guesses refute at this ``delta``; 0 for none.

    In each game a fair hidden bit chose the world, and the player guessed it or passed. The number
    of guesses was fixed beforehand; ``games``, and how each was played, may depend on all before.
    In one game, let p be the probability of a right guess and q that of a wrong one. The promise
    for both directions, added up, says p <= e^epsilon q + delta. So a part of the right guesses,
    of probability at most delta, can be called luck, such that a guess without luck is right with
    probability at most r = e^epsilon / (1 + e^epsilon), whatever happened before. Hence ``right``
    is at most a binomial number of ``guesses`` chances r, and the number of lucky games. Games
    may overlap, if their learners' coins are independent: all that one of them shows is a
    function of a randomised response to its bit [VZ23].

    Exceeds the true epsilon with probability at most ``failure_probability``.

    >>> round(guessing_lower_bound(731, 1000, games=2000, failure_probability=0.05), 3)
    0.881
    """
    require.integer(right=right, at_least=0)
    require.integer(guesses=guesses, at_least=max(right, 1))
    require.integer(games=games, at_least=guesses)
    require.open_probability(failure_probability=failure_probability)
    require.probability(delta=delta)
    half = failure_probability / 2 if delta else 0.0
    lucky = _most_lucky(games, delta, half) if delta else 0
    return _refuted(right - lucky, guesses, failure_probability - half)


def _refuted(skilled: int, guesses: int, failure_probability: float) -> float:
    ratio = binomial_lower_bound(max(0, skilled), guesses, failure_probability=failure_probability)
    return max(0.0, math.log(ratio / (1.0 - ratio))) if ratio > 0 else 0.0


def _most_lucky(games: int, delta: float, failure_probability: float) -> int:
    """So many games were lucky at most, at every number of games up to a power of two at once.

    A player decides how many games there are until the last guess.
    """
    power = games.bit_length()
    allowed = failure_probability / (power * (power + 1))
    lucky = 0
    while bdtrc(lucky, 1 << power, delta) > allowed:
        lucky += 1
    return lucky


class Guesses:
    """The guesses so far, and an epsilon that they refute, valid whenever one looks or stops.

    The bound is taken anew after 10 guesses and whenever there are a quarter more; the j-th time
    it may fail with a part 1 / (j (j + 1)) of ``failure_probability``. Where there is a delta,
    luck takes half of that probability, once for all times: lucky games do not become fewer.

    >>> guesses = Guesses(delta=0.0, failure_probability=0.01)
    >>> for _ in range(40):
    ...     guesses.add(True)
    >>> round(guesses.bound, 2), guesses.next_look
    (1.31, 44)
    """

    def __init__(self, *, delta: float, failure_probability: float) -> None:
        require.probability(delta=delta)
        require.open_probability(failure_probability=failure_probability)
        self._delta, self.failure_probability = delta, failure_probability
        self.games, self.right, self.wrong = 0, 0, 0
        self.bound = 0.0
        self.next_look, self._looks = _FIRST_LOOK, 0

    @property
    def guesses(self) -> int:
        return self.right + self.wrong

    def add(self, right: bool | None) -> None:
        """One game more: the guess was right, was wrong, or there was none."""
        self.games += 1
        if right is None:
            return
        if right:
            self.right += 1
        else:
            self.wrong += 1
        if self.guesses == self.next_look:
            self._look()

    def _look(self) -> None:
        self._looks += 1
        half = self.failure_probability / 2 if self._delta else 0.0
        lucky = _most_lucky(self.games, self._delta, half) if self._delta else 0
        allowed = (self.failure_probability - half) / self._looks / (self._looks + 1)
        self.bound = max(self.bound, _refuted(self.right - lucky, self.guesses, allowed))
        self.next_look = math.ceil(_NEXT_LOOK * self.next_look)
