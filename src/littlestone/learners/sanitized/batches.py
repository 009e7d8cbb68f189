"""Algorithm 3: a proper private learner that follows sanitized batches of the stream."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.engine import Engine
from littlestone.learners.online.proper import HedgeLearner, ProperOnlineLearner, ProperState
from littlestone.learners.sanitizers.choose import sanitizer_for
from littlestone.learners.sanitizers.fooling_sanitizer import FoolingSanitizer
from littlestone.learners.sanitizers.labels import LabelConversion
from littlestone.learners.sanitizers.protocols import Sanitizer
from littlestone.learners.sanitizers.tree_sanitizer import TreeSanitizer
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards
from littlestone.theory.sanitization import batched_regret_upper_bound

_STEP: Final = 1.4
_CHANCES: Final = (1e-3, 1e-4, 1e-5, 1e-6, 1e-8)

SanitizerFor = Callable[[int], Sanitizer]
"""Maps a batch length to the sanitizer for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """Batches of one length, with the sanitizer for them."""

    rounds: int
    batch: int
    sanitizer: Sanitizer
    base: ProperOnlineLearner

    @classmethod
    @require.checked
    def best(
        cls, *, rounds: int, sanitizers: SanitizerFor, base: ProperOnlineLearner
    ) -> "BatchPlan":
        """Return the plan with the smallest bound; where no length has one, with the best rate."""
        require.integer(rounds=rounds, at_least=1)
        plans = [
            cls(rounds=rounds, batch=batch, sanitizer=sanitizers(batch), base=base)
            for batch in _lengths(rounds)
        ]
        best = min(plans, key=BatchPlan.expected_regret_bound)
        if best.expected_regret_bound() < rounds:
            return best
        half = best.sanitizer.needed(error=0.5, failure_probability=0.05)
        return min(plans, key=lambda plan: plan._shape(half))

    @property
    def batches(self) -> int:
        """The number of batches; the last one may be cut short."""
        return -(-self.rounds // self.batch)

    def copy_regret(self) -> float:
        """Bound the regret of one copy of the base learner, which sees one example per batch."""
        return self.base.for_rounds(self.batches).expected_regret_bound()

    def expected_regret_bound(self) -> float:
        """Return B·R(⌈T/B⌉) + 2αT plus failures, for the best of a few failure probabilities.

        α is the error of a synthetic dataset, for which the theory has twice the error of an
        estimate.
        """
        copy_regret = self.copy_regret()
        bounds = [
            batched_regret_upper_bound(
                rounds=self.rounds,
                batch=self.batch,
                copy_regret=copy_regret,
                error=self._error(chance) / 2,
                failure_probability=chance,
            )
            for chance in _CHANCES
        ]
        return min(float(self.rounds), *bounds)

    def regret_bound(self, *, failure_probability: float) -> float:
        """Bound the regret, except with ``failure_probability``.

        Sanitizers, permutations of the synthetic examples, and draws each get a third of it.
        """
        require.open_probability(failure_probability=failure_probability)
        third = failure_probability / 3
        error = self._error(third / self.batches)
        chance = math.sqrt(self.rounds * math.log(1 / third))
        spread = chance * (math.sqrt(2) + math.sqrt(0.5))
        total = self.batch * self.copy_regret() + 2 * error * self.rounds + spread
        return min(float(self.rounds), upwards(total))

    def _error(self, failure_probability: float) -> float:
        return synthetic_error_bound(
            self.sanitizer, size=self.batch, failure_probability=failure_probability
        )

    def _shape(self, half: int) -> float:
        """Return B·R(T/B) + 2αT for an error α that is 1/2 at ``half`` and falls like 1/√B."""
        error = math.sqrt(half / self.batch) / 2
        return self.batch * self.copy_regret() + 2 * error * self.rounds


def synthetic_error_bound(sanitizer: Sanitizer, *, size: int, failure_probability: float) -> float:
    """Bound how much a concept's errors on ``dataset(size)`` and on the data differ; 1 if unknown.

    It adds the error of the distribution and that of rounding it to whole examples. For other kinds
    of sanitizers only estimates are bounded, not datasets.
    """
    error = sanitizer.error_bound(size=size, failure_probability=failure_probability)
    if isinstance(sanitizer, TreeSanitizer):
        # A threshold sums two values of the curve and an interval five, each off by 1/2.
        return min(1.0, upwards(error + 2.5 / size))
    if isinstance(sanitizer, FoolingSanitizer):
        queries = sanitizer.queries
        rest = min(size, queries.cells)
        rounding = math.sqrt(rest * math.log(2 * queries.concepts) / 2) / size
        return min(1.0, upwards(error + rounding))
    return 1.0


def planned_sanitizers(
    concepts: ConceptClass, *, rounds: int, epsilon: float, delta: float
) -> SanitizerFor:
    """Return the sanitizer for the class, planned for each batch length if its kind has a plan."""

    def for_length(batch: int) -> Sanitizer:
        return sanitizer_for(
            concepts,
            size=batch,
            epsilon=epsilon,
            delta=delta,
            labelled=True,
            failure_probability=min(0.05, 1 / rounds),
        )

    first = for_length(max(1, math.isqrt(rounds)))
    return for_length if isinstance(first, FoolingSanitizer) else lambda batch: first


def _lengths(rounds: int) -> list[int]:
    lengths = [1]
    while lengths[-1] < rounds:
        lengths.append(min(rounds, max(lengths[-1] + 1, round(lengths[-1] * _STEP))))
    return lengths


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class SanitizedBatches(Budgeted):
    """Sanitize each batch; let copies of a proper online learner follow the synthetic examples.

    [P, Algorithm 3]. Each copy sees one synthetic example of each batch; in each round a random
    copy draws the hypothesis. Sanitizer, base learner and batch length are chosen by the regret
    bound unless given. A sanitizer that fails still releases something public, with which the
    learner continues (docs/ERRATA.md, S4).

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  the sanitizer's; per user (``max_contributions`` examples) by group privacy
        Assumes:    what the sanitizer assumes
        Proof:      batches.md

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
    """The plan in use, given or chosen by the regret bound."""

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
        """The guarantee of the sanitizer."""
        return self.plan.sanitizer.guarantee()

    def regret_bound(self, *, failure_probability: float) -> float:
        """Bound the regret, except with ``failure_probability``; ``rounds`` promises nothing."""
        return self.plan.regret_bound(failure_probability=failure_probability)

    def expected_regret_bound(self) -> float:
        """Bound the expected regret, failures included."""
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
    """The current batch, and the synthetic examples of earlier ones."""

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
        """Draw the first hypothesis from an untrained copy."""
        self._batch, self._synthetic, self._played = [], [], 0  # (L1)
        self.ledger = Ledger(budget=self._plan.sanitizer.guarantee(), private=self._rng.private)
        self.hypothesis = self._draw()

    def step(self, x: Any, y: Label) -> None:
        """Take one round; sanitize a batch that is full, then draw."""
        self._played += 1
        self._batch.append((x, y))
        if self._played == self._plan.rounds:
            return  # no further hypothesis is needed, so nothing is spent
        if len(self._batch) == self._plan.batch:  # (L5)
            self._sanitize()
        drawn = self._draw()
        if drawn != self.hypothesis:  # keep the object if the same function is drawn again
            self.hypothesis = drawn

    def _draw(self) -> Hypothesis:
        """Draw a concept from the distribution of a random copy (L2–L4).

        Everything here is a function of sanitized data and fresh coins, so floating point is
        harmless.
        """
        return self._copy(self._rng.below(self._plan.batch)).draw(rng=self._rng)

    def _copy(self, number: int) -> ProperState:
        """Return the state of copy ``number``, after feeding it the examples it has not seen."""
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
