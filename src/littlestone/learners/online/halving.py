"""The halving algorithm: the majority of the consistent concepts."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from littlestone import require
from littlestone.concepts.dimensions import bit_set
from littlestone.concepts.json_form import tabulated
from littlestone.concepts.losses.listing import LARGEST_MATRIX, fits_a_matrix, label_matrix
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Label, Point

_VOTES_REMEMBERED: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class Halving:
    """Predict the label that most of the consistent concepts give.

    For classes small enough to write down as a table. Every example narrows the version space.

    Mistakes: at most log2 of the number of concepts on realizable streams, rounded down.
    Privacy:  none.
    Source:   [L88]; ties go to 0.

    >>> from littlestone.concepts.classes.finite import FiniteClass
    >>> learner = Halving(FiniteClass([[0, 0], [0, 1], [1, 1]]))
    >>> learner.mistake_bound
    1
    >>> learner.start().after(0, 0).hypothesis.many([0, 1]).tolist()
    [0, 0]
    """

    concepts: ConceptClass
    _ballot: "_Ballot" = field(init=False, repr=False, compare=False)

    conservative: ClassVar[bool] = False
    repeats_change_nothing: ClassVar[bool] = True
    """A repeated example changes nothing, so a game may skip it."""

    def __post_init__(self) -> None:
        require.fields_fit(self)
        if not fits_a_matrix(self.concepts):
            size, points = self.concepts.size, self.concepts.domain.size
            raise ValueError(
                f"concepts must have at most {LARGEST_MATRIX} labels in all (concepts × points) "
                f"to be halved, got {size} × {points} for concepts={self.concepts!r}"
            )
        object.__setattr__(self, "_ballot", _Ballot(self.concepts))

    @property
    def mistake_bound(self) -> int:
        """log2 of the number of functions, rounded down."""
        return self._ballot.everyone.bit_count().bit_length() - 1

    def start(self) -> "HalvingState":
        """Return the state before any example."""
        return HalvingState(self.concepts, self._ballot.everyone, self._ballot)


@dataclass(frozen=True, slots=True)
class HalvingState:
    """The numbers of the consistent concepts, as the bits of one integer."""

    concepts: ConceptClass
    members: int
    _ballot: "_Ballot" = field(repr=False, compare=False)

    @property
    def hypothesis(self) -> Hypothesis:
        """The majority of the consistent concepts."""
        if self.failed:
            raise ValueError("no concept fits the examples")
        return self._ballot.vote(self.members)

    @property
    def failed(self) -> bool:
        """Whether no concept fits the examples."""
        return self.members == 0

    def after(self, x: Any, y: Label, /) -> "HalvingState":
        """Return the state after one more example."""
        members = self.members & self._ballot.side(x, require.label(y))
        if members == self.members:
            return self
        return HalvingState(self.concepts, members, self._ballot)


class _Ballot:
    """The table of all labels; one row for each function, one column for each point."""

    def __init__(self, concepts: ConceptClass) -> None:
        self._concepts = concepts
        self._labels = labels = label_matrix(concepts)
        _, first = np.unique(labels, axis=0, return_index=True)
        self._distinct: list[int] = sorted(first.tolist())
        self._columns: dict[Point, int] = {x: i for i, x in enumerate(concepts.domain)}
        self._ones = [bit_set(column) for column in labels[self._distinct].T]
        self.everyone = (1 << len(self._distinct)) - 1
        self._votes: dict[int, Hypothesis] = {}

    def __reduce__(self) -> tuple[type["_Ballot"], tuple[ConceptClass]]:
        return _Ballot, (self._concepts,)

    def vote(self, members: int) -> Hypothesis:
        """Return the majority of the members."""
        if members not in self._votes:
            if len(self._votes) >= _VOTES_REMEMBERED:
                self._votes.clear()
            self._votes[members] = self._count(members)
        return self._votes[members]

    def side(self, x: Any, y: Label) -> int:
        """Return the concepts that label ``x`` with ``y``."""
        ones = self._ones[self._columns[self._concepts.domain.check(x)]]
        return ones if y else self.everyone ^ ones

    def _count(self, members: int) -> Hypothesis:
        chosen = [self._distinct[i] for i in _positions(members)]
        ones = self._labels[chosen].sum(axis=0, dtype=np.int64)
        return tabulated(self._concepts.domain, (2 * ones > len(chosen)).astype(np.uint8))


def _positions(members: int) -> list[int]:
    packed = np.frombuffer(members.to_bytes(-(-members.bit_length() // 8), "little"), np.uint8)
    positions: list[int] = np.flatnonzero(np.unpackbits(packed, bitorder="little")).tolist()
    return positions
