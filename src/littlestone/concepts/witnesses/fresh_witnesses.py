"""Witnesses of one phase: examples that the concept sought must fit (``PrivateMajority``)."""

from dataclasses import dataclass
from typing import Any, Final

from littlestone.concepts.capabilities import Witnesses, Witnessing
from littlestone.concepts.protocols import ConceptClass, Example, Label

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
