"""Compute the floors and the learners' values of a tiny class."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from littlestone.audit.exact.worst_mistakes import worst_mistakes
from littlestone.choose.catalogue import LEARNERS, lookup
from littlestone.concepts.classes.finite import FiniteClass, listed_class
from littlestone.concepts.protocols import ConceptClass
from littlestone.errors import LittlestoneError
from littlestone.lab.every_bound import BOUNDS


@dataclass(frozen=True, slots=True)
class Floor:
    """A lower bound on the expected mistakes of every private learner."""

    name: str
    mistakes: float


@dataclass(frozen=True, slots=True)
class _Facts:
    table: FiniteClass
    rounds: int

    @property
    def agree(self) -> bool:
        """Whether there is a point at which all concepts agree."""
        return bool((self.table.matrix == self.table.matrix[0]).all(axis=0).any())

    @property
    def dimension(self) -> int:
        return self.table.littlestone_dimension


_Arguments = Callable[[_Facts], Mapping[str, Any] | None]


def _dimension(facts: _Facts) -> Mapping[str, Any]:
    return {"littlestone_dimension": facts.dimension}


def _dimension_in_time(facts: _Facts) -> Mapping[str, Any] | None:
    return _dimension(facts) if facts.rounds >= facts.dimension else None


def _size(facts: _Facts) -> Mapping[str, Any] | None:
    return {"concepts": facts.table.size} if facts.table.size > 1 else None


def _size_if_agreed(facts: _Facts) -> Mapping[str, Any] | None:
    return _size(facts) if facts.agree else None


def _depth_if_agreed(facts: _Facts) -> Mapping[str, Any] | None:
    return {"depth": facts.dimension} if facts.agree else None


HOLDS: Final[Mapping[str, _Arguments]] = {
    "coin_tree_lower_bound": _dimension,
    "dimension_lower_bound": _dimension,
    "deterministic_lower_bound": _dimension_in_time,  # the adversary sees each hypothesis
    "randomized_lower_bound": _dimension_in_time,
    "burst_lower_bound": _size,
    "burst_and_wait_lower_bound": _size_if_agreed,
    "wait_lower_bound": _size_if_agreed,
    "wait_down_tree_lower_bound": _depth_if_agreed,
}
"""The arguments of each floor of the table for a finite class; None if it does not hold. Floors
for one kind of class (points, sparse sets, thresholds) are not included, and names that the table
lacks are skipped.
"""


def floors_of(concepts: ConceptClass, *, rounds: int, epsilon: float, delta: float) -> list[Floor]:
    """Compute every floor of the table that holds for a class, largest first.

    They assume that the adversary sees each hypothesis before it answers.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> [floor.name for floor in floors_of(Thresholds(3), rounds=4, epsilon=1.0, delta=0.0)][:1]
    ['adaptive floors: dimension']
    """
    facts = _Facts(listed_class(concepts), rounds)
    budget = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
    found = []
    for bound in BOUNDS:
        arguments = HOLDS.get(bound.function.__name__)
        given = None if arguments is None else arguments(facts)
        if given is None:
            continue
        needed = {name: value for name, value in budget.items() if name in bound.needs}
        try:
            found.append(Floor(bound.name, float(bound.function(**given, **needed))))
        except ValueError:
            continue  # does not apply to this budget, for instance an infinite epsilon
    return sorted(found, key=lambda floor: -floor.mistakes)


MOST_RUNS: Final = 5_000


@dataclass(frozen=True, slots=True)
class LearnerValue:
    """One learner's largest expected number of mistakes, or why it is unknown."""

    name: str
    low: Fraction | None = None
    high: Fraction | None = None
    refusal: str | None = None


def learner_values(
    concepts: ConceptClass,
    *,
    rounds: int,
    epsilon: float,
    delta: float,
    names: Sequence[str] = (),
    most: int = MOST_RUNS,
) -> Iterator[LearnerValue]:
    """Enumerate the coins of the catalogue's private learners against the best adversary.

    Args:
        concepts: A finite class on finitely many points.
        rounds: The number of rounds, which is also each learner's horizon.
        epsilon: Privacy parameter.
        delta: Privacy parameter.
        names: Learners of the catalogue; all private ones by default.
        most: The largest number of runs per learner; beyond it the value is unknown.

    Returns:
        A value for each learner, in the order of the catalogue.
    """
    wanted = names or [name for name, entry in LEARNERS.items() if entry.private]
    for name in wanted:
        entry = lookup(LEARNERS, name, kind="learner")
        try:
            recipe = entry.build(concepts, rounds=rounds, epsilon=epsilon, delta=delta)
            found = worst_mistakes(recipe, rounds=rounds, most=most)
        except (ValueError, LittlestoneError) as refusal:
            yield LearnerValue(name, refusal=" ".join(str(refusal).split()))
        else:
            yield LearnerValue(name, found.low, found.high)
