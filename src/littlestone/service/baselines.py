"""What the owner compares with: the best constant, and the best rule, both chosen in hindsight.

They are computed from the labels, for the owner's eyes: never published, and not protected. Memory
does not grow with the stream: a count for each label, and for each rule of a class that can be
listed; for trees, a count for each cell of each field, which is enough for rules of one question.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from littlestone.concepts.capabilities import Branching
from littlestone.concepts.domain import block_of
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass, Label, Point
from littlestone.errors import StoreError

MOST_CONCEPTS: Final = 1 << 14
_TOGETHER: Final = 1024

Counts = NDArray[np.int64]


class Hindsight(NamedTuple):
    """The fewest mistakes of a constant, and of a rule of the kind that ``rules`` names, if any."""

    constant: Label
    constant_mistakes: int
    rules: str
    rule_mistakes: int | None

    def lines(self, mistakes: int) -> list[str]:
        """In words, beside the mistakes that were made."""
        told = [f"always {self.constant}: {self.constant_mistakes:,} mistakes (the best constant)"]
        if self.rule_mistakes is None:
            told.append(f"the best rule in hindsight is not known: {self.rules}")
        else:
            told.append(f"the best of {self.rules}: {self.rule_mistakes:,} mistakes")
        if mistakes > self.constant_mistakes:
            told.append(
                f"WARNING: {mistakes:,} mistakes are more than a constant makes: more events, a "
                f"larger epsilon, or another learner, schema or class may help"
            )
        return told


class Baselines:
    """Counts of what was read, kept beside the run and saved with its checkpoints."""

    def __init__(self, concepts: ConceptClass, saved: bytes | None = None) -> None:
        self._concepts = concepts
        self._waiting: tuple[list[Point], list[Label]] = ([], [])
        self._labels = np.zeros(2, dtype=np.int64)
        self._cells: Counts = np.zeros((0, 2), dtype=np.int64)
        self._starts: Counts = np.zeros(0, dtype=np.int64)
        self._losses: LossTable | None = None
        size = concepts.size
        if isinstance(concepts, Branching):
            widths = [part.cells for part in concepts.schema.fields]
            self._starts = np.cumsum([0, *widths])
            self._cells = np.zeros((int(self._starts[-1]), 2), dtype=np.int64)
        elif size is not None and size <= MOST_CONCEPTS:
            self._losses = LossTable(concepts)
        if saved is not None:
            self._load(saved)

    def add(self, x: Point, y: Label) -> None:
        """An example that was read."""
        self._waiting[0].append(x)
        self._waiting[1].append(y)
        if len(self._waiting[1]) >= _TOGETHER:
            self._count()

    def add_block(self, points: Any, labels: NDArray[np.uint8]) -> None:
        """A block of them, as ``block_of`` makes it."""
        known = labels.astype(np.int64)
        self._labels += np.bincount(known, minlength=2)
        if len(self._cells):
            places = (points + self._starts[:-1]) * 2 + known[:, None]
            counted = np.bincount(places.ravel(), minlength=2 * len(self._cells))
            self._cells += counted.reshape(-1, 2)
        elif self._losses is not None:
            self._losses.add_many(points, labels)

    def _count(self) -> None:
        points, labels = self._waiting
        self._waiting = ([], [])
        if labels:
            block = block_of(self._concepts.domain, points)
            self.add_block(block, np.array(labels, dtype=np.uint8))

    def state(self) -> bytes:
        """What ``saved`` takes back."""
        self._count()
        losses = np.zeros(0, dtype=np.int64) if self._losses is None else self._losses.as_array()
        return np.concatenate([self._labels, self._cells.ravel(), losses]).tobytes()

    def _load(self, saved: bytes) -> None:
        numbers = np.frombuffer(saved, dtype=np.int64)
        expected = len(np.frombuffer(self.state(), dtype=np.int64))
        if len(numbers) != expected:
            raise StoreError(
                f"the baselines of a store have {len(numbers)} numbers, not {expected}"
            )
        self._labels = numbers[:2].copy()
        if len(self._cells):
            self._cells = numbers[2:].reshape(-1, 2).copy()
        elif self._losses is not None:
            self._losses.load(numbers[2:].copy())

    def hindsight(self) -> Hindsight:
        """The best of all, on what was read so far."""
        self._count()
        constant = int(self._labels[1] > self._labels[0])
        fewest = int(self._labels.min())
        if isinstance(self._concepts, Branching):
            best = min([fewest, *map(self._one_question, self._concepts.conditions)])
            return Hindsight(constant, fewest, "all rules with one question", best)
        if self._losses is not None:
            best = int(self._losses.as_array().min())
            return Hindsight(constant, fewest, "all rules of the class", best)
        return Hindsight(constant, fewest, "the class is too large to keep a count for each", None)

    def _one_question(self, condition: tuple[int, int, int]) -> int:
        """The mistakes of the best labels on both sides of a question."""
        part, low, high = condition
        start = self._starts[part]
        inside = self._cells[start + low : start + high + 1].sum(axis=0)
        return int(inside.min() + (self._labels - inside).min())
