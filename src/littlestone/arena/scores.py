"""What a person's score is measured against: a proved bound, a floor, and the built-in players."""

from functools import lru_cache
from typing import Any, Final

from littlestone.arena.boards import BOARDS, DELTA, ROUNDS, Board
from littlestone.catalogue import ADVERSARIES
from littlestone.game.play import play
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import secure
from littlestone.theory.floors import points_floor, randomized_lower_bound

RIVALS: Final = ("mistake-forcing", "spread-mistakes", "frequent-killer", "boundary", "random")
GAMES: Final = 5
FAILURE: Final = 0.05


def bound(board: Board, recipe: Any, keys: int) -> float:
    """Mistakes that are exceeded with probability 5 % at most, where ``keys`` keys are 1.

    Their number matters only where no class limits it.
    """
    unlimited = board.look == "keys"
    if isinstance(recipe, PrivateKeys) and unlimited:
        return recipe.mistake_bound_for(keys, failure_probability=FAILURE)
    if isinstance(recipe, PrivateLearner):
        return _bound(recipe)
    return float(keys if unlimited else recipe.mistake_bound)


@lru_cache(maxsize=64)
def _bound(recipe: PrivateLearner) -> float:
    return recipe.mistake_bound(failure_probability=FAILURE)


def floor(board: Board, recipe: Any) -> float:
    """Mistakes, on average, that some stream forces on every learner that promises as much."""
    if not isinstance(recipe, PrivateLearner):
        return 0.0 if board.look == "keys" else float(board.concepts.littlestone_dimension)
    if board.look == "line":
        return randomized_lower_bound(littlestone_dimension=board.concepts.littlestone_dimension)
    # The proof plays distinct points, so a game on a grid may be as long as it has cells.
    rounds = ROUNDS if board.look == "keys" else min(ROUNDS, len(board.points))
    guarantee = recipe.guarantee()
    return points_floor(rounds=rounds, epsilon=guarantee.epsilon, delta=guarantee.delta)


@lru_cache(maxsize=64)
def rivals(name: str, learner: str, epsilon: float) -> dict[str, float]:
    """The mistakes that each built-in adversary forces, on average over a few games like yours."""
    board = BOARDS[name]
    recipe, found = board.learner(learner, epsilon), {}
    for foe in RIVALS:
        try:
            adversary = ADVERSARIES[foe].build(board.concepts)
            games = [
                play(recipe, adversary, rounds=ROUNDS, rng=rng, peek=True).mistakes
                for rng in secure().spawn(GAMES)
            ]
        except ValueError:  # nothing for this class
            continue
        found[foe] = sum(games) / GAMES
    return found


def marks(name: str, learner: str, epsilon: float) -> dict[str, Any]:
    """All that does not depend on what the person plays."""
    board = BOARDS[name]
    return {
        "floor": floor(board, board.learner(learner, epsilon)),
        "rivals": rivals(name, learner, epsilon),
        "delta": DELTA,
        "rounds": ROUNDS,
    }
