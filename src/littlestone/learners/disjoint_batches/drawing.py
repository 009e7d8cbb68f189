"""Draw one rule by its errors on some examples: listed concepts, or trees and linear rules."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from littlestone.concepts.capabilities import Branching
from littlestone.concepts.losses.listing import require_listable
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point
from littlestone.learners.disjoint_batches.asking import LastRule, can_be_asked, with_last_rule
from littlestone.learners.disjoint_batches.linear_pool import LinearPool
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.mechanisms.tree_selection import OTHERS, TreeSelection
from littlestone.mechanisms.tree_weights import Sample
from littlestone.randomness import Randomness

Batch = Mapping[Point, tuple[int, int]]
"""How often each point came with label 0 and with label 1."""


class Drawing(Protocol):
    """The exponential mechanism over a class: (epsilon, 0) for one replaced example."""

    @property
    def candidates(self) -> int:
        """How many there are to draw from."""
        ...

    @property
    def log_choices(self) -> float:
        """ln(1/prior) of the least likely concept."""
        ...

    def draw(self, batch: Batch, *, near: Hypothesis, rng: Randomness) -> Hypothesis:
        """``near`` is what was drawn before; it may say where to look."""
        ...


def drawing_from(
    concepts: ConceptClass,
    *,
    epsilon: float,
    directions: int = 0,
    alike: bool = False,
    asking: bool = False,
) -> Drawing:
    if isinstance(concepts, Branching):
        pool = LinearPool(concepts.schema, directions, alike)
        selection = TreeSelection(trees=concepts, epsilon=epsilon)
        if not asking:
            return DrawnTree(selection, pool, None)
        asked = TreeSelection(trees=with_last_rule(concepts), epsilon=epsilon)
        return DrawnTree(selection, pool, asked)
    if directions or asking:
        raise ValueError(
            f"directions and asking are for decision trees, got directions={directions}, "
            f"asking={asking} and {concepts!r}"
        )
    require_listable(concepts)
    return DrawnConcept(concepts, ExponentialMechanism(epsilon=epsilon, range_width=2))


@dataclass(frozen=True, slots=True)
class DrawnTree:
    """One of all trees, simple ones being likelier, or one of a pool of linear rules."""

    selection: TreeSelection
    pool: LinearPool
    asking: TreeSelection | None
    """The same over trees that may ask what the last rule says."""

    @property
    def candidates(self) -> int:
        trees = 2
        for _ in range(self.selection.trees.depth):
            trees = 2 + self._questions * trees * trees
        return trees + self.pool.size

    @property
    def log_choices(self) -> float:
        trees = self.selection.trees
        splits = (1 << trees.depth) - 1
        questions = splits * math.log(2 * max(1, self._questions))
        share = 1 - OTHERS if self.pool.directions else 1
        return questions + (splits + 1) * math.log(2) - math.log(share)

    @property
    def _questions(self) -> int:
        return len(self.selection.trees.conditions) + (self.asking is not None)

    def draw(self, batch: Batch, *, near: Hypothesis, rng: Randomness) -> Hypothesis:
        sample = Sample.of(batch)
        rules = self.pool.draw(near, rng=rng)
        errors = rules.errors(sample)
        if self.asking is None or not can_be_asked(near):
            drawn = self.selection.draw_among(sample, errors, rng=rng)
            return rules.rule(drawn) if isinstance(drawn, int) else drawn
        last = LastRule(near)
        drawn = self.asking.draw_among(last.extended(sample), errors, rng=rng)
        return rules.rule(drawn) if isinstance(drawn, int) else last.written_out(drawn)


@dataclass(frozen=True, slots=True)
class DrawnConcept:
    """One of finitely many listed concepts, all equally likely beforehand."""

    concepts: ConceptClass
    mechanism: ExponentialMechanism

    @property
    def candidates(self) -> int:
        return require_listable(self.concepts)

    @property
    def log_choices(self) -> float:
        return math.log(self.candidates)

    def draw(self, batch: Batch, *, near: Hypothesis, rng: Randomness) -> Hypothesis:
        losses = LossTable(self.concepts)
        for x, (zeros, ones) in batch.items():
            for label, count in enumerate((zeros, ones)):
                if count:
                    losses.add(x, label, count)
        (chosen,) = self.mechanism.draw(losses.as_array(), rng=rng)
        return losses.concept(chosen)
