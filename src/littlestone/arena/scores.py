"""What a person's score is measured against: a proved bound, a floor, and the built-in players."""

from functools import lru_cache
from typing import Any, Final

from littlestone.arena.boards import BOARDS, ROUNDS, Board
from littlestone.choose.catalogue import ADVERSARIES, lookup
from littlestone.game.play import play
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import Randomness
from littlestone.theory.floors import points_floor, randomized_lower_bound

RIVALS: Final = ("mistake-forcing", "spread-mistakes", "frequent-killer", "boundary", "random")
GAMES: Final = 5
FAILURE: Final = 0.05


@lru_cache(maxsize=64)
def bound(recipe: Any) -> float:
    """Mistakes that are exceeded with probability 5 % at most, or never if it is not private."""
    if isinstance(recipe, PrivateLearner):
        return recipe.mistake_bound(failure_probability=FAILURE)
    return float(recipe.mistake_bound)


def floor(board: Board, recipe: Any) -> float:
    """Mistakes, on average, that some stream forces on every learner that promises as much."""
    if not isinstance(recipe, PrivateLearner):
        return float(board.concepts.littlestone_dimension)
    if board.look == "line":
        return randomized_lower_bound(littlestone_dimension=board.concepts.littlestone_dimension)
    # The proof plays distinct points, so a game on a grid may be as long as it has cells.
    rounds = ROUNDS if board.look == "keys" else min(ROUNDS, len(board.points))
    guarantee = recipe.guarantee()
    return points_floor(rounds=rounds, epsilon=guarantee.epsilon, delta=guarantee.delta)


def rivals(board: Board, recipe: Any, rng: Randomness) -> dict[str, float]:
    """The mistakes that each built-in adversary forces, on average over a few games like yours."""
    found = {}
    for foe in RIVALS:
        try:
            adversary = ADVERSARIES[foe].build(board.concepts)
            games = [
                play(recipe, adversary, rounds=ROUNDS, rng=one, peek=True).mistakes
                for one in rng.spawn(GAMES)
            ]
        except ValueError:  # nothing for this class
            continue
        found[foe] = sum(games) / GAMES
    return found


def marks(name: str, learner: str, epsilon: float, *, rng: Randomness) -> dict[str, Any]:
    """All that does not depend on what the person plays."""
    board = lookup(BOARDS, name, kind="board")
    recipe = board.learner(learner, epsilon)
    return {"floor": floor(board, recipe), "rivals": rivals(board, recipe, rng)}
