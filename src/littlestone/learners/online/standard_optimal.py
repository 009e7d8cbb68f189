"""The standard optimal algorithm: no deterministic learner has a smaller mistake bound."""

from dataclasses import dataclass
from typing import Any, ClassVar

from littlestone import require
from littlestone.concepts.protocols import Hypothesis, Label, OnlineClass, VersionSpace


@dataclass(frozen=True, slots=True)
class StandardOptimal:
    """Predict the label that keeps the largest Littlestone dimension.

    Every example narrows the version space, correctly predicted ones too, as in the definition.
    Callers that pass on mistakes only, such as the private forests, get the conservative variant,
    for which the same bound holds.

    Mistakes: at most the Littlestone dimension of ``concepts`` on realizable streams.
    Privacy:  none.
    Source:   [L88], and [DSBS15] for more than two labels; ties go to the smallest label.

    >>> from littlestone.concepts.classes.finite import FiniteClass
    >>> learner = StandardOptimal(FiniteClass([[0, 0], [0, 1], [1, 1]]))
    >>> learner.mistake_bound
    1
    >>> learner.start().after(0, 1).hypothesis(1)
    1
    """

    concepts: OnlineClass

    conservative: ClassVar[bool] = False
    repeats_change_nothing: ClassVar[bool] = True
    """A repeated example changes nothing, so a game may skip it."""

    def __post_init__(self) -> None:
        require.fields_fit(self)

    @property
    def mistake_bound(self) -> int:
        """The Littlestone dimension of the class."""
        return self.concepts.littlestone_dimension

    def start(self) -> "StandardOptimalState":
        """Return the state before any example."""
        return StandardOptimalState(self.concepts.version_space())


@dataclass(frozen=True, slots=True)
class StandardOptimalState:
    """The concepts that agree with every example so far."""

    consistent: VersionSpace

    @property
    def hypothesis(self) -> Hypothesis:
        """The standard optimal predictor of the consistent concepts."""
        return self.consistent.standard_optimal()

    @property
    def failed(self) -> bool:
        """Whether no concept fits the examples."""
        return self.consistent.is_empty

    def after(self, x: Any, y: Label, /) -> "StandardOptimalState":
        """Return the state after one more example."""
        left = self.consistent.restrict(x, y)
        return self if left is self.consistent else StandardOptimalState(left)
