"""Adaptive adversaries play where the published hypothesis changes its label."""

import sys
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.hypotheses.runs import runs_of
from littlestone.concepts.protocols import ConceptClass, Domain, Example, Hypothesis, Point
from littlestone.game.adversaries.attacks import Move, SteadyAttack, fits
from littlestone.game.adversaries.entry import AdversaryEntry
from littlestone.game.adversaries.random_stream import labelled, random_concept
from littlestone.game.protocols import Attack
from littlestone.randomness import Randomness

_FILLERS: Final = 256
_EDGES: Final = 16


@require.checked
@dataclass(frozen=True, slots=True)
class Boundary:
    """An adaptive, realizable adversary with a fixed target concept (a random one by default).

    On a range of integers it plays a mispredicted point beside a label change of the newest known
    hypothesis, which gives the learner the least information. On other domains, or if all of those
    are predicted correctly, it plays the first point on which hypothesis and target differ.
    """

    concepts: ConceptClass
    _: KW_ONLY
    target: Hypothesis | None = None

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require.fields_fit(self)

    def start(self, *, rng: Randomness) -> SteadyAttack:
        """Start an attack."""
        generator = rng.generator()
        domain = self.concepts.domain
        target = self.target or random_concept(self.concepts, generator)
        points, labels = labelled(self.concepts, target, _FILLERS, generator)
        fillers = tuple((domain.check(x), int(y)) for x, y in zip(points, labels, strict=True))
        return SteadyAttack(domain, _Position(self.concepts, target, fillers))


@dataclass(frozen=True, slots=True)
class _Position:
    concepts: ConceptClass
    target: Hypothesis
    fillers: tuple[Example, ...]

    def move(self, seen: Hypothesis | None, /) -> Move:
        x = None if seen is None else self._wrong(seen)
        return Move(self.fillers if x is None else ((x, self.target(x)),), None)

    def _wrong(self, published: Hypothesis) -> Point | None:
        for x in edges(published, self.concepts.domain):
            if published(x) != self.target(x):
                return x
        apart = published.disagreement(self.target)
        if apart is None or not fits(self.concepts, self.target, apart):
            return None
        return apart


def edges(published: Hypothesis, domain: Domain) -> list[int]:
    """Return the points on both sides of label changes; none if points have no order."""
    if not isinstance(domain, IntegerRange):
        return []
    starts = (start for start, _, _ in islice(runs_of(published, domain.n), 1, _EDGES // 2 + 1))
    return [x for start in starts for x in (start - 1, start)]


@require.checked
@dataclass(frozen=True, slots=True)
class NoisyBoundary:
    """Play where the newest hypothesis and a target differ, with noisy labels.

    It plays beside a label change of the hypothesis, where a mistake gives least information, or at
    random points if the two agree there. Each label is the target's, flipped with probability
    ``noise_rate``.
    """

    concepts: ConceptClass
    _: KW_ONLY
    target: Hypothesis | None = None
    noise_rate: float = 0.1

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.probability(noise_rate=self.noise_rate)

    def start(self, *, rng: Randomness) -> Attack:
        """Start an attack."""
        generator = rng.generator()
        target = self.target or random_concept(self.concepts, generator)
        return _NoisyBoundaryAttack(self.concepts, generator, target, self.noise_rate)


@require.checked
@dataclass(frozen=True, slots=True)
class FreeLabels:
    """Play beside a label change of the newest hypothesis, with the opposite label.

    Any fixed rule is then right on half of the labels, so a learner that publishes its next
    hypothesis in advance has regret of about half of the rounds.
    """

    concepts: ConceptClass

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)

    def start(self, *, rng: Randomness) -> Attack:
        """Start an attack."""
        return _FreeLabelsAttack(self.concepts, rng.generator())


@require.checked
@dataclass(frozen=True, slots=True)
class Contradiction:
    """Always play one point, with the label that recent hypotheses gave least often.

    Against learners that draw from slowly changing weights: the newest ``memory`` hypotheses show
    which label is likelier.
    """

    concepts: ConceptClass
    _: KW_ONLY
    memory: int = 31

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.usual_fields(self)

    def start(self, *, rng: Randomness) -> Attack:
        """Start an attack."""
        return _ContradictionAttack(self.concepts, rng.generator(), self.memory)


class _Thinking(ABC):
    """Decides again in every round; the next round's coins are drawn in advance."""

    def __init__(self, concepts: ConceptClass, generator: np.random.Generator) -> None:
        self.domain, self._generator = concepts.domain, generator
        self._planned: Hypothesis | None = None
        self._toss()

    @abstractmethod
    def example(self, seen: Hypothesis | None) -> Example:
        """Return the next example; changes nothing."""

    def remember(self, seen: Hypothesis | None) -> None:  # noqa: B027 (most do not)
        """Record that the round is over."""

    def choose(self, seen: Hypothesis | None, /) -> Example:
        chosen = self.example(seen)
        self.remember(seen)
        self._toss()
        return chosen

    def plan(self, seen: Hypothesis | None, most: int, /) -> tuple[Any, NDArray[np.uint8]]:
        self._planned = seen
        x, y = self.example(seen)
        return self.domain.check_many([x]), np.array([y], dtype=np.uint8)

    def played(self, count: int, /) -> None:
        if count:
            self.choose(self._planned)

    def _toss(self) -> None:
        self.point = self.domain.check(self.domain.sample(1, self._generator)[0])
        self.coin: float = self._generator.random()


class _NoisyBoundaryAttack(_Thinking):
    def __init__(
        self,
        concepts: ConceptClass,
        generator: np.random.Generator,
        target: Hypothesis,
        noise_rate: float,
    ) -> None:
        super().__init__(concepts, generator)
        self._target, self._noise_rate = target, noise_rate

    def example(self, seen: Hypothesis | None) -> Example:
        beside = [] if seen is None else edges(seen, self.domain)
        wrong = [x for x in beside if seen is not None and seen(x) != self._target(x)]
        x = wrong[0] if wrong else self.point
        return x, self._target(x) ^ int(self.coin < self._noise_rate)


class _FreeLabelsAttack(_Thinking):
    def example(self, seen: Hypothesis | None) -> Example:
        if seen is None:
            return self.point, int(self.coin < 0.5)
        beside = edges(seen, self.domain)
        x = beside[int(self.coin * len(beside))] if beside else self.point
        return x, 1 - seen(x)


class _ContradictionAttack(_Thinking):
    def __init__(self, concepts: ConceptClass, generator: np.random.Generator, memory: int) -> None:
        super().__init__(concepts, generator)
        in_order = isinstance(self.domain, IntegerRange)
        self._point = self.domain.n // 2 if in_order else self.point  # type: ignore[attr-defined]
        self._labels: deque[int] = deque(maxlen=min(memory, sys.maxsize))

    def example(self, seen: Hypothesis | None) -> Example:
        labels = [*self._labels, *([] if seen is None else [seen(self._point)])]
        return self._point, int(2 * sum(labels) < len(labels))

    def remember(self, seen: Hypothesis | None) -> None:
        if seen is not None:
            self._labels.append(seen(self._point))


ADVERSARIES = (
    AdversaryEntry(
        "boundary", Boundary, "adaptive: plays where the published hypothesis changes its label"
    ),
    AdversaryEntry(
        "noisy-boundary",
        NoisyBoundary,
        "agnostic, adaptive: plays where the hypothesis errs, with noisy labels",
    ),
    AdversaryEntry(
        "free-labels",
        FreeLabels,
        "agnostic, adaptive: always the label that the hypothesis does not have",
    ),
    AdversaryEntry(
        "contradiction",
        Contradiction,
        "agnostic, adaptive: the unlikelier label at one point, again and again",
    ),
)
