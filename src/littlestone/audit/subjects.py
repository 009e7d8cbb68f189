"""The library's own mechanisms and learners as subjects of the two-world game."""

from dataclasses import dataclass
from typing import Any, Protocol

from littlestone.audit.two_worlds import Conversation
from littlestone.concepts.protocols import Hypothesis
from littlestone.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.mechanisms.histogram import PrivateHistogram
from littlestone.mechanisms.laplace_count import LaplaceCount
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True)
class MonitorSubject:
    """AboveThreshold: takes bits, answers yes or no, and only no after its yes."""

    recipe: CountAboveThreshold

    def guarantee(self) -> PrivacyGuarantee:
        return self.recipe.guarantee()

    def open(self, rng: Randomness) -> tuple[None, Conversation]:
        run = self.recipe.start(rng=rng)
        return None, lambda bit: not run.halted and run.observe(bit)


@dataclass(frozen=True, slots=True)
class HistogramSubject:
    """PrivateHistogram: takes a list of keys, answers with the released counts."""

    recipe: PrivateHistogram

    def guarantee(self) -> PrivacyGuarantee:
        return self.recipe.guarantee()

    def open(self, rng: Randomness) -> tuple[None, Conversation]:
        return None, lambda keys: self.recipe.release(keys, rng=rng)


@dataclass(frozen=True, slots=True)
class SelectionSubject:
    """ExponentialMechanism: takes scores, answers with one position."""

    recipe: ExponentialMechanism

    def guarantee(self) -> PrivacyGuarantee:
        return self.recipe.guarantee()

    def open(self, rng: Randomness) -> tuple[None, Conversation]:
        return None, lambda scores: self.recipe.draw(scores, rng=rng)[0]


@dataclass(frozen=True, slots=True)
class CountSubject:
    """LaplaceCount: takes a count, answers with a noisy one."""

    recipe: LaplaceCount

    def guarantee(self) -> PrivacyGuarantee:
        return self.recipe.guarantee()

    def open(self, rng: Randomness) -> tuple[None, Conversation]:
        return None, lambda count: self.recipe.release(count, rng=rng)


class _Run(Protocol):
    @property
    def hypothesis(self) -> Hypothesis: ...

    def observe(self, x: Any, y: Any, /) -> None: ...


class _Recipe(Protocol):
    def guarantee(self) -> PrivacyGuarantee: ...

    def start(self, *, rng: Randomness) -> _Run: ...


@dataclass(frozen=True, slots=True)
class LearnerSubject:
    """A private learner: takes labelled examples, answers with the next hypothesis."""

    recipe: _Recipe

    def guarantee(self) -> PrivacyGuarantee:
        return self.recipe.guarantee()

    def open(self, rng: Randomness) -> tuple[Hypothesis, Conversation]:
        run = self.recipe.start(rng=rng)

        def answer(example: tuple[Any, int]) -> Hypothesis:
            run.observe(*example)
            return run.hypothesis

        return run.hypothesis, answer
