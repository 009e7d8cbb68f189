"""Private agnostic learning from experts that are constructed from sanitized points."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Final, cast

from littlestone import require
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.game.protocols import OnlineLearner, require_base
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.engine import Engine
from littlestone.learners.experts.exponential_weights import BatchedStrategy
from littlestone.learners.experts.shrinking_dartboard import DartboardStrategy
from littlestone.learners.online.sparse_majority import SparseMajority
from littlestone.learners.sanitized.draw import GroupDraw
from littlestone.learners.sanitized.families import (
    IntervalPoints,
    family_named,
    refuse_unknown_errors,
)
from littlestone.learners.sanitized.paths import Paths, PredictorLosses
from littlestone.learners.sanitized.plan import ALGORITHMS, ExpertsPlan, plan_experts
from littlestone.learners.sanitizers.interval_sanitizer import Family
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.incremental_selection import IncrementalSelectionRun
from littlestone.privacy.mixed_budget import ledger_for
from littlestone.privacy.rounding import float_at_most
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards

_SHARES: Final = (0.0625, 0.125, 0.25, 0.5)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class SanitizedExperts(Budgeted):
    """Sanitize, construct experts, and predict from them privately [P, Algorithms 5 to 7].

    An expert runs the learner ``base`` (``SparseMajority`` by default). At up to M switch times, M
    the mistake bound of ``base``, it feeds ``base`` a mistake on a point that was released since
    its last switch. If the sanitizer detects every frequent set of points, each concept has an
    expert that rarely differs from it.

    ``sanitizer`` is ``auto``, ``histogram``, ``realizable`` (the paper's), ``tree`` (thresholds),
    or a function of (size, parts) as ``IntervalSanitizer`` takes. ``experts`` names the algorithm
    that predicts: ``exponential-weights`` (adaptive adversaries), ``shrinking-dartboard`` or
    ``lazy-switching`` (oblivious ones). Experts may switch after every ``switch_grid`` rounds; by
    default the best grid is found.

    Privacy:
        Releases:   the hypothesis of every round (and all sanitized points, which may be shown)
        Neighbours: streams that differ in one example
        Adversary:  adaptive, as far as privacy goes
        Guarantee:  (epsilon, delta); per user (``max_contributions`` examples) by group privacy
        Assumes:    a deterministic base learner; timing (docs/GUARANTEES.md): how long a round
                    takes depends on losses
        Proof:      recipe.md

    Regret: ``regret_bound``, which adds the regret of the experts algorithm against N experts,
    ln N = O(M ln T), and M times what the sanitizer may miss, O~(T^(1/3) / epsilon^(2/3)) for the
    paper's. At most ``most_groups`` groups of experts are kept apart; if more are needed, which
    ``status`` reports, the bound does not hold.

    >>> from littlestone.concepts.classes.sparse_sets import Points
    >>> from littlestone.randomness import seeded
    >>> recipe = SanitizedExperts(concepts=Points(), rounds=20_000, epsilon=8.0, delta=1e-6)
    >>> recipe.guarantee().within(PrivacyGuarantee(epsilon=8.0, delta=1e-6))
    True
    >>> run = recipe.start(rng=seeded(1))
    >>> for t in range(20_000):
    ...     run.observe("often", 1)
    >>> run.hypothesis.describe()
    "1 on 'often', 0 elsewhere"
    """

    base: OnlineLearner | None = None
    sanitizer: Family | str = "auto"
    experts: str = "exponential-weights"
    switch_grid: int | None = None
    sanitizer_share: float | None = None
    """The share of epsilon and delta for a named sanitizer; by default the best of a few."""
    planned_failure: float = 0.05
    """The failure probability of the sanitizer in the bound that the plan minimises."""
    most_groups: int = 1 << 16
    _learner: OnlineLearner = field(init=False, repr=False, compare=False)
    plan: ExpertsPlan = field(init=False, repr=False, compare=False)
    """The public numbers: intervals, switch times, rate."""

    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_promise(planned_failure=self.planned_failure)
        require.integer(rounds=self.rounds, at_least=2)
        require.integer(most_groups=self.most_groups, at_least=1)
        if self.sanitizer_share is not None:
            require.open_probability(sanitizer_share=self.sanitizer_share)
        if self.switch_grid is not None:
            require.integer(switch_grid=self.switch_grid, at_least=1)
            if self.switch_grid >= self.rounds:
                raise ValueError(
                    f"switch_grid must be below rounds={self.rounds}, "
                    f"got switch_grid={self.switch_grid!r}"
                )
        if self.experts not in ALGORITHMS:
            raise ValueError(
                f"experts must be one of {sorted(ALGORITHMS)}, got experts={self.experts!r}"
            )
        if self.base is None and self.sanitizer in ("auto", "realizable"):
            refuse_unknown_errors(self.concepts)
        learner = SparseMajority(self.concepts) if self.base is None else self.base
        require_base(learner, self.concepts)
        require.settle(self, _learner=learner, plan=self._make_plan(learner))

    def _make_plan(self, learner: Any) -> ExpertsPlan:
        """Plan with the given share for the sanitizer, or with the best of a few."""
        plans = [
            plan_experts(
                base=learner,
                family=family,
                rounds=self.rounds,
                budget=self.budget,
                algorithm=self.experts,
                switch_grid=self.switch_grid,
                failure_probability=self.planned_failure,
            )
            for family in self._families(learner)
        ]
        return min(plans, key=lambda plan: plan.regret_upper_bound(self.planned_failure))

    def _families(self, learner: OnlineLearner) -> list[Family]:
        if not isinstance(self.sanitizer, str):
            return [self.sanitizer]
        return [
            family_named(
                self.sanitizer,
                learner,
                rounds=self.rounds,
                epsilon=float_at_most(Fraction(self.epsilon) * Fraction(share)),
                delta=float_at_most(Fraction(self.delta) * Fraction(share)),
                failure_probability=self.planned_failure,
            )
            for share in (_SHARES if self.sanitizer_share is None else (self.sanitizer_share,))
        ]

    @property
    def oblivious_only(self) -> bool:
        """Whether regret is promised against oblivious adversaries only."""
        return self.plan.prediction.oblivious_only

    @property
    def per_example(self) -> PrivacyGuarantee:
        """The cost of sanitizers and prediction together."""
        return self.plan.guarantee()

    def regret_bound(self, *, failure_probability: float) -> float:
        """Bound the regret, except with ``failure_probability``, half of it for the sanitizer."""
        half = failure_probability / 2
        deviation = self.plan.prediction.deviation_bound(failure_probability=half)
        return min(float(self.rounds), upwards(self.plan.regret_upper_bound(half) + deviation))

    def engine(self, rng: Randomness) -> "SanitizedExpertsEngine":
        return SanitizedExpertsEngine(
            self.plan,
            self._learner,
            budget=self.budget,
            most_groups=self.most_groups,
            rng=rng,
        )


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
