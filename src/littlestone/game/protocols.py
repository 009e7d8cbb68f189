"""The protocols of learners, adversaries and the referee between them."""

from collections.abc import Mapping, MutableMapping
from typing import Any, Protocol, Self, runtime_checkable

from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label, OnlineClass
from littlestone.randomness import Randomness


class LearnerRun(Protocol):
    """One run of a learner: a published hypothesis, and ``observe``."""

    @property
    def hypothesis(self) -> Hypothesis:
        """The published hypothesis for the coming round; reading it changes nothing."""

    def observe(self, x: Any, y: Label, /) -> None:
        """Take the example of this round."""


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
        """The number of changes of the published hypothesis."""

    def follow(self, xs: Any, ys: Any, /) -> Any:
        """Return the label that was published for the point of each round."""


@runtime_checkable
class Player(Protocol):
    """A frozen recipe for a run, with its conditions."""

    @property
    def rounds(self) -> int | None:
        """The horizon; None for any number of rounds."""

    @property
    def oblivious_only(self) -> bool:
        """Whether accuracy is promised against oblivious adversaries only."""

    def start(self, *, rng: Randomness) -> LearnerRun:
        """Start a run."""


class Learner(Player, Protocol):
    """A player whose hypotheses are for the domain of a concept class."""

    @property
    def concepts(self) -> OnlineClass:
        """The class that is learned."""


class Attack(Protocol):
    """One run of an adversary."""

    def choose(self, seen: Hypothesis | None, /) -> Example:
        """Return the next example; ``seen`` is the newest hypothesis that the adversary knows."""


@runtime_checkable
class BlockAttack(Attack, Protocol):
    """An attack that can plan its examples while nothing new is published."""

    def plan(self, seen: Hypothesis | None, most: int, /) -> tuple[Any, Any]:
        """Return the next points and labels (1 to ``most``) while ``seen`` stays newest.

        Changes nothing; ``played`` reports how many of them were played.
        """

    def played(self, count: int, /) -> None:
        """Record that the first ``count`` examples of the last plan were played."""


class Opponent(Protocol):
    """A frozen recipe for an attack."""

    @property
    def adaptive(self) -> bool:
        """Whether the attack depends on what the learner published."""

    def start(self, *, rng: Randomness) -> Attack:
        """Start an attack."""


class Adversary(Opponent, Protocol):
    """An opponent whose examples are for a concept class."""

    @property
    def concepts(self) -> OnlineClass:
        """The class that examples come from."""

    @property
    def realizable(self) -> bool:
        """Whether some concept is promised to be consistent with every example."""


class Arbiter(Protocol):
    """Validates examples and computes the best result in hindsight."""

    @property
    def admitted(self) -> Mapping[Any, Example]:
        """A cache from examples as given to their canonical form."""

    @property
    def singles(self) -> MutableMapping[Example, int] | None:
        """Where the loop counts single rounds; None when no count is needed."""

    def admit(self, example: Any, round_number: int, /) -> Example:
        """Return the example in canonical form, or raise an error that names the round."""

    def admit_many(self, xs: Any, ys: Any, round_number: int, /) -> tuple[Any, Any]:
        """Return the valid examples at the head of a block; raise if its first is not valid."""

    def count(self, points: Any, labels: Any, round_number: int, /) -> None:
        """Count a block of admitted examples that were played."""

    def fewest_so_far(self) -> int | None:
        """Return the mistakes of the best concept so far if known during the game, else None."""

    def fewest_mistakes(self) -> int | None:
        """Return the mistakes of the best concept at the end; None if unknown."""


class OnlineState(Protocol):
    """The state of a deterministic learner, an immutable, hashable value."""

    @property
    def hypothesis(self) -> Hypothesis:
        """The next hypothesis; ValueError once ``failed``."""

    @property
    def failed(self) -> bool:
        """Whether the examples so far contradict every concept (the paper's ⊥)."""

    def after(self, x: Any, y: Label, /) -> Self:
        """Return the state after one more example."""

    def __hash__(self) -> int: ...


@runtime_checkable
class OnlineLearner(Protocol):
    """A frozen recipe that errs at most ``mistake_bound`` times on realizable streams.

    Its properties let games run at numpy speed.
    """

    @property
    def concepts(self) -> OnlineClass:
        """The class that is learned."""

    @property
    def mistake_bound(self) -> int:
        """The most mistakes on a realizable stream."""

    @property
    def conservative(self) -> bool:
        """Whether only a mistake changes the state."""

    @property
    def repeats_change_nothing(self) -> bool:
        """Whether an example that was taken once changes no later state."""

    def start(self) -> OnlineState:
        """Return the state before any example."""


def require_base(base: OnlineLearner, concepts: ConceptClass) -> None:
    """Raise a ValueError if ``base`` learns over another domain than that of ``concepts``."""
    if base.concepts.domain != concepts.domain:
        raise ValueError(
            f"base must learn over the domain of concepts, {concepts.domain!r}, "
            f"got {base.concepts.domain!r}"
        )
