"""What the two sides of the game owe each other."""

from typing import Any, Protocol, runtime_checkable

from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label
from littlestone.randomness import Randomness


class LearnerRun(Protocol):
    """One run of a learner: a published hypothesis, and ``observe``."""

    @property
    def hypothesis(self) -> Hypothesis:
        """What is published for the coming round; reading it changes nothing."""
        ...

    def observe(self, x: Any, y: Label, /) -> None: ...


@runtime_checkable
class BlockRun(Protocol):
    """A run that can take many rounds at once."""

    @property
    def hypothesis(self) -> Hypothesis: ...

    def observe(self, x: Any, y: Label, /) -> None: ...

    def observe_many(self, xs: Any, ys: Any, /) -> int:
        """Take rounds until the published hypothesis changes or the block ends.

        Returns how many were taken (at least 1 of a non-empty block). The law of the run is
        that of calling ``observe`` on each.
        """
        ...


class Learner(Protocol):
    """A frozen recipe for a run."""

    @property
    def concepts(self) -> ConceptClass: ...

    def start(self, *, rng: Randomness) -> LearnerRun: ...


class Attack(Protocol):
    """One run of an adversary."""

    def choose(self, seen: Hypothesis | None, /) -> Example:
        """The next example; ``seen`` is the newest hypothesis the adversary may know."""
        ...


@runtime_checkable
class BlockAttack(Protocol):
    """An attack that can say what it would play for as long as nothing new is published."""

    def choose(self, seen: Hypothesis | None, /) -> Example: ...

    def plan(self, seen: Hypothesis | None, most: int, /) -> tuple[Any, Any]:
        """Points and labels of the next rounds (1 to ``most``) while ``seen`` stays newest.

        Changes nothing; ``played`` says how many of them really were.
        """
        ...

    def played(self, count: int, /) -> None:
        """The first ``count`` examples of the last plan were played."""
        ...


class Adversary(Protocol):
    """A frozen recipe for an attack."""

    @property
    def concepts(self) -> ConceptClass: ...

    @property
    def adaptive(self) -> bool:
        """Whether the examples depend on what the learner published."""
        ...

    @property
    def realizable(self) -> bool:
        """Whether some concept is promised to be consistent with every example."""
        ...

    def start(self, *, rng: Randomness) -> Attack: ...
