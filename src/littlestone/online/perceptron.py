"""The perceptron, in exact whole numbers."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from littlestone import require
from littlestone.concepts.classes.halfspaces import MarginHalfspaces
from littlestone.concepts.hypotheses.linear import LinearHypothesis, dot
from littlestone.concepts.protocols import Label


@dataclass(frozen=True, slots=True)
class Perceptron:
    """Add the points labelled 1 that it gets wrong to its weights, subtract those labelled 0.

    Mistakes: at most floor(1 / margin²) on streams with that margin. After k mistakes the weights
              w are at most sqrt(k) long, for w·x <= 0 at each x that is added, and at least
              k·margin in the direction of the target.
    Privacy:  none.
    Source:   [N62]. The label of w·x = 0 is 0.

    >>> learner = Perceptron(MarginHalfspaces(2, 0.5))
    >>> learner.mistake_bound
    4
    >>> state = learner.start().after((0.5, 0.5), 1).after((0.5, -0.5), 0)
    >>> state.hypothesis.describe()
    'x0 + x1 > 0'
    """

    concepts: MarginHalfspaces

    conservative: ClassVar[bool] = True
    repeats_change_nothing: ClassVar[bool] = False
    """Only a mistake changes the state."""

    def __post_init__(self) -> None:
        require.fields_fit(self)

    @property
    def mistake_bound(self) -> int:
        return self.concepts.mistake_bound

    def start(self) -> "PerceptronState":
        return PerceptronState(self.concepts, (0,) * self.concepts.dimension, 1, 0)


@dataclass(frozen=True, slots=True)
class PerceptronState:
    """The weights as numerators over one denominator, and how many mistakes made them."""

    concepts: MarginHalfspaces
    numerators: tuple[int, ...]
    denominator: int
    mistakes: int

    @property
    def hypothesis(self) -> LinearHypothesis:
        if self.failed:
            raise ValueError("no halfspace with the margin fits the examples")
        return LinearHypothesis.towards(self.numerators)

    @property
    def failed(self) -> bool:
        return self.mistakes > self.concepts.mistake_bound

    def after(self, x: Any, y: Label, /) -> "PerceptronState":
        point, label = self.concepts.domain.check(x), require.label(y)
        if self.failed or (dot(self.numerators, point) > 0) == bool(label):
            return self
        denominator = math.lcm(self.denominator, point[-1])
        mine, theirs = denominator // self.denominator, denominator // point[-1]
        theirs = theirs if label else -theirs
        numerators = tuple(
            mine * weight + theirs * part
            for weight, part in zip(self.numerators, point[:-1], strict=True)
        )
        return PerceptronState(self.concepts, numerators, denominator, self.mistakes + 1)
