"""How a learner registers itself: an entry in its own package, which every command reads."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import littlestone.learners
from littlestone.concepts.protocols import ConceptClass, OnlineClass
from littlestone.registry import discovered, loaded


def _nothing(adversary: str) -> Mapping[str, Any]:
    del adversary
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerEntry:
    """A learner that can be built from a class, a horizon and a budget.

    Packages below ``littlestone.learners`` list their entries as ``LEARNERS`` in ``__init__.py``;
    the recipe itself is imported when it is first needed.

    Args:
        name: What users write, as in ``--learner private-keys``.
        place: ``package.module:Recipe``, or the name of a constructor of it.
        summary: One line for lists.
        private: Whether it keeps a promise; learners that do not take nothing but the class.
        needs_rounds: Whether a horizon must be declared.
        needs_delta: Whether it takes a ``delta``.
        fixed: Further arguments of the recipe.
        ranked: The settings in which it has a proved bound, so that ``recommend`` ranks it.
        against: Maps an adversary (``adaptive`` or ``oblivious``) to arguments of a ranked recipe.
        deepest: The largest Littlestone dimension for which ``recommend`` ranks it.
        predicted: Measured (not proved) mistakes, to rank by where no bound is useful.
        rank_only: Whether it is ranked and cannot be asked for by name.
    """

    name: str
    place: str
    summary: str
    private: bool = True
    needs_rounds: bool = True
    needs_delta: bool = True
    fixed: Mapping[str, Any] = field(default_factory=dict)
    ranked: tuple[str, ...] = ()
    against: Callable[[str], Mapping[str, Any]] = _nothing
    deepest: float = math.inf
    predicted: Callable[[Any], float] | None = None
    rank_only: bool = False

    def candidate(self, concepts: ConceptClass, adversary: str, **budget: Any) -> Any:
        """Return the recipe that is ranked against a kind of adversary.

        Raises:
            ValueError: If the class is too deep for it, or the recipe refuses the class.
        """
        if self.deepest != math.inf and concepts.littlestone_dimension > self.deepest:
            raise ValueError(
                "its mistakes are doubly exponential in the Littlestone dimension, here "
                f"{concepts.littlestone_dimension}; beyond {self.deepest} no horizon is long enough"
            )
        return loaded(self.place)(concepts=concepts, **self.against(adversary), **budget)

    @property
    def makes(self) -> str:
        """The name of the class of its recipes."""
        return self.place.partition(":")[2].partition(".")[0]

    def build(self, concepts: OnlineClass, *, delta: float, **budget: Any) -> Any:
        """Return the recipe for a class and a budget."""
        recipe = loaded(self.place)
        if not self.private:
            return recipe(concepts)
        if self.needs_delta:
            budget["delta"] = delta
        return recipe(concepts=concepts, **self.fixed, **budget)


@cache
def every_learner() -> Mapping[str, LearnerEntry]:
    """Return every entry by name, those that are only ranked included."""
    return discovered(littlestone.learners, "LEARNERS", LearnerEntry, packages_only=True)


@dataclass(frozen=True, slots=True)
class Part:
    """The place of a recipe that other recipes are made of; listed as ``PARTS``."""

    place: str

    @property
    def name(self) -> str:
        """The name of the recipe's class."""
        return self.place.partition(":")[2]


@cache
def recipe_places() -> Mapping[str, str]:
    """Return, for each recipe class that a stored form may name, where it is."""
    parts = discovered(littlestone.learners, "PARTS", Part, packages_only=True)
    named = {
        entry.makes: f"{entry.place.partition(':')[0]}:{entry.makes}"
        for entry in every_learner().values()
    }
    return {**named, **{name: part.place for name, part in parts.items()}}
