"""Learn from witnesses: every mistake names one, and a witness named often enough is accepted."""

from dataclasses import dataclass, field
from typing import ClassVar

from littlestone import require
from littlestone.concepts.capabilities import Descending, Placed, PlacingSystem, WitnessSystem
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.private_witnesses.algorithm import PrivateWitnessesEngine
from littlestone.learners.private_witnesses.plan import WitnessPlan, plan_witnesses
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness


def systems_of(concepts: ConceptClass) -> list[WitnessSystem]:
    """Return the witness systems of a class: none, one, or one without and one with places."""
    found: list[WitnessSystem | None] = []
    if isinstance(concepts, Descending):
        found.append(concepts.witness_system())
    if isinstance(concepts, Placed):
        found.append(concepts.placed_system())
    return [system for system in found if system is not None]


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateWitnesses(Budgeted):
    """Count the witnesses that mistakes name, each with its own noise; accept frequent ones.

    For classes in which a mistake of the published hypothesis names one of a few public
    statements that are true of the target ("this literal is not part of it"): conjunctions,
    monotone disjunctions, thresholds, sets of keys of a finite universe; and intervals, boxes and
    conjunctions of few features, for which a point inside is drawn first, near the first
    mistakes. An example counts for one witness and the witnesses have independent noise, so
    nothing is composed, and delta is 0. Concepts are not listed: conjunctions over 64 features
    have 3**64 concepts and 128 counters.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, 0), conditionally on every prefix; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    timing (docs/GUARANTEES.md): a round with a mistake takes longer,
                    and one that draws a place the longer the more mistakes there were
        Proof:      algorithm.md
        Checked:    proofs/promises/WitnessPlaces.v, theorem witness_places_private

    Mistakes: O(log(T * number of false witnesses) / epsilon) for each witness that can be accepted:
    n for conjunctions over n features (2n for more than 32), k for sets of k keys, log2(n) for
    thresholds on n points, 2 log2(n) for intervals, and k**2 log n times a constant for boxes in k
    dimensions. On streams that no concept fits, privacy still holds and nothing is promised about
    mistakes.

    >>> from littlestone.concepts.classes.conjunctions import Conjunctions
    >>> learner = PrivateWitnesses(concepts=Conjunctions(8), rounds=10**6, epsilon=1.0)
    >>> print(learner.guarantee(), round(learner.expected_mistake_bound()))
    ε = 1 287
    """

    delta: float = 0.0
    plan: WitnessPlan | None = None
    planned: WitnessPlan = field(init=False, repr=False, compare=False)
    """The numbers in use: ``plan``, or those chosen if it is None."""
    system: WitnessSystem = field(init=False, repr=False, compare=False)

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = True
    form_version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_promise(pure=True)
        systems = systems_of(self.concepts)
        if not systems:
            raise ValueError(
                "concepts must have a witness system (conjunctions, monotone disjunctions, "
                "thresholds, intervals, boxes, sets of keys of a finite universe), "
                f"got concepts={self.concepts!r}"
            )
        plan = self.plan
        if plan is None:
            found = [
                (plan_witnesses(system, rounds=self.rounds, epsilon=self.epsilon), system)
                for system in systems
            ]
            planned, system = min(found, key=lambda pair: pair[0].expected(pair[1], self.rounds))
        else:
            planned = plan
            places = planned.drawing is not None
            fitting = [one for one in systems if isinstance(one, PlacingSystem) == places]
            if not fitting:
                raise ValueError(
                    "plan must have a drawing exactly if the class has places to draw, "
                    f"got drawing={planned.drawing!r} for concepts={self.concepts!r}"
                )
            system = fitting[0]
        object.__setattr__(self, "system", system)
        object.__setattr__(self, "planned", planned)
        self.check_within_budget(plan=planned.guarantee())

    @property
    def per_example(self) -> PrivacyGuarantee:
        """The cost of the plan for one example."""
        return self.planned.guarantee()

    def mistake_bound(self, *, failure_probability: float) -> float:
        """Bound the mistakes on realizable streams, except with ``failure_probability``."""
        return self.planned.bound(self.system, self.rounds, failure_probability)

    def expected_mistake_bound(self) -> float:
        """Bound the mean of the mistakes on realizable streams."""
        return self.planned.expected(self.system, self.rounds)

    def engine(self, rng: Randomness, /) -> PrivateWitnessesEngine:
        return PrivateWitnessesEngine(self, rng)
