"""Correct noise behind broken guards: each releases something once too often.

The mechanisms here draw the correct noise. The bug is around them: who may continue a run, the form
of a key, what a round counts, how a ledger adds up.
"""

import os
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np

from littlestone.audit.attacks import FirstRound, OneQuestion
from littlestone.audit.controls.broken_mechanisms import PlainMonitor
from littlestone.audit.two_worlds import Control, Conversation, Deterministic, World, look
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.count_above_threshold import (
    CountAboveThreshold,
    PlainAboveThresholdRun,
)
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.mechanisms.noise.geometric import DiscreteLaplace
from littlestone.randomness import Randomness, secure

MOST_ONES = 100  # an exit status has eight bits
MONITOR = CountAboveThreshold(epsilon=2.0, threshold=1)


def _forked(rng: Randomness) -> Conversation:
    """Return a run in a forked child without its guard: new words, the same noise."""
    parent = MONITOR.start_plain(rng=rng)

    def answer(bit: int | None) -> Any:
        if bit is not None:
            return parent.observe(bit)
        return _in_a_child(partial(_ones_until_yes, parent))

    return answer


def _ones_until_yes(inherited: PlainAboveThresholdRun) -> int:
    inherited._barred, inherited._rng = None, secure()  # the guard would refuse this
    ones = 1
    while ones < MOST_ONES and not inherited.observe(1):
        ones += 1
    return ones


def _in_a_child(play: Callable[[], int]) -> int:
    """Return the result of ``play`` in a fork of this process."""
    child = os.fork()
    if child == 0:
        status = 0  # the parent cleans up
        try:
            status = play()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _first_look(keys: Sequence[Any], rng: Randomness) -> dict[Any, int]:
    """Release the first of equal keys (1, 1.0, True) instead of the canonical one."""
    shown = {key: key for key in reversed(keys)}
    histogram = PrivateHistogram(epsilon=1.0, delta=1e-6)
    counted = histogram.release(Counter(keys), rng=rng, order=float)
    return {shown[key]: count for key, count in counted.items()}


def _one_draw_more(scores: Sequence[int], rng: Randomness) -> int:
    """Draw for a round that never comes; the last draw is not charged."""
    return ExponentialMechanism(epsilon=1.0).draw(scores, rng=rng)[0]


def _counted_again(rng: Randomness) -> Conversation:
    """Replay a round that was interrupted after counting from its beginning."""
    monitor = PlainMonitor(2, rng)

    def answer(bit: int) -> bool:
        monitor.count += bit  # interrupted here
        return monitor.observe(bit)

    return answer


def _short_ledger(count: int, rng: Randomness) -> tuple[int, ...]:
    """Release while the spent hundredths, stored in eight bits, are at most 100."""
    noise, spent, released = DiscreteLaplace(rate=0.75), np.zeros(1, dtype=np.int8), []
    while (spent + np.int8(75) <= 100).all():
        spent += 75
        released.append(count + noise.draw(rng))
    return tuple(released)


def _one_threshold_noise(rng: Randomness) -> Conversation:
    run = SHARED.start(rng=rng)
    noise = run._noise.draw(rng)

    def answer(keys: Sequence[Hashable | None]) -> tuple[Any, ...]:
        for key in keys:
            if key is not None and key not in run._gaps:
                run._gaps[key] = SHARED.threshold + noise  # should be its own noise
            if not run.released:
                run.observe(key)
        return run.released

    return answer


SHARED = FirstFrequent(epsilon=2.0, delta=1e-3, rounds=200)


class AskTheChild(Deterministic):
    """Find the noisy threshold from the child's answers; just below it, the bit decides."""

    def noticed(self, world: World) -> Hashable:
        return world.send(None), world.challenge(1, 0)


class QuietThenRising(Deterministic):
    """Wait with one key to learn that the noise is large; then raise another key.

    With its own noise, the second key would be unaffected.
    """

    def noticed(self, world: World) -> Hashable:
        first = ["a"] * (SHARED.threshold - 1)
        second = ["b"] * (SHARED.threshold - 3)
        if world.send([*second, *first]):
            return "early"
        if world.challenge(["a"], ["b"]) or world.send([None] * 20):
            return "waiting"
        for rising in range(6):
            released = world.send(["b"])
            if released:
                return rising, "a" in released
        return "late"


CONTROLS = (
    Control.of(
        "forked-run",
        "a forked process continues with the noisy threshold of its parent",
        _forked,
        AskTheChild(),
        MONITOR.guarantee(),
    ),
    Control.one_shot(
        "equal-keys-of-different-looks",
        "of equal keys (1, 1.0, True) a histogram shows the one that came first",
        _first_look,
        OneQuestion(zero=[True] + [1] * 59, one=[1] * 60, notice=lambda shown: look(list(shown))),
        PrivacyGuarantee(epsilon=1.0, delta=1e-6),
    ),
    Control.one_shot(
        "extra-draw-priced-at-zero",
        "one more draw is published than is paid for",
        _one_draw_more,
        OneQuestion(zero=[0, 1], one=[1, 0]),
        PrivacyGuarantee(epsilon=0.0),
    ),
    Control.of(
        "interrupted-round-retried",
        "an interrupted round is played again and counts its example twice",
        _counted_again,
        FirstRound(),
    ),
    Control.one_shot(
        "int8-ledger",
        "a ledger in eight bits wraps around and lets four releases of 0.75 into a budget of 1",
        _short_ledger,
        OneQuestion(zero=0, one=1, notice=sum),
    ),
    Control.of(
        "first-frequent-one-threshold",
        "FirstFrequent: one threshold noise for all keys",
        _one_threshold_noise,
        QuietThenRising(),
        SHARED.guarantee(),
    ),
)
