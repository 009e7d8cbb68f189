"""Many teachers share the rounds at random, and mistakes grow polynomially in d."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

from littlestone import require
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.lab.private_teachers.algorithm import PrivateTeachersEngine
from littlestone.lab.private_teachers.plan import TeachersPlan, plan_teachers
from littlestone.learners.batch.agnostic_empirical import log2_growth
from littlestone.learners.budgeted import Budgeted
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.sparse_sample import SparseSample
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateTeachers(Budgeted):
    """Play a function that many teachers list until it errs often; then remove it from all lists.

    After [L25], whose online algorithm was reconstructed (algorithm.md): Õ(d^9.5·log T)/epsilon
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
        Proof:      algorithm.md

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

    def engine(self, rng: Randomness, /) -> PrivateTeachersEngine:
        return PrivateTeachersEngine(self, rng)
