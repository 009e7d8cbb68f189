"""Replay a learner on neighbouring streams and compare what each mechanism receives.

Black-box audits see only outputs. Here a seed freezes the randomness that routes data, and every
mechanism is replaced by one that gives the same answers in both worlds. The audit then checks that
the inputs of each mechanism differ by no more than its declared sensitivity, and that the same
mechanisms are called in the same order (control flow depends only on their answers).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from littlestone import require
from littlestone.audit.substitution import Place, RoundCoins, rekeyed, replaced
from littlestone.audit.two_worlds import look
from littlestone.errors import LittlestoneError
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.correlated_sums import CorrelatedSums, CorrelatedSumsRun
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.randomness import Randomness, seeded
from littlestone.type_checks import require_fit


class SensitivityError(LittlestoneError):
    """A mechanism saw more of one example than it was priced for."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One call of a mechanism, with its input and its answer."""

    door: str
    recipe: object
    given: Any
    answered: Any


@dataclass(frozen=True, slots=True)
class Difference:
    """A call whose input differed between the worlds."""

    recipe: object
    before: Any
    after: Any

    def price(self) -> Fraction:
        """Return what the difference costs the changed example, in epsilon.

        The parts of one mechanism add up. A changed bit of a count and an exchanged key cost the
        whole epsilon, half an exchange half of it; a draw costs its rate times the width of the
        change of scores.
        """
        recipe = self.recipe
        if isinstance(recipe, ExponentialMechanism):
            change = np.asarray(self.after) - np.asarray(self.before)
            return recipe.eta * int(change.max() - change.min())
        if isinstance(recipe, PrivateHistogram):
            cells = 2 if recipe.neighbours == "replace" else 1
            return Fraction(recipe.epsilon) * len(_changes(self.before, self.after)) / cells
        if isinstance(recipe, CountAboveThreshold | FirstFrequent | AboveThreshold):
            return Fraction(recipe.epsilon)
        raise SensitivityError(f"the price of {recipe!r} is unknown; add it to Difference.price")


@dataclass(slots=True)
class Record:
    """The calls of all mechanisms in order, and where the second world differed."""

    visits: list[Visit] = field(default_factory=list)
    expected: Iterator[Visit] | None = None
    differences: list[Difference] = field(default_factory=list)
    lenient: bool = False
    """Whether differences are only recorded, for the caller to judge together."""

    def visit(self, door: str, recipe: object, given: Any, answer: Any) -> Any:
        """Record a visit, or in a replay compare it with the recorded one."""
        if self.expected is None:
            answered = answer()
            self.visits.append(Visit(door, recipe, given, answered))
            return answered
        earlier = next(self.expected, None)
        if earlier is None or (earlier.door, earlier.recipe) != (door, recipe):
            raise SensitivityError(
                f"control flow depends on the data: {door} of {recipe!r} was asked where "
                f"{'nothing' if earlier is None else earlier.door} was asked before"
            )
        self.compare(earlier, given)
        return earlier.answered

    def compare(self, earlier: Visit, given: Any) -> None:
        """Raise a SensitivityError if inputs differ by more than the mechanism declares."""
        if not _same(earlier.given, given):
            self.differences.append(Difference(earlier.recipe, earlier.given, given))
            if not self.lenient:
                self._judge(earlier.recipe, earlier.given, given)

    def _judge(self, recipe: object, before: Any, after: Any) -> None:
        if isinstance(recipe, CountAboveThreshold):
            if len(self._differing(CountAboveThreshold)) > 1:
                raise SensitivityError("more than one bit of AboveThreshold changed")
        elif isinstance(recipe, FirstFrequent):
            _compare_keys(self._differing(FirstFrequent))
        elif isinstance(recipe, AboveThreshold):
            if abs(before - after) > 1:
                raise SensitivityError(f"a query moved from {before} to {after}")
        elif isinstance(recipe, PrivateHistogram):
            _compare_counts(recipe, before, after)
        elif isinstance(recipe, ExponentialMechanism):
            _compare_scores(recipe, before, after)
        elif isinstance(recipe, CorrelatedSums):
            if len(self._differing(CorrelatedSums)) > 1:
                raise SensitivityError("more than one batch of CorrelatedSums changed")
            _compare_sums(recipe, before, after)

    def _differing(self, kind: type) -> list[Difference]:
        return [difference for difference in self.differences if type(difference.recipe) is kind]


def _same(before: Any, after: Any) -> bool:
    return bool(before == after)


def _compare_keys(differences: Sequence[Difference]) -> None:
    """Check that each world has at most one key that the other lacks, in any round."""
    for keys in ([d.before for d in differences], [d.after for d in differences]):
        if sum(key is not None for key in keys) > 1:
            raise SensitivityError("more than one key of FirstFrequent changed")


def _changes(before: Counter[Hashable], after: Counter[Hashable]) -> list[int]:
    return sorted(after[key] - before[key] for key in before | after if after[key] != before[key])


def _compare_counts(
    recipe: PrivateHistogram, before: Counter[Hashable], after: Counter[Hashable]
) -> None:
    changes = _changes(before, after)
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


def _compare_sums(recipe: CorrelatedSums, before: Sequence[int], after: Sequence[int]) -> None:
    """Raise if a sum moved by more than twice the longest vector: one vector is replaced."""
    moved = sum((int(one) - int(other)) ** 2 for one, other in zip(before, after, strict=True))
    if moved > 4 * recipe.longest_squared:
        raise SensitivityError(
            f"a sum moved by {moved}, squared, further than twice the longest vector, "
            f"longest_squared={recipe.longest_squared}"
        )


class _Monitor:
    """Replaces a run of AboveThreshold and records each query."""

    def __init__(self, door: str, recipe: object, record: Record, run: Any) -> None:
        self._door, self._recipe, self._record = door, recipe, record
        self._run = run
        self.halted = False

    def _visit(self, given: Any, answer: Callable[[Any], Any]) -> Any:
        return self._record.visit(self._door, self._recipe, given, lambda: answer(given))

    def ask(self, value: int) -> bool:
        self.halted = self._visit(value, self._run.ask)
        return self.halted

    def observe(self, bit: int) -> bool:
        self.halted = self._visit(bit, self._run.observe)
        return self.halted

    def observe_zeros(self, count: int) -> int | None:
        return self.observe_block([], count)

    def observe_block(self, ones: Sequence[int], length: int) -> int | None:
        positions = {int(one) for one in ones}
        for position in range(length):
            if self.observe(int(position in positions)):
                return position
        return None


class _KeyMonitor(_Monitor):
    """Replaces a run of FirstFrequent."""

    released: tuple[Any, ...] = ()

    def observe(self, key: Hashable | None) -> bool:
        self.released = self._visit(key, self._released_after)
        return bool(self.released)

    def observe_zeros(self, count: int) -> int | None:
        return next((position for position in range(count) if self.observe(None)), None)

    def _released_after(self, key: Hashable | None) -> Any:
        self._run.observe(key)
        return self._run.released


@contextmanager
def _guarded(record: Record, noise: Randomness) -> Iterator[None]:
    """Record every mechanism's calls, with separate noise."""

    def standing_in(kind: Any, monitor: type[_Monitor]) -> AbstractContextManager[None]:
        original = kind.start

        def start(recipe: Any, *, rng: Randomness) -> _Monitor:
            del rng  # the noise must not shift the routing coins
            return monitor(kind.__name__, recipe, record, original(recipe, rng=noise))

        return replaced(kind, start=start)

    release_counts, draw_by_scores = PrivateHistogram.release, ExponentialMechanism.draw
    release_sum = CorrelatedSumsRun.release

    def release(recipe: PrivateHistogram, data: Any, *, rng: Randomness, **order: Any) -> Any:
        del rng
        counts = Counter(data)
        return record.visit(
            "PrivateHistogram",
            recipe,
            counts,
            lambda: release_counts(recipe, counts, rng=noise, **order),
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
        each = (
            list(scores) if multiplicities is None else np.repeat(scores, multiplicities).tolist()
        )
        return record.visit(
            "ExponentialMechanism",
            recipe,
            each,
            lambda: draw_by_scores(recipe, each, rng=noise, count=count),
        )

    def summed(run: CorrelatedSumsRun, total: Sequence[int]) -> Any:
        def with_noise() -> Any:
            run._rng, own = noise, run._rng  # the noise must not shift the routing coins
            released = release_sum(run, total)
            run._rng = own
            return released

        return record.visit("CorrelatedSums", run._recipe, tuple(total), with_noise)

    with (
        standing_in(CountAboveThreshold, _Monitor),
        standing_in(FirstFrequent, _KeyMonitor),
        standing_in(AboveThreshold, _Monitor),
        replaced(PrivateHistogram, release=release),
        replaced(ExponentialMechanism, draw=draw),
        replaced(CorrelatedSumsRun, release=summed),
    ):
        yield


class _Run(Protocol):
    @property
    def hypothesis(self) -> Any: ...

    def observe(self, x: Any, y: Any, /) -> Any: ...


class _Recipe(Protocol):
    def start(self, *, rng: Randomness) -> Any: ...


@require.checked
def check_sensitivity(
    recipe: _Recipe,
    stream: Sequence[tuple[Any, int]],
    *,
    changed_round: int,
    instead: tuple[Any, int],
    seed: int,
    places: Sequence[Place] = (),
    adds_up: bool = True,
) -> list[Visit]:
    """Run ``recipe`` on ``stream`` and on its neighbour with one example changed.

    Coins are equal in the same round of both worlds; those of the methods in ``places`` do not
    depend on earlier draws of the round.

    Args:
        adds_up: False if the promise is not a sum of prices, as for zCDP; then the sum is not
        checked.

    Returns:
        The calls of the first run.

    Raises:
        SensitivityError: A mechanism's input differs by more than declared, control flow differs,
            or the example pays more in total than the recipe promises.
    """
    record = Record()
    _replay(recipe, stream, changed_round, instead, seed, places, record)
    promised = getattr(recipe, "per_example", None) if adds_up else None
    paid = Fraction(0) if promised is None else total_price(record.differences)
    if promised is not None and paid > Fraction(promised.epsilon):
        raise SensitivityError(
            f"one example pays {float(paid):g} where {promised.epsilon:g} is promised"
        )
    return record.visits


def total_price(found: Sequence[Difference]) -> Fraction:
    """Return what one example pays over all differing calls; an exchange of keys counts once."""
    keys = [difference for difference in found if isinstance(difference.recipe, FirstFrequent)]
    others = [
        difference for difference in found if not isinstance(difference.recipe, FirstFrequent)
    ]
    left = [difference for difference in keys if difference.before is not None]
    came = [difference for difference in keys if difference.after is not None]
    once = max(left, came, key=len)
    return sum((difference.price() for difference in (*once, *others)), Fraction(0))


def differences(
    recipe: _Recipe,
    stream: Sequence[tuple[Any, int]],
    *,
    changed_round: int,
    instead: tuple[Any, int],
    seed: int,
    places: Sequence[Place] = (),
) -> list[Difference]:
    """Replay and return all calls that differed, for prices that are not sums."""
    record = Record(lenient=True)
    _replay(recipe, stream, changed_round, instead, seed, places, record)
    return record.differences


def _replay(
    recipe: _Recipe,
    stream: Sequence[tuple[Any, int]],
    changed_round: int,
    instead: tuple[Any, int],
    seed: int,
    places: Sequence[Place],
    record: Record,
) -> None:
    stream = list(zip(*require.pairs(stream=stream), strict=True))
    require.listed(tuple[type, str], places=places)
    require.integer(changed_round=changed_round, at_least=0, at_most=len(stream) - 1)
    neighbour = [*stream]
    neighbour[changed_round] = instead
    with _guarded(record, seeded(seed).spawn(2)[1]):
        first = _published(recipe, stream, seed, places)
        record.expected = iter(record.visits)
        second = _published(recipe, neighbour, seed, places)
    if list(map(look, first)) != list(map(look, second)):
        raise SensitivityError("something was published that no mechanism released")
    if next(record.expected, None) is not None:
        raise SensitivityError("control flow depends on the data: a mechanism was not called")


def _published(
    recipe: _Recipe, stream: Sequence[tuple[Any, int]], seed: int, places: Sequence[Place]
) -> list[Any]:
    coins = RoundCoins(seed)
    with rekeyed(coins, places):
        run = recipe.start(rng=coins)
        require_fit("recipe.start()", run, _Run)
        published = [(run.hypothesis, getattr(run, "status", None))]
        for x, y in stream:
            coins.next_round()
            run.observe(x, y)
            published.append((run.hypothesis, getattr(run, "status", None)))
    return published
