"""The practical default for finite classes: majorities that change only when they err often."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from littlestone import require
from littlestone.concepts.capabilities import Witnesses
from littlestone.concepts.losses.listing import distinguished_points, require_listable
from littlestone.concepts.witness_systems import MOST_KEYS, witnesses_for
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.engine import Engine
from littlestone.learners.private_majority.bound import (
    fresh_mistakes_upper_bound,
    sampled_mistakes_upper_bound,
)
from littlestone.learners.private_majority.fresh import FreshEngine
from littlestone.learners.private_majority.plan import (
    FreshPlan,
    Plan,
    SampledPlan,
    plan_fresh,
    plan_sampled,
)
from littlestone.learners.private_majority.sampled import SampledEngine
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

Evidence = Literal["fresh", "cumulative"]


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateMajority(Budgeted):
    """Publish a majority; when it has erred often enough, learn from its mistakes.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta), with delta = 0 for fresh evidence; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    timing (docs/GUARANTEES.md): a mistake takes longer than a correct round
        Proof:      recipe.md, fresh.md, sampled.md
        Checked:    for fresh evidence: proofs/promises/PrivateMajority.v, theorem
                    fresh_majority_private

    Mistakes: O(log T / epsilon) for each of at most Littlestone-dimension many phases where one
    phase's mistakes say by themselves what to give up (``evidence="fresh"``: thresholds, points,
    sparse sets); O((log |H|)^1.5 sqrt(log |X|) / epsilon + log |H| log T / epsilon) for any finite
    class (``evidence="cumulative"``). On streams that no concept fits, privacy still holds and
    nothing is promised about mistakes.

    ``votes`` and ``phases`` replace those planned for cumulative evidence, ``plan`` replaces all
    numbers; privacy is checked for any of them.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> learner = PrivateMajority(concepts=Thresholds(1024), rounds=10**6, epsilon=1.0)
    >>> print(learner.guarantee())
    ε = 1
    """

    delta: float = 0.0
    evidence: Evidence | None = None
    votes: int | None = None
    phases: int | None = None
    plan: Plan | None = None
    planned: Plan = field(init=False, repr=False, compare=False)
    """The numbers in use: ``plan``, or those chosen if it is None."""
    _witnesses: Witnesses | None = field(init=False, repr=False, compare=False)
    _cost: PrivacyGuarantee = field(init=False, repr=False, compare=False)

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_promise(pure=True)
        witnesses = None if self.evidence == "cumulative" else witnesses_for(self.concepts)
        object.__setattr__(self, "_witnesses", witnesses)
        self._refuse_mixtures()
        planned = self._make_plan() if self.plan is None else self.plan
        object.__setattr__(self, "planned", planned)
        if isinstance(planned, SampledPlan):
            require_listable(self.concepts)
        cost = planned.guarantee(delta=self.delta)
        object.__setattr__(self, "_cost", cost)
        self.check_within_budget(plan=cost)

    @property
    def per_example(self) -> PrivacyGuarantee:
        """The cost of the plan for one example."""
        return self._cost

    def mistake_bound(self, *, failure_probability: float) -> float:
        if isinstance(self.planned, SampledPlan):
            return sampled_mistakes_upper_bound(
                self.planned,
                self.concepts,
                rounds=self.rounds,
                failure_probability=failure_probability,
            )
        return self._fresh_bound(failure_probability)

    def expected_mistake_bound(self) -> float:
        if isinstance(self.planned, SampledPlan):
            return super(PrivateMajority, self).expected_mistake_bound()
        return self._fresh_bound(1.0)  # the mean

    def _fresh_bound(self, failure_probability: float) -> float:
        assert isinstance(self.planned, FreshPlan) and self._witnesses is not None
        return fresh_mistakes_upper_bound(
            self.planned,
            self._witnesses,
            levels=self.concepts.littlestone_dimension,
            rounds=self.rounds,
            failure_probability=failure_probability,
        )

    def engine(self, rng: Randomness) -> Engine:
        """Return the engine for the kind of evidence, before ``begin``."""
        sampled = isinstance(self.planned, SampledPlan)
        return SampledEngine(self, rng) if sampled else FreshEngine(self, rng)

    def _make_plan(self) -> Plan:
        if self._witnesses is not None and self.votes is None and self.phases is None:
            return plan_fresh(
                self._witnesses,
                levels=self.concepts.littlestone_dimension,
                rounds=self.rounds,
                epsilon=self.epsilon,
            )
        if self.delta == 0:
            raise ValueError(
                "delta must be above 0 for cumulative evidence, whose draws are composed by zCDP, "
                "got delta=0.0"
            )
        return plan_sampled(
            concepts=require_listable(self.concepts),
            columns=distinguished_points(self.concepts),
            rounds=self.rounds,
            epsilon=self.epsilon,
            delta=self.delta,
            votes=self.votes,
            phases=self.phases,
        )

    def _refuse_mixtures(self) -> None:
        if self.evidence not in (None, "fresh", "cumulative"):
            raise ValueError(
                f"evidence must be 'fresh', 'cumulative' or None, got evidence={self.evidence!r}"
            )
        if isinstance(self.plan, FreshPlan) and self.evidence == "cumulative":
            raise ValueError("a FreshPlan needs evidence='fresh', got evidence='cumulative'")
        if isinstance(self.plan, SampledPlan):
            self._refuse_contradictions(self.plan)
        fresh = isinstance(self.plan, FreshPlan) or self.evidence == "fresh"
        if fresh and self._witnesses is None:
            raise ValueError(
                "fresh evidence needs thresholds, or points or sparse sets over at most "
                f"{MOST_KEYS} keys, got concepts={self.concepts!r}"
            )
        if fresh and (self.votes or self.phases):
            raise ValueError("votes and phases belong to cumulative evidence, got evidence='fresh'")
        for name in ("votes", "phases"):
            if getattr(self, name) is not None:
                require.integer(**{name: getattr(self, name)}, at_least=1)

    def _refuse_contradictions(self, plan: SampledPlan) -> None:
        """Reject arguments that contradict the plan."""
        if self.evidence == "fresh":
            raise ValueError("a SampledPlan needs evidence='cumulative', got evidence='fresh'")
        for name in ("votes", "phases"):
            given, planned = getattr(self, name), [getattr(epoch, name) for epoch in plan.epochs]
            if given is not None and given not in planned:
                raise ValueError(f"{name} must be those of plan, {planned}, got {name}={given!r}")
