"""PrivateKeys that are wrong in one place each."""

from typing import Any

from littlestone.audit.adversaries.key_attacks import ListedTwice, NoiseOfOthers, OneMoreReport
from littlestone.audit.controls.broken_forests import broken
from littlestone.audit.subjects import small_learners
from littlestone.audit.substitution import with_engine
from littlestone.audit.two_worlds import Control, TwoWorldAdversary
from littlestone.concepts.protocols import Label, Point
from littlestone.learners.private_keys.algorithm import PrivateKeysEngine
from littlestone.randomness import Randomness


class OneNoise:
    """Whoever asks is told the first value again."""

    def __init__(self, noise: Any) -> None:
        self._noise, self._value = noise, None

    def draw(self, rng: Randomness) -> Any:
        if self._value is None:
            self._value = self._noise.draw(rng)
        return self._value


class _OneNoiseForAll(PrivateKeysEngine):
    def begin(self) -> None:
        super().begin()
        self._noise: Any = OneNoise(self._noise)


class _CountersKept(PrivateKeysEngine):
    def begin(self) -> None:
        super().begin()
        self._kept: dict[Point, int] = {}

    def _count(self, key: Point, listed: bool) -> None:
        if not listed and key not in self._gaps and key in self._kept:
            self._gaps[key] = self._kept[key]
        super()._count(key, listed)
        if not listed:
            self._kept[key] = self._gaps[key]


class _NoiseOnlyWhenReported(PrivateKeysEngine):
    def step(self, x: Any, y: Label, /) -> None:
        super().step(x, y)
        self._turns.clear()


class _ByTrueCount(PrivateKeysEngine):
    def _draw_turn(self, key: Point, first: int) -> None:
        listed = key in self.hypothesis.positives
        threshold = self._recipe.complaints if listed else self._recipe.reports
        self._true: dict[Point, int] = getattr(self, "_true", {})
        self._true[key] = self._true.get(key, 0) + 1
        if self._true[key] >= threshold:
            self._true[key] = 0
            self._newest[key] = 0
            self._turns.append((first, 0, True, key))


def _control(
    name: str, bug: str, changed: type[PrivateKeysEngine], adversary: TwoWorldAdversary
) -> Control:
    recipe = with_engine(small_learners.key_list(1.0, 1e-3), changed)
    return broken(name, f"PrivateKeys: {bug}", recipe, adversary)


CONTROLS = (
    _control(
        "keys-one-noise", "one threshold noise for all keys", _OneNoiseForAll, NoiseOfOthers()
    ),
    _control(
        "keys-counters-kept",
        "a key that was unlisted goes on with its old reports and noise",
        _CountersKept,
        ListedTwice(),
    ),
    _control(
        "keys-noise-when-reported",
        "query noise only in rounds in which the key is reported",
        _NoiseOnlyWhenReported,
        OneMoreReport(short=1),
    ),
    _control(
        "keys-true-count",
        "keys are listed by their true count",
        _ByTrueCount,
        OneMoreReport(short=1),
    ),
)
