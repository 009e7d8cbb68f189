"""Replay a learner on neighbouring streams and measure what reaches every mechanism's door.

Black-box audits see outputs only. Here the randomness that routes data is frozen by a seed, every
mechanism is replaced by one that gives the same answers in both worlds, and two things are
asserted: the inputs of each mechanism differ by no more than its declared sensitivity, and the
same mechanisms are asked in the same order (control flow depends on nothing but their answers).
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from unittest import mock

import numpy as np

from littlestone.errors import LittlestoneError
from littlestone.mechanisms.above_threshold import AboveThreshold
from littlestone.mechanisms.exponential import ExponentialMechanism
from littlestone.mechanisms.histogram import PrivateHistogram
from littlestone.mechanisms.sparse_vector import AboveThresholdQueries
from littlestone.randomness import Randomness, seeded


class SensitivityError(LittlestoneError):
    """A mechanism saw more of one example than it was priced for."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One question put to a mechanism, and its answer."""

    door: str
    recipe: object
    asked: Any
    answered: Any


@dataclass(slots=True)
class Record:
    """What happened at the doors, in order."""

    visits: list[Visit] = field(default_factory=list)
    expected: Iterator[Visit] | None = None
    changed_bits: int = 0

    def visit(self, door: str, recipe: object, asked: Any, answer: Any) -> Any:
        """Record a visit, or in a replay compare it with the recorded one."""
        if self.expected is None:
            answered = answer()
            self.visits.append(Visit(door, recipe, asked, answered))
            return answered
        earlier = next(self.expected, None)
        if earlier is None or (earlier.door, earlier.recipe) != (door, recipe):
            raise SensitivityError(
                f"control flow depends on the data: {door} of {recipe!r} was asked where "
                f"{'nothing' if earlier is None else earlier.door} was asked before"
            )
        self.compare(earlier, asked)
        return earlier.answered

    def compare(self, earlier: Visit, asked: Any) -> None:
        """Refuse inputs that are further apart than the mechanism declares."""
        recipe = earlier.recipe
        if isinstance(recipe, AboveThreshold):
            self.changed_bits += earlier.asked != asked
            if self.changed_bits > 1:
                raise SensitivityError("more than one bit of AboveThreshold changed")
        elif isinstance(recipe, AboveThresholdQueries):
            if abs(earlier.asked - asked) > 1:
                raise SensitivityError(f"a query moved from {earlier.asked} to {asked}")
        elif isinstance(recipe, PrivateHistogram):
            _compare_counts(recipe, earlier.asked, asked)
        elif isinstance(recipe, ExponentialMechanism):
            _compare_scores(recipe, earlier.asked, asked)


def _compare_counts(
    recipe: PrivateHistogram, before: Counter[Hashable], after: Counter[Hashable]
) -> None:
    changes = sorted(
        after[key] - before[key] for key in before | after if after[key] != before[key]
    )
    allowed = [[], [1], [-1]]
    if recipe.neighbours == "replace":
        allowed.append([-1, 1])
    if changes not in allowed:
        raise SensitivityError(
            f"a {recipe.neighbours} histogram saw its counts change by {changes}"
        )


def _compare_scores(
    recipe: ExponentialMechanism, before: Sequence[int], after: Sequence[int]
) -> None:
    change = np.asarray(after) - np.asarray(before)
    if int(change.max() - change.min()) > recipe.range_width:
        raise SensitivityError(
            f"scores changed by {change.min()} to {change.max()}, wider than "
            f"range_width={recipe.range_width}"
        )


class _Monitor:
    """Stands in for a run of AboveThreshold, one visit a round."""

    def __init__(self, recipe: AboveThreshold, record: Record, rng: Randomness) -> None:
        self._recipe, self._record = recipe, record
        self._run = _ORIGINALS["start"](recipe, rng=rng)
        self.halted = False

    def observe(self, bit: int) -> bool:
        answer: bool = self._record.visit(
            "AboveThreshold", self._recipe, bit, lambda: self._run.observe(bit)
        )
        self.halted = answer
        return answer

    def observe_zeros(self, count: int) -> int | None:
        return self.observe_block([], count)

    def observe_block(self, ones: Sequence[int], length: int) -> int | None:
        positions = {int(one) for one in ones}
        for position in range(length):
            if self.observe(int(position in positions)):
                return position
        return None


class _QueryMonitor:
    """Stands in for a run of AboveThresholdQueries."""

    def __init__(self, recipe: AboveThresholdQueries, record: Record, rng: Randomness) -> None:
        self._recipe, self._record = recipe, record
        self._run = _ORIGINALS["start queries"](recipe, rng=rng)
        self.halted = False

    def ask(self, value: int) -> bool:
        answer: bool = self._record.visit(
            "AboveThresholdQueries", self._recipe, value, lambda: self._run.ask(value)
        )
        self.halted = answer
        return answer


_ORIGINALS: Mapping[str, Any] = {
    "start": AboveThreshold.start,
    "start queries": AboveThresholdQueries.start,
    "release": PrivateHistogram.release,
    "draw": ExponentialMechanism.draw,
}


@contextmanager
def _guarded(record: Record, noise: Randomness) -> Iterator[None]:
    """Send every mechanism's questions through ``record``, with noise of its own."""

    def start(recipe: AboveThreshold, *, rng: Randomness) -> _Monitor:
        del rng  # the noise must not shift the routing coins
        return _Monitor(recipe, record, noise)

    def start_queries(recipe: AboveThresholdQueries, *, rng: Randomness) -> _QueryMonitor:
        del rng
        return _QueryMonitor(recipe, record, noise)

    def release(recipe: PrivateHistogram, data: Any, *, rng: Randomness, **order: Any) -> Any:
        del rng
        counts = Counter(data)
        return record.visit(
            "PrivateHistogram",
            recipe,
            counts,
            lambda: _ORIGINALS["release"](recipe, counts, rng=noise, **order),
        )

    def draw(
        recipe: ExponentialMechanism,
        scores: Any,
        *,
        rng: Randomness,
        multiplicities: Any = None,
        count: int = 1,
    ) -> Any:
        del rng
        written_out = (
            list(scores) if multiplicities is None else np.repeat(scores, multiplicities).tolist()
        )
        return record.visit(
            "ExponentialMechanism",
            recipe,
            written_out,
            lambda: _ORIGINALS["draw"](recipe, written_out, rng=noise, count=count),
        )

    with (
        mock.patch.object(AboveThreshold, "start", start),
        mock.patch.object(AboveThresholdQueries, "start", start_queries),
        mock.patch.object(PrivateHistogram, "release", release),
        mock.patch.object(ExponentialMechanism, "draw", draw),
    ):
        yield


class _Recipe(Protocol):
    def start(self, *, rng: Randomness) -> Any: ...


def check_sensitivity(
    recipe: _Recipe,
    stream: Sequence[tuple[Any, int]],
    *,
    changed_round: int,
    instead: tuple[Any, int],
    seed: int,
) -> list[Visit]:
    """Run ``recipe`` on ``stream`` and on its neighbour with one example changed.

    Raises ``SensitivityError`` where a mechanism's input differs by more than declared or control
    flow differs; returns the visits of the first run.
    """
    neighbour = [*stream]
    neighbour[changed_round] = instead
    record = Record()
    with _guarded(record, seeded(seed).spawn(2)[1]):
        first = _published(recipe, stream, seed)
        record.expected = iter(record.visits)
        second = _published(recipe, neighbour, seed)
    if first != second:
        raise SensitivityError("something was published that no mechanism released")
    if next(record.expected, None) is not None:
        raise SensitivityError("control flow depends on the data: a mechanism was not asked")
    return record.visits


def _published(recipe: _Recipe, stream: Sequence[tuple[Any, int]], seed: int) -> list[Any]:
    run = recipe.start(rng=seeded(seed).spawn(2)[0])
    published = [run.hypothesis]
    for x, y in stream:
        run.observe(x, y)
        published.append(run.hypothesis)
    return published
