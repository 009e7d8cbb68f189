"""Answer questions by two noisy majorities of copies; stop when they disagreed too often."""

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from littlestone import require
from littlestone.concepts.protocols import Hypothesis, Label, Point
from littlestone.errors import HorizonExceededError, LittlestoneError
from littlestone.mechanisms.noise.logistic import LogisticCoin
from littlestone.noise_owner import NoiseOwner
from littlestone.online.protocols import OnlineState
from littlestone.randomness import Randomness

if TYPE_CHECKING:
    from littlestone.learners.private_prediction.recipe import PrivatePrediction

_MOST_REMEMBERED: Final = 1 << 14


class PredictionRun(NoiseOwner):
    """One run: ``predict`` the label of a point for whoever asks, then ``observe`` the true one.

    What ``predict`` returns is for the asker of this round alone. ``halted`` and ``rounds_played``
    may be seen by everybody. It cannot be copied, pickled or saved.
    """

    def __init__(self, recipe: "PrivatePrediction", rng: Randomness) -> None:
        plan, start = recipe.planned, recipe.learner.start()
        self._recipe, self._rng = recipe, rng
        self._check = recipe.concepts.domain.check
        self._first: Hypothesis = start.hypothesis
        self._copies: list[OnlineState] = [start] * plan.copies  # (L1)
        self._groups: dict[OnlineState, int] = {start: plan.copies}
        self._votes: dict[Point, int] = {}
        """How many copies say 1, at points asked since a copy has changed."""
        self._cap = plan.watch.start(rng=rng)  # (L1)
        self._asked: tuple[Point, Label, Label] | None = None
        self._played = 0

    @property
    def recipe(self) -> "PrivatePrediction":
        return self._recipe

    @property
    def rounds_played(self) -> int:
        """How many questions were answered."""
        return self._played

    @property
    def halted(self) -> bool:
        """Whether nothing more will be learned: all later answers are those of round 1."""
        return self._cap.halted

    @property
    def private(self) -> bool:
        """False for a seeded run: its noise can be computed by anyone who knows the seed."""
        return self._rng.private

    def predict(self, x: Any) -> Label:
        """The answer to the question of this round, for its asker alone."""
        point = self._check(x)
        self._begin()
        if self._asked is not None:
            self._break_off(LittlestoneError("observe the label of this round before the next one"))
        if self._played == self._recipe.rounds:
            self._break_off(HorizonExceededError(rounds=self._recipe.rounds))
        self._played += 1
        if self.halted:
            answer = second = int(self._first(point))  # (L6)
        else:
            answer, second = self._two_answers(point)
            self._watch(answer != second)
        self._asked = point, answer, second
        self._end()
        return answer

    def observe(self, y: Any) -> None:
        """The true label of the point that was asked; bad input is refused and changes nothing."""
        label = require.label(y)
        self._begin()
        if self._asked is None:
            self._break_off(LittlestoneError("there is no question; predict comes before observe"))
        x, answer, second = self._asked
        if not self.halted and (answer != label or second != label):
            self._teach(x, label)
        self._asked = None
        self._end()

    def _two_answers(self, x: Point) -> tuple[Label, Label]:
        coin = _coin(self._recipe.planned.rate, 2 * self._ones(x) - len(self._copies))
        return int(coin.draw(self._rng)), int(coin.draw(self._rng))  # (L2)

    def _watch(self, disagreed: bool) -> None:
        if self._cap.observe(int(disagreed)):  # (L3)
            self._copies, self._votes = [], {}  # nothing secret outlives the run
            self._groups = {}

    def _teach(self, x: Point, y: Label) -> None:
        """Give the example to one copy, which takes it if it errs."""
        place = int(self._rng.below(len(self._copies)))  # (L4)
        old = self._copies[place]
        if old.hypothesis(x) == y:
            return
        new = old.after(x, y)  # (L5)
        if new.failed:  # no concept fits: the copy stays as it is
            return
        self._copies[place] = new
        self._groups[old] -= 1
        if not self._groups[old]:
            del self._groups[old]
        self._groups[new] = self._groups.get(new, 0) + 1
        self._votes.clear()

    def _ones(self, x: Point) -> int:
        known = self._votes.get(x)
        if known is None:
            known = sum(count for state, count in self._groups.items() if state.hypothesis(x))
            if len(self._votes) >= _MOST_REMEMBERED:
                self._votes.clear()
            self._votes[x] = known
        return known


@lru_cache(maxsize=_MOST_REMEMBERED)
def _coin(rate: float, lead: int) -> LogisticCoin:
    """A copy that changes its mind moves ``lead`` by 2 and the log-odds by ``rate``."""
    return LogisticCoin(log_odds=Fraction(rate) * lead / 2)
