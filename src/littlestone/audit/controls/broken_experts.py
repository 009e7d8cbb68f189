"""Experts, and learners from constructed experts, with one bug each."""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from littlestone.audit.attacks import (
    EXPERTS,
    ChargeTheFirst,
    HalfAgainstHalf,
    Losses,
    MoveTheRate,
    OneQuestion,
    all_but,
    only,
)
from littlestone.audit.subjects import expert_subjects
from littlestone.audit.subjects.expert_subjects import LOOKS, construction, small
from littlestone.audit.two_worlds import (
    Control,
    Conversation,
    Deterministic,
    Subject,
    TwoWorldAdversary,
    World,
)
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.learners.agnostic_finite.noisy_losses_engine import NoisyLossesEngine
from littlestone.learners.experts.dartboard_plan import KeepCoin
from littlestone.learners.sanitized.recipe import SanitizedExperts
from littlestone.learners.sanitizers.histogram_sanitizer import HistogramRelease, HistogramSanitizer
from littlestone.learners.sanitizers.protocols import Examples, Progress
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.randomness import Randomness

CLAIMED = PrivacyGuarantee(epsilon=1.0, delta=1e-6)


class _Totals:
    """Plain exponential weights; correct if only draws are released."""

    def __init__(self, rate: float, rng: Randomness) -> None:
        self.rate, self.rng = rate, rng
        self.totals = np.zeros(EXPERTS, dtype=np.int64)

    def draw(self, rate: float | None = None) -> int:
        known = _mechanism(self.rate if rate is None else rate)
        return known.draw(self.totals, rng=self.rng)[0]


@lru_cache
def _mechanism(rate: float) -> ExponentialMechanism:
    return ExponentialMechanism.from_eta(rate, floor_bits=40)


def _weights_published(rng: Randomness) -> tuple[int, Conversation]:
    board = _Totals(0.5, rng)

    def answer(losses: Losses) -> tuple[int, int]:
        board.totals += losses
        weights = np.exp(-board.rate * board.totals)
        return board.draw(), round(100 * weights[0] / weights.sum())

    return board.draw(), answer


def _rate_from_the_data(rng: Randomness) -> tuple[int, Conversation]:
    # Rates 0.049 · 2/√(1 + least loss) for twenty draws, each priced as if it were 0.049.
    board = _Totals(0.049, rng)

    def answer(losses: Losses) -> int:
        board.totals += losses
        return board.draw(2 * board.rate / float(np.sqrt(1 + board.totals.min())))

    return board.draw(), answer


def _no_fake_switches(rng: Randomness) -> tuple[int, Conversation]:
    board = _Totals(1 / 3, rng)  # one draw costs 2/3, and a keep 1/3
    coin = KeepCoin(fake=Fraction(0), rate=Fraction(1, 3))
    current = board.draw()

    def answer(losses: Losses) -> int:
        board.totals += losses
        return current if coin.draw(int(losses[current]), rng) else board.draw()

    return current, answer


def _no_cap(rng: Randomness) -> tuple[int, Conversation]:
    board = _Totals(0.3, rng)  # one draw costs 0.6, and the coin 0.4
    coin = KeepCoin(fake=Fraction(35, 100), rate=Fraction(3, 10))
    current = board.draw()

    def answer(losses: Losses) -> int:
        nonlocal current
        board.totals += losses
        if not coin.draw(int(losses[current]), rng):
            current = board.draw()  # the second and all later draws are not paid for
        return current

    return current, answer


def _importance_weighted(rng: Randomness) -> tuple[int, Conversation]:
    board = _Totals(0.5, rng)
    current = board.draw()

    def answer(losses: Losses) -> int:
        # The first expert is uniform, so its loss is weighted by EXPERTS.
        board.totals[current] += EXPERTS * int(losses[current])
        return board.draw()

    return current, answer


class OneNoiseTwice(Deterministic):
    """Send the bit, then a known example: twice the first answer minus the second shows the bit."""

    def noticed(self, world: World) -> Hashable:
        (first,), _ = world.challenge((0, 0), (0, 1))
        (second,), _ = world.send((0, 0))
        return int(2 * first - second)


def _noise_used_twice(rng: Randomness) -> tuple[Any, Conversation]:
    plan = expert_subjects.one_answer(1.0, 1e-6, rounds=3)
    engine = NoisyLossesEngine(plan, rng)
    engine.begin()
    engine._noise[1] = engine._noise[0]

    def answer(example: Any) -> Any:
        engine.step(*example)
        return tuple(map(int, engine._sums.total)), engine.hypothesis

    return engine.hypothesis, answer


def _broken(
    name: str,
    bug: str,
    start: Callable[[Randomness], tuple[Any, Conversation]],
    adversary: TwoWorldAdversary,
) -> Control:
    """Return a control whose subject first shows an expert."""
    subject = Subject(name=name, claimed=CLAIMED, open=start)
    return Control(subject=subject, adversary=adversary, bug=bug)


class NoSanitizer(HistogramSanitizer):
    """A bug: releases all keys that occur with exact counts."""

    def release(
        self, dataset: Examples, *, rng: Randomness, progress: Progress | None = None
    ) -> HistogramRelease:
        """Release the exact counts."""
        released = super().release(dataset, rng=rng, progress=progress)
        return replace(released, counts=Counter(dataset))


class OneKey(Deterministic):
    """Send a key once or never; notice whether it ever becomes an expert."""

    def noticed(self, world: World) -> Hashable:
        world.challenge([("secret", 1)], [("other", 1)])
        seen = world.send([("other", 1)] * (LOOKS - 2))
        return any(h("secret") for h in seen)


class OneMistake(Deterministic):
    """Make the first expert right or wrong on an example; notice what else is published."""

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
    _broken(
        "experts-weights-published",
        "exponential weights that publish a weight beside the expert",
        _weights_published,
        OneQuestion(zero=only(0), one=all_but(0), notice=lambda answer: answer[1]),
    ),
    _broken(
        "experts-rate-from-data",
        "exponential weights whose rate follows the least loss so far",
        _rate_from_the_data,
        MoveTheRate(),
    ),
    _broken(
        "dartboard-without-fake-switches",
        "a switch that is possible only after a loss (p = 0)",
        _no_fake_switches,
        ChargeTheFirst(),
    ),
    _broken(
        "dartboard-without-cap",
        "draws beyond the number that is paid for",
        _no_cap,
        HalfAgainstHalf(rounds=30),
    ),
    _broken(
        "noisy-losses-noise-used-twice",
        "noisy losses of two batches with one noise",
        _noise_used_twice,
        OneNoiseTwice(),
    ),
    _broken(
        "experts-importance-weighted",
        "the loss of the expert that was drawn, divided by its probability",
        _importance_weighted,
        ChargeTheFirst(),
    ),
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
