"""An adversary that replays a given stream of examples."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import MOST_LABELS
from littlestone.concepts.protocols import Domain, Example, OnlineClass
from littlestone.concepts.schema import label_values
from littlestone.game.adversaries.attacks import Block, StreamAttack, block_sizes
from littlestone.randomness import Randomness


class Examples:
    """Points and labels as an immutable value, compared by content."""

    def __init__(self, points: Any, labels: Any, *, label_count: int = 2) -> None:
        points = points if isinstance(points, np.ndarray) else require.listed(points=points)
        label_count = require.integer(label_count=label_count, at_least=1, at_most=MOST_LABELS)
        labels = require.labels(labels, label_count)
        if len(points) != len(labels):
            raise ValueError(
                f"points and labels must be equally long, got {len(points)} and {len(labels)}"
            )
        self.labels: NDArray[np.uint8] = labels.copy()
        self.labels.flags.writeable = False
        if isinstance(points, np.ndarray):
            points = points.copy()
            points.flags.writeable = False
        else:
            points = tuple(points)
        self.points: NDArray[Any] | tuple[Any, ...] = points
        self._hash = hash(self.labels.tobytes())

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Examples):
            return NotImplemented
        return np.array_equal(self.labels, other.labels) and _equal(self.points, other.points)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"{len(self)} examples"


@require.checked
@dataclass(frozen=True, slots=True)
class Replay:
    """An oblivious adversary that plays ``stream`` and nothing else.

    The stream is a list of examples, ``Examples(points, labels)``, or a function that returns a new
    iterator, for streams that do not fit in memory. ``realizable=True`` promises that some concept
    fits all of it (``play`` checks); otherwise the regret is computed exactly.

    >>> from littlestone.concepts.classes.finite import FiniteClass
    >>> concepts = FiniteClass([[0, 0], [0, 1], [1, 1]])
    >>> Replay(concepts, [(0, 0), (1, 1)], realizable=True).stream
    2 examples
    """

    concepts: OnlineClass
    stream: Examples | Sequence[Example] | Callable[[], Iterable[Example]]
    realizable: bool = False

    adaptive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        if callable(self.stream):
            return
        domain, stream = self.concepts.domain, self.stream
        count = len(label_values(domain))
        if not isinstance(stream, Examples):
            stream = Examples(*require.pairs(stream=stream), label_count=count)
        points = domain.check_many(stream.points)
        checked = Examples(points, stream.labels, label_count=count)
        object.__setattr__(self, "stream", checked)

    def start(self, *, rng: Randomness) -> StreamAttack:
        """Start the replay."""
        del rng  # deterministic
        domain, stream = self.concepts.domain, self.stream
        blocks = _cut(stream) if isinstance(stream, Examples) else _read(domain, stream)
        return StreamAttack(domain, blocks)


def _cut(examples: Examples) -> Iterator[Block]:
    at = 0
    for size in block_sizes():
        if at >= len(examples):
            return
        yield examples.points[at : at + size], examples.labels[at : at + size]
        at += size


def _read(domain: Domain, stream: Any) -> Iterator[Block]:
    examples, count = iter(stream()), len(label_values(domain))
    for size in block_sizes():
        block = list(islice(examples, size))
        if not block:
            return
        yield domain.check_many([x for x, _ in block]), require.labels([y for _, y in block], count)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return np.array_equal(left, right)
    return bool(type(left) is type(right) and left == right)
