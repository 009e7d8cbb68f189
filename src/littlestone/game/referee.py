"""A referee checks every example before it counts, and knows the best concept in hindsight."""

from collections import defaultdict
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.protocols import ConceptClass, Example
from littlestone.errors import NotRealizableError
from littlestone.game.consistency import ConsistencyTracker
from littlestone.game.tally import ExampleCounts

_MOST_REMEMBERED: Final = 1 << 16
_REMEMBERED_OF_A_BLOCK: Final = 1 << 10


class Referee:
    """Validates examples; holds a realizable adversary to its word; counts for the regret.

    Against a realizable adversary nothing is kept but what the consistency check needs. Otherwise
    the examples are counted, for which memory grows with the number of distinct ones.
    """

    def __init__(self, concepts: ConceptClass, *, realizable: bool) -> None:
        self._concepts = concepts
        self._domain = concepts.domain
        self._tracker = ConsistencyTracker(concepts) if realizable else None
        self._counts = ExampleCounts(concepts.domain)
        self.admitted: dict[Any, Example] = {}
        """Recent examples as they came → as they are; the loop looks here before it asks."""

    @property
    def singles(self) -> defaultdict[Example, int] | None:
        """Where the loop counts single rounds; None when no count is needed."""
        return None if self._tracker else self._counts.singles

    def admit(self, example: Any, round_number: int) -> Example:
        """The example in canonical form, or a refusal that names the round."""
        try:
            x, y = example
            x, y = self._domain.check(x), require.label(y)
        except (TypeError, ValueError) as refusal:
            raise ValueError(f"round {round_number}: {refusal}") from None
        if self._tracker is not None and not self._tracker.observe(x, y):
            raise _contradiction(round_number)
        self._remember(example, (x, y))
        return x, y

    def admit_many(self, xs: Any, ys: Any, round_number: int) -> tuple[Any, NDArray[np.uint8]]:
        """The valid examples at the head of a block; a refusal if its first is not valid."""
        try:
            points, labels = self._domain.check_many(xs), require.labels(ys)
        except (TypeError, ValueError):
            valid = self._leading_valid(xs, ys, round_number)
            points, labels = self._domain.check_many(xs[:valid]), require.labels(ys[:valid])
        if not 0 < len(labels) == len(points):
            raise ValueError(
                f"round {round_number}: a plan needs equally many points and labels, "
                f"got {len(points)} and {len(labels)}"
            )
        return points, labels

    def count(self, points: Any, labels: NDArray[np.uint8], round_number: int) -> None:
        """Take note of a block of admitted examples that were really played."""
        if self._tracker is None:
            self._counts.add_block(points, labels)
            return
        # Lists are slow to walk through; where all is known that is not needed.
        distinct = set() if isinstance(points, np.ndarray) else _distinct(points, labels)
        if distinct and distinct <= self.admitted.keys():
            return
        consistent = self._tracker.observe_many(points, labels)
        if consistent < len(labels):
            raise _contradiction(round_number + consistent)
        for example in islice(distinct, _REMEMBERED_OF_A_BLOCK):
            self._remember(example, example)

    def fewest_so_far(self) -> int | None:
        """Known all along where the adversary is held to its word; else only worth one search."""
        return None if self._tracker is None else 0

    def fewest_mistakes(self) -> int | None:
        """The mistakes of the best concept in hindsight; None where the class cannot tell."""
        if self._tracker is not None:
            return 0
        try:
            return self._concepts.fewest_mistakes(self._counts.tally())
        except ValueError:  # halfspaces: too hard a search
            return None

    def _leading_valid(self, xs: Any, ys: Any, round_number: int) -> int:
        for i, (x, y) in enumerate(zip(xs, ys, strict=False)):
            try:
                self._domain.check(x)
                require.label(y)
            except (TypeError, ValueError) as refusal:
                if i:
                    return i
                raise ValueError(f"round {round_number}: {refusal}") from None
        return min(len(xs), len(ys))

    def _remember(self, example: Any, canonical: Example) -> None:
        try:
            if len(self.admitted) >= _MOST_REMEMBERED:
                self.admitted.clear()
            self.admitted[example] = canonical
        except TypeError:  # a record, say, is not hashable: it is checked each time
            pass


def _distinct(points: Any, labels: NDArray[np.uint8]) -> set[Example]:
    return set(zip(points, labels.tolist(), strict=True))


def _contradiction(round_number: int) -> NotRealizableError:
    return NotRealizableError(
        f"round {round_number}: the adversary promised that some concept fits all its examples, "
        f"and none does any more",
        round_number=round_number,
    )
