"""Publish a rule drawn from the last batch alone: what people with a table of events want."""

import math
import sys
from dataclasses import dataclass
from typing import ClassVar, Final

from littlestone import require
from littlestone.concepts.capabilities import Branching
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.disjoint_batches.algorithm import DisjointBatchesEngine
from littlestone.learners.disjoint_batches.drawing import Drawing, drawing_from
from littlestone.learners.run import PrivateLearner
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness

# In units of 1/epsilon; docs/practice.md says how they were chosen.
_FIRST_BATCH: Final = 32
_WINDOW: Final = 32
_RECENT_BATCH: Final = 512
_WATCHED_FROM: Final = 1 << 12
_SHORTEST_WATCH: Final = 1 << 10
# Of a plan's rounds: what a recent batch has at most, and in what part no batch may end.
_RECENT_PART: Final = 32
_LAST_PART: Final = 10
_MOST_DIRECTIONS: Final = 1 << 16
# How many linear rules are tried besides trees. Over fewer fields a tree says the same, and is
# easier to read.
_DIRECTIONS: Final = 2048
_FEWEST_FIELDS: Final = 4


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class DisjointBatches(PrivateLearner):
    """After each batch, publish a concept drawn by its errors on that batch alone.

    Every example is read by one draw, so each draw has the whole epsilon, however many there are,
    and no horizon is needed. Batches double (``growth``), so that half of the past counts; with
    ``longest`` they stop growing. With the first batch that begins in round ``watched_from`` or
    later a watch for changes begins. Of eight examples one then goes to the batches, one to
    batches of ``recent`` examples, and six to short windows. After each window one of the rule,
    the recent batch's rule, "always 0" and "always 1" is published, by its errors in that window
    alone. So changes of the law are followed, slow or abrupt, and good and bad times.
    If the watch is ``planned``, as it is where ``rounds`` are declared, a batch that would end in
    the last tenth of the rounds, or not at all, is of little use, and not begun: the watch begins,
    if many rounds are left, and during the watch its examples go to recent batches.
    Over records of four fields and more, linear rules in ``directions`` drawn by chance are
    candidates of each draw besides the trees, for fields that add up, or are ``alike``; and trees
    may ask what the last rule says (``asking``).

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
    adversaries that attack the rule on display nothing is promised, since it stays for a while.

    >>> from littlestone.concepts.classes.decision_trees import DecisionTrees
    >>> from littlestone.concepts.schema import Schema
    >>> trees = DecisionTrees(Schema.from_mapping({"delay": {"grid": [0, 15]}}), 2)
    >>> learner = DisjointBatches(concepts=trees, epsilon=1.0)
    >>> learner.guarantee(), learner.first, learner.window
    (PrivacyGuarantee(epsilon=1.0, delta=0.0), 32, 32)
    """

    concepts: ConceptClass
    epsilon: float
    rounds: int | None = None
    first: int | None = None
    """The examples of the first batch; 32/epsilon unless given."""
    growth: float = 2.0
    longest: int | None = None
    """The most examples of a batch; None for no limit."""
    window: int | None = None
    """The examples of a window; 32/epsilon unless given, 0 for no watch."""
    watched_from: int | None = None
    """The watch begins with the first batch from this round on; 4096/epsilon unless given."""
    recent: int | None = None
    """The examples of a recent batch; 512/epsilon unless given, 0 for none."""
    planned: bool | None = None
    """Whether the watch looks at ``rounds``; a recent batch then has a 32nd of them at most."""
    directions: int | None = None
    """Of linear rules, besides decision trees, in each draw; 2048 over four fields and more."""
    alike: bool | None = None
    """Whether a third of these directions count numbers equally and in the same way."""
    asking: bool | None = None
    """Whether decision trees may ask what the last one says, and so grow."""
    max_contributions: int = 1

    oblivious_only: ClassVar[bool] = True
    prefix_conditional: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.positive(epsilon=self.epsilon)
        for name, least, share in (
            ("first", 1, _FIRST_BATCH),
            ("window", 0, _WINDOW),
            ("watched_from", 1, _WATCHED_FROM),
            ("recent", 0, _RECENT_BATCH),
        ):
            if getattr(self, name) is None:
                object.__setattr__(self, name, math.ceil(share / self.epsilon))
            require.integer(**{name: getattr(self, name)}, at_least=least)
        require.integer(max_contributions=self.max_contributions, at_least=1)
        trees = isinstance(self.concepts, Branching)
        many = isinstance(self.concepts, Branching) and (
            len(self.concepts.schema.fields) >= _FEWEST_FIELDS
        )
        for name, usual in (
            ("planned", self.rounds is not None),
            ("directions", _DIRECTIONS if many else 0),
            ("alike", many and self.directions != 0),
            ("asking", trees),
        ):
            if getattr(self, name) is None:
                object.__setattr__(self, name, usual)
        require.integer(directions=self.directions, at_least=0)
        assert self.directions is not None
        if self.directions > _MOST_DIRECTIONS:
            raise ValueError(
                f"directions must be at most {_MOST_DIRECTIONS}, got directions={self.directions}"
            )
        if self.alike and not self.directions:
            raise ValueError("alike is for directions, got alike=True, directions=0")
        if self.rounds is not None:
            require.integer(rounds=self.rounds, at_least=1)
        elif self.planned:
            raise ValueError("planned needs the declared rounds, got planned=True, rounds=None")
        if self.longest is not None:
            require.integer(longest=self.longest, at_least=1)
        if not 1 <= self.growth <= 16:
            raise ValueError(f"growth must lie in [1, 16], got growth={self.growth!r}")
        self.drawing()  # refuses a class that nothing can be drawn from

    def drawing(self) -> Drawing:
        """How a concept is drawn from a batch."""
        return drawing_from(
            self.concepts,
            epsilon=self.epsilon,
            directions=self.directions or 0,
            alike=bool(self.alike),
            asking=bool(self.asking),
        )

    @property
    def per_example(self) -> PrivacyGuarantee:
        return PrivacyGuarantee(epsilon=self.epsilon)

    def batch_size(self, number: int) -> int:
        """The examples of batch 0, 1, …"""
        assert self.first is not None
        try:
            size = math.ceil(self.first * self.growth**number)
        except OverflowError:  # longer than any stream, unless ``longest`` is shorter
            size = sys.maxsize
        return size if self.longest is None else min(size, self.longest)

    @property
    def recent_size(self) -> int:
        """The examples of a recent batch, as planned."""
        assert self.recent is not None
        if self.rounds is None or not self.planned:
            return self.recent
        return min(self.recent, max(1, self.rounds // _RECENT_PART))

    @property
    def latest_end(self) -> int | None:
        """The last round in which a batch may end, if that is planned."""
        if self.rounds is None or not self.planned:
            return None
        return self.rounds - self.rounds // _LAST_PART

    def is_watched(self, played: int, number: int) -> bool:
        """Whether there is a watch from batch ``number`` on, which begins after so many rounds."""
        assert self.watched_from is not None
        if played + 1 >= self.watched_from:
            return True
        latest = self.latest_end
        if self.rounds is None or latest is None or played + self.batch_size(number) <= latest:
            return False
        # For large epsilon windows are so short that chance decides, not noise.
        return self.rounds - played >= _SHORTEST_WATCH / min(1, self.epsilon)

    def excess_bound(self, *, size: int, failure_probability: float) -> float:
        """How much likelier to err than the best concept a rule drawn from ``size`` examples is.

        For independent examples of one law, and new examples of that law. Exceeded with
        ``failure_probability`` at most; 1 promises nothing.
        """
        require.integer(size=size, at_least=1)
        require.open_probability(failure_probability=failure_probability)
        drawing = self.drawing()
        surprise = math.log(2 / failure_probability)
        drawn = (drawing.log_choices + surprise) * 2 / (self.epsilon * size)
        sampled = 2 * math.sqrt((math.log(2 * drawing.candidates) + surprise) / (2 * size))
        return min(1.0, (drawn + sampled) * (1 + 1e-9))

    def engine(self, rng: Randomness, /) -> DisjointBatchesEngine:
        return DisjointBatchesEngine(self, rng)
