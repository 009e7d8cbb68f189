"""Adaptive adversaries whom no concept binds: they attack what was published, noise and all."""

import sys
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.adversaries.boundary import edges
from littlestone.adversaries.random_stream import random_concept
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis
from littlestone.game.protocols import Attack
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True)
class NoisyBoundary:
    """Plays where the newest hypothesis and a target differ, with labels that are noisy.

    Beside a change of the hypothesis' label, where a mistake tells least, and at random points if
    the two agree there. Each label is the target's, flipped with probability ``noise_rate``.
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
        generator = rng.generator()
        target = self.target or random_concept(self.concepts, generator)
        return _NoisyBoundaryAttack(self.concepts, generator, target, self.noise_rate)


@require.checked
@dataclass(frozen=True, slots=True)
class FreeLabels:
    """Plays beside a change of the newest hypothesis' label, with the label it does not have.

    Half of the labels are then wrong for whoever keeps a rule: the regret of a learner that shows
    its next hypothesis beforehand is about half of the rounds.
    """

    concepts: ConceptClass

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)

    def start(self, *, rng: Randomness) -> Attack:
        return _FreeLabelsAttack(self.concepts, rng.generator())


@require.checked
@dataclass(frozen=True, slots=True)
class Contradiction:
    """Always plays one point, with the label that recent hypotheses had least often there.

    Against learners that draw from slowly changing weights: the newest ``memory`` hypotheses show
    which label is the likelier one, however fresh the draws are.
    """

    concepts: ConceptClass
    _: KW_ONLY
    memory: int = 31

    adaptive: ClassVar[bool] = True
    realizable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(memory=self.memory, at_least=1)

    def start(self, *, rng: Randomness) -> Attack:
        return _ContradictionAttack(self.concepts, rng.generator(), self.memory)


class _Thinking(ABC):
    """Thinks again in every round; the coins of the coming one are tossed beforehand."""

    def __init__(self, concepts: ConceptClass, generator: np.random.Generator) -> None:
        self.domain, self._generator = concepts.domain, generator
        self._planned: Hypothesis | None = None
        self._toss()

    @abstractmethod
    def example(self, seen: Hypothesis | None) -> Example:
        """The next one; changes nothing."""

    def remember(self, seen: Hypothesis | None) -> None:  # noqa: B027 (most do not)
        """The round is over."""

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
