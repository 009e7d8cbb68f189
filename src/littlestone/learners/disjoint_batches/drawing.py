"""Draw one rule by its errors on examples: a listed concept, a tree or a linear rule."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from littlestone.concepts.capabilities import Branching
from littlestone.concepts.losses.listing import require_listable
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.protocols import ConceptClass, Hypothesis, Point
from littlestone.concepts.schema import Schema, label_values
from littlestone.learners.disjoint_batches.asking import last_rule_question, with_last_rule
from littlestone.learners.disjoint_batches.linear_pool import LinearPool
from littlestone.learners.disjoint_batches.score_pool import ScorePool
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.tree_selection import OTHERS, TreeSelection
from littlestone.privacy.mechanisms.tree_weights import Sample
from littlestone.randomness import Randomness

# Directions times examples (times epsilon, if that is small) in one draw: a long batch costs no
# more than one of 512 examples and 2048 directions.
_MOST_SCORES: Final = 1 << 20
_FEWEST_DIRECTIONS: Final = 64

Batch = Mapping[Point, Sequence[int]]
"""How often each point came with each label."""


class Drawing(Protocol):
    """The exponential mechanism over a class: (epsilon, 0) for one replaced example."""

    @property
    def candidates(self) -> int:
        """Return the number of candidates."""
        ...

    @property
    def log_choices(self) -> float:
        """Return ln(1/prior) of the least likely concept."""
        ...

    def draw(
        self, batch: Batch | Sample, *, rounds: int, near: Hypothesis, rng: Randomness
    ) -> Hypothesis:
        """Draw a concept.

        Args:
            batch: The examples; records may also be a sample.
            rounds: The number of rounds of the batch, which is public.
            near: The concept that was drawn before, which may guide the candidates.
            rng: The randomness of the draw.
        """
        ...


def drawing_from(
    concepts: ConceptClass,
    *,
    epsilon: float,
    directions: int = 0,
    alike: bool = False,
    asking: bool = False,
) -> Drawing:
    """Return the drawing for a class; ``directions``, ``alike`` and ``asking`` are for trees."""
    if isinstance(concepts, Branching):
        pool = _pool(concepts.schema, directions, alike)
        selection = TreeSelection(trees=concepts, epsilon=epsilon)
        if not asking:
            return DrawnTree(selection, pool, None)
        with_last = TreeSelection(trees=with_last_rule(concepts), epsilon=epsilon)
        return DrawnTree(selection, pool, with_last)
    if len(label_values(concepts.domain)) > 2:
        raise ValueError(
            f"concepts must be decision trees for more than two labels, got {concepts!r}"
        )
    if directions or asking:
        raise ValueError(
            f"directions and asking are for decision trees, got directions={directions}, "
            f"asking={asking} and {concepts!r}"
        )
    require_listable(concepts)
    return DrawnConcept(concepts, ExponentialMechanism(epsilon=epsilon, range_width=2))


def _pool(schema: Schema, directions: int, alike: bool) -> LinearPool | ScorePool:
    if len(schema.label_values) == 2:
        return LinearPool(schema, directions, alike)
    if alike:
        raise ValueError("alike is for directions of two labels, got alike=True")
    return ScorePool(schema, directions)


@dataclass(frozen=True, slots=True)
class DrawnTree:
    """Draw one of all trees (simple ones are likelier) or one of a pool of linear rules."""

    selection: TreeSelection
    pool: LinearPool | ScorePool
    asking: TreeSelection | None
    """The same over trees that may ask what the last rule predicts."""

    @property
    def candidates(self) -> int:
        """Return the number of trees and linear rules."""
        trees = self._answers
        for _ in range(self.selection.trees.depth):
            trees = self._answers + self._questions * trees * trees
        return trees + self.pool.size

    @property
    def log_choices(self) -> float:
        """Return ln(1/prior) of the least likely tree."""
        trees = self.selection.trees
        splits = (1 << trees.depth) - 1
        questions = splits * math.log(2 * max(1, self._questions))
        share = 1 - OTHERS if self.pool.directions else 1
        return questions + (splits + 1) * math.log(self._answers) - math.log(share)

    @property
    def _most(self) -> TreeSelection:
        return self.selection if self.asking is None else self.asking

    @property
    def _weight(self) -> float:
        """Return how much an example counts: more noise needs more examples."""
        return min(1.0, self.selection.epsilon)

    @property
    def _questions(self) -> int:
        return len(self._most.trees.conditions)

    @property
    def _answers(self) -> int:
        return len(self._most.trees.schema.label_values)

    def draw(
        self, batch: Batch | Sample, *, rounds: int, near: Hypothesis, rng: Randomness
    ) -> Hypothesis:
        """Draw a tree or a linear rule by its errors on the batch."""
        labels = len(self.selection.trees.schema.label_values)
        sample = batch if isinstance(batch, Sample) else Sample.of(batch, labels)
        # The larger the batch, the more a rule near the last one gains on a random one.
        most = max(_FEWEST_DIRECTIONS, _MOST_SCORES // math.ceil(rounds * self._weight))
        rules = self.pool.draw(near, rng=rng, most=most)
        errors = rules.errors(sample)
        last = None if self.asking is None else last_rule_question(near, labels)
        if self.asking is None or last is None:
            drawn = self.selection.draw_among(sample, errors, rng=rng)
            return rules.rule(drawn) if isinstance(drawn, int) else drawn
        drawn = self.asking.draw_among(last.extended(sample), errors, rng=rng)
        return rules.rule(drawn) if isinstance(drawn, int) else last.written_out(drawn)


@dataclass(frozen=True, slots=True)
class DrawnConcept:
    """Draw one of finitely many listed concepts, with equal prior weights."""

    concepts: ConceptClass
    mechanism: ExponentialMechanism

    @property
    def candidates(self) -> int:
        """Return the number of concepts."""
        return require_listable(self.concepts)

    @property
    def log_choices(self) -> float:
        """Return the logarithm of the number of concepts."""
        return math.log(self.candidates)

    def draw(
        self, batch: Batch | Sample, *, rounds: int, near: Hypothesis, rng: Randomness
    ) -> Hypothesis:
        """Draw a concept by its errors on the batch."""
        assert not isinstance(batch, Sample)
        losses = LossTable(self.concepts)
        for x, counts in batch.items():
            for label, count in enumerate(counts):
                if count:
                    losses.add(x, label, count)
        (chosen,) = self.mechanism.draw(losses.as_array(), rng=rng)
        return losses.concept(chosen)
