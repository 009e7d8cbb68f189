"""Learn from witnesses: every mistake names one, and one that is named often enough is accepted."""

from dataclasses import dataclass, field
from typing import ClassVar

from littlestone import require
from littlestone.concepts.capabilities import Descending, PlacingSystem, WitnessSystem
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.private_witnesses.algorithm import PrivateWitnessesEngine
from littlestone.learners.private_witnesses.plan import WitnessPlan, plan_witnesses
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateWitnesses(Budgeted):
    """Count the witnesses that mistakes name, each with noise of its own; accept what is frequent.

    For classes in which a mistake of the published hypothesis names one of a few public
    statements that are true of the concept sought ("this literal is not part of it"): conjunctions,
    monotone disjunctions, thresholds; and intervals and boxes, for which a point within is drawn
    first, from where the first mistakes lie. An example counts for one witness and the witnesses
    have independent noise, so nothing is composed, and delta is 0. Nothing is listed: conjunctions
    over 64 features are 3**64 concepts and 128 counters.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, 0), conditionally on every prefix; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    timing (docs/GUARANTEES.md): a round with a mistake takes longer,
                    and one that draws a place the longer the more mistakes there were
        Proof:      algorithm.md
        Checked:    proofs/promises/PrivateWitnesses.v, theorem private_witnesses_private,
                    for systems without places

    Mistakes: O(log(T * number of false witnesses) / epsilon) for each witness that can be accepted:
    2n for conjunctions over n features, log2(n) for thresholds on n points, 2 log2(n) for
    intervals, and k**2 log n times a constant for boxes in k dimensions. On streams that no
    concept fits, privacy holds all the same, and nothing is promised about mistakes.

    >>> from littlestone.concepts.classes.conjunctions import Conjunctions
    >>> learner = PrivateWitnesses(concepts=Conjunctions(8), rounds=10**6, epsilon=1.0)
    >>> print(learner.guarantee(), round(learner.expected_mistake_bound()))
    ε = 1 364
    """

    delta: float = 0.0
    plan: WitnessPlan | None = None
    planned: WitnessPlan = field(init=False, repr=False, compare=False)
    """The numbers that are used: ``plan``, or what was chosen in its absence."""
    system: WitnessSystem = field(init=False, repr=False, compare=False)

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_promise(pure=True)
        if not isinstance(self.concepts, Descending):
            raise ValueError(
                "concepts must have a witness system (conjunctions, monotone disjunctions, "
                f"thresholds, intervals, boxes), got concepts={self.concepts!r}"
            )
        object.__setattr__(self, "system", self.concepts.witness_system())
        planned = self.plan
        if planned is None:
            planned = plan_witnesses(self.system, rounds=self.rounds, epsilon=self.epsilon)
        elif isinstance(self.system, PlacingSystem) != (planned.drawing is not None):
            raise ValueError(
                "plan must have a drawing exactly if the class has places to draw, "
                f"got drawing={planned.drawing!r} for concepts={self.concepts!r}"
            )
        object.__setattr__(self, "planned", planned)
        self.check_within_budget(plan=planned.guarantee())

    @property
    def per_example(self) -> PrivacyGuarantee:
        return self.planned.guarantee()

    def mistake_bound(self, *, failure_probability: float) -> float:
        """Mistakes on realizable streams; exceeded with ``failure_probability`` at most."""
        require.open_probability(failure_probability=failure_probability)
        return self.planned.bound(self.system, self.rounds, failure_probability)

    def expected_mistake_bound(self) -> float:
        return self.planned.expected(self.system, self.rounds)

    def engine(self, rng: Randomness, /) -> PrivateWitnessesEngine:
        return PrivateWitnessesEngine(self, rng)
