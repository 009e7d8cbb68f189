"""Deterministic learners with a mistake bound, and the values they pass through."""

from typing import Any, Protocol, Self, runtime_checkable

from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label


class OnlineState(Protocol):
    """Where a deterministic learner stands: an immutable, hashable value."""

    @property
    def hypothesis(self) -> Hypothesis:
        """What is predicted next; ValueError once ``failed``."""

    @property
    def failed(self) -> bool:
        """Whether the examples so far contradict every concept (the paper's ⊥)."""

    def after(self, x: Any, y: Label, /) -> Self: ...

    def __hash__(self) -> int: ...


@runtime_checkable
class OnlineLearner(Protocol):
    """A frozen recipe; never errs more than ``mistake_bound`` times on realizable streams.

    What it says about its states lets games be played at numpy speed.
    """

    @property
    def concepts(self) -> ConceptClass: ...

    @property
    def mistake_bound(self) -> int: ...

    @property
    def conservative(self) -> bool:
        """Whether only a mistake changes the state."""

    @property
    def repeats_change_nothing(self) -> bool:
        """Whether an example that was taken once changes no later state."""

    def start(self) -> OnlineState: ...


def require_base(base: OnlineLearner, concepts: ConceptClass) -> None:
    """Refuse a learner for other points than those of ``concepts``, while no data are there yet."""
    if base.concepts.domain != concepts.domain:
        raise ValueError(
            f"base must learn over the domain of concepts, {concepts.domain!r}, "
            f"got {base.concepts.domain!r}"
        )
