"""Witness systems of conjunctions, disjunctions and thresholds (docs/theory/witnesses.md)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from littlestone.concepts.protocols import Hypothesis, Label, Point

AGAIN: Final = -1
"""The key of "what was given up is part of the concept": everything starts again."""
PLACE: Final = -2
"""The key of mistakes of which not a witness is wanted but a place between them."""


@dataclass(frozen=True, slots=True)
class LiteralSystem:
    """Start with all literals; a mistake names one that is not part of the conjunction sought.

    The conjunction of the literals left is 1 at too few points as long as none was given up
    wrongly. A mistake where the conjunction sought is 1 falsifies some literal that is left, and
    none that is sought; it names the first that it falsifies. A mistake where the conjunction
    sought is 0, though all literals that are left hold, shows that one too many was given up.

    A state is the set of literals left, as bits. ``label`` is 1 for conjunctions, and 0 for
    disjunctions, which are 0 where all of their negated literals hold. ``most`` is how many
    literals a concept has at most; ``empty`` says whether 0 everywhere is one more concept.
    """

    literals: tuple[tuple[int, Label], ...]
    """Features and the values that they must have, in the order in which they are named."""
    label: Label
    most: int
    empty: bool
    rule: Callable[[int], Hypothesis]
    """The hypothesis of a state."""

    def begin(self) -> int:
        return (1 << len(self.literals)) - 1

    def hypothesis(self, state: int, /) -> Hypothesis:
        return self.rule(state)

    def live(self, state: int, /) -> tuple[int, ...]:
        return (AGAIN, *(number for number in range(len(self.literals)) if state >> number & 1))

    def named_by(self, state: int, x: Any, y: Label, /) -> int:
        if y != self.label:
            return AGAIN
        numbered = enumerate(self.literals)
        return next(i for i, (f, value) in numbered if state >> i & 1 and x[f] != value)

    def after(self, state: int, key: Any, /) -> int | None:
        return None if key == AGAIN else state & ~(1 << key)

    def loads(self, chance: float, /) -> list[tuple[int, float]]:
        """All literals but those sought can be given up, and each of those by chance.

        Where 0 everywhere is sought, mistakes need a point at which all literals left hold: every
        feature must have lost a literal by chance.
        """
        every = len(self.literals)
        loads = [(every - sought, sought * chance) for sought in range(self.most + 1)]
        return [*loads, (0, min(1.0, 2 * chance) ** (every // 2))] if self.empty else loads


@dataclass(frozen=True, slots=True)
class ThresholdSystem:
    """Halve the thresholds left: a mistake of the middle one names the side of the one sought.

    A state is the smallest and the largest threshold left. Whichever is sought, all mistakes of
    one state name the same side.
    """

    n: int
    rule: Callable[[int], Hypothesis]
    """The hypothesis with a threshold."""

    def begin(self) -> tuple[int, int]:
        return 0, self.n

    def hypothesis(self, state: tuple[int, int], /) -> Hypothesis:
        return self.rule(sum(state) // 2)

    def live(self, state: tuple[int, int], /) -> tuple[Point, ...]:
        middle = sum(state) // 2
        return (middle, 0), (middle, 1)

    def named_by(self, state: tuple[int, int], x: int, y: Label, /) -> Point:
        return sum(state) // 2, y

    def after(self, state: tuple[int, int], key: Any, /) -> tuple[int, int] | None:
        low, high = state
        middle, y = key
        low, high = (low, middle - 1) if y else (middle + 1, high)
        return (low, high) if low <= high else None

    def loads(self, chance: float, /) -> list[tuple[int, float]]:
        """At any time one key is false on the way, and two in the last state."""
        deepest = (self.n + 1).bit_length() - 1
        return [(deepest, 2 * chance)]
