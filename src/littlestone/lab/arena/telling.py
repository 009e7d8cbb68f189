"""Game two, *tell two worlds apart*: the adaptive two-world game, played by a person.

Each learner has controls that look the same from outside. A control differs from its learner in one
line of its engine; class, budget and thresholds are the same, so nothing public before the first
round reveals which one the player faces.

The hidden bit stays in this module until the guess, and the learner's identity until the end. Until
then only the learner's publications and counts of the player's examples leave it.

Players may be programs: Python files that run on the player's own machine, in the process that was
started with them, and nowhere else. The service never runs a file that a client sent, since Python
has no reliable sandbox. On the page, programs are JavaScript and run in the browser.
"""

import runpy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from littlestone import require
from littlestone.audit.auditing import Guesses
from littlestone.audit.registry import CONTROLS
from littlestone.audit.subjects import small_learners
from littlestone.audit.two_worlds import Shown, Subject, World
from littlestone.choose.catalogue import lookup
from littlestone.concepts.protocols import Example
from littlestone.lab.arena.boards import ones, plain
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A correct learner and controls that claim to be it."""

    title: str
    recipe: Any
    known: Callable[[Any], dict[str, int]]
    """Numbers of the recipe that help an adversary."""
    controls: tuple[str, ...]
    points: tuple[int | str, int | str] = ("a", "b")
    """Two points to start with."""

    @property
    def claimed(self) -> PrivacyGuarantee:
        """The claimed guarantee."""
        guarantee: PrivacyGuarantee = self.recipe.guarantee()
        return guarantee

    def chosen(self, wanted: str, rng: Randomness) -> tuple[Subject, str]:
        """Return who plays and whether it is correct; ``coin`` chooses evenly."""
        if wanted not in WANTED:
            raise ValueError(f"wanted must be one of {', '.join(WANTED)}, got {wanted!r}")
        if wanted == "correct" or (wanted == "coin" and rng.coin()):
            words = "It was correct: no game can show more than the claim, except by luck"
            return Subject.from_learner(self.recipe), words
        control = CONTROLS[self.controls[rng.below(len(self.controls))]]
        return control.subject, f"It was broken ({control.name}). {control.bug}"


WANTED: Final = ("correct", "broken", "coin")

SUSPECTS: Final = {
    "keys": Suspect(
        title="PrivateKeys: a list of reported keys",
        recipe=small_learners.key_list(1.0, 1e-3),
        known=lambda keys: {"reports": keys.reports, "complaints": keys.complaints},
        controls=("keys-true-count", "keys-noise-when-reported", "keys-one-noise"),
    ),
    "forest": Suspect(
        title="The paper’s forest: one key, released early",
        recipe=small_learners.early_forest(2.0, 1e-3),
        known=lambda forest: {
            "release": forest.first_frequent().threshold,
            "switch": forest.switch(forest.depth, 0).threshold,
        },
        controls=(
            "forest-timed-by-true-count",
            "forest-noise-skipped-when-correct",
            "forest-threshold-noise-reused",
        ),
    ),
    "majority": Suspect(
        title="PrivateMajority: one of the keys 0 and 1, or none",
        recipe=small_learners.fresh_majority(1.0, keys=2, share=0.5),
        known=lambda majority: {"mistakes": majority.planned.threshold},
        controls=("majority-counts-kept",),
        points=(0, 1),
    ),
}


MOST_GAMES: Final = 64  # at once
MOST_ROUNDS: Final = 600  # per game
FAILURE: Final = 0.01


@dataclass(slots=True)
class _Game:
    world: World
    bit: int
    shown: Shown
    rounds: int = 0
    challenged: bool = False


class Telling:
    """Many games against one learner, and the epsilon that all guesses together refute."""

    def __init__(self, suspect: str, wanted: str, *, rng: Randomness) -> None:
        self._suspect = lookup(SUSPECTS, suspect, kind="learner")
        # A shared stream would correlate the publications with the hidden bits.
        choice, self._bits, self._noise = rng.spawn(3)
        self._subject, self._truth = self._suspect.chosen(wanted, choice)
        self._games: dict[int, _Game] = {}
        self._opened = 0
        self._over = False
        self._counts = 0
        self.restart_count()

    def restart_count(self) -> None:
        """Discard all guesses and start a new count.

        The i-th count may fail with a share 1 / (i (i + 1)) of the failure probability.
        """
        self._counts += 1
        allowed = FAILURE / self._counts / (self._counts + 1)
        self.guesses = Guesses(delta=self._suspect.claimed.delta, failure_probability=allowed)

    def about(self) -> dict[str, Any]:
        """Return the public facts, which do not depend on the player."""
        claimed = self._suspect.claimed
        return {
            "title": self._suspect.title,
            "epsilon": claimed.epsilon,
            "delta": claimed.delta,
            "facts": self._suspect.known(self._suspect.recipe),
            "points": self._suspect.points,
            "rounds": MOST_ROUNDS,
            "failure": FAILURE,
        }

    def open(self) -> tuple[int, Shown]:
        """Begin a game; return its number and what is public before the first round."""
        if self._over:
            raise ValueError("the learner was revealed: begin a new session")
        if len(self._games) >= MOST_GAMES:
            raise ValueError(f"at most {MOST_GAMES} games at once: guess or pass in one of them")
        bit = self._bits.coin()
        world = World(self._subject, bit, self._noise)
        self._opened += 1
        self._games[self._opened] = _Game(world, bit, world.opening.shown)
        return self._opened, world.opening.shown

    def send(self, number: int, example: Any, times: int = 1) -> tuple[int, Shown]:
        """Send an example until the publication changes, at most ``times`` times; return how often.

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
        """Play the special round: the hidden bit decides which of the two examples arrives."""
        # Both are validated before either is used: an error must not depend on the bit.
        game, first, second = self._game(number), self._example(zero), self._example(one)
        self._refuse_beyond(game)
        if game.challenged:
            raise ValueError("a game has one special round")
        game.challenged = True
        game.shown = game.world.challenge(first, second)
        game.rounds += 1
        return game.shown

    def guess(self, number: int, bit: int | None) -> int:
        """End a game with a guess of the world, or None; return its bit."""
        game = self._game(number)
        if bit is not None:
            bit = require.label(bit)
            if not game.challenged:
                raise ValueError(
                    "guess after the special round: before it the two worlds are the same"
                )
        del self._games[number]
        self.guesses.add(None if bit is None else bit == game.bit)
        return game.bit

    def reveal(self) -> str:
        """End all games and return who the learner was."""
        self._over = True
        self._games.clear()
        return self._truth

    def score(self) -> dict[str, Any]:
        """Return the epsilon that the guesses so far refute."""
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
            raise ValueError("there is no such game, or it is over; begin a new one")
        return self._games[number]

    def _refuse_beyond(self, game: _Game) -> None:
        if game.rounds >= MOST_ROUNDS:
            raise ValueError(f"a game has at most {MOST_ROUNDS} rounds; guess or pass")

    def _example(self, given: Any) -> Example:
        try:
            x, y = given
        except (TypeError, ValueError):
            raise ValueError(f"an example is a point and a label, got {given!r:.60}") from None
        return self._suspect.recipe.concepts.domain.check(plain(x)), require.label(y)


def form(shown: Shown) -> dict[str, Any]:
    """Return a publication in the form that pages use."""
    return {"ones": ones(shown.hypothesis, ()), "status": shown.status}


class PlayersWorld:
    """One game as a player sees it."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._number, self.shown = telling.open()
        """What the learner shows: a hypothesis and a status."""
        self.sent = 0
        """How many rounds the last ``send`` took."""
        self.facts: dict[str, int] = telling.about()["facts"]
        """Numbers of the recipe, which is public."""

    def send(self, x: Any, y: int, times: int = 1) -> Shown:
        """Send an example until something changes, ``times`` times at most."""
        self.sent, self.shown = self._telling.send(self._number, (x, y), times)
        return self.shown

    def challenge(self, zero: tuple[Any, int], one: tuple[Any, int]) -> Shown:
        """Play the special round: the hidden bit decides which of the two arrives."""
        self.shown = self._telling.challenge(self._number, zero, one)
        return self.shown

    def end(self, bit: int | None) -> None:
        """End the game with a guess; None gives up."""
        self._telling.guess(self._number, bit)


Player = Callable[[PlayersWorld], int | None]


def player_from(path: Path) -> Player:
    """Return the function ``play`` of a file: it takes a world and returns 0, 1 or None."""
    play = runpy.run_path(str(path)).get("play")
    if not callable(play):
        raise ValueError(f"player must define a function play(world), got {path}")
    return play  # type: ignore[no-any-return]


def matches(telling: Telling, player: Player, games: int) -> Iterator[dict[str, Any]]:
    """Play game after game until the claim is refuted; yield what each one proves."""
    require.integer(games=games, at_least=1)
    for _ in range(games):
        world = PlayersWorld(telling)
        world.end(player(world))
        score = telling.score()
        yield score
        if score["refuted"]:
            return
