"""Audits of learning from constructed experts: the learner, and two ways to get it wrong."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, ClassVar

from littlestone.audit.suite import AuditEntry
from littlestone.audit.two_worlds import Conversation, Subject, TwoWorldAdversary, World
from littlestone.concepts.classes.points import Points
from littlestone.concepts.protocols import Example, Hypothesis, Point
from littlestone.learners.sanitized_experts.recipe import SanitizedExperts
from littlestone.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.charge import Cost
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness
from littlestone.sanitizers.protocols import Examples, Progress
from littlestone.sanitizers.specialised.histogram_sanitizer import HistogramSanitizer

SHARE = 0.9
# Draws after the release: a key that became an expert of a quarter of all mass shows in one of
# them except with probability 0.1 %.
LOOKS = 24


@dataclass(frozen=True, slots=True)
class ConstructionSubject:
    """SanitizedExperts; opens with its recipe, which is public, and takes several examples at once.

    The answer is whatever was published on the way, the newest last.
    """

    recipe: SanitizedExperts
    also: Callable[[Any], Hashable] | None = None
    """A bug: what of the engine is published besides."""

    def guarantee(self) -> PrivacyGuarantee:
        return self.recipe.guarantee()

    def open(self, rng: Randomness) -> tuple[SanitizedExperts, Conversation]:
        run = self.recipe.start(rng=rng)

        def answer(examples: Sequence[Example]) -> list[Any]:
            published = []
            for x, y in examples:
                run.observe(x, y)
                published.append(run.hypothesis)
            return published if self.also is None else [*published, self.also(run._engine)]

        return self.recipe, answer


def small(epsilon: float, delta: float) -> SanitizedExperts:
    """One switch time, after a block in which two keys can be borderline."""
    share = PrivateHistogram(epsilon=SHARE * epsilon, delta=SHARE * delta)
    block = 1 << (4 * share.noise_bound).bit_length()
    return SanitizedExperts(
        concepts=Points(),
        rounds=block + LOOKS + 2,
        epsilon=epsilon,
        delta=delta,
        sanitizer="histogram",
        sanitizer_share=SHARE,
        switch_grid=block,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoBorderlineKeys:
    """Two keys just below the threshold of the histogram; one example more for one of them.

    The noise N of a key has P(N >= 0) = e**rate * P(N >= 1), so each key shows its whole share of
    epsilon. Notices which of the two ever become experts.
    """

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        recipe: SanitizedExperts = world.opening
        block = recipe.plan.construction.switch_grid
        below = _histogram(recipe).noise_bound
        filler = [(i, 0) for i in range(block - 2 * below - 1)]
        world.send([("one", 0), ("two", 0)] * below + filler)
        seen = world.challenge([("one", 0)], [("two", 0)])
        seen += world.send([("later", 0)] * LOOKS)
        return tuple(any(h(key) for h in seen) for key in ("one", "two"))


def _histogram(recipe: SanitizedExperts) -> PrivateHistogram:
    construction = recipe.plan.construction
    sanitizer = construction.sanitizers[construction.switch_grid]
    assert isinstance(sanitizer, HistogramSanitizer)
    return sanitizer._histogram


AUDITS: Mapping[str, AuditEntry] = {
    "sanitized-experts": AuditEntry(
        subject=lambda epsilon, delta: ConstructionSubject(small(epsilon, delta)),
        adversary=TwoBorderlineKeys(),
        summary="SanitizedExperts on points: one example moved between two borderline keys",
    ),
}


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


def _experts_from_raw_points() -> Subject:
    return ConstructionSubject(
        SanitizedExperts(
            concepts=Points(),
            rounds=LOOKS,
            epsilon=1.0,
            delta=1e-6,
            sanitizer=lambda size, parts: NoSanitizer(),
            switch_grid=16,
        )
    )


def _mistakes_of_groups(engine: Any) -> Hashable:
    losses = engine._paths.losses_now()
    return tuple(loss for _, _, loss, _ in engine._paths.elements(losses))


def _weights_published() -> Subject:
    return ConstructionSubject(small(1.0, 1e-2), also=_mistakes_of_groups)


BROKEN: Mapping[str, Subject] = {
    "experts-from-raw-points": _experts_from_raw_points(),
    "constructed-weights-published": _weights_published(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OneKey:
    """A key that comes once or never; notices whether it ever becomes an expert."""

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        world.challenge([("secret", 1)], [("other", 1)])
        seen = world.send([("other", 1)] * (LOOKS - 2))
        return any(h("secret") for h in seen)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMistake:
    """An example that the first expert gets right or wrong; notices what is published besides."""

    def play(self, world: World, rng: Randomness) -> Hashable:
        del rng
        answer: Hashable = world.challenge([("key", 1)], [("key", 0)])[-1]
        return answer


CONTROLS: Mapping[str, TwoWorldAdversary] = {
    "experts-from-raw-points": OneKey(),
    "constructed-weights-published": OneMistake(),
}
