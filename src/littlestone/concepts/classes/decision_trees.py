"""Decision trees of small depth over records with a declared schema."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.entry import ClassEntry
from littlestone.concepts.hypotheses.decision_tree import DecisionTree, Node
from littlestone.concepts.protocols import ConceptClass, Label, Tally, VersionSpace
from littlestone.concepts.schema import Condition, Schema

DEEPEST: Final = 3
MOST_LISTED: Final = 1 << 16


@require.checked
@dataclass(frozen=True, slots=True)
class DecisionTrees(ConceptClass):
    """All trees that ask at most ``depth`` questions, each about one field, on every path.

    There are too many to list or to keep a version space, but ``DisjointBatches`` can draw from
    them. ``size`` counts trees, some of which are the same function. Leaves have the labels that
    the schema declares.

    >>> schema = Schema.from_mapping(
    ...     {"delay": {"grid": [0, 15]}, "carrier": {"values": ["UA", "AA"]}}
    ... )
    >>> trees = DecisionTrees(schema, 2)
    >>> trees.conditions, trees.size, trees.littlestone_dimension_upper_bound
    (((0, 1, 2), (0, 2, 2), (1, 1, 1)), 590, 9)
    >>> trees.fewest_mistakes({(2, 0): (0, 5), (2, 1): (4, 0), (0, 0): (3, 1)})
    1
    """

    schema: Schema
    depth: int
    conditions: tuple[Condition, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(depth=self.depth, at_least=0, at_most=DEEPEST)
        questions = tuple(
            (number, *cells)
            for number, part in enumerate(self.schema.fields)
            for cells in part.questions()
        )
        object.__setattr__(self, "conditions", questions)

    @property
    def domain(self) -> Schema:
        """The records of the schema."""
        return self.schema

    @property
    def size(self) -> int:
        trees = labels = len(self.schema.label_values)
        for _ in range(self.depth):
            trees = labels + len(self.conditions) * trees * trees
        return trees

    @property
    def littlestone_dimension_upper_bound(self) -> int:
        """The mistake bound of halving, also with more than two labels."""
        return self.size.bit_length() - 1

    @property
    def littlestone_dimension(self) -> int:
        raise self._unknown("Littlestone dimension")

    @property
    def vc_dimension(self) -> int:
        raise self._unknown("VC dimension")

    @property
    def dual_littlestone_dimension(self) -> int:
        raise self._unknown("dual Littlestone dimension")

    @property
    def dual_vc_dimension(self) -> int:
        raise self._unknown("dual VC dimension")

    def _unknown(self, what: str) -> ValueError:
        return ValueError(
            f"the {what} of {self.size} decision trees is not known in closed form; it is at most "
            f"littlestone_dimension_upper_bound = {self.littlestone_dimension_upper_bound}"
        )

    def version_space(self) -> VersionSpace:
        raise ValueError(
            f"{self.size} decision trees are too many for a version space; DisjointBatches learns "
            f"them, and Stumps are rules over the same schema that can be listed"
        )

    def constant(self, label: Label) -> DecisionTree:
        """Return the tree that is one leaf."""
        return DecisionTree(self.schema, label)

    def concepts(self) -> Iterator[DecisionTree]:
        """Yield every tree, the simplest first; raise a ValueError if there are too many.

        Some are the same function: a position among ``size`` trees is one in this list.
        """
        if self.size > MOST_LISTED:
            raise ValueError(
                f"{self.size} decision trees are too many to list (at most {MOST_LISTED} are); "
                f"DisjointBatches learns them without a list, for events that do not react to "
                f"what is published, and Stumps are rules over the same schema that can be listed"
            )
        return (DecisionTree(self.schema, node) for node in self._nodes(self.depth))

    def _nodes(self, depth: int) -> Iterator[Node]:
        yield from range(len(self.schema.label_values))
        below = list(self._nodes(depth - 1)) if depth else []
        for condition in self.conditions if depth else ():
            for holds in below:
                yield from ((condition, holds, fails) for fails in below)

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the best tree in hindsight, by trying all first questions."""
        cells = np.array([self.schema.check(x) for x in tally], dtype=np.int64)
        labels = len(self.schema.label_values)
        counts = np.array(list(tally.values()), dtype=np.int64).reshape(-1, labels).T
        holds = self.holding(cells.reshape(len(counts[0]), len(self.schema.fields)))
        return self._fewest(holds, counts, self.depth)

    def holding(self, cells: NDArray[np.int64], dtype: type = np.int64, /) -> NDArray[Any]:
        """Return whether each question holds for each record, given by its cells."""
        if cells.ndim != 2 or cells.shape[1] != len(self.schema.fields):
            raise ValueError(
                f"cells must have a row for each record and a column for each of the "
                f"{len(self.schema.fields)} fields, got an array of shape {cells.shape}"
            )
        holds: NDArray[Any] = np.empty((len(cells), len(self.conditions)), dtype=dtype)
        for number, (part, low, high) in enumerate(self.conditions):
            holds[:, number] = (low <= cells[:, part]) & (cells[:, part] <= high)
        return holds

    def _fewest(self, holds: NDArray[Any], counts: NDArray[np.int64], depth: int) -> int:
        whole = counts.sum(axis=1)
        fewest = int(whole.sum() - whole.max())
        if not depth or not fewest or not self.conditions:
            return fewest
        if depth == 1:
            inside = counts @ holds
            right = inside.max(0) + (whole[:, None] - inside).max(0)
            return min(fewest, int(whole.sum() - right.max()))
        for number in range(len(self.conditions)):
            here = holds[:, number] == 1
            both = (self._fewest(holds[s], counts[:, s], depth - 1) for s in (here, ~here))
            fewest = min(fewest, sum(both))
        return fewest


def _from_file(path: str, depth: int = DEEPEST) -> DecisionTrees:
    return DecisionTrees(Schema.from_toml(Path(path)), depth)


CLASSES = (
    ClassEntry(
        name="trees",
        build=_from_file,
        example="trees:schema.toml,3",
        summary="decision trees over records with a declared schema; at most 3 questions deep",
        arguments=(str, int),
    ),
)
