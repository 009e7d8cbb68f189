"""Learners from constructed experts that are wrong in one place each."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any, ClassVar

from littlestone.audit.subjects.constructed_subjects import LOOKS, construction, small
from littlestone.audit.two_worlds import Control, Deterministic, World
from littlestone.concepts.classes.points import Points
from littlestone.concepts.protocols import Hypothesis, Point
from littlestone.learners.sanitized_experts.recipe import SanitizedExperts
from littlestone.privacy.charge import Cost
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness
from littlestone.sanitizers.protocols import Examples, Progress


@dataclass(frozen=True, slots=True)
class RawKeys:
    """What a sanitizer without noise releases."""

    keys: tuple[Point, ...]
    ledger: Ledger

    def estimate(self, hypothesis: Hypothesis, /) -> float:
        return sum(map(hypothesis, self.keys)) / len(self.keys)

    def distribution(self) -> Mapping[Any, float]:
        return dict.fromkeys(self.keys, 1 / len(self.keys))

    def dataset(self, size: int, /) -> list[Any]:
        return list(islice(cycle(self.keys), size))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSanitizer:
    """A bug: all keys that occur, as they are, for an epsilon that buys nothing."""

    epsilon: float = 0.5

    prefix_conditional: ClassVar[bool] = True

    def costs(self) -> tuple[Cost, ...]:
        return (self.guarantee(),)

    def guarantee(self) -> PrivacyGuarantee:
        return PrivacyGuarantee(epsilon=self.epsilon)

    def error_bound(self, *, size: int, failure_probability: float) -> float:
        del size, failure_probability
        return 0.0

    def needed(self, *, error: float, failure_probability: float) -> int:
        del error, failure_probability
        return 1

    def release(
        self, dataset: Examples, *, rng: Randomness, progress: Progress | None = None
    ) -> RawKeys:
        del progress
        ledger = Ledger(budget=self.guarantee(), private=rng.private)
        return RawKeys(tuple(dict.fromkeys(dataset)), ledger)


class OneKey(Deterministic):
    """A key that comes once or never; notices whether it ever becomes an expert."""

    def noticed(self, world: World) -> Hashable:
        world.challenge([("secret", 1)], [("other", 1)])
        seen = world.send([("other", 1)] * (LOOKS - 2))
        return any(h("secret") for h in seen)


class OneMistake(Deterministic):
    """An example that the first expert gets right or wrong; notices what is published besides."""

    def noticed(self, world: World) -> Hashable:
        answer: Hashable = world.challenge([("key", 1)], [("key", 0)])[-1]
        return answer


def _mistakes_of_groups(engine: Any) -> Hashable:
    losses = engine._paths.losses_now()
    return tuple(loss for _, _, loss, _ in engine._paths.elements(losses))


def _from_raw_points() -> SanitizedExperts:
    return SanitizedExperts(
        concepts=Points(),
        rounds=LOOKS,
        epsilon=1.0,
        delta=1e-6,
        sanitizer=lambda size, parts: NoSanitizer(),
        switch_grid=16,
    )


CONTROLS = (
    Control(
        subject=replace(construction(_from_raw_points()), name="experts-from-raw-points"),
        adversary=OneKey(),
        bug="SanitizedExperts: experts are constructed from the raw points of a block",
    ),
    Control(
        subject=replace(
            construction(small(1.0, 1e-2), also=_mistakes_of_groups),
            name="constructed-weights-published",
        ),
        adversary=OneMistake(),
        bug="SanitizedExperts: the losses of the groups are published beside the expert",
    ),
)
