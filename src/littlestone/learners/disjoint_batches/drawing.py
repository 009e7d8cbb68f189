"""Draw one concept by its errors on some examples: listed concepts, or decision trees."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from littlestone.concepts.capabilities import Branching
from littlestone.concepts.losses.listing import require_listable
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.mechanisms.tree_selection import TreeSelection
from littlestone.mechanisms.tree_weights import Sample
from littlestone.randomness import Randomness

Batch = Mapping[Point, tuple[int, int]]
"""How often each point came with label 0 and with label 1."""


class Drawing(Protocol):
    """The exponential mechanism over a class: (epsilon, 0) for one replaced example."""

    @property
    def log_choices(self) -> float:
        """ln(1/prior) of the least likely concept."""
        ...

    def draw(self, batch: Batch, *, rng: Randomness) -> Hypothesis: ...


def drawing_from(concepts: ConceptClass, *, epsilon: float) -> Drawing:
    if isinstance(concepts, Branching):
        return DrawnTree(TreeSelection(trees=concepts, epsilon=epsilon))
    require_listable(concepts)
    return DrawnConcept(concepts, ExponentialMechanism(epsilon=epsilon, range_width=2))


@dataclass(frozen=True, slots=True)
class DrawnTree:
    """One of all trees, simple ones being likelier."""

    selection: TreeSelection

    @property
    def log_choices(self) -> float:
        trees = self.selection.trees
        splits = (1 << trees.depth) - 1
        return splits * math.log(2 * max(1, len(trees.conditions))) + (splits + 1) * math.log(2)

    def draw(self, batch: Batch, *, rng: Randomness) -> Hypothesis:
        return self.selection.draw(Sample.of(batch), rng=rng)


@dataclass(frozen=True, slots=True)
class DrawnConcept:
    """One of finitely many listed concepts, all equally likely beforehand."""

    concepts: ConceptClass
    mechanism: ExponentialMechanism

    @property
    def log_choices(self) -> float:
        return math.log(require_listable(self.concepts))

    def draw(self, batch: Batch, *, rng: Randomness) -> Hypothesis:
        losses = LossTable(self.concepts)
        for x, (zeros, ones) in batch.items():
            for label, count in enumerate((zeros, ones)):
                if count:
                    losses.add(x, label, count)
        (chosen,) = self.mechanism.draw(losses.as_array(), rng=rng)
        return losses.concept(chosen)
