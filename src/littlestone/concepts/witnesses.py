"""What a mistake of the published hypothesis says, for classes in which it says enough."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from littlestone.concepts.capabilities import Witnesses, Witnessing
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label, Point

MOST_KEYS: Final = 1 << 20


def witnesses_for(concepts: ConceptClass) -> Witnesses | None:
    """The witnesses of a class that has them; None for the others."""
    return concepts.witnesses() if isinstance(concepts, Witnessing) else None


@dataclass(frozen=True, slots=True)
class ThresholdWitnesses:
    """Two: "the threshold sought is larger" (label 0 was right) and "smaller" (label 1 was).

    A mistake of 1[x >= k] with label 0 lies at x >= k, so the threshold sought exceeds k and the
    example (k, 0) is true; one with label 1 lies at x < k, and (k - 1, 1) is true. All mistakes
    of k on examples that fit one threshold have the same label.
    """

    def count(self) -> int:
        return 2

    def named_by(self, space: Any, x: Any, y: Label, /) -> int:
        return y

    def example(self, space: Any, number: int, /) -> Example | None:
        k = space.standard_optimal().k
        x, y = (k - 1, 1) if number else (k, 0)
        return (x, y) if 0 <= x < space.concept_class.n else None

    def confusion(self, answered: int, /) -> tuple[int, int]:
        return 1, 1


@dataclass(frozen=True, slots=True)
class SparseWitnesses:
    """One for each key, "this one is in the set", and one for "what is published is wrong".

    The published set holds the keys found so far. A mistake with label 1 names its key; one with
    label 0 lies at a published key, which cannot happen if all of them were found rightly.
    """

    k: int
    n: int

    def count(self) -> int:
        return self.n + 1

    def named_by(self, space: Any, x: int, y: Label, /) -> int:
        return x if y else self.n

    def example(self, space: Any, number: int, /) -> Example | None:
        known = number == self.n or space.label_of(number) is not None
        return None if known else (number, 1)

    def confusion(self, answered: int, /) -> tuple[int, int]:
        left = min(self.k, self.n) - answered
        return self.n + 1 - left, left


AGAIN: Final = -1
"""The key of "what was given up is part of the concept": everything starts again."""


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
        """One false key in each state on the way, and two in the last one."""
        deepest = (self.n + 1).bit_length() - 1
        return [(deepest, (deepest + 2) * chance)]
