"""Boards show the points of a class and the reference values of a score."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from littlestone.choose.catalogue import ADVERSARIES, LEARNERS, class_from_spec, lookup
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point
from littlestone.game.play import play
from littlestone.lab.class_floors import mistakes_floor
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import Randomness

ROUNDS: Final = 500
DELTA: Final = 1e-3
EPSILONS: Final = (0.5, 1.0, 2.0, 4.0)
LONGEST_KEY: Final = 40  # letters
LARGEST_NUMBER: Final = 1 << 53  # JavaScript numbers are exact up to here

SENDERS: Final = tuple(
    f"{name}.example"
    for name in ("ads", "bank", "casino", "deals", "friend", "garden", "mum", "news", "pills")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A class, the layout of its points on the page, and the available learners."""

    title: str
    meaning: str
    """A property of all concepts, shown to a player who contradicts it."""
    spec: str
    points: tuple[Point, ...]
    look: str
    """``line``, ``grid`` or ``keys``; other keys may be typed in on the last."""
    learners: tuple[str, ...]

    @property
    def concepts(self) -> ConceptClass:
        """The class whose points are shown."""
        return class_from_spec(self.spec)

    def learner(self, name: str, epsilon: float) -> Any:
        """Return the recipe at the arena's horizon and delta."""
        if name not in self.learners:
            there = ", ".join(self.learners)
            raise ValueError(f"learner must be one of {there} on this board, got {name!r}")
        if epsilon not in EPSILONS:
            raise ValueError(f"epsilon must be one of {EPSILONS}, got epsilon={epsilon!r}")
        build = LEARNERS[name].build
        return build(self.concepts, rounds=ROUNDS, epsilon=epsilon, delta=DELTA)

    def point(self, given: Any) -> Point:
        """Return the clicked or typed point in canonical form."""
        return self.concepts.domain.check(plain(given))


BOARDS: Final = {
    "grid": Board(
        title="Grid: one cell",
        meaning="at most one cell is 1",
        spec="points:36",
        points=tuple(range(36)),
        look="grid",
        learners=("lazy-forest", "private-majority", "private-keys", "standard-optimal"),
    ),
    "line": Board(
        title="Number line: thresholds",
        meaning="from some point on everything is 1, before it everything is 0",
        spec="thresholds:24",
        points=tuple(range(24)),
        look="line",
        learners=("private-majority", "standard-optimal"),
    ),
    "short": Board(
        title="Short line: thresholds",
        meaning="from some point on everything is 1, before it everything is 0",
        spec="thresholds:6",
        points=tuple(range(6)),
        look="line",
        learners=("lazy-forest", "private-majority", "standard-optimal"),
    ),
    "keys": Board(
        title="Blocklist: five senders",
        meaning="at most five senders are 1",
        spec="sparse-sets:5",
        points=SENDERS,
        look="keys",
        learners=("private-keys", "standard-optimal"),
    ),
}
NAMES: Final = {
    "lazy-forest": "the paper’s forest",
    "private-majority": "PrivateMajority",
    "private-keys": "PrivateKeys",
    "standard-optimal": "SOA, not private",
}


def plain(given: Any) -> int | str:
    """Return a point as pages send it: a number or a short text."""
    if isinstance(given, str) and 0 < len(given) <= LONGEST_KEY:
        return given
    if isinstance(given, int) and not isinstance(given, bool) and abs(given) <= LARGEST_NUMBER:
        return given
    raise ValueError(
        f"x must be a text of 1 to {LONGEST_KEY} letters, or a whole number, got x={given!r:.60}"
    )


def ones(rule: Hypothesis, points: Sequence[Point]) -> list[Point]:
    """Return where a rule is 1: all keys of a finite support, else those of these points."""
    if isinstance(rule, FiniteSupport):
        return rule.sorted_positives()
    return [x for x, label in zip(points, rule.many(points).tolist(), strict=True) if label]


RIVALS: Final = (
    *("mistake-forcing", "spread-mistakes", "frequent-killer", "boundary", "random"),
    *("burst-and-wait", "wait-down-tree"),
)
GAMES: Final = 5
FAILURE: Final = 0.05


@lru_cache(maxsize=64)
def bound(recipe: Any) -> float:
    """Return the mistakes exceeded with probability at most 5 %; never, if it is not private."""
    if isinstance(recipe, PrivateLearner):
        return recipe.mistake_bound(failure_probability=FAILURE)
    return float(recipe.mistake_bound)


def floor(board: Board, recipe: Any) -> float:
    """Return the mean mistakes that some player forces on every learner with this guarantee.

    The player sees the published rule before choosing, as here.
    """
    if not isinstance(recipe, PrivateLearner):
        return float(board.concepts.littlestone_dimension)
    promised = recipe.guarantee()
    found = mistakes_floor(
        board.concepts, rounds=ROUNDS, epsilon=promised.epsilon, delta=promised.delta
    )
    return 0.0 if found is None else found.mistakes


def rivals(board: Board, recipe: Any, rng: Randomness) -> dict[str, float]:
    """Return the mean mistakes that each built-in adversary forces in a few such games."""
    found = {}
    for foe in RIVALS:
        try:
            adversary = ADVERSARIES[foe].build(board.concepts)
            games = [
                play(recipe, adversary, rounds=ROUNDS, rng=one, peek=True).mistakes
                for one in rng.spawn(GAMES)
            ]
        except ValueError:  # does not apply to this class
            continue
        found[foe] = sum(games) / GAMES
    return found


def marks(name: str, learner: str, epsilon: float, *, rng: Randomness) -> dict[str, Any]:
    """Return everything that does not depend on the player."""
    board = lookup(BOARDS, name, kind="board")
    recipe = board.learner(learner, epsilon)
    return {"floor": floor(board, recipe), "rivals": rivals(board, recipe, rng)}
