"""Algorithm 3: a proper private learner that follows sanitized batches of the stream."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.engine import Engine
from littlestone.learners.sanitized_batches.plan import BatchPlan, planned_sanitizers
from littlestone.online.hedge_learner import HedgeLearner
from littlestone.online.proper import ProperOnlineLearner, ProperState
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness
from littlestone.sanitizers.labels import LabelConversion
from littlestone.sanitizers.protocols import Sanitizer


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class SanitizedBatches(Budgeted):
    """Sanitize each batch; let copies of a proper online learner follow the synthetic examples.

    [P, Algorithm 3]. Each copy sees one synthetic example of each batch; in each round a random
    copy draws the hypothesis. Sanitizer, base learner and batch length are chosen by the regret
    bound unless they are given. A sanitizer that fails still releases something public, and the
    learner goes on with it (docs/ERRATA.md, S4).

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  the sanitizer's; per user (``max_contributions`` examples) by group privacy
        Assumes:    what the sanitizer assumes
        Proof:      recipe.md

    Regret: ``regret_bound`` with high probability, against adaptive adversaries who do not know the
    hypothesis of the current round; of order T^(3/4), or T^(2/3) with a TreeSanitizer.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> learner = SanitizedBatches(
    ...     concepts=Thresholds(15), rounds=1_000_000, epsilon=1.0, delta=1e-6)
    >>> learner.plan.batch, round(learner.regret_bound(failure_probability=0.05), -3)
    (8903, 154000.0)
    """

    sanitizer: Sanitizer | None = None
    base: ProperOnlineLearner | None = None
    batch: int | None = None
    plan: BatchPlan = field(init=False, repr=False, compare=False)
    """What is used: given, or chosen for the horizon by the regret bound."""

    oblivious_only: ClassVar[bool] = False
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_promise(pure=True)
        base = self.base
        if base is None:
            base = HedgeLearner(concepts=self.concepts, rounds=self.rounds)
        _refuse_other(self.concepts, base)
        plan = self._make_plan(base)
        _refuse_sanitizer(plan.sanitizer, self.concepts)
        self.check_within_budget(sanitizer=plan.sanitizer.guarantee())
        object.__setattr__(self, "plan", plan)

    @property
    def per_example(self) -> PrivacyGuarantee:
        return self.plan.sanitizer.guarantee()

    def regret_bound(self, *, failure_probability: float) -> float:
        """Regret against the best concept in hindsight; the number of rounds promises nothing."""
        return self.plan.regret_bound(failure_probability=failure_probability)

    def expected_regret_bound(self) -> float:
        """The same in expectation, failures included."""
        return self.plan.expected_regret_bound()

    def engine(self, rng: Randomness) -> "SanitizedBatchesEngine":
        return SanitizedBatchesEngine(self.plan, rng)

    def _make_plan(self, base: ProperOnlineLearner) -> BatchPlan:
        given = self.sanitizer
        sanitizers = (
            planned_sanitizers(
                self.concepts, rounds=self.rounds, epsilon=self.epsilon, delta=self.delta
            )
            if given is None
            else lambda batch: given
        )
        if self.batch is None:
            return BatchPlan.best(rounds=self.rounds, sanitizers=sanitizers, base=base)
        require.integer(batch=self.batch, at_least=1)
        return BatchPlan(
            rounds=self.rounds, batch=self.batch, sanitizer=sanitizers(self.batch), base=base
        )


@dataclass(init=False, eq=False, repr=False)
class SanitizedBatchesEngine(Engine):
    """The current batch, and what became of the earlier ones."""

    _batch: list[Example]
    _synthetic: list[list[Example]]
    _played: int
    hypothesis: Hypothesis
    ledger: Ledger

    def __init__(self, plan: BatchPlan, rng: Randomness) -> None:
        self._plan, self._rng = plan, rng
        self._start = plan.base.for_rounds(plan.batches).begin()
        self._followed: dict[int, tuple[int, ProperState]] = {}

    def begin(self) -> None:
        self._batch, self._synthetic, self._played = [], [], 0  # (L1)
        self.ledger = Ledger(budget=self._plan.sanitizer.guarantee(), private=self._rng.private)
        self.hypothesis = self._draw()

    def step(self, x: Any, y: Label) -> None:
        self._played += 1
        self._batch.append((x, y))
        if self._played == self._plan.rounds:
            return  # nobody asks for another hypothesis, so nothing is spent on one
        if len(self._batch) == self._plan.batch:  # (L5)
            self._sanitize()
        drawn = self._draw()
        if drawn != self.hypothesis:  # the same function drawn again is no news
            self.hypothesis = drawn

    def _draw(self) -> Hypothesis:
        """(L2–L4): a random copy, and from its distribution a fresh concept.

        Everything here is a function of sanitized data and fresh coins, so floating point in a
        copy's distribution does no harm.
        """
        return self._copy(self._rng.below(self._plan.batch)).draw(rng=self._rng)

    def _copy(self, number: int) -> ProperState:
        """Where copy ``number`` stands; examples that it has not looked at yet are fed now."""
        seen, state = self._followed.get(number, (0, self._start))
        for dataset in self._synthetic[seen:]:
            state = state.after(*dataset[number])
        self._followed[number] = len(self._synthetic), state
        return state

    def _sanitize(self) -> None:
        plan = self._plan
        first = self._played - plan.batch + 1
        name = type(plan.sanitizer).__name__
        self.ledger.charge(name, plan.sanitizer.guarantee(), first=first, last=self._played)
        released = plan.sanitizer.release(self._batch, rng=self._rng)  # (L6)
        dataset = released.dataset(plan.batch)
        order = self._rng.permutation(plan.batch).tolist()  # (L7)
        self._synthetic.append([dataset[place] for place in order])  # (L8)
        self._batch = []


def _refuse_other(concepts: ConceptClass, base: ProperOnlineLearner) -> None:
    if base.concepts != concepts:
        raise ValueError(f"base must learn {concepts!r}, got base.concepts={base.concepts!r}")


def _refuse_sanitizer(sanitizer: Sanitizer, concepts: ConceptClass) -> None:
    if getattr(sanitizer, "concepts", concepts) != concepts:
        raise ValueError(f"sanitizer must be for {concepts!r}, got sanitizer={sanitizer!r}")
    if isinstance(sanitizer, LabelConversion) or not getattr(sanitizer, "labelled", True):
        raise ValueError(
            f"sanitizer must release labelled datasets (labelled=True), got sanitizer={sanitizer!r}"
        )
    if not sanitizer.prefix_conditional:
        raise ValueError(f"sanitizer must be prefix-conditional, got sanitizer={sanitizer!r}")
