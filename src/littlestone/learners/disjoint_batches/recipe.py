"""Publish a rule drawn from the last batch alone: the default for tables of events."""

import math
import sys
from dataclasses import dataclass
from typing import ClassVar, Final

from littlestone import require
from littlestone.concepts.capabilities import Branching
from littlestone.concepts.domain import MOST_LABELS
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Numeric, Schema
from littlestone.learners.disjoint_batches.algorithm import DisjointBatchesEngine
from littlestone.learners.disjoint_batches.drawing import Drawing, drawing_from
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

# In units of 1/epsilon, or of one example if epsilon is larger than 1: with fewer examples sampling
# error dominates the noise. docs/theory/practice-log.md says how these numbers were chosen.
_FIRST_BATCH: Final = 32
_LONGEST: Final = 512
_WINDOW: Final = 32
_WATCHED_FROM: Final = 1 << 12
_PAST: Final = 16
# The most rounds between the first and the last example that three voters have read: over more
# rounds a change is likelier, and a vote notices it late.
_VOTE_SPAN: Final = 2048
# Sharper draws among all trees overfit a batch.
_SHARPEST: Final = 4.0
_MOST_DIRECTIONS: Final = 1 << 16
# How many linear rules are tried besides trees. Over fewer fields a tree says the same, and is
# easier to read.
_DIRECTIONS: Final = 2048
_FEWEST_FIELDS: Final = 4
# The most weights of linear rules for more than two labels: with more, random rules are not good
# enough on simulated streams (docs/theory/practice-log.md).
_MOST_SCORED: Final = 64


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class DisjointBatches(PrivateLearner):
    """After each batch, publish a concept drawn by its errors on that batch alone.

    Every example is read by one draw, so each draw has the whole epsilon, however many there are,
    and no horizon is needed. Batches double (``growth``) up to ``longest`` examples or one
    ``past``-th of all rounds before, whichever is more: rules improve while the law of the
    examples stays the same, and adapt soon after a change. From round ``watched_from`` on, every
    fourth example goes to short windows instead. Each window chooses by its own errors alone
    whether the rule, "always 0" or "always 1" is published, which follows good and bad times.
    While windows often draw a constant, three examples of four go to them.
    Once batches no longer double, the rule is the vote of the last three that were drawn, if
    epsilon is above 3/4 (``voters``); a window may prefer the newest of them, which follows a
    change sooner.
    Trees may ask what the last rule predicts (``asking``), and so grow. Over records with four or
    more fields, each draw has linear rules in random ``directions`` as further candidates; some
    weigh all numbers equally (``alike``).

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, 0), conditionally on every prefix; per user (``max_contributions``
                    examples) by group privacy
        Assumes:    float-trust (docs/GUARANTEES.md) for decision trees; timing
                    (docs/GUARANTEES.md): a round in which a concept is drawn takes longer
        Proof:      algorithm.md
        Checked:    proofs/promises/DisjointBatches.v, theorem disjoint_batches_private

    Regret: ``excess_bound`` for examples that are drawn independently of each other. Against
    adversaries that attack the published rule nothing is promised, because it stays for a while.

    >>> from littlestone.concepts.classes.decision_trees import DecisionTrees
    >>> from littlestone.concepts.schema import Schema
    >>> trees = DecisionTrees(Schema.from_mapping({"delay": {"grid": [0, 15]}}), 2)
    >>> learner = DisjointBatches(concepts=trees, epsilon=1.0)
    >>> learner.guarantee(), learner.first, learner.longest
    (PrivacyGuarantee(epsilon=1.0, delta=0.0), 32, 512)
    """

    concepts: ConceptClass
    epsilon: float
    rounds: int | None = None
    first: int | None = None
    """The examples of the first batch; by default 32/epsilon, and at least 32."""
    growth: float = 2.0
    longest: int | None = None
    """The most examples of an early batch; by default 512/epsilon, and at least 512."""
    past: int = _PAST
    """A later batch has this part of the rounds before it, if that is more than ``longest``."""
    window: int | None = None
    """The examples of a window, 0 for none; by default 32/epsilon, and at least 32."""
    watched_from: int | None = None
    """The round in which windows begin; by default 4096/epsilon, and at least 4096."""
    directions: int | None = None
    """The directions of linear rules in each draw, besides decision trees.

    By default 2048 over four or more fields; with several labels, if 64 weights are enough.
    """
    alike: bool | None = None
    """Whether a third of these directions weighs numbers equally and with the same sign."""
    asking: bool | None = None
    """Whether decision trees may ask what the last one predicts, and so grow."""
    voters: int | None = None
    """Rules that vote once batches no longer double: 1, or 3 (decision trees with two labels).

    By default 3 where batches of ``longest`` examples are short, for epsilon above 3/4, else 1.
    """
    max_contributions: int = 1

    form_version: ClassVar[int] = 3
    most_labels: ClassVar[int] = MOST_LABELS - 1  # a draw needs one more answer
    oblivious_only: ClassVar[bool] = True
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(epsilon=self.epsilon)
        for name, least, usual in (
            ("first", 1, _FIRST_BATCH),
            ("longest", 1, _LONGEST),
            ("window", 0, _WINDOW),
            ("watched_from", 1, _WATCHED_FROM),
        ):
            if getattr(self, name) is None:
                object.__setattr__(self, name, math.ceil(usual / min(1.0, self.epsilon)))
            require.integer(**{name: getattr(self, name)}, at_least=least)
        require.integer(past=self.past, max_contributions=self.max_contributions, at_least=1)
        _ = self.label_count  # rejects more labels than it can tell apart
        trees = isinstance(self.concepts, Branching)
        many = isinstance(self.concepts, Branching) and _has_linear_rules(self.concepts.schema)
        for name, value in (
            ("directions", _DIRECTIONS if many else 0),
            ("alike", many and self.directions != 0 and self.label_count == 2),
            ("asking", trees),
            ("voters", 3 if trees and self.label_count == 2 and self._votes_soon else 1),
        ):
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        require.integer(directions=self.directions, at_least=0)
        assert self.directions is not None
        if self.directions > _MOST_DIRECTIONS:
            raise ValueError(
                f"directions must be at most {_MOST_DIRECTIONS}, got directions={self.directions}"
            )
        if self.voters not in (1, 3) or (self.voters == 3 and self.label_count > 2):
            raise ValueError(
                f"voters must be 1, or 3 for two labels, got voters={self.voters} for "
                f"{self.label_count} labels"
            )
        if self.alike and not self.directions:
            raise ValueError("alike is for directions, got alike=True, directions=0")
        if self.rounds is not None:
            require.integer(rounds=self.rounds, at_least=1)
        if not 1 <= self.growth <= 16:
            raise ValueError(f"growth must lie in [1, 16], got growth={self.growth!r}")
        self.drawing()  # rejects a class without a drawing

    def drawing(self) -> Drawing:
        """Return how a concept is drawn from a batch."""
        return drawing_from(
            self.concepts,
            epsilon=self.drawn_epsilon,
            directions=self.directions or 0,
            alike=bool(self.alike),
            asking=bool(self.asking),
        )

    @property
    def _votes_soon(self) -> bool:
        return self.longest is not None and 3 * self.longest <= _VOTE_SPAN

    @property
    def drawn_epsilon(self) -> float:
        """Return the cost of one draw: epsilon, or less for trees if epsilon is large."""
        trees = isinstance(self.concepts, Branching)
        return min(self.epsilon, _SHARPEST) if trees else self.epsilon

    @property
    def per_example(self) -> PrivacyGuarantee:
        """Return the guarantee for one example."""
        return PrivacyGuarantee(epsilon=self.epsilon)

    def batch_size(self, number: int, played: int, thinned: int = 1) -> int:
        """Return the size of batch ``number`` (0, 1, …), which begins after ``played`` rounds.

        If batches get only one of ``thinned`` of their usual rounds, a late batch has
        ``thinned`` times fewer rounds.
        """
        assert self.first is not None and self.longest is not None
        require.integer(thinned=thinned, at_least=1)
        try:
            size = math.ceil(self.first * self.growth**number)
        except OverflowError:  # longer than any stream
            size = sys.maxsize
        return min(size, max(self.longest, played // (self.past * thinned)))

    def excess_bound(self, *, size: int, failure_probability: float) -> float:
        """Bound the excess error of a rule drawn from ``size`` examples over the best concept.

        It holds for independent examples of one law, and new examples of that law. It is exceeded
        with ``failure_probability`` at most; 1 promises nothing.
        """
        require.integer(size=size, at_least=1)
        require.open_probability(failure_probability=failure_probability)
        drawing = self.drawing()
        surprise = math.log(2 / failure_probability)
        drawn = (drawing.log_choices + surprise) * 2 / (self.drawn_epsilon * size)
        sampled = 2 * math.sqrt((math.log(2 * drawing.candidates) + surprise) / (2 * size))
        return min(1.0, (drawn + sampled) * (1 + 1e-9))

    def engine(self, rng: Randomness, /) -> DisjointBatchesEngine:
        """Return the engine of a run."""
        return DisjointBatchesEngine(self, rng)


def _has_linear_rules(schema: Schema) -> bool:
    """Return whether linear rules are candidates by default."""
    labels = len(schema.label_values)
    weights = sum(1 if isinstance(part, Numeric) else part.cells for part in schema.fields)
    few_enough = labels == 2 or labels * weights <= _MOST_SCORED
    return len(schema.fields) >= _FEWEST_FIELDS and few_enough
