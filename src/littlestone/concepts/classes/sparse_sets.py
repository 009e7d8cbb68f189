"""Sets of keys, at most k of them or any finite number, over integers or any plain keys."""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, count
from typing import Any, Final, NoReturn

import numpy as np

from littlestone import require
from littlestone.concepts.classes.version_spaces import Remaining, subsets_up_to
from littlestone.concepts.domain import AnyHashable, IntegerRange
from littlestone.concepts.entry import ClassEntry
from littlestone.concepts.hypotheses.support import FiniteSupport, support_of
from littlestone.concepts.keys import KeySet, key_order
from littlestone.concepts.losses.answers import MOST_CELLS, OnLines
from littlestone.concepts.losses.label_counts import Tallied
from littlestone.concepts.losses.loss_runs import LossRuns, Projection, point_runs, project_points
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label, Point, Tally
from littlestone.concepts.trackers import SparseTracker
from littlestone.concepts.witness_systems import (
    MOST_COUNTERS,
    MOST_KEYS,
    KeySystem,
    SparseWitnesses,
)


@require.checked
@dataclass(frozen=True, slots=True)
class SparseSets(ConceptClass):
    """At most ``k`` keys map to 1, out of 0 .. n-1 or, if ``n`` is None, of all plain keys.

    >>> concepts = SparseSets(3)
    >>> concepts.littlestone_dimension, concepts.size
    (3, None)
    >>> concepts.version_space().restrict("a", 1).standard_optimal().describe()
    "1 on 'a', 0 elsewhere"
    """

    k: int
    n: int | None = None
    domain: IntegerRange | AnyHashable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.plain(self)
        require.integer(k=self.k, at_least=1)
        domain = AnyHashable() if self.n is None else IntegerRange(self.n)
        object.__setattr__(self, "domain", domain)

    @property
    def size(self) -> int | None:
        return None if self.n is None else subsets_up_to(self.n, self.k)

    @property
    def littlestone_dimension(self) -> int:
        return self.version_space().dimension

    @property
    def vc_dimension(self) -> int:
        return self.littlestone_dimension  # any k keys are shattered

    @property
    def dual_littlestone_dimension(self) -> int:
        """1 + floor(log2 k): a 1 leaves at most k keys, which can be halved."""
        by_sets = self.k.bit_length()
        return by_sets if self.n is None else min(by_sets, self.n.bit_length() - 1)

    @property
    def dual_vc_dimension(self) -> int:
        """The largest t for which 2**(t-1) <= k and there are 2**t keys."""
        return self.dual_littlestone_dimension

    def version_space(self) -> "SparseVersionSpace":
        return SparseVersionSpace(self, frozenset(), KeySet[Point]())

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the best concept: all ones minus the k largest gains."""
        for x in tally:
            self.domain.check(x)
        gains = (ones - zeros for zeros, ones in tally.values() if ones > zeros)
        return sum(ones for _, ones in tally.values()) - sum(heapq.nlargest(self.k, gains))

    def concepts(self) -> Iterator[FiniteSupport]:
        """Yield the empty set, then those with largest key 0, 1, 2, …, the smaller sets first."""
        yield FiniteSupport(frozenset())
        for largest in count() if self.n is None else range(self.n):
            for others in range(min(self.k, largest + 1)):
                for rest in combinations(range(largest), others):
                    yield FiniteSupport(frozenset((*rest, largest)))

    def tracker(self) -> SparseTracker:
        """Return a new consistency tracker."""
        return SparseTracker(self.k, self.n)

    def witnesses(self) -> SparseWitnesses | None:
        """Return one witness per key, or None if there are too many keys."""
        few = self.n is not None and self.n <= MOST_KEYS
        return SparseWitnesses(k=self.k, n=self.n) if few and self.n is not None else None

    def witness_system(self) -> KeySystem | None:
        """Return the system with one counter per key, or None if there are too many keys."""
        few = self.n is not None and self.n <= MOST_COUNTERS
        return KeySystem(self.k, self.n, FiniteSupport) if few and self.n is not None else None

    @property
    def most_ones(self) -> int:
        """The largest number of keys that a concept maps to 1."""
        return self.k

    @property
    def largest_set(self) -> int:
        """The largest number of keys in a concept."""
        return self.k

    def differences(self) -> "SparseSets":
        """Return the sets of 2k keys: two sets differ on at most that many."""
        return SparseSets(2 * self.k, self.n)


@dataclass(frozen=True, slots=True)
class SparseVersionSpace(Remaining):
    """The sets of at most k keys that contain the known positives and no known negative.

    The standard optimal prediction is 1 on the known positives only: at any other key a 1 uses
    up one of the k elements and leaves no more dimension than a 0 does.
    """

    concept_class: SparseSets
    positives: frozenset[Point] | None
    negatives: KeySet[Point]

    @property
    def is_empty(self) -> bool:
        return self.positives is None

    @property
    def size(self) -> int | None:
        """The number of concepts left; None if infinite."""
        if self.positives is None:
            return 0
        free = self.concept_class.k - len(self.positives)
        unknown = self._unknown()
        return subsets_up_to(unknown, free) if unknown is not None else None if free else 1

    @property
    def dimension(self) -> int:
        if self.positives is None:
            return -1
        free = self.concept_class.k - len(self.positives)
        unknown = self._unknown()
        return free if unknown is None else min(free, unknown)

    def restrict(self, x: Any, y: Label, /) -> "SparseVersionSpace":
        concepts, positives = self.concept_class, self.positives
        key, label = concepts.domain.check(x), require.label(y)
        if positives is None:
            return self
        known = self.label_of(key)
        if known == label:
            return self
        if known is not None:
            return SparseVersionSpace(concepts, None, KeySet[Point]())
        if not label:
            return SparseVersionSpace(concepts, positives, self.negatives.adding(key))
        # Once all k are known, negatives carry no information; dropping them keeps equality.
        full = len(positives) + 1 == concepts.k
        return SparseVersionSpace(
            concepts, positives | {key}, KeySet[Point]() if full else self.negatives
        )

    def label_of(self, key: Point) -> Label | None:
        """Return the label on which all concepts agree; None if they disagree."""
        if self.positives is None:
            return None
        if key in self.positives:
            return 1
        return 0 if len(self.positives) == self.concept_class.k or key in self.negatives else None

    def standard_optimal(self) -> FiniteSupport:
        return self.consistent()

    def consistent(self) -> FiniteSupport:
        """Return the smallest of the sets: the known positives."""
        self._refuse_empty()
        return FiniteSupport(self.positives or frozenset())

    def mistakes_of(self, hypothesis: Hypothesis, /) -> Iterator[Example]:
        """Yield mistakes, the one that leaves most concepts first."""
        if self.positives is None:
            return
        support = support_of(hypothesis, self.concept_class.domain)
        ones = sorted(support, key=key_order)
        for x in sorted(self.positives - support, key=key_order):
            yield x, 1
        yield from ((x, 0) for x in ones if self.label_of(x) == 0)
        yield from ((x, 0) for x in ones if self.label_of(x) is None)
        if len(self.positives) < self.concept_class.k:
            yield from ((x, 1) for x in self._fresh() if x not in support)

    def hardest_mistake(self, hypothesis: Hypothesis, /) -> Example | None:
        """Return the mistake that keeps the dimension largest."""
        return next(self.mistakes_of(hypothesis), None)

    def _unknown(self) -> int | None:
        """Return how many keys are known neither as positive nor as negative."""
        n, positives = self.concept_class.n, self.positives or ()
        return None if n is None else n - len(positives) - len(self.negatives)

    def _fresh(self) -> Iterator[int]:
        """Yield integer keys of unknown label, starting where they are most likely unknown."""
        n = self.concept_class.n
        seen = len(self.negatives) + len(self.positives or ())
        keys = count(seen) if n is None else chain(range(seen, n), range(min(seen, n)))
        return (x for x in keys if self.label_of(x) is None)


# No stream is long enough to notice the difference.
_ANY_NUMBER: Final = SparseSets(1 << 62)


@require.checked
@dataclass(frozen=True, slots=True)
class KeySets(ConceptClass):
    """Any finite set of keys maps to 1, and everything else to 0.

    Its Littlestone dimension is infinite, so mistake bounds of its learners are per key.

    >>> KeySets().version_space().restrict("a", 1).standard_optimal().describe()
    "1 on 'a', 0 elsewhere"
    """

    @property
    def domain(self) -> AnyHashable:
        """The domain of plain keys."""
        return AnyHashable()

    @property
    def spec(self) -> str:
        """The specification that the command line reads."""
        return "keys"

    @property
    def size(self) -> None:
        """None: there are infinitely many sets."""
        return None

    @property
    def largest_set(self) -> None:
        """The largest number of keys in a concept; None if unbounded."""
        return None

    @property
    def littlestone_dimension(self) -> int:
        self._refuse("Littlestone")

    @property
    def vc_dimension(self) -> int:
        self._refuse("VC")

    @property
    def dual_littlestone_dimension(self) -> int:
        self._refuse("dual Littlestone")

    @property
    def dual_vc_dimension(self) -> int:
        self._refuse("dual VC")

    def version_space(self) -> SparseVersionSpace:
        return _ANY_NUMBER.version_space()

    def fewest_mistakes(self, tally: Tally, /) -> int:
        """Return the mistakes of the set that gives each key its more frequent label."""
        for x in tally:
            self.domain.check(x)
        return sum(min(counts) for counts in tally.values())

    def concepts(self) -> Iterator[FiniteSupport]:
        return _ANY_NUMBER.concepts()

    def tracker(self) -> SparseTracker:
        """Return a new consistency tracker."""
        return _ANY_NUMBER.tracker()

    def _refuse(self, name: str) -> NoReturn:
        raise ValueError(
            f"the {name} dimension of all finite sets of keys is infinite; "
            "SparseSets(k), the sets of at most k keys, have dimension k"
        )


@require.checked
@dataclass(frozen=True, slots=True)
class Points(SparseSets):
    """At most one key maps to 1, out of 0 .. n-1 or, if ``n`` is None, of all plain keys.

    >>> everything = Points()
    >>> everything.littlestone_dimension
    1
    >>> everything.version_space().restrict("alice", 1).standard_optimal().describe()
    "1 on 'alice', 0 elsewhere"
    """

    k: int = field(default=1, init=False, repr=False)

    def concept(self, position: int, /) -> FiniteSupport:
        """Return the concept at a position of ``concepts()``."""
        position = require.integer(position=position, at_least=0, at_most=self.n)
        return FiniteSupport(frozenset([position - 1] if position else []))

    def majority_of(self, chosen: Sequence[int], /) -> FiniteSupport:
        """Return the majority vote of the concepts at these positions."""
        places = require.listed(chosen=chosen)
        counts = Counter(require.integer(chosen=place, at_least=0) for place in places)
        ones = (i - 1 for i, count in counts.items() if i and 2 * count > len(places))
        return FiniteSupport(frozenset(ones))

    def on_lines(self) -> OnLines | None:
        """Return the concepts as stretches of lines, or None if some are not."""
        if self.n is None or self.n > MOST_CELLS:
            return None
        ends = np.arange(self.n + 1)
        return OnLines.on_a_line(self.n, np.maximum(ends - 1, 0), ends)

    def loss_runs(self, tally: Tallied, /, *, deepest: int) -> LossRuns:
        """Return the losses of all concepts as runs of equal losses."""
        del deepest  # all losses are exact
        if self.n is None:
            raise ValueError(f"concepts must be finitely many, got concepts={self!r}")
        return point_runs(self.n, tally, self.concept)

    def project(self, points: Any, /) -> Projection:
        """Return the labellings that the class gives to these points."""
        return project_points(
            self.domain.check_many(points), lambda keys: FiniteSupport(frozenset(keys))
        )


CLASSES = (
    ClassEntry(
        name="points",
        build=Points,
        example="points",
        summary="at most one key maps to 1; any plain key unless a size is given",
        required=0,
    ),
    ClassEntry(
        name="sparse-sets",
        build=SparseSets,
        example="sparse-sets:3",
        summary="at most k keys map to 1; any plain key unless a size is given",
        arguments=(int, int),
    ),
    ClassEntry(
        name="keys",
        build=KeySets,
        example="keys",
        summary="any finite set of keys maps to 1",
        arguments=(),
        required=0,
    ),
)
