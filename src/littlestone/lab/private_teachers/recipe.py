"""Many teachers share the rounds at random, and mistakes grow polynomially in d."""

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.hypotheses.tables import TableHypothesis
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.lab.private_teachers.plan import TeachersPlan, plan_teachers
from littlestone.learners.batch.agnostic_empirical import log2_growth
from littlestone.learners.batch.proper_step import dimension_of, irreducible_parts, keeping_labels
from littlestone.learners.budgeted import Budgeted
from littlestone.learners.engine import Engine
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.privacy.mechanisms.above_threshold import AboveThresholdRun
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThresholdRun
from littlestone.privacy.mechanisms.sparse_sample import SparseSample
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateTeachers(Budgeted):
    """Play a function that many teachers list until it errs often; then remove it from all lists.

    After [L25], whose online algorithm was reconstructed (recipe.md): Õ(d^9.5·log T)/epsilon
    mistakes on oblivious streams, where the forest's constants grow doubly exponentially with d.
    The numbers have no practical use: the proof needs about 10^11 mistakes at d = 1. A ``plan``
    with small numbers can be played; it is as private but promises no accuracy.

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive, as far as privacy goes
        Guarantee:  (epsilon, delta), conditionally on every prefix; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    timing (docs/GUARANTEES.md): building the trees
        Proof:      recipe.md

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> learner = PrivateTeachers(
    ...     concepts=Thresholds(3), rounds=10**13, epsilon=1.0, delta=1e-6)
    >>> print(f"{learner.mistake_bound(failure_probability=0.05):.0e}")
    7e+11
    """

    plan: TeachersPlan | None = None
    failure_probability: float = 0.05
    """The failure probability of the default plan."""
    planned: TeachersPlan = field(init=False, repr=False, compare=False)
    """The numbers in use: ``plan``, or those chosen if it is None."""
    table: FiniteClass = field(init=False, repr=False, compare=False)
    _sample: SparseSample = field(init=False, repr=False, compare=False)
    _cost: PrivacyGuarantee = field(init=False, repr=False, compare=False)

    oblivious_only: ClassVar[bool] = True
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        self.check_promise(failure_probability=self.failure_probability)
        table = FiniteClass.from_class(self.concepts)
        dimension = table.littlestone_dimension
        if table.domain != self.concepts.domain:
            raise ValueError(
                "the points of concepts must be whole numbers from 0 on, "
                f"got concepts={self.concepts!r}; use FiniteClass.from_class(concepts)"
            )
        if dimension < 1:
            raise ValueError(f"concepts must be at least two, got concepts={self.concepts!r}")
        planned = self.plan
        if planned is None:
            planned = plan_teachers(
                dimension=dimension,
                log_growth=log2_growth(table, self.rounds) * math.log(2),
                size=table.size,
                rounds=self.rounds,
                epsilon=self.epsilon,
                delta=self.delta,
                failure_probability=self.failure_probability,
            )
        cost = planned.guarantee(dimension=dimension, delta=self.delta)
        require.settle(
            self,
            table=table,
            planned=planned,
            _cost=cost,
            _sample=planned.sample(dimension, table.size),
        )
        self.check_within_budget(plan=cost)

    @property
    def per_example(self) -> PrivacyGuarantee:
        """Return the cost of one example."""
        return self._cost

    def mistake_bound(self, *, failure_probability: float) -> float:
        """Bound the mistakes on oblivious realizable streams; the rounds if nothing is proved."""
        if self.plan is not None or failure_probability < self.failure_probability:
            return float(self.rounds)
        bound = self.planned.mistakes_bound(failure_probability=self.failure_probability)
        return min(float(self.rounds), bound)

    def engine(self, rng: Randomness, /) -> "PrivateTeachersEngine":
        return PrivateTeachersEngine(self, rng)


@dataclass(init=False, eq=False, repr=False)
class PrivateTeachersEngine(Engine):
    """Each teacher's examples, the leaves of its tree, and the two noisy watches."""

    ledger: Ledger
    hypothesis: Hypothesis
    halted: bool
    _stage: int
    _phase: int
    _errors: NDArray[np.int64]
    """The errors of every concept on the rounds of every teacher, up to the last phase."""
    _pending: NDArray[np.int64]
    """The errors in the current phase."""
    _leaves: list[tuple[int, ...]]
    _degrees: list[int]
    """D_i: the largest dimension of a leaf when the stage began."""
    _watch: AboveThresholdRun
    _counter: CountAboveThresholdRun

    def __init__(self, recipe: "PrivateTeachers", rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng
        self._plan, self._table = recipe.planned, recipe.table
        self._dimension = recipe.table.littlestone_dimension
        self._sample = recipe._sample

    def begin(self) -> None:
        """Set up the first phase and draw its noise."""
        recipe, shape = self._recipe, (self._plan.teachers, len(self._table.matrix))
        self.ledger = Ledger(budget=recipe.budget, private=self._rng.private)
        self.ledger.charge("counters, watches and draws", recipe.per_example, first=1)
        self._errors, self._pending = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self._phase, self.halted = 0, False
        self.hypothesis = TableHypothesis(self._table.matrix[0].tobytes())
        self._enter(0)
        self._counter = self._plan.counter().start(rng=self._rng)
        self._draw()

    @property
    def status(self) -> str:
        """The public status of the run."""
        return "halted: no stage or phase left; still publishing" if self.halted else "learning"

    def step(self, x: Any, y: Label, /) -> None:
        if not self.halted:
            owner = self._rng.below(self._plan.teachers)  # (L1)
            self._pending[owner] += self._table.matrix[:, x] != y
            self._counted(self.hypothesis(x) != y)

    def idle(self, x: Any, /) -> None:
        """Draw an owner for the round; no teacher learns."""
        del x
        if not self.halted:
            self._rng.below(self._plan.teachers)
            self._counted(False)

    def _counted(self, mistake: bool) -> None:
        if not self._counter.observe(mistake):  # (L5)
            return
        self._errors += self._pending  # (L6)
        self._pending[:] = 0
        self._refine()
        self._counter = self._plan.counter().start(rng=self._rng)
        self._draw()

    def _draw(self) -> None:
        """Go to the stage in which some function is popular, and draw one."""
        lists = self._lists()
        while self._watch.ask(-_popularity(lists)):  # (L3)
            if self._stage == self._dimension:
                self.halted = True  # (L8)
                return
            self._enter(self._stage + 1)
            lists = self._lists()
        self._phase += 1
        paid = self._phase <= self._plan.phases
        drawn = self._sample.draw(lists, rng=self._rng) if paid else None
        if drawn is None:
            self.halted = True  # (L8)
        else:
            self.hypothesis = TableHypothesis(drawn)  # (L4)

    def _enter(self, stage: int) -> None:
        """Regrow all trees with twice the reach and a smaller tolerance."""
        self._stage = stage
        everything = (1 << len(self._table.matrix)) - 1
        self._leaves = [(everything,)] * self._plan.teachers
        self._refine()  # (L2)
        self._degrees = [
            max((self._dimension_of(leaf) for leaf in leaves), default=-1)
            for leaves in self._leaves
        ]
        self._watch = self._plan.watch().start(rng=self._rng)

    def _refine(self) -> None:
        """Keep the concepts that err little, and split leaves that are no longer irreducible.

        Leaves are refined in place: a new tree could list removed functions again.
        """
        shrink = (1 - Fraction(1, 2 * self._dimension)) ** (self._stage + 1)
        accurate = self._errors <= int(shrink * self._plan.tolerance)
        rows = np.packbits(accurate, axis=1, bitorder="little")
        known: dict[tuple[tuple[int, ...], bytes], tuple[int, ...]] = {}
        reach = self._plan.reach(self._stage)
        for i, row in enumerate(rows):
            key = (self._leaves[i], row.tobytes())
            if key not in known:
                members = int.from_bytes(key[1], "little")
                parts = (leaf & members for leaf in key[0])
                known[key] = tuple(  # (L7)
                    leaf
                    for part in parts
                    if part
                    for leaf in irreducible_parts(self._table, part, reach=reach)
                )
            self._leaves[i] = known[key]

    def _lists(self) -> list[frozenset[bytes]]:
        known: dict[tuple[tuple[int, ...], int], frozenset[bytes]] = {}
        for key in zip(self._leaves, self._degrees, strict=True):
            if key not in known:
                leaves, degree = key
                known[key] = frozenset(
                    keeping_labels(self._table, leaf)
                    for leaf in leaves
                    if self._dimension_of(leaf) == degree
                )
        return [known[key] for key in zip(self._leaves, self._degrees, strict=True)]

    def _dimension_of(self, members: int) -> int:
        return dimension_of(self._table, members)


def _popularity(lists: list[frozenset[bytes]]) -> int:
    """Return q, the number of lists that contain the most popular function."""
    return max(Counter(u for known in lists for u in known).values(), default=0)
