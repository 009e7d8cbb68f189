"""The engine of the constructed experts: sanitized points, weights by groups, draws."""

from dataclasses import dataclass
from typing import Any, cast

from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.game.protocols import OnlineLearner
from littlestone.learners.engine import Engine
from littlestone.learners.experts.exponential_weights import BatchedStrategy
from littlestone.learners.experts.shrinking_dartboard import DartboardStrategy
from littlestone.learners.sanitized.draw import GroupDraw
from littlestone.learners.sanitized.families import IntervalPoints
from littlestone.learners.sanitized.paths import Paths, PredictorLosses
from littlestone.learners.sanitized.plan import ExpertsPlan
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.incremental_selection import IncrementalSelectionRun
from littlestone.privacy.mixed_budget import ledger_for
from littlestone.randomness import Randomness


@dataclass(init=False, eq=False, repr=False)
class SanitizedExpertsEngine(Engine):
    """Run [P, Algorithms 6 and 7] and an experts algorithm on the experts they construct."""

    _round: int
    _losses: PredictorLosses
    _paths: Paths
    _intervals: IntervalPoints
    ledger: Ledger
    _strategy: BatchedStrategy | DartboardStrategy

    def __init__(
        self,
        plan: ExpertsPlan,
        base: OnlineLearner,
        *,
        budget: PrivacyGuarantee,
        most_groups: int,
        rng: Randomness,
    ) -> None:
        construction = plan.construction
        self._plan, self._budget, self._rng = plan, budget, rng
        self._grid = construction.switch_grid
        self._losses = PredictorLosses(base.concepts.domain)
        self._paths = Paths(
            base,
            self._losses,
            switch_times=construction.switch_times,
            most_switches=construction.most_switches,
            most_groups=most_groups,
        )
        self._intervals = IntervalPoints(construction.intervals, rng)
        self._draw = GroupDraw(self._paths, self._losses, plan.table, refresh=plan.refresh, rng=rng)
        self._strategy = self._made()

    def begin(self) -> None:
        """Charge the experts algorithm for all rounds and draw the first expert."""
        self._round = 0
        intervals, prediction = self._plan.construction.intervals, self._plan.prediction
        self.ledger = ledger_for(
            intervals.costs(),
            delta=intervals.delta,
            private=self._rng.private,
            budget=self._budget,
        )
        # The experts algorithm is charged at once, for all rounds.
        self.ledger.charge(type(prediction).__name__, prediction.guarantee(), first=1)
        self._strategy.begin()

    @property
    def hypothesis(self) -> Hypothesis:
        """The predictor of the drawn expert."""
        return self._paths.hypothesis(self._strategy.expert)

    @property
    def status(self) -> str:
        """The strategy's status, or that the limit on groups was reached."""
        if self._paths.full:
            return "learning, but no new experts: the released points make too many"
        return self._strategy.status

    def step(self, x: Any, y: Label) -> None:
        wrong = int(self.hypothesis(x) != y)
        self._losses.add(x, y)  # (L1)
        self._end_round(x, wrong)

    def idle(self, x: Any, /) -> None:
        self._end_round(x, 0)  # the sanitizers need a point; no expert has a loss

    def _end_round(self, x: Any, wrong: int) -> None:
        self._strategy.take((wrong,))
        self._intervals.observe(x, self.ledger)  # (L2)
        self._round += 1
        if self._round % self._grid == 0:
            self._switch_time()
        self._strategy.settle()  # (L5)

    def _switch_time(self) -> None:
        """Let experts switch; the played group draws which of its successors it becomes."""
        if self._paths.finished:
            return
        held = self._strategy.expert
        used = self._paths.groups[held].place.used
        moves = self._paths.branch(self._released)  # (L3)
        choices = self._paths.continuations(moves[held], used)
        self._strategy.expert = self._draw.pick(choices)  # (L4)
        self._losses.keep({group.predictor for group in self._paths.groups})
        self._draw.changed()

    def _released(self, first: int, last: int) -> Any:
        """Return the released points of whole steps of the grid."""
        return self._intervals.points((first - 1) * self._grid + 1, last * self._grid)

    def _made(self) -> BatchedStrategy | DartboardStrategy:
        # Strategies call nothing but ``draw`` and ``passed``.
        drawing = cast(IncrementalSelectionRun, self._draw)
        return self._plan.prediction.strategy_of(drawing, self._rng)
