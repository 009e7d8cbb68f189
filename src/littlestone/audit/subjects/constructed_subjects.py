"""Learning from constructed experts in the two-world game."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from littlestone.audit.two_worlds import Audit, Conversation, Deterministic, Subject, World
from littlestone.concepts.classes.points import Points
from littlestone.concepts.protocols import Example
from littlestone.learners.sanitized_experts.recipe import SanitizedExperts
from littlestone.mechanisms.histogram import PrivateHistogram
from littlestone.randomness import Randomness
from littlestone.sanitizers.specialised.histogram_sanitizer import HistogramSanitizer

SHARE = 0.9
# Draws after the release: a key that became an expert of a quarter of all mass shows in one of
# them except with probability 0.1 %.
LOOKS = 24


def construction(
    recipe: SanitizedExperts, *, also: Callable[[Any], Hashable] | None = None
) -> Subject:
    """Opens with its recipe, which is public, and takes several examples at once.

    The answer is whatever was published on the way, the newest last. ``also`` is a bug: what of
    the engine is published besides.
    """

    def start(rng: Randomness) -> tuple[SanitizedExperts, Conversation]:
        run = recipe.start(rng=rng)

        def answer(examples: Sequence[Example]) -> list[Any]:
            published = []
            for x, y in examples:
                run.observe(x, y)
                published.append(run.hypothesis)
            return published if also is None else [*published, also(run._engine)]

        return recipe, answer

    return Subject(name=repr(recipe), claimed=recipe.guarantee(), open=start)


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


class TwoBorderlineKeys(Deterministic):
    """Two keys just below the threshold of the histogram; one example more for one of them.

    The noise N of a key has P(N >= 0) = e**rate * P(N >= 1), so each key shows its whole share of
    epsilon. Notices which of the two ever become experts.
    """

    def noticed(self, world: World) -> Hashable:
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
    sanitizer = construction.intervals.sanitizers[construction.switch_grid]
    assert isinstance(sanitizer, HistogramSanitizer)
    return sanitizer._histogram


AUDITS = (
    Audit(
        name="sanitized-experts",
        subject=lambda epsilon, delta: construction(small(epsilon, delta)),
        adversary=TwoBorderlineKeys(),
        summary="SanitizedExperts on points: one example moved between two borderline keys",
        epsilon=2.0,
        delta=1e-2,
        goal=0.6,
        patience=6,
    ),
)
