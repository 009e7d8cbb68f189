"""Force mistakes at new points, or where they cost no dimension."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from littlestone import require
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.runs import StepFunction, runs_of
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.keys import KeySet, key_set
from littlestone.concepts.protocols import Domain, Example, Hypothesis, Point, VersionSpace
from littlestone.game.adversaries.attacks import Forcing, Move, current_hypothesis, filling
from littlestone.game.adversaries.entry import AdversaryEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadingForcing(Forcing):
    """The common base of both adversaries: rules that are fixed for a game."""

    different_points: int = 512
    """After this many different points, old ones are repeated if one of them is a mistake."""

    sparing: ClassVar[bool]
    """Whether a new point may cost dimension only if there is no old one to repeat."""

    def __post_init__(self) -> None:
        require.usual_fields(self)


@dataclass(frozen=True, slots=True)
class Spreading:
    """A position that remembers where mistakes were forced and prefers other points.

    New mistakes are those of ``corrected``, the published hypothesis with every old mistake
    corrected; None on domains without a closed form for it.
    """

    rules: SpreadingForcing
    space: VersionSpace
    used: KeySet[Example]
    published: Hypothesis
    old_mistakes: KeySet[Example]
    corrected: Hypothesis | None
    again: Example | None
    """An example to repeat first, because the learner's response is not known yet."""

    @classmethod
    def at_start(cls, rules: SpreadingForcing) -> "Spreading":
        """Return the first position."""
        space = rules.concepts.version_space()
        start, nothing = current_hypothesis(space, None), KeySet[Example]()
        corrected = flipped(start, [], rules.concepts.domain)
        return cls(rules, space, nothing, start, nothing, corrected, None)

    def move(self, seen: Hypothesis | None, /) -> Move:
        """Return the next move."""
        if self.again is not None:
            return Move((self.again,), replace(self, again=None))
        facing = self._facing(current_hypothesis(self.space, seen))
        enough = len(self.used) >= self.rules.different_points
        if enough and facing.old_mistakes:
            return facing._repeat()
        fresh = facing._fresh()
        if fresh is None:
            return facing._repeat() if facing.old_mistakes else facing._fill()
        left = self.space.restrict(*fresh)
        if self.rules.sparing and facing.old_mistakes and left.dimension < self.space.dimension:
            return facing._repeat()
        return Move((fresh,), facing._after(fresh, left))

    def _facing(self, published: Hypothesis) -> "Spreading":
        if published is self.published or published == self.published:
            return self
        old = [(x, y) for x, y in self.used if published(x) != y]
        corrected = flipped(published, [x for x, _ in old], self.rules.concepts.domain)
        return replace(self, published=published, old_mistakes=key_set(old), corrected=corrected)

    def _fresh(self) -> Example | None:
        """Return the hardest mistake at a new point; without a closed form, among a few points."""
        if self.corrected is not None:
            return self.space.hardest_mistake(self.corrected)
        hardest = self.space.hardest_mistake(self.published)
        if hardest is None or hardest not in self.used:
            return hardest
        return next((e for e in self.space.mistakes_of(self.published) if e not in self.used), None)

    def _after(self, fresh: Example, left: VersionSpace) -> "Spreading":
        corrected = self.corrected
        if corrected is not None:
            corrected = flipped(corrected, [fresh[0]], self.rules.concepts.domain)
        return Spreading(
            self.rules,
            left,
            self.used.adding(fresh),
            self.published,
            self.old_mistakes.adding(fresh),
            corrected,
            fresh if self.rules.sparing else None,
        )

    def _repeat(self) -> Move:
        return Move(tuple(self.old_mistakes), None)

    def _fill(self) -> Move:
        return filling(self.rules.concepts, self.space, self._after_filling)

    def _after_filling(self, example: Example) -> "Spreading":
        return replace(self, space=self.space.restrict(*example))


@dataclass(frozen=True, slots=True)
class SpreadMistakes(SpreadingForcing):
    """An adaptive, realizable adversary that repeats a point only if necessary.

    Among the new points on which the newest known hypothesis errs, it takes the one that keeps the
    version space largest. If there is none, or ``different_points`` were used, it repeats the old
    ones in turn. So memorising mistakes does not help a learner.
    """

    sparing: ClassVar[bool] = False

    def first_position(self) -> Spreading:
        """Return the first position."""
        return Spreading.at_start(self)


@dataclass(frozen=True, slots=True)
class KeepDimension(SpreadingForcing):
    """An adaptive, realizable adversary that stays as high in the mistake tree as possible.

    It gives up concepts, but dimension only if every mistake of the newest known hypothesis costs
    some: until then it takes new points, up to ``different_points``, and repeats old ones rather
    than descend. It repeats each new point once, to see the learner's response first.
    """

    sparing: ClassVar[bool] = True

    def first_position(self) -> Spreading:
        """Return the first position."""
        self.concepts.version_space().standard_optimal()  # raises if dimensions are unknown
        return Spreading.at_start(self)


def flipped(hypothesis: Hypothesis, points: Iterable[Point], domain: Domain) -> Hypothesis | None:
    """Return the hypothesis with flipped labels at ``points``, if there is a closed form.

    >>> flipped(FiniteSupport.on("a"), ["a", "b"], IntegerRange(1)).describe()
    "1 on 'b', 0 elsewhere"
    >>> flipped(StepFunction(n=9, first=0, changes=(4,)), [3, 4], IntegerRange(9)).describe()
    '1 on 3, 5-8 out of 0-8'
    """
    if isinstance(hypothesis, FiniteSupport):
        return FiniteSupport(hypothesis.positives.symmetric_difference(points))
    if isinstance(domain, IntegerRange):
        return _flipped_steps(hypothesis, points, domain.n)
    return None


def _flipped_steps(hypothesis: Hypothesis, points: Iterable[Any], n: int) -> StepFunction:
    if isinstance(hypothesis, StepFunction):
        first, changes = hypothesis.first, set(hypothesis.changes)
    else:
        runs = list(runs_of(hypothesis, n))
        first, changes = runs[0][2], {start for start, _, _ in runs[1:]}
    # Flipping x toggles the label changes at x and at x + 1.
    for x in points:
        changes ^= {x, x + 1}
    first ^= 0 in changes
    return StepFunction(n, first, tuple(sorted(changes - {0, n})))


ADVERSARIES = (
    AdversaryEntry(
        "spread-mistakes",
        SpreadMistakes,
        "adaptive: forces mistakes and never repeats a point where it can avoid it",
    ),
    AdversaryEntry(
        "keep-dimension",
        KeepDimension,
        "adaptive: keeps the version space's dimension as high as it can",
    ),
)
