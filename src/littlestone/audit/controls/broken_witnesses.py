"""PrivateWitnesses that are wrong in one place each."""

from typing import Any

from littlestone.audit.adversaries.witness_attacks import (
    NoiseOfOtherEpochs,
    OneMoreMistake,
    OtherPlace,
    PlacesOfEarlierEpochs,
)
from littlestone.audit.controls.broken_forests import broken
from littlestone.audit.controls.broken_keys import OneNoise
from littlestone.audit.subjects import small_learners
from littlestone.audit.substitution import with_engine
from littlestone.audit.two_worlds import Control, TwoWorldAdversary
from littlestone.concepts.protocols import Label, Point
from littlestone.learners.private_witnesses.algorithm import PrivateWitnessesEngine
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.privacy.guarantee import PrivacyGuarantee


class _OneNoiseForAll(PrivateWitnessesEngine):
    def begin(self) -> None:
        self._noise: Any = OneNoise(self._noise)
        super().begin()


class _NoiseOnlyWhenNamed(PrivateWitnessesEngine):
    def step(self, x: Any, y: Label, /) -> None:
        super().step(x, y)
        self._turns.clear()


class _ByTrueCount(PrivateWitnessesEngine):
    def _draw_turn(self, key: Point, first: int) -> None:
        self._true: dict[Point, int] = getattr(self, "_true", {})
        # Counted from -1, since the first call is that of the new counter itself.
        self._true[key] = self._true.get(key, -1) + 1
        if self._true[key] >= self._plan.threshold:
            self._newest[key] = 0
            self._turns.append((first, 0, True, key))


class _KeepsPlaces(PrivateWitnessesEngine):
    def _drawn_place(self) -> int:
        places = list(self._places)
        drawn = super()._drawn_place()
        self._places = places
        return drawn


def _control(
    name: str, bug: str, changed: type[PrivateWitnessesEngine], adversary: TwoWorldAdversary
) -> Control:
    recipe = with_engine(small_learners.two_literals(1.0), changed)
    return broken(name, f"PrivateWitnesses: {bug}", recipe, adversary)


CONTROLS = (
    _control(
        "witnesses-one-noise",
        "one threshold noise for all counters",
        _OneNoiseForAll,
        NoiseOfOtherEpochs(),
    ),
    _control(
        "witnesses-noise-when-named",
        "query noise only in rounds in which the witness is named",
        _NoiseOnlyWhenNamed,
        OneMoreMistake(short=1),
    ),
    _control(
        "witnesses-true-count",
        "witnesses are accepted by their true count",
        _ByTrueCount,
        OneMoreMistake(short=1),
    ),
    broken(
        "places-one-priced",
        "PrivateWitnesses: the place priced for a mistake more or less, not for one that moves",
        PrivateWitnesses(**small_learners.places(2, 1.0, share=0.9, threshold=30, epsilon=2.0)),
        OtherPlace(),
        claimed=PrivacyGuarantee(epsilon=1.0),
    ),
    broken(
        "places-kept",
        "PrivateWitnesses: places of mistakes are drawn from again in the next epoch",
        with_engine(PrivateWitnesses(**small_learners.places(2, 2.0, rounds=10_000)), _KeepsPlaces),
        PlacesOfEarlierEpochs(),
    ),
)
