"""Predict labels for those who ask, privately, with copies of any mistake-bounded learner."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.private_prediction.algorithm import PredictionRun
from littlestone.learners.private_prediction.plan import PredictionPlan
from littlestone.learners.private_prediction.prediction_planner import planned
from littlestone.online.protocols import OnlineLearner, require_base
from littlestone.online.standard_optimal import StandardOptimal
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness, secure


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivatePrediction:
    """Answer by a noisy majority of copies of a learner, each taught from rounds of its own.

    *Joint differential privacy*: in round t someone asks for the label of x_t and is told one bit,
    which nobody else sees; afterwards the learner is told y_t. Let two streams differ in (x_t, y_t)
    for one t. All that everybody but the asker of round t sees, together, has nearly the same law
    in both. What the asker is told may depend on their own x_t as it likes. This is less than
    releasing a hypothesis: who is told a hypothesis can ask it anything (docs/GUARANTEES.md, J).

    Privacy:
        Releases:   to the asker of each round its answer; to everybody, when the run halts
        Neighbours: streams that differ in one example (x, y), and the answer to it is not seen
        Adversary:  adaptive; all other askers together, who may choose a label after its answer
        Guarantee:  (epsilon, delta) to the asker of each round, for the whole run
        Assumes:    timing (docs/GUARANTEES.md): a round in which the two coins disagree or a copy
                    is taught takes longer; unvetted
        Proof:      algorithm.md

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
    """Whose copies vote; the standard optimal algorithm by default."""
    plan: PredictionPlan | None = None
    """By default the one with the smallest proved bound on mistakes."""
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
        """Whose copies vote."""
        return self.base or StandardOptimal(self.concepts)

    def guarantee(self) -> PrivacyGuarantee:
        """To the asker of each round, about what all others see."""
        return PrivacyGuarantee(epsilon=self.epsilon, delta=self.delta)

    def mistake_bound(self, *, failure_probability: float) -> float:
        """Mistakes on realizable streams; exceeded with ``failure_probability`` at most.

        The number of rounds where nothing better is proved.
        """
        return self.planned.mistake_bound(
            rounds=self.rounds,
            base_mistakes=self.learner.mistake_bound,
            failure_probability=failure_probability,
        )

    def for_rounds(self, rounds: int) -> "PrivatePrediction":
        """The same learner for another horizon; what was planned is planned anew."""
        return replace(self, rounds=rounds)

    def start(self, *, rng: Randomness | None = None) -> PredictionRun:
        """A run, with the operating system's randomness unless told otherwise."""
        return PredictionRun(self, secure() if rng is None else rng)
