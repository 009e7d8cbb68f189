"""Keep the losses of all concepts of a finite class, updated only when read.

New examples are buffered. Reading one concept's loss evaluates the buffer only; reading all losses
goes through the class once.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Answering, Answers, Stretched
from littlestone.concepts.losses.answers import Matrix
from littlestone.concepts.losses.label_counts import Counts, block_sums
from littlestone.concepts.losses.listing import (
    finder,
    known_by_matrix,
    label_matrix,
    labels_at,
    require_listable,
    voter,
)
from littlestone.concepts.protocols import ConceptClass, Label, Point

_MOST_RECENT: Final = 1 << 16
_MOST_NEWEST: Final = 1 << 10


class LossTable:
    """The weighted mistakes of every concept so far, in the order of ``concepts()``.

    A loss is the weight of all ones plus the gains of points that the concept maps to 1. The gain
    of an example is its weight for label 0 and minus its weight for label 1.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> losses = LossTable(Thresholds(4))
    >>> losses.add(1, 0, 5)
    >>> losses.add_many([2, 3], [1, 1])
    >>> losses.as_array().tolist(), losses.of(4), losses.concept(2).describe()
    ([5, 5, 0, 1, 2], 2, 'x >= 2')
    """

    def __init__(self, concepts: ConceptClass) -> None:
        self.concept = finder(concepts)
        """The concept at a position."""
        self.majority_of = voter(concepts)
        """The majority vote of an odd number of concepts, given by their positions."""
        self._noted = np.zeros(require_listable(concepts), dtype=np.int64)
        self._answers = _answers(concepts)
        self._rows = np.empty((0, self._answers.width), dtype=np.int64)
        self._gains = np.empty(0, dtype=np.int64)
        self._newest: tuple[list[Any], list[int]] = ([], [])
        self._recent = 0
        self._ones = 0  # the weight of buffered examples with label 1

    def add(self, x: Any, y: Label, weight: int = 1) -> None:
        """Charge ``weight`` to each concept that does not label ``x``, validated, with ``y``."""
        points, gains = self._newest
        points.append(x)
        gains.append(-weight if y else weight)
        self._ones += weight if y else 0
        if len(points) >= _MOST_NEWEST:
            self._file()

    def add_many(self, points: Any, labels: Sequence[int] | NDArray[np.uint8]) -> None:
        """Charge one for each of a block of validated examples."""
        self._file()
        ones = np.asarray(labels, dtype=np.int64)
        self._keep(points, 1 - 2 * ones, int(ones.sum()))

    def as_array(self) -> Counts:
        """Return the loss of each concept in a new array."""
        self._file()
        self._note()
        return self._noted.copy()

    def of(self, position: int, /) -> int:
        """Return the loss of one concept without computing the others."""
        self._file()
        loss = int(self._noted[position])
        if not self._recent:
            return loss
        rows, gains = self._since()
        return loss + self._ones + int(gains.dot(self._answers.says(position, rows)))

    def state(self) -> Counts:
        """Return the state for a saved run; ``load`` restores it."""
        return self.as_array()

    def load(self, losses: Counts | int) -> None:
        """Replace everything by the losses of ``as_array``, or by one loss for all."""
        self._newest = ([], [])
        self._noted[:] = losses
        self._clear()

    def _file(self) -> None:
        """Move single examples into the buffer of blocks."""
        if self._newest[0]:
            newest, self._newest = self._newest, ([], [])
            self._keep(*newest, 0)

    def _keep(self, points: Any, gains: Any, ones: int) -> None:
        # Flushing early bounds the memory; when it happens depends on the rounds only.
        if self._recent and self._recent + len(gains) > _MOST_RECENT:
            self._note()
        rows = self._answers.rows(points)
        end = self._recent + len(rows)
        if end > len(self._gains):
            self._rows = np.resize(self._rows, (2 * end, self._rows.shape[1]))
            self._gains = np.resize(self._gains, 2 * end)
        self._rows[self._recent : end] = rows
        self._gains[self._recent : end] = gains
        self._recent = end
        self._ones += ones

    def _since(self) -> tuple[Counts, Counts]:
        return self._rows[: self._recent], self._gains[: self._recent]

    def _note(self) -> None:
        if self._recent:
            self._noted += self._answers.sums(*self._since())
            self._noted += self._ones
            self._clear()

    def _clear(self) -> None:
        self._recent = self._ones = 0
        self._answers.forget()


def _answers(concepts: ConceptClass) -> Answers:
    known: Answers | None = None
    if isinstance(concepts, Answering):
        known = concepts.answers()
    elif isinstance(concepts, Stretched):
        known = concepts.on_lines()
    if known is None and known_by_matrix(concepts):
        known = Matrix(label_matrix(concepts))
    return _EvaluatedPoints(concepts) if known is None else known


class _EvaluatedPoints(Answers):
    """Fallback for any class: number the points as they occur, and evaluate each once."""

    def __init__(self, concepts: ConceptClass) -> None:
        self._concepts, self._find = concepts, finder(concepts)
        self._numbers: dict[Point, int] = {}

    def rows(self, points: Any, /) -> Counts:
        numbers, check = self._numbers, self._concepts.domain.check
        found = [numbers.setdefault(check(x), len(numbers)) for x in points]
        return np.array(found, dtype=np.int64).reshape(-1, 1)

    def sums(self, rows: Counts, gains: Counts, /) -> Counts:
        points = list(self._numbers)
        total = np.bincount(rows[:, 0], gains, minlength=len(points)).astype(np.int64)
        return block_sums(partial(labels_at, self._concepts), points, total)

    def says(self, position: int, rows: Counts, /) -> NDArray[np.bool_]:
        block = self._concepts.domain.check_many(list(self._numbers))
        said = self._find(position).many(block).view(np.bool_)
        return said[rows[:, 0]]

    def forget(self) -> None:
        self._numbers.clear()
