"""Protocols say what the two sides of the game owe each other."""

from collections.abc import Mapping, MutableMapping
from typing import Any, Protocol, runtime_checkable

from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label
from littlestone.randomness import Randomness


class LearnerRun(Protocol):
    """One run of a learner: a published hypothesis, and ``observe``."""

    @property
    def hypothesis(self) -> Hypothesis:
        """What is published for the coming round; reading it changes nothing."""

    def observe(self, x: Any, y: Label, /) -> None: ...


@runtime_checkable
class BlockRun(LearnerRun, Protocol):
    """A run that can take many rounds at once."""

    def observe_many(self, xs: Any, ys: Any, /) -> int:
        """Take rounds until the published hypothesis changes or the block ends.

        Returns how many were taken (at least 1 of a non-empty block). The law of the run is
        that of calling ``observe`` on each.
        """


@runtime_checkable
class FollowingRun(BlockRun, Protocol):
    """A run that can take a whole block, whatever it publishes meanwhile."""

    @property
    def switches(self) -> int:
        """How often the published hypothesis has changed."""

    def follow(self, xs: Any, ys: Any, /) -> Any:
        """What was published for each round said of its point."""


@runtime_checkable
class Player(Protocol):
    """A frozen recipe for a run, with the terms on which it plays."""

    @property
    def rounds(self) -> int | None:
        """The horizon; None where any number of rounds may be played."""

    @property
    def oblivious_only(self) -> bool:
        """Whether accuracy is promised against oblivious adversaries only."""

    def start(self, *, rng: Randomness) -> LearnerRun: ...


class Learner(Player, Protocol):
    """A player whose hypotheses are for the domain of a concept class."""

    @property
    def concepts(self) -> ConceptClass: ...


class Attack(Protocol):
    """One run of an adversary."""

    def choose(self, seen: Hypothesis | None, /) -> Example:
        """The next example; ``seen`` is the newest hypothesis the adversary may know."""


@runtime_checkable
class BlockAttack(Attack, Protocol):
    """An attack that can say what it would play for as long as nothing new is published."""

    def plan(self, seen: Hypothesis | None, most: int, /) -> tuple[Any, Any]:
        """Points and labels of the next rounds (1 to ``most``) while ``seen`` stays newest.

        Changes nothing; ``played`` says how many of them really were.
        """

    def played(self, count: int, /) -> None:
        """The first ``count`` examples of the last plan were played."""


class Opponent(Protocol):
    """A frozen recipe for an attack."""

    @property
    def adaptive(self) -> bool:
        """Whether the attack depends on what the learner published."""

    def start(self, *, rng: Randomness) -> Attack: ...


class Adversary(Opponent, Protocol):
    """An opponent whose examples are for a concept class."""

    @property
    def concepts(self) -> ConceptClass: ...

    @property
    def realizable(self) -> bool:
        """Whether some concept is promised to be consistent with every example."""


class Arbiter(Protocol):
    """Who lets examples into the game, and knows the best one could have done in hindsight."""

    @property
    def admitted(self) -> Mapping[Any, Example]:
        """Examples as they came → as they are: these need not be asked for again."""

    @property
    def singles(self) -> MutableMapping[Example, int] | None:
        """Where the loop counts single rounds; None when no count is needed."""

    def admit(self, example: Any, round_number: int, /) -> Example:
        """The example in canonical form, or a refusal that names the round."""

    def admit_many(self, xs: Any, ys: Any, round_number: int, /) -> tuple[Any, Any]:
        """The valid examples at the head of a block; a refusal if its first is not valid."""

    def count(self, points: Any, labels: Any, round_number: int, /) -> None:
        """Take note of a block of admitted examples that were really played."""

    def fewest_so_far(self) -> int | None:
        """The mistakes of the best in hindsight, where that is known all along; else None."""

    def fewest_mistakes(self) -> int | None:
        """The mistakes of the best in hindsight, at the end; None where nobody can tell."""
