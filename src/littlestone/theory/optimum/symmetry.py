"""Remove redundant points from a tiny concept class and find its symmetries.

One point at which all concepts agree is enough: an example there carries no information, and the
round is *silent*. Two points are redundant if every concept labels them equally, or every concept
labels them differently: a learner can translate examples and hypotheses. Removing redundant points
does not change the value of the game.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_CONCEPTS: Final = 8
MOST_POINTS: Final = 7


def refuse_more_than_tiny(concepts: int) -> None:
    """Raise a ValueError for more concepts than a tiny class has."""
    if concepts > MOST_CONCEPTS:
        raise ValueError(f"concepts must be at most {MOST_CONCEPTS}, got {concepts} of them")


class Place(NamedTuple):
    """The column that represents a point, and whether its labels are exchanged."""

    column: int
    """-1 for a point at which all concepts agree."""
    flip: int


class Symmetry(NamedTuple):
    """A permutation of columns with exchanged labels: its images of hypotheses and examples."""

    hypotheses: tuple[int, ...]
    examples: tuple[int, ...]

    def after(self, first: "Symmetry") -> "Symmetry":
        """Return the composition that applies ``first`` before this symmetry."""
        return Symmetry(
            tuple(self.hypotheses[h] for h in first.hypotheses),
            tuple(self.examples[e] for e in first.examples),
        )


class Orbit(NamedTuple):
    """The images of one move under some symmetries."""

    first: int
    size: int
    keepers: "Symmetries"
    """The symmetries that fix ``first``."""


Symmetries = tuple[int, ...]


@dataclass(frozen=True)
class TinyClass:
    """Concepts as integers whose bit x is the label of column x.

    A hypothesis is such a number, too. Example 2x + y is the label y at column x; the last
    example, 2·columns, is silent.
    """

    columns: int
    concepts: tuple[int, ...]
    silent: bool
    """Whether there is a point at which all concepts agree."""
    places: tuple[Place, ...]
    """The place of each point of the original class."""

    @classmethod
    def from_matrix(cls, matrix: NDArray[Any]) -> "TinyClass":
        """Return the class whose concepts are the rows of a 0/1 matrix.

        >>> TinyClass.from_matrix(np.array([[0, 0, 1, 0], [1, 0, 0, 1]])).columns
        1
        """
        rows = np.unique(np.asarray(matrix, dtype=np.uint8), axis=0)
        refuse_more_than_tiny(len(rows))
        known: list[bytes] = []
        places: list[Place] = []
        for column in rows.T:
            flip = int(column[0])
            shape = (column ^ flip).tobytes()
            if not any(shape):
                places.append(Place(-1, flip))
                continue
            if shape not in known:
                known.append(shape)
            places.append(Place(known.index(shape), flip))
        if len(known) > MOST_POINTS:
            raise ValueError(
                f"concepts must differ at no more than {MOST_POINTS} points, got {len(known)}"
            )
        labels = [sum(shape[row] << x for x, shape in enumerate(known)) for row in range(len(rows))]
        silent = any(place.column < 0 for place in places)
        return cls(len(known), tuple(sorted(labels)), silent, tuple(places))

    @property
    def silence(self) -> int:
        """The number of the silent example, which every hypothesis predicts correctly."""
        return 2 * self.columns

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """All symmetries of the class; the first is the identity."""
        found: dict[tuple[tuple[int, ...], int], None] = {}
        class_ = set(self.concepts)
        first = self.concepts[0]
        for order in permutations(range(self.columns)):
            moved = _permuted(first, order)
            for image in self.concepts:
                flips = moved ^ image
                if {_permuted(c, order) ^ flips for c in self.concepts} == class_:
                    found[order, flips] = None
        identity = (tuple(range(self.columns)), 0)
        chosen = [identity, *(each for each in found if each != identity)]
        return tuple(self._symmetry(order, flips) for order, flips in chosen)

    def _symmetry(self, order: Sequence[int], flips: int) -> Symmetry:
        examples = [
            2 * order[x] + (y ^ flips >> order[x] & 1) for x in range(self.columns) for y in (0, 1)
        ]
        return Symmetry(
            tuple(_permuted(h, order) ^ flips for h in range(1 << self.columns)),
            (*examples, self.silence),
        )

    def examples_after(self, hypothesis: int) -> tuple[int, ...]:
        """Return the examples that an adversary may send after this hypothesis.

        Where silence is possible, a learner loses nothing by treating a correctly predicted example
        as silence: this keeps neighbours neighbours and does not change the mistakes.
        """
        if not self.silent:
            return tuple(range(self.silence))
        mistakes = (2 * x + (~hypothesis >> x & 1) for x in range(self.columns))
        return (*mistakes, self.silence)

    def is_mistake(self, hypothesis: int, example: int) -> bool:
        """Return whether the hypothesis mispredicts the example."""
        return example != self.silence and (hypothesis >> (example >> 1) ^ example) & 1 == 1

    def fitting(self, concepts: Iterable[int], example: int) -> tuple[int, ...]:
        """Return the concepts that agree with an example."""
        return tuple(c for c in concepts if not self.is_mistake(c, example))


def _permuted(bits: int, order: Sequence[int]) -> int:
    return sum((bits >> x & 1) << place for x, place in enumerate(order))


class Orbits:
    """Cache the orbits of moves under subgroups of a class's symmetries."""

    def __init__(self, tiny: TinyClass) -> None:
        self._symmetries = tiny.symmetries
        self._number = {symmetry: i for i, symmetry in enumerate(self._symmetries)}
        self._products: dict[tuple[int, int], int] = {}
        self._hypotheses: dict[Symmetries, Mapping[int, tuple[Orbit, int]]] = {}
        self._examples: dict[Symmetries, Mapping[int, tuple[Orbit, int]]] = {}
        self.everything: Symmetries = tuple(range(len(self._symmetries)))

    def moved(self, symmetry: int, *, hypothesis: int) -> int:
        """Return the image of a hypothesis under a symmetry."""
        return self._symmetries[symmetry].hypotheses[hypothesis]

    def moved_example(self, symmetry: int, example: int) -> int:
        """Return the image of an example under a symmetry."""
        return self._symmetries[symmetry].examples[example]

    def product(self, second: int, first: int) -> int:
        """Return the number of ``first`` followed by ``second``."""
        known = self._products.get((second, first))
        if known is None:
            whole = self._symmetries[second].after(self._symmetries[first])
            known = self._products[second, first] = self._number[whole]
        return known

    def of_hypotheses(self, group: Symmetries) -> Mapping[int, tuple[Orbit, int]]:
        """Return each hypothesis's orbit and a symmetry that maps it to the first element."""
        if group not in self._hypotheses:
            tables = [self._symmetries[g].hypotheses for g in group]
            self._hypotheses[group] = self._divided(group, tables)
        return self._hypotheses[group]

    def of_examples(self, group: Symmetries) -> Mapping[int, tuple[Orbit, int]]:
        """Return each example's orbit and a symmetry that maps it to the first element."""
        if group not in self._examples:
            tables = [self._symmetries[g].examples for g in group]
            self._examples[group] = self._divided(group, tables)
        return self._examples[group]

    def _divided(
        self, group: Symmetries, tables: Sequence[Sequence[int]]
    ) -> Mapping[int, tuple[Orbit, int]]:
        found: dict[int, tuple[Orbit, int]] = {}
        for move in range(len(tables[0])):
            images = {table[move] for table in tables}
            first = min(images)
            if first == move:
                keepers = tuple(g for g, t in zip(group, tables, strict=True) if t[move] == move)
                orbit = Orbit(move, len(images), keepers)
            else:
                orbit = found[first][0]
            taking = next(g for g, t in zip(group, tables, strict=True) if t[move] == first)
            found[move] = orbit, taking
        return found
