"""The total loss of every concept of a finite class, brought up to date only when it is read.

New examples are kept as they came. Reading one concept's total looks at these only; reading all
of them goes through the class once, by a table of sums where the concepts are boxes.
"""

from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.points import Points
from littlestone.concepts.classes.thresholds import ThresholdHypothesis, Thresholds
from littlestone.concepts.hypotheses.steps import StepFunction
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point
from littlestone.learners.agnostic_finite.boxes import Boxes, boxes_of

Rows = NDArray[np.int64]
Labels = NDArray[np.uint8]

_MOST_RECENT: Final = 1 << 16


class Errors(Protocol):
    """Counts the mistakes of concepts on examples whose points are rows of whole numbers."""

    def rows(self, points: Any, /) -> Rows:
        """Validated points as rows."""
        ...

    def all(self, rows: Rows, labels: Labels, /) -> NDArray[np.int64]: ...

    def of(self, concept: int, rows: Rows, labels: Labels, /) -> int: ...

    def concept(self, number: int, /) -> Hypothesis: ...

    def forget(self) -> None:
        """No row made so far will be counted again."""
        ...


class ConceptTotals:
    """Totals of all concepts: as they were noted last, and the examples since."""

    def __init__(self, concepts: ConceptClass, size: int) -> None:
        self._errors = errors_of(concepts)
        self._noted = np.zeros(size, dtype=np.int64)
        self._rows: Rows | None = None
        self._labels = np.empty(0, dtype=np.uint8)
        self._recent = 0

    def concept(self, number: int) -> Hypothesis:
        """The concept with this number, in the order of the class."""
        return self._errors.concept(number)

    def add(self, points: Any, labels: Sequence[int] | Labels) -> None:
        """Take validated examples."""
        rows = self._errors.rows(points)
        self._make_room(rows)
        end = self._recent + len(rows)
        assert self._rows is not None
        self._rows[self._recent : end] = rows
        self._labels[self._recent : end] = labels
        self._recent = end

    def written_out(self) -> NDArray[np.int64]:
        self._note()
        return self._noted.copy()

    def of(self, concept: int, /) -> int:
        rows, labels = self._since()
        errors = self._errors.of(concept, rows, labels) if len(labels) else 0
        return int(self._noted[concept]) + errors

    def state(self) -> dict[str, Any]:
        """Secret. Nothing is noted for it, so that saving changes nothing."""
        rows, labels = self._since()
        totals = self._noted + self._errors.all(rows, labels) if len(labels) else self._noted
        return {"noted": totals.copy()}

    def load(self, state: dict[str, Any]) -> None:
        self._noted[:] = state["noted"]

    def _note(self) -> None:
        if self._recent:
            self._noted += self._errors.all(*self._since())
            self._recent = 0
            self._errors.forget()

    def _since(self) -> tuple[Rows, Labels]:
        rows = np.empty((0, 1), dtype=np.int64) if self._rows is None else self._rows
        return rows[: self._recent], self._labels[: self._recent]

    def _make_room(self, rows: Rows) -> None:
        # Noting early keeps the memory bounded; when it happens depends on the rounds alone.
        if self._recent and self._recent + len(rows) > _MOST_RECENT:
            self._note()
        needed = self._recent + len(rows)
        if self._rows is None or needed > len(self._rows):
            known, labels = self._since()
            size = max(256, 2 * needed)
            self._rows = np.empty((size, rows.shape[1]), dtype=np.int64)
            self._labels = np.empty(size, dtype=np.uint8)
            self._rows[: self._recent] = known[: self._recent]
            self._labels[: self._recent] = labels


def errors_of(concepts: ConceptClass) -> Errors:
    """The quickest way to count for this class."""
    boxes = boxes_of(concepts)
    if boxes is not None:
        return BoxErrors(concepts, boxes)
    if isinstance(concepts, FiniteClass):
        return MatrixErrors(concepts)
    return ListedErrors(concepts)


class BoxErrors:
    """Concepts that are 1 on boxes: thresholds, points, intervals, rules."""

    def __init__(self, concepts: ConceptClass, boxes: Boxes) -> None:
        self._concepts, self._boxes = concepts, boxes

    def rows(self, points: Any, /) -> Rows:
        rows = np.asarray(points, dtype=np.int64)
        return rows[:, np.newaxis] if rows.ndim == 1 else rows

    def all(self, rows: Rows, labels: Labels, /) -> NDArray[np.int64]:
        return self._boxes.errors(rows, labels)

    def of(self, concept: int, rows: Rows, labels: Labels, /) -> int:
        return self._boxes.errors_of(concept, rows, labels)

    def concept(self, number: int, /) -> Hypothesis:
        """Without a list of all: it would hold a million objects."""
        known, low, high = self._concepts, self._boxes.low[number], self._boxes.high[number]
        if isinstance(known, Thresholds):
            return ThresholdHypothesis(known.n, number)
        if isinstance(known, Points):
            return FiniteSupport(frozenset(range(int(low[0]), int(high[0]))))
        if isinstance(known, Intervals):
            return StepFunction.from_runs(known.n, [(int(low[0]), int(high[0]))])
        return known.rules[number]  # type: ignore[attr-defined, no-any-return]  # only stumps remain

    def forget(self) -> None:
        """Rows are the points themselves."""


class MatrixErrors:
    """A class given by its table of labels."""

    def __init__(self, concepts: FiniteClass) -> None:
        self._matrix = concepts.matrix
        self._concepts = list(concepts.concepts())

    def rows(self, points: Any, /) -> Rows:
        return np.asarray(points, dtype=np.int64)[:, np.newaxis]

    def all(self, rows: Rows, labels: Labels, /) -> NDArray[np.int64]:
        counts = np.bincount(2 * rows[:, 0] + labels, minlength=2 * self._matrix.shape[1])
        zeros, ones = counts[0::2], counts[1::2]
        met = np.flatnonzero(zeros + ones)
        errors: NDArray[np.int64] = self._matrix[:, met].astype(np.int64) @ (zeros - ones)[met]
        return errors + int(ones.sum())

    def of(self, concept: int, rows: Rows, labels: Labels, /) -> int:
        return int(np.count_nonzero(self._matrix[concept, rows[:, 0]] != labels))

    def concept(self, number: int, /) -> Hypothesis:
        return self._concepts[number]

    def forget(self) -> None:
        """Rows are the points themselves."""


class ListedErrors:
    """Any other class: points are numbered as they come, concepts asked about each once."""

    def __init__(self, concepts: ConceptClass) -> None:
        self._domain = concepts.domain
        self._concepts = list(concepts.concepts())
        self._numbers: dict[Point, int] = {}

    def rows(self, points: Any, /) -> Rows:
        numbers, check = self._numbers, self._domain.check
        found = [numbers.setdefault(check(x), len(numbers)) for x in points]
        return np.array(found, dtype=np.int64)[:, np.newaxis]

    def all(self, rows: Rows, labels: Labels, /) -> NDArray[np.int64]:
        counts = np.bincount(2 * rows[:, 0] + labels, minlength=2 * len(self._numbers))
        zeros, ones = counts[0::2], counts[1::2]
        block = self._domain.check_many(list(self._numbers))
        difference = zeros - ones
        errors = [int(difference[concept.many(block) == 1].sum()) for concept in self._concepts]
        return np.array(errors, dtype=np.int64) + int(ones.sum())

    def of(self, concept: int, rows: Rows, labels: Labels, /) -> int:
        block = self._domain.check_many(list(self._numbers))
        return int(np.count_nonzero(self._concepts[concept].many(block)[rows[:, 0]] != labels))

    def concept(self, number: int, /) -> Hypothesis:
        return self._concepts[number]

    def forget(self) -> None:
        self._numbers.clear()
