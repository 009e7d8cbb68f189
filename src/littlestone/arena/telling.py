"""Game two, *tell two worlds apart*: the adaptive two-world game of the paper, by hand or program.

The hidden bit and the truth about a learner stay in here until the guess and the end. What leaves
before is what the learner shows, and counts of what the player sent.
"""

from dataclasses import dataclass
from typing import Any, Final

from littlestone import require
from littlestone.arena.boards import ones, plain
from littlestone.arena.suspects import SUSPECTS
from littlestone.audit.guessing import Guesses
from littlestone.audit.two_worlds import Shown, World
from littlestone.choose.catalogue import lookup
from littlestone.concepts.protocols import Example
from littlestone.randomness import Randomness

MOST_GAMES: Final = 64  # at once
MOST_ROUNDS: Final = 600  # of a game
FAILURE: Final = 0.01


@dataclass(slots=True)
class _Game:
    world: World
    bit: int
    shown: Shown
    rounds: int = 0
    challenged: bool = False


class Telling:
    """Many games against one learner, and what all guesses together prove about it."""

    def __init__(self, suspect: str, wanted: str, *, rng: Randomness) -> None:
        self._suspect = lookup(SUSPECTS, suspect, kind="learner")
        # A shared stream would let what is shown tell something about the bits.
        choice, self._bits, self._noise = rng.spawn(3)
        self._subject, self._truth = self._suspect.chosen(wanted, choice)
        self._games: dict[int, _Game] = {}
        self._opened = 0
        self._over = False
        self._counts = 0
        self.count_anew()

    def count_anew(self) -> None:
        """Forget all guesses, of a way to play that did not work, but not that there were some.

        The i-th count may fail with a part 1 / (i (i + 1)) of what is allowed.
        """
        self._counts += 1
        allowed = FAILURE / self._counts / (self._counts + 1)
        self.guesses = Guesses(delta=self._suspect.claimed.delta, failure_probability=allowed)

    def about(self) -> dict[str, Any]:
        """What everybody knows, whoever plays."""
        claimed = self._suspect.claimed
        return {
            "title": self._suspect.title,
            "epsilon": claimed.epsilon,
            "delta": claimed.delta,
            "facts": self._suspect.facts,
            "points": self._suspect.points,
            "rounds": MOST_ROUNDS,
            "failure": FAILURE,
        }

    def open(self) -> tuple[int, Shown]:
        """Begin a game: its number, and what is shown before the first round."""
        if self._over:
            raise ValueError("the truth is out: begin anew")
        if len(self._games) >= MOST_GAMES:
            raise ValueError(f"at most {MOST_GAMES} games at once: guess or pass in one of them")
        bit = self._bits.coin()
        world = World(self._subject, bit, self._noise)
        self._opened += 1
        self._games[self._opened] = _Game(world, bit, world.opening.shown)
        return self._opened, world.opening.shown

    def send(self, number: int, example: Any, times: int = 1) -> tuple[int, Shown]:
        """Send an example until what is shown changes, ``times`` times at most; how often it was.

        It is the same example in both worlds.
        """
        game, (x, y) = self._game(number), self._example(example)
        require.integer(times=times, at_least=1)
        self._refuse_beyond(game)
        before, sent = game.shown, 0
        while game.shown == before and sent < times and game.rounds < MOST_ROUNDS:
            game.shown = game.world.send((x, y))
            game.rounds += 1
            sent += 1
        return sent, game.shown

    def challenge(self, number: int, zero: Any, one: Any) -> Shown:
        """The special round: the hidden bit decides which of the two examples arrives."""
        # Both are looked at before either is used: a refusal must not depend on the bit.
        game, first, second = self._game(number), self._example(zero), self._example(one)
        self._refuse_beyond(game)
        if game.challenged:
            raise ValueError("a game has one special round")
        game.challenged = True
        game.shown = game.world.challenge(first, second)
        game.rounds += 1
        return game.shown

    def guess(self, number: int, bit: int | None) -> int:
        """Say which world it was, or None; the game is over, and its bit is told."""
        game = self._game(number)
        if bit is not None:
            bit = require.label(bit)
            if not game.challenged:
                raise ValueError("before the special round the two worlds are the same")
        del self._games[number]
        self.guesses.add(None if bit is None else bit == game.bit)
        return game.bit

    def reveal(self) -> str:
        """End everything and say who it was."""
        self._over = True
        self._games.clear()
        return self._truth

    def score(self) -> dict[str, Any]:
        """What the guesses so far prove."""
        guesses = self.guesses
        return {
            "games": guesses.games,
            "right": guesses.right,
            "wrong": guesses.wrong,
            "bound": guesses.bound,
            "next": guesses.next_look,
            "refuted": guesses.bound > self._suspect.claimed.epsilon,
        }

    def _game(self, number: int) -> _Game:
        if number not in self._games:
            raise ValueError("there is no such game, or it is over")
        return self._games[number]

    def _refuse_beyond(self, game: _Game) -> None:
        if game.rounds >= MOST_ROUNDS:
            raise ValueError(f"a game has at most {MOST_ROUNDS} rounds")

    def _example(self, given: Any) -> Example:
        try:
            x, y = given
        except (TypeError, ValueError):
            raise ValueError(f"an example is a point and a label, got {given!r:.60}") from None
        return self._suspect.recipe.concepts.domain.check(plain(x)), require.label(y)


def form(shown: Shown) -> dict[str, Any]:
    """What a learner shows, for a page."""
    return {"ones": ones(shown.hypothesis, ()), "status": shown.status}
