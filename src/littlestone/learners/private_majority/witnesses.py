"""What a mistake of the published hypothesis says, for classes in which it says enough.

A witness is an example that the concept sought must fit if the mistakes that name it are to be
believed. Mistakes of one phase that lie at many different points can name the same witness: this is
what lets a private learner count them.
"""

from dataclasses import dataclass
from typing import Any, Final, Protocol

from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.sparse_sets import SparseSets, SparseVersionSpace
from littlestone.concepts.classes.thresholds import Thresholds, ThresholdVersionSpace
from littlestone.concepts.protocols import ConceptClass, Example, Label

MOST_KEYS: Final = 1 << 20


class Witnesses(Protocol):
    """How the mistakes of a version space's standard optimal hypothesis name witnesses.

    On examples that fit some concept of the space, all true witnesses restrict it to a space that
    still holds the concept and has a smaller dimension.
    """

    def count(self) -> int:
        """How many can be named: public, the same in every phase."""
        ...

    def named_by(self, space: Any, x: Any, y: Label, /) -> int:
        """The number of the one witness that this mistake names."""
        ...

    def example(self, space: Any, number: int, /) -> Example | None:
        """That witness; None if it contradicts every concept of the space."""
        ...

    def confusion(self, answered: int, /) -> tuple[int, int]:
        """After so many true answers: how many witnesses can be false, how many true.

        Mistakes that fit some concept only ever name true ones.
        """
        ...

    def __hash__(self) -> int: ...


def witnesses_for(concepts: ConceptClass) -> Witnesses | None:
    """The witnesses of a class that has them; None for the others."""
    if isinstance(concepts, Thresholds):
        return ThresholdWitnesses()
    if isinstance(concepts, Points):
        return _sparse(1, concepts.n)
    if isinstance(concepts, SparseSets):
        return _sparse(concepts.k, concepts.n)
    return None


def _sparse(k: int, n: int | None) -> "SparseWitnesses | None":
    return None if n is None or n > MOST_KEYS else SparseWitnesses(k=k, n=n)


@dataclass(frozen=True, slots=True)
class ThresholdWitnesses:
    """Two: "the threshold sought is larger" (label 0 was right) and "smaller" (label 1 was).

    A mistake of 1[x >= k] with label 0 lies at x >= k, so the threshold sought exceeds k and the
    example (k, 0) is true; one with label 1 lies at x < k, and (k - 1, 1) is true. All mistakes
    of k on examples that fit one threshold have the same label.
    """

    def count(self) -> int:
        return 2

    def named_by(self, space: ThresholdVersionSpace, x: Any, y: Label, /) -> int:
        return y

    def example(self, space: ThresholdVersionSpace, number: int, /) -> Example | None:
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

    def named_by(self, space: SparseVersionSpace, x: int, y: Label, /) -> int:
        return x if y else self.n

    def example(self, space: SparseVersionSpace, number: int, /) -> Example | None:
        known = number == self.n or space.label_of(number) is not None
        return None if known else (number, 1)

    def confusion(self, answered: int, /) -> tuple[int, int]:
        left = min(self.k, self.n) - answered
        return self.n + 1 - left, left
