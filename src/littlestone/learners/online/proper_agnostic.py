"""A proper agnostic learner for Littlestone classes, with regret of order sqrt(d T ln T)."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from littlestone import require
from littlestone.concepts.classes.finite import tabulated
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label
from littlestone.learners.online.critical_game import CriticalGame
from littlestone.learners.online.proper import ProperRun, draw_position
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class ProperAgnostic:
    """Run Hedge over experts that follow a concept with at most d changes of their subclass.

    An expert keeps a subclass G with a distribution over its members that errs little wherever one
    label alone keeps the dimension of G (``CriticalGame``). It may jump, in any round, to the
    concepts that give the point a label by which the dimension falls; so it jumps at most d times.
    Experts with equal subclasses are one. proper_agnostic.md has the proofs.

    Regret:  at most sqrt(T L / 2) + sqrt(d T) + d in expectation, against adaptive adversaries who
             do not know the draw of the current round; L is of order d ln T
             (``expected_regret_bound``).
    Privacy: none.
    Source:  a reconstruction, in the role of [HLM21]; Hedge is better where ln|H| < d ln T.

    >>> from littlestone.concepts.classes.sparse_sets import Points
    >>> learner = ProperAgnostic(concepts=Points(64), rounds=4000)
    >>> round(learner.expected_regret_bound())
    206
    """

    concepts: ConceptClass
    rounds: int
    _game: CriticalGame = field(init=False, repr=False, compare=False)
    _natives: list[Hypothesis] = field(init=False, repr=False, compare=False)
    _numbers: dict[Any, int] = field(init=False, repr=False, compare=False)

    oblivious_only: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(rounds=self.rounds, at_least=1)
        finite, natives, numbers = tabulated(self.concepts)
        dimension = max(1, finite.littlestone_dimension)
        game = CriticalGame(finite, math.sqrt(dimension / self.rounds))
        require.settle(self, _game=game, _natives=natives, _numbers=numbers)

    @property
    def rate(self) -> float:
        """The rate of Hedge over the experts, sqrt(8 L / T)."""
        return math.sqrt(8 * self._prior_cost() / self.rounds)

    @property
    def jump(self) -> float:
        """The prior probability of each of the two jumps of a round, d / (2 T)."""
        dimension = self._game.concepts.littlestone_dimension
        return min(dimension / (2 * self.rounds), 0.25)

    def expected_regret_bound(self) -> float:
        """Bound the expected regret."""
        dimension, rounds = self._game.concepts.littlestone_dimension, self.rounds
        if dimension == 0:
            return 0.0
        hedged = math.sqrt(rounds * self._prior_cost() / 2)
        return min(float(rounds), upwards(hedged + self._game.tolerance * rounds + dimension))

    def for_rounds(self, rounds: int, /) -> "ProperAgnostic":
        """Return the same learner for another horizon."""
        return ProperAgnostic(concepts=self.concepts, rounds=rounds)

    def begin(self) -> "ProperAgnosticState":
        """Return the state before any example."""
        everything = self._game.concepts.version_space().members
        return ProperAgnosticState(self, dict(self._game.leaves_of(everything)))

    def start(self, *, rng: Randomness) -> ProperRun:
        """Start a run that publishes a fresh draw each round."""
        return ProperRun(self, rng)

    def _prior_cost(self) -> float:
        """Return L, minus the log prior of the expert that follows the best concept."""
        dimension, rounds = self._game.concepts.littlestone_dimension, self.rounds
        cover = math.floor(math.log(self._game.concepts.size) / self._game.tolerance) + 1
        drop = max(math.log(cover), -math.log(self.jump)) if dimension else 0.0
        return max(dimension * drop - rounds * math.log1p(-2 * self.jump), math.log(2))


@dataclass(frozen=True, slots=True, eq=False)
class ProperAgnosticState:
    """The experts' subclasses, all of them leaves, with their weights."""

    learner: ProperAgnostic
    weights: dict[int, float]

    def draw(self, *, rng: Randomness) -> Hypothesis:
        """Draw a subclass by weight, then a concept of it."""
        parts = list(self.weights)
        part = parts[draw_position(np.array(list(self.weights.values())), rng)]
        leaf = self.learner._game.leaf(part)
        return self.learner._natives[int(leaf.concepts[draw_position(leaf.weights, rng)])]

    def error_probability(self, x: Any, y: Label, /) -> float:
        """Return how likely a drawn concept is to label ``x`` differently from ``y``."""
        place, label = self._place(x), require.label(y)
        total = sum(self.weights.values())
        wrong = sum(w * self._error(part, place, label) for part, w in self.weights.items())
        return wrong / total

    def after(self, x: Any, y: Label, /) -> "ProperAgnosticState":
        """Charge each expert its error; then let a part of each jump."""
        place, label = self._place(x), require.label(y)
        rate, moved = self.learner.rate, dict[int, float]()
        for part, weight in self.weights.items():
            left = weight * math.exp(-rate * self._error(part, place, label))
            stays = 1.0
            for child in self._jumps(part, place):
                stays -= self.learner.jump
                for leaf, share in self.learner._game.leaves_of(child):
                    moved[leaf] = moved.get(leaf, 0.0) + left * self.learner.jump * share
            moved[part] = moved.get(part, 0.0) + left * stays
        total = sum(moved.values())
        return ProperAgnosticState(self.learner, {part: w / total for part, w in moved.items()})

    def _jumps(self, part: int, place: int) -> list[int]:
        """Return the non-empty subclasses of smaller dimension to jump to."""
        game = self.learner._game
        children = [game.restrict(part, place, label) for label in (0, 1)]
        whole = game.dimension(part)
        return [c for c in children if c and c != part and game.dimension(c) < whole]

    def _error(self, part: int, place: int, label: Label) -> float:
        one = float(self.learner._game.leaf(part).ones[place])
        return 1.0 - one if label else one

    def _place(self, x: Any) -> int:
        return self.learner._numbers[self.learner.concepts.domain.check(x)]
