"""Learn from witnesses: every mistake names one, and a witness named often enough is accepted."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from littlestone import require
from littlestone.concepts.capabilities import Descending, Placed, PlacingSystem, WitnessSystem
from littlestone.concepts.protocols import ConceptClass, Label, Point
from littlestone.concepts.witness_systems import PLACE, starts_again
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.counters import CountersEngine
from littlestone.learners.private_witnesses.plan import WitnessPlan, plan_witnesses
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.geometric import Geometric
from littlestone.privacy.mechanisms.noise.waiting_time import WaitingTime
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
        Proof:      recipe.md
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
        return self.planned.bound(self.system, self.rounds, failure_probability)

    def expected_mistake_bound(self) -> float:
        return self.planned.expected(self.system, self.rounds)

    def engine(self, rng: Randomness, /) -> "PrivateWitnessesEngine":
        return PrivateWitnessesEngine(self, rng)


@dataclass(init=False, eq=False, repr=False)
class PrivateWitnessesEngine(CountersEngine):
    """The state is a function of which counters fired when, and of the drawn places.

    The counts, and where mistakes were made, are secret.
    """

    _state: Any
    _places: list[int]

    def __init__(self, recipe: "PrivateWitnesses", rng: Randomness) -> None:
        plan = recipe.planned  # (L1, L4)
        super().__init__(
            recipe, rng, query_rate=plan.query_rate, threshold_rate=plan.threshold_rate
        )
        self._plan = plan
        self._system: Any = recipe.system
        if (drawing := plan.drawing) is not None:  # (L7)
            self._place_threshold = drawing.threshold
            self._place_noise = Geometric(rate=drawing.threshold_epsilon)
            self._place_waiting = WaitingTime(rate=drawing.threshold_epsilon)
            self._selection = drawing.selection()

    def begin(self) -> None:
        """Enter the first state, with noise for its live witnesses."""
        self.begin_counting("counters of all witnesses")
        self._places = []
        self._enter(self._system.begin())

    def _count_mistake(self, x: Any, y: Label) -> None:
        key = self._system.named_by(self._state, x, y)
        self._gaps[key] -= 1  # (L3)
        if key == PLACE:
            self._places.append(self._system.place(self._state, x))  # (L8)
        self._draw_turn(key, self._round)

    def _waiting_of(self, key: Point) -> WaitingTime:
        return self._place_waiting if key == PLACE else self._waiting

    def _accept(self, due: list[Point]) -> None:
        state = self._state
        for key in due:
            if key == PLACE:
                state = self._system.after(state, (PLACE, self._drawn_place()))
            elif key in self._system.live(state):
                state = self._system.after(state, key)  # (L5)
            if state is None:
                self._gaps, self._newest = {}, {}
                state = self._system.begin()  # (L6)
                break
        self._enter(state)

    def _drawn_place(self) -> int:
        found, lengths = self._system.depths(self._places)
        scores = [-depth for depth in found]
        [position] = self._selection.draw(scores, multiplicities=lengths, rng=self._rng)  # (L9)
        place: int = self._system.place_at(self._places, position)
        self._places = []
        return place

    def _fresh_gap(self, key: Point) -> int:
        if key == PLACE:
            return int(self._place_threshold + self._place_noise.draw(self._rng))  # (L7)
        threshold = self._plan.again if starts_again(key) else self._plan.threshold
        return int(threshold + self._noise.draw(self._rng))  # (L2)

    def _enter(self, state: Any) -> None:
        """Publish the state's hypothesis; newly live witnesses get noise, dead ones lose theirs."""
        self._state = state
        live = self._system.live(state)
        for key in self._gaps.keys() - set(live):
            del self._gaps[key]
            self._newest.pop(key, None)
        for key in live:
            if key not in self._gaps:
                self._gaps[key] = self._fresh_gap(key)
                self._draw_turn(key, self._round + 1)
        published = self._system.hypothesis(state)
        if self._round == 0 or published != self.hypothesis:
            self.hypothesis = published
