"""Learners as subjects of the two-world game, and learners that are wrong in one place."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from littlestone.audit.two_worlds import Conversation
from littlestone.concepts.protocols import Hypothesis
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness


class Shown(NamedTuple):
    """What a run shows after a round."""

    hypothesis: Hypothesis
    status: str


class Opening(NamedTuple):
    """What is known before the first round: the recipe is public."""

    recipe: Any
    shown: Shown


class _Recipe(Protocol):
    def guarantee(self) -> PrivacyGuarantee: ...

    def start(self, *, rng: Randomness) -> Any: ...


def _open(recipe: _Recipe, rng: Randomness) -> tuple[Opening, Conversation]:
    run = recipe.start(rng=rng)

    def answer(example: tuple[Any, int]) -> Shown:
        run.observe(*example)
        return Shown(run.hypothesis, run.status)

    return Opening(recipe, Shown(run.hypothesis, run.status)), answer


@dataclass(frozen=True, slots=True)
class RunSubject:
    """A private learner: takes labelled examples, answers with all that its run then shows."""

    recipe: _Recipe

    def guarantee(self) -> PrivacyGuarantee:
        return self.recipe.guarantee()

    def open(self, rng: Randomness) -> tuple[Opening, Conversation]:
        return _open(self.recipe, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLearner:
    """A learner with a bug, the bug in words, and what its author believed to be promised."""

    name: str
    bug: str
    claimed: PrivacyGuarantee
    recipe: _Recipe

    def guarantee(self) -> PrivacyGuarantee:
        return self.claimed

    def open(self, rng: Randomness) -> tuple[Opening, Conversation]:
        return _open(self.recipe, rng)
