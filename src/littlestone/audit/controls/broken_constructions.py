"""Learners from constructed experts that are wrong in one place each."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from littlestone.audit.subjects.constructed_subjects import LOOKS, construction, small
from littlestone.audit.two_worlds import Control, Deterministic, World
from littlestone.concepts.classes.points import Points
from littlestone.learners.sanitized_experts.recipe import SanitizedExperts
from littlestone.randomness import Randomness
from littlestone.sanitizers.protocols import Examples, Progress
from littlestone.sanitizers.specialised.histogram_sanitizer import (
    HistogramRelease,
    HistogramSanitizer,
)


class NoSanitizer(HistogramSanitizer):
    """A bug: all keys that occur, as they are, for a budget that buys nothing."""

    def release(
        self, dataset: Examples, *, rng: Randomness, progress: Progress | None = None
    ) -> HistogramRelease:
        released = super().release(dataset, rng=rng, progress=progress)
        return replace(released, counts=Counter(dataset))


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
        sanitizer=lambda size, parts: NoSanitizer(concepts=Points(), epsilon=0.5, delta=5e-7),
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
