"""The adversaries of the floors: stay silent, then show the learner where it errs.

An example is *silent* if all candidates fit it. An *active* round shows a point where the published
hypothesis differs from the target, which is a mistake if the adversary knows that hypothesis
(``play(peek=True)``), and is silent if there is none. Every private learner errs at least as often
on average as the floors say (docs/theory/floors.md,
``theory/adaptive_floors.py``). None of them depends on the learner.
"""

from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from typing import ClassVar

from littlestone import require
from littlestone.concepts.capabilities import Agreeing, agreeing
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, VersionSpace
from littlestone.game.adversaries.attacks import FOREVER, TimedAttack, Turn, current_hypothesis
from littlestone.game.adversaries.entry import AdversaryEntry
from littlestone.randomness import Randomness


class _Waiting:
    """The common base of the waiting adversaries, which are adaptive and realizable."""

    __slots__ = ()

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = True


class _AmongAgreeing(_Waiting):
    """A waiting adversary whose candidates agree at a point."""

    __slots__ = ()

    concepts: ConceptClass
    most: int

    @property
    def candidates(self) -> int:
        """The number n of the floor."""
        return len(_agreeing(self.concepts, self.most)[1])


@require.checked
@dataclass(frozen=True, slots=True)
class Wait(_AmongAgreeing):
    """An adaptive, realizable adversary: Theorem A as a player.

    It is silent until a random one of the first ``within`` rounds, then active for a random
    candidate other than the published hypothesis. Candidates are concepts that agree at a point,
    among the first ``most`` of the class.
    """

    concepts: ConceptClass
    _: KW_ONLY
    within: int = 200
    most: int = 1024

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(within=self.within, most=self.most, at_least=1)

    def start(self, *, rng: Randomness) -> TimedAttack:
        """Start an attack."""
        silent, found = _agreeing(self.concepts, self.most)
        generator = rng.generator()
        begin = int(generator.integers(self.within))
        drawn = int(generator.integers(len(found)))
        other = int(generator.integers(max(1, len(found) - 1)))
        game = _Hidden(self.concepts, silent, found, 0, begin, drawn, other)
        return TimedAttack(self.concepts.domain, _Attacked(game, 0, None))


@require.checked
@dataclass(frozen=True, slots=True)
class BurstAndWait(_AmongAgreeing):
    """An adaptive, realizable adversary: Theorem 2′ as a player.

    It is active for a random candidate in the first ``burst`` rounds, then silent until a random
    one of the next ``within`` rounds, then active again. Candidates are those of ``Wait``.
    """

    concepts: ConceptClass
    _: KW_ONLY
    burst: int = 8
    within: int = 200
    most: int = 1024

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(within=self.within, most=self.most, at_least=1)
        require.integer(burst=self.burst, at_least=0)

    def start(self, *, rng: Randomness) -> TimedAttack:
        """Start an attack."""
        silent, found = _agreeing(self.concepts, self.most)
        generator = rng.generator()
        begin = self.burst + int(generator.integers(self.within))
        drawn = int(generator.integers(len(found)))
        game = _Hidden(self.concepts, silent, found, self.burst, begin, drawn, 0)
        return TimedAttack(self.concepts.domain, _Attacked(game, 0, drawn))


@require.checked
@dataclass(frozen=True, slots=True)
class WaitDownTree(_Waiting):
    """An adaptive, realizable adversary: Theorem B as a player.

    It spends ``stage`` rounds at each vertex of a shattered tree: silent until a random one of the
    first ``within``, then active for the label that the published hypothesis does not give the
    vertex's point; that label leads to the next vertex. The silent example is one that the class
    provides if it leaves as deep a tree, or else that of a first round at the root.
    """

    concepts: ConceptClass
    _: KW_ONLY
    stage: int = 100
    within: int = 60

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(within=self.within, at_least=1)
        require.integer(stage=self.stage, at_least=self.within)
        self.concepts.version_space().standard_optimal()  # raises if dimensions are unknown

    def start(self, *, rng: Randomness) -> TimedAttack:
        """Start an attack."""
        space = self.concepts.version_space()
        begins = tuple(rng.generator().integers(self.within, size=space.dimension).tolist())
        example = self._named(space)
        if example is None:
            return TimedAttack(self.concepts.domain, _Root(self.stage, begins, space))
        tree = _Tree(self.stage, begins, example)
        first = _Vertex(tree, space.restrict(*example), 0, 0, None)
        return TimedAttack(self.concepts.domain, first)

    def _named(self, space: VersionSpace) -> Example | None:
        """Return a known example that leaves a tree of the same depth, if there is one."""
        if space.dimension == 0:
            x = next(iter(self.concepts.domain))
            return x, space.consistent()(x)
        if isinstance(self.concepts, Agreeing):
            example, agreed = self.concepts.agreed()
            return example if agreed == space.dimension else None
        return None


@lru_cache(maxsize=16)
def _agreeing(concepts: ConceptClass, most: int) -> tuple[Example, tuple[Hypothesis, ...]]:
    return agreeing(concepts, most)


@dataclass(frozen=True, slots=True)
class _Hidden:
    """The draws made before the first round."""

    concepts: ConceptClass
    silent: Example
    candidates: tuple[Hypothesis, ...]
    burst: int
    begin: int
    drawn: int
    other: int
    """The index of the target among the other candidates."""

    def target(self, seen: Hypothesis) -> int:
        """Return a uniform candidate other than ``seen``."""
        found = self.candidates
        if len(found) == 1:
            return 0
        same = next((at for at, one in enumerate(found) if one == seen), None)
        if same is None:
            return self.drawn
        return self.other + (self.other >= same)


@dataclass(frozen=True, slots=True)
class _Attacked:
    game: _Hidden
    played: int
    target: int | None

    def turn(self, seen: Hypothesis | None, /) -> Turn:
        game, left = self.game, self._left()
        if not self._active():
            return Turn(game.silent, left)
        known = self._known(seen)
        target = game.candidates[game.target(known) if self.target is None else self.target]
        x = known.disagreement(target)
        return Turn(game.silent if x is None else (x, target(x)), left)

    def after(self, seen: Hypothesis | None, count: int, /) -> "_Attacked":
        target = self.target
        if target is None and self._active():
            target = self.game.target(self._known(seen))
        return replace(self, played=self.played + count, target=target)

    def _active(self) -> bool:
        return self.played < self.game.burst or self.played >= self.game.begin

    def _left(self) -> int:
        """Return the number of rounds until the next change."""
        ends = (self.game.burst, self.game.begin)
        return min((end - self.played for end in ends if end > self.played), default=FOREVER)

    def _known(self, seen: Hypothesis | None) -> Hypothesis:
        return self.game.candidates[0] if seen is None else seen


@dataclass(frozen=True, slots=True)
class _Tree:
    stage: int
    begins: tuple[int, ...]
    silent: Example


@dataclass(frozen=True, slots=True)
class _Root:
    """The first round, before an example on which all concepts agree is known."""

    stage: int
    begins: tuple[int, ...]
    space: VersionSpace

    def turn(self, seen: Hypothesis | None, /) -> Turn:
        return Turn(self._example(seen), 1)

    def after(self, seen: Hypothesis | None, count: int, /) -> "_Vertex":
        example = self._example(seen)
        tree = _Tree(self.stage, self.begins, example)
        return _Vertex(tree, self.space.restrict(*example), 0, 0, None)

    def _example(self, seen: Hypothesis | None) -> Example:
        root = _root(self.space)
        assert root is not None, "the dimension is at least 1"
        return root[0], 1 - current_hypothesis(self.space, seen)(root[0])


@dataclass(frozen=True, slots=True)
class _Vertex:
    tree: _Tree
    space: VersionSpace
    number: int
    played: int
    label: int | None

    def turn(self, seen: Hypothesis | None, /) -> Turn:
        root = self._point()
        if root is None:
            return Turn(self.tree.silent, FOREVER)
        if self.played < (begin := self._begin()):
            return Turn(self.tree.silent, begin - self.played)
        x, left = root[0], self.tree.stage - self.played
        published = current_hypothesis(self.space, seen)(x)
        label = 1 - published if self.label is None else self.label
        return Turn((x, label) if published != label else self.tree.silent, left)

    def after(self, seen: Hypothesis | None, count: int, /) -> "_Vertex":
        root = self._point()
        if root is None:
            return self
        label, played = self.label, self.played + count
        if label is None and self.played >= self._begin():
            label = 1 - current_hypothesis(self.space, seen)(root[0])
        if played < self.tree.stage:
            return replace(self, played=played, label=label)
        assert label is not None, "within is at most stage"
        return _Vertex(self.tree, self.space.restrict(root[0], label), self.number + 1, 0, None)

    def _point(self) -> Example | None:
        """Return the example at the vertex; None once every stage was played."""
        return _root(self.space) if self.number < len(self.tree.begins) else None

    def _begin(self) -> int:
        return self.tree.begins[self.number]


@lru_cache(maxsize=256)
def _root(space: VersionSpace) -> Example | None:
    """Return the root of a deepest tree shattered by the concepts left."""
    return space.hardest_mistake(space.standard_optimal()) if space.dimension > 0 else None


ADVERSARIES = (
    AdversaryEntry(
        "wait",
        Wait,
        "adaptive: silent, then against the published hypothesis from a random round on",
    ),
    AdversaryEntry(
        "burst-and-wait",
        BurstAndWait,
        "adaptive: shows one concept, is silent, and shows it again at a random time",
    ),
    AdversaryEntry(
        "wait-down-tree",
        WaitDownTree,
        "adaptive: waits at each vertex of a shattered tree; the floor of every class",
    ),
)
