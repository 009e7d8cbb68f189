"""Game one, *fool it*: a person chooses each example and tries to force mistakes."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Final, NamedTuple

from littlestone import require
from littlestone.choose.catalogue import lookup
from littlestone.concepts.protocols import Example, Hypothesis, Label, Point
from littlestone.game.adversaries.attacks import SteadyAttack
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.referee import contradicted
from littlestone.game.state_run import as_player
from littlestone.lab.arena.boards import BOARDS, NAMES, ROUNDS, bound, ones
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import Randomness

RECORD: Final = "littlestone-arena/1"


class Turn(NamedTuple):
    """One round as it was played, and whether the rule changed after it."""

    x: Point
    y: Label
    wrong: bool
    changed: bool


class Fooling:
    """One game of a person against a learner; the person sees h_t, then chooses x_t and y_t.

    The paper's privacy model has this order, its accuracy model does not; the bounds of these
    learners hold in both (docs/ERRATA.md, R27).
    """

    def __init__(self, board: str, learner: str, epsilon: float, *, rng: Randomness) -> None:
        self._board = lookup(BOARDS, board, kind="board")
        self._chosen = board, learner, epsilon
        self._recipe: Any = self._board.learner(learner, epsilon)
        self._run = as_player(self._recipe).start(rng=rng)
        self._concepts = self._board.concepts
        self._space = self._concepts.version_space()
        self._played: dict[Example, None] = {}
        self.turns: list[Turn] = []
        self._rules: list[tuple[int, Hypothesis]] = [(0, self._run.hypothesis)]
        """Each rule, after the round that brought it."""

    @property
    def mistakes(self) -> int:
        """The mistakes so far."""
        return sum(turn.wrong for turn in self.turns)

    def play(self, given: Any, y: Label, *, times: int = 1, until_change: bool = False) -> str:
        """Play an example, once or repeatedly; if no concept fits it, only explain why."""
        x, y = self._board.point(given), require.label(y)
        refused = self._refusal(x, y)
        if not refused:
            self._repeat(lambda _: (x, y), times, until_change)
        return refused

    def play_again(self, examples: Sequence[tuple[Any, Label]]) -> str:
        """Play these examples, whatever the rule; stop at the first rejected one."""
        refusals = (self.play(x, y) for x, y in examples)
        return next(filter(None, refusals), "")

    def let_mistake_forcing_play(self, *, times: int = 1, until_change: bool = False) -> None:
        """Let the built-in adversary play some rounds from the current position."""
        start = MistakeForcing(self._concepts).first_position()
        position = reduce(lambda at, example: at.after(example), self._played, start)
        attack = SteadyAttack(self._concepts.domain, position)
        self._repeat(attack.choose, times, until_change)

    def _refusal(self, x: Point, y: Label) -> str:
        if not self._space.restrict(x, y).is_empty:
            return ""
        because = contradicted(self._concepts, list(self._played), (x, y))
        given = " and ".join(f"{one} the label {label}" for one, label in because)
        return (
            f"No concept fits {x} with the label {y}: you gave {given}, and on this board "
            f"{self._board.meaning}."
        )

    def _repeat(
        self, choose: Callable[[Hypothesis], Example], times: int, until_change: bool
    ) -> None:
        require.integer(times=times, at_least=1)
        for _ in range(min(times, ROUNDS - len(self.turns))):
            if self._observe(*choose(self._run.hypothesis)) and until_change:
                return

    def _observe(self, x: Point, y: Label) -> bool:
        before = self._run.hypothesis
        self._run.observe(x, y)
        after = self._run.hypothesis
        self._space = self._space.restrict(x, y)
        # The last example goes last, since the built-in adversary tends to repeat it.
        self._played.pop((x, y), None)
        self._played[x, y] = None
        changed = after != before
        self.turns.append(Turn(x, y, before(x) != y, changed))
        if changed:
            self._rules.append((len(self.turns), after))
        return changed

    def about(self) -> dict[str, Any]:
        """Return the settings of the game."""
        board, learner, epsilon = self._chosen
        private = isinstance(self._recipe, PrivateLearner)
        return {
            "board": board,
            "learner": learner,
            "epsilon": epsilon,
            "look": self._board.look,
            "title": f"{NAMES[learner]} on {self._board.spec}",
            "meaning": self._board.meaning,
            "promise": self._recipe.promise if private else "not private",
            "rounds": ROUNDS,
        }

    def state(self, since: int = 0) -> dict[str, Any]:
        """Return the state of the game and the turns from number ``since`` on."""
        rule, points = self._run.hypothesis, self._points()
        return {
            "round": len(self.turns),
            "mistakes": self.mistakes,
            "over": len(self.turns) >= ROUNDS,
            "points": points,
            "ones": ones(rule, self._board.points),
            "words": rule.describe(),
            "open": [self._open(x) for x in points],
            "turns": self.turns[since:],
            "bound": bound(self._recipe),
        }

    def record(self) -> dict[str, Any]:
        """Return the game as a value: every example, and every rule with its first round."""
        rules = [(number, ones(rule, self._board.points)) for number, rule in self._rules]
        return {
            "kind": RECORD,
            **self.about(),
            "mistakes": self.mistakes,
            "points": self._points(),
            "turns": self.turns,
            "rules": rules,
        }

    def _points(self) -> list[Point]:
        """Return the board's points and the keys that the players have added."""
        return list(dict.fromkeys([*self._board.points, *(x for x, _ in self._played)]))

    def _open(self, x: Point) -> str:
        """Return the labels of the point that some concept still fits."""
        return "".join(str(y) for y in (0, 1) if not self._space.restrict(x, y).is_empty)
