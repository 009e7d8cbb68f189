"""Predict labels privately for those who ask, with copies of any mistake-bounded learner."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label, Point
from littlestone.errors import HorizonExceededError, LittlestoneError
from littlestone.game.protocols import OnlineLearner, OnlineState, require_base
from littlestone.learners.experts.prediction_plan import PredictionPlan, planned
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.coins import LogisticCoin
from littlestone.randomness import Randomness, secure
from littlestone.randomness.noise_owner import NoiseOwner

_MOST_REMEMBERED: Final = 1 << 14


class PredictionRun(NoiseOwner):
    """One run: ``predict`` a point's label for its asker, then ``observe`` the true label.

    Show the result of ``predict`` to the asker of this round alone; ``halted`` and
    ``rounds_played`` are public. A run cannot be copied, pickled or saved.
    """

    def __init__(self, recipe: "PrivatePrediction", rng: Randomness) -> None:
        plan, start = recipe.planned, recipe.learner.start()
        self._recipe, self._rng = recipe, rng
        self._check = recipe.concepts.domain.check
        self._first: Hypothesis = start.hypothesis
        self._copies: list[OnlineState] = [start] * plan.copies  # (L1)
        self._groups: dict[OnlineState, int] = {start: plan.copies}
        self._votes: dict[Point, int] = {}
        """How many copies say 1, for points asked after the last change of a copy."""
        self._cap = plan.watch.start(rng=rng)  # (L1)
        self._question: tuple[Point, Label, Label] | None = None
        self._played = 0

    @property
    def recipe(self) -> "PrivatePrediction":
        """The recipe that started this run."""
        return self._recipe

    @property
    def rounds_played(self) -> int:
        """The number of questions answered."""
        return self._played

    @property
    def halted(self) -> bool:
        """Whether nothing more will be learned; all later answers are those of round 1."""
        return self._cap.halted

    @property
    def private(self) -> bool:
        """False for a seeded run, whose noise can be computed from the seed."""
        return self._rng.private

    def predict(self, x: Any) -> Label:
        """Answer the question of this round, for its asker alone."""
        point = self._check(x)
        self._begin()
        if self._question is not None:
            self._break_off(
                LittlestoneError("call observe with this round's label before the next predict")
            )
        if self._played == self._recipe.rounds:
            self._break_off(HorizonExceededError(rounds=self._recipe.rounds))
        self._played += 1
        if self.halted:
            answer = second = int(self._first(point))  # (L6)
        else:
            answer, second = self._two_answers(point)
            self._watch(answer != second)
        self._question = point, answer, second
        self._end()
        return answer

    def observe(self, y: Any) -> None:
        """Take the true label of the point that was asked; bad input raises and changes nothing."""
        label = require.label(y)
        self._begin()
        if self._question is None:
            self._break_off(LittlestoneError("call predict before observe"))
        x, answer, second = self._question
        if not self.halted and (answer != label or second != label):
            self._teach(x, label)
        self._question = None
        self._end()

    def _two_answers(self, x: Point) -> tuple[Label, Label]:
        coin = _coin(self._recipe.planned.rate, 2 * self._ones(x) - len(self._copies))
        return int(coin.draw(self._rng)), int(coin.draw(self._rng))  # (L2)

    def _watch(self, disagreed: bool) -> None:
        if self._cap.observe(int(disagreed)):  # (L3)
            self._copies, self._votes = [], {}  # drop the secrets
            self._groups = {}

    def _teach(self, x: Point, y: Label) -> None:
        """Give the example to one copy, which takes it if it errs."""
        place = int(self._rng.below(len(self._copies)))  # (L4)
        old = self._copies[place]
        if old.hypothesis(x) == y:
            return
        new = old.after(x, y)  # (L5)
        if new.failed:  # no concept fits: leave the copy unchanged
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
    """Return the coin; a copy that changes its answer moves ``lead`` by 2, the log-odds by rate."""
    return LogisticCoin(log_odds=Fraction(rate) * lead / 2)


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivatePrediction:
    """Answer by a noisy majority of copies of a learner, each taught from its own rounds.

    *Joint differential privacy*: in round t a user asks for the label of x_t and gets one bit,
    which nobody else sees; then the learner gets y_t. For two streams that differ in (x_t, y_t)
    for one t, the joint view of all others than the asker of round t has nearly the same law. The
    asker's own answer may depend on x_t in any way. This promises less than a learner that
    publishes its hypothesis, of which every reader may ask anything (docs/GUARANTEES.md, J).

    Privacy:
        Releases:   to the asker of each round its answer; to everybody, when the run halts
        Neighbours: streams that differ in one example (x, y), and the answer to it is not seen
        Adversary:  adaptive; all other askers together, who may choose a label after its answer
        Guarantee:  (epsilon, delta) to the asker of each round, for the whole run
        Assumes:    timing (docs/GUARANTEES.md): a round in which the two coins disagree or a copy
                    is taught takes longer; unvetted
        Proof:      private_prediction.md

    Mistakes on realizable streams: ``mistake_bound``, of order d² · ln²T · ln(1/delta) / epsilon²
    for a base learner that errs at most d times; the constant is large. Nothing is promised where
    no concept fits. A class needs no witnesses and no finite size for it.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.randomness import seeded
    >>> learner = PrivatePrediction(
    ...     concepts=Thresholds(8), rounds=10**6, epsilon=1.0, delta=1e-6,
    ...     plan=PredictionPlan(copies=50, rate=0.001, cap=100, cap_epsilon=0.5))
    >>> learner.guarantee()
    PrivacyGuarantee(epsilon=1.0, delta=1e-06)
    >>> run = learner.start(rng=seeded(1))
    >>> run.predict(3) in (0, 1)
    True
    >>> run.observe(1)
    """

    concepts: ConceptClass
    rounds: int
    epsilon: float
    delta: float
    base: OnlineLearner | None = None
    """The learner whose copies vote; by default the standard optimal algorithm."""
    plan: PredictionPlan | None = None
    """By default the plan with the smallest proved mistake bound."""
    planned: PredictionPlan = field(init=False, repr=False, compare=False)

    oblivious_only: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(rounds=self.rounds, at_least=1)
        require.positive(epsilon=self.epsilon)
        require.open_probability(delta=self.delta)
        require_base(self.learner, self.concepts)
        plan = self.plan or planned(
            rounds=self.rounds,
            epsilon=self.epsilon,
            delta=self.delta,
            base_mistakes=self.learner.mistake_bound,
        )
        cost = plan.guarantee(delta=self.delta)
        if not cost.within(self.guarantee()):
            raise ValueError(
                f"plan must stay within epsilon={self.epsilon!r}, delta={self.delta!r}, got "
                f"{cost!r}; take a smaller rate or a smaller cap"
            )
        object.__setattr__(self, "planned", plan)

    @property
    def learner(self) -> OnlineLearner:
        """The learner whose copies vote."""
        return self.base or StandardOptimal(self.concepts)

    def guarantee(self) -> PrivacyGuarantee:
        """Return the promise to the asker of each round about what all others see."""
        return PrivacyGuarantee(epsilon=self.epsilon, delta=self.delta)

    def mistake_bound(self, *, failure_probability: float) -> float:
        """Bound the mistakes on realizable streams, except with ``failure_probability``.

        The number of rounds where nothing better is proved.
        """
        return self.planned.mistake_bound(
            rounds=self.rounds,
            base_mistakes=self.learner.mistake_bound,
            failure_probability=failure_probability,
        )

    def for_rounds(self, rounds: int) -> "PrivatePrediction":
        """Return the same learner for another horizon, planned again unless a plan was given."""
        return replace(self, rounds=rounds)

    def start(self, *, rng: Randomness | None = None) -> PredictionRun:
        """Start a run, by default with the operating system's randomness."""
        return PredictionRun(self, secure() if rng is None else rng)
