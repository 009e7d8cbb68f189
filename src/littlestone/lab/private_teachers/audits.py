"""The audit of PrivateTeachers and a broken variant, found by entry points."""

from typing import Any

from littlestone.audit.controls.broken_forests import broken
from littlestone.audit.learner_attacks import FirstMistake
from littlestone.audit.subjects.learner_subjects import audit_of
from littlestone.audit.subjects.small_learners import ROUNDS
from littlestone.audit.substitution import with_engine
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.protocols import Label
from littlestone.lab.private_teachers.plan import TeachersPlan
from littlestone.lab.private_teachers.recipe import PrivateTeachers, PrivateTeachersEngine


def many_teachers(epsilon: float, delta: float) -> PrivateTeachers:
    """Return a recipe whose counter one mistake may end, with most of epsilon."""
    plan = TeachersPlan(
        teachers=600,
        tolerance=1,
        mistakes=1,
        phases=2,
        count_epsilon=0.8 * epsilon,
        watch_epsilon=0.024 * epsilon,
        draw_epsilon=0.075 * epsilon,
        draw_delta=delta / 4,
    )
    coin = FiniteClass([[0], [1]])
    return PrivateTeachers(concepts=coin, rounds=ROUNDS, epsilon=epsilon, delta=delta, plan=plan)


class _RoundsOfAll(PrivateTeachersEngine):
    def step(self, x: Any, y: Label, /) -> None:
        if not self.halted:
            self._pending += self._table.matrix[:, x] != y
            self._counted(self.hypothesis(x) != y)


AUDITS = (
    audit_of(
        "private-teachers",
        many_teachers,
        FirstMistake(),
        "PrivateTeachers: a mistake or none, where one may end the phase",
    ),
)
CONTROLS = (
    broken(
        "teachers-share-rounds",
        "PrivateTeachers: every round belongs to all teachers, so that all lists change at once",
        with_engine(many_teachers(1.0, 1e-6), _RoundsOfAll),
        FirstMistake(),
    ),
)
