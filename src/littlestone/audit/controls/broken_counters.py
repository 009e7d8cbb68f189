"""PrivateKeys and PrivateWitnesses with one bug each."""

from typing import Any

from littlestone.audit import learner_attacks as attacks
from littlestone.audit.controls.broken_forests import broken
from littlestone.audit.subjects import small_learners
from littlestone.audit.substitution import with_engine
from littlestone.audit.two_worlds import Control, TwoWorldAdversary
from littlestone.concepts.protocols import Label, Point
from littlestone.learners.counters import CountersEngine
from littlestone.learners.private_keys.recipe import PrivateKeysEngine
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses, PrivateWitnessesEngine
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.randomness import Randomness


class _OneNoise:
    """A bug: returns the first value at every draw."""

    def __init__(self, noise: Any) -> None:
        self._noise, self._value = noise, None

    def draw(self, rng: Randomness) -> Any:
        if self._value is None:
            self._value = self._noise.draw(rng)
        return self._value


class _OneNoiseForAll(CountersEngine):
    def begin_counting(self, what: str) -> None:
        super().begin_counting(what)
        self._noise: Any = _OneNoise(self._noise)


class _NoiseOnlyWhenCounted(CountersEngine):
    def step(self, x: Any, y: Label, /) -> None:
        super().step(x, y)
        self._turns.clear()


class _CountersKept(PrivateKeysEngine):
    def begin(self) -> None:
        super().begin()
        self._stale: dict[Point, int] = {}

    def _count(self, key: Point, listed: bool) -> None:
        if not listed and key not in self._gaps and key in self._stale:
            self._gaps[key] = self._stale[key]
        super()._count(key, listed)
        if not listed:
            self._stale[key] = self._gaps[key]


class _KeysByTrueCount(PrivateKeysEngine):
    def _draw_turn(self, key: Point, first: int) -> None:
        listed = key in self.hypothesis.positives
        threshold = self._recipe.complaints if listed else self._recipe.reports
        self._true: dict[Point, int] = getattr(self, "_true", {})
        self._true[key] = self._true.get(key, 0) + 1
        if self._true[key] >= threshold:
            self._true[key] = 0
            self._newest[key] = 0
            self._turns.append((first, 0, True, key))


class _WitnessesByTrueCount(PrivateWitnessesEngine):
    def _draw_turn(self, key: Point, first: int) -> None:
        self._true: dict[Point, int] = getattr(self, "_true", {})
        # Starts at -1, since the first call is that of the new counter itself.
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


def _wrong(engine: type, changed: type) -> type:
    """Return the engine with one changed method."""
    return changed if issubclass(changed, engine) else type("Changed", (changed, engine), {})


def _keys(name: str, bug: str, changed: type, adversary: TwoWorldAdversary) -> Control:
    recipe = with_engine(small_learners.key_list(1.0, 1e-3), _wrong(PrivateKeysEngine, changed))
    return broken(name, f"PrivateKeys: {bug}", recipe, adversary)


def _witnesses(name: str, bug: str, changed: type, adversary: TwoWorldAdversary) -> Control:
    engine = _wrong(PrivateWitnessesEngine, changed)
    recipe = with_engine(small_learners.two_literals(1.0), engine)
    return broken(name, f"PrivateWitnesses: {bug}", recipe, adversary)


CONTROLS = (
    _keys(
        "keys-one-noise",
        "one threshold noise for all keys",
        _OneNoiseForAll,
        attacks.NoiseOfOthers(),
    ),
    _keys(
        "keys-counters-kept",
        "a key that was unlisted continues with its old reports and noise",
        _CountersKept,
        attacks.ListedTwice(),
    ),
    _keys(
        "keys-noise-when-reported",
        "query noise only in rounds in which the key is reported",
        _NoiseOnlyWhenCounted,
        attacks.OneMoreReport(short=1),
    ),
    _keys(
        "keys-true-count",
        "keys are listed by their true count",
        _KeysByTrueCount,
        attacks.OneMoreReport(short=1),
    ),
    _witnesses(
        "witnesses-one-noise",
        "one threshold noise for all counters",
        _OneNoiseForAll,
        attacks.NoiseOfOtherEpochs(),
    ),
    _witnesses(
        "witnesses-noise-when-named",
        "query noise only in rounds in which the witness is named",
        _NoiseOnlyWhenCounted,
        attacks.OneMoreMistake(short=1),
    ),
    _witnesses(
        "witnesses-true-count",
        "witnesses are accepted by their true count",
        _WitnessesByTrueCount,
        attacks.OneMoreMistake(short=1),
    ),
    broken(
        "places-one-priced",
        "PrivateWitnesses: the draw of a place pays for an added mistake, not for one that moves",
        PrivateWitnesses(**small_learners.places(2, 1.0, share=0.9, threshold=30, epsilon=2.0)),
        attacks.OtherPlace(),
        claimed=PrivacyGuarantee(epsilon=1.0),
    ),
    broken(
        "places-kept",
        "PrivateWitnesses: the next epoch draws from the same places of mistakes again",
        with_engine(PrivateWitnesses(**small_learners.places(2, 2.0, rounds=10_000)), _KeepsPlaces),
        attacks.PlacesOfEarlierEpochs(),
    ),
)
