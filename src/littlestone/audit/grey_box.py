"""Replay a learner on neighbouring streams and compare what each mechanism receives.

Black-box audits see only outputs. Here a seed freezes the randomness that routes data, and every
mechanism is replaced by one that gives the same answers in both worlds. The audit then checks that
the inputs of each mechanism differ by no more than its declared sensitivity, and that the same
mechanisms are called in the same order (control flow depends only on their answers).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from littlestone import require
from littlestone.audit.substitution import Place, RoundCoins, rekeyed, replaced
from littlestone.audit.two_worlds import look
from littlestone.audit.visits import Difference, Record, SensitivityError, Visit
from littlestone.learners.disjoint_batches.linear_pool import LinearPool
from littlestone.privacy.mechanisms.above_threshold import AboveThreshold
from littlestone.privacy.mechanisms.correlated_sums import CorrelatedSumsRun
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.exponential import ExponentialMechanism
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.privacy.mechanisms.incremental_selection import IncrementalSelectionRun
from littlestone.privacy.mechanisms.tree_selection import TreeSelection
from littlestone.privacy.mechanisms.tree_weights import Sample
from littlestone.randomness import Randomness, seeded
from littlestone.type_checks import require_fit


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
    release_sum, draw_grown = CorrelatedSumsRun.release, IncrementalSelectionRun.draw
    draw_tree, draw_pool = TreeSelection.draw_among, LinearPool.draw

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

    def with_noise(run: Any, answer: Callable[..., Any], *given: Any) -> Callable[[], Any]:
        def answered() -> Any:
            run._rng, own = noise, run._rng  # the noise must not shift the routing coins
            found = answer(run, *given)
            run._rng = own
            return found

        return answered

    def summed(run: CorrelatedSumsRun, total: Sequence[int]) -> Any:
        answer = with_noise(run, release_sum, total)
        return record.visit("CorrelatedSums", run._recipe, tuple(total), answer)

    def grown(run: IncrementalSelectionRun) -> Any:
        scores = tuple(run._scores.as_array().tolist())
        return record.visit(
            "IncrementalSelection", run._recipe, scores, with_noise(run, draw_grown)
        )

    def planted(recipe: TreeSelection, sample: Sample, others: Any, *, rng: Randomness) -> Any:
        del rng
        given = _records(sample), tuple(others.tolist())
        return record.visit(
            "TreeSelection", recipe, given, lambda: draw_tree(recipe, sample, others, rng=noise)
        )

    def pooled(pool: LinearPool, near: Any, *, rng: Randomness, **most: Any) -> Any:
        del rng
        return record.visit(
            "LinearPool", pool, near, lambda: draw_pool(pool, near, rng=noise, **most)
        )

    with (
        standing_in(CountAboveThreshold, _Monitor),
        standing_in(FirstFrequent, _KeyMonitor),
        standing_in(AboveThreshold, _Monitor),
        replaced(PrivateHistogram, release=release),
        replaced(ExponentialMechanism, draw=draw),
        replaced(CorrelatedSumsRun, release=summed),
        replaced(IncrementalSelectionRun, draw=grown),
        replaced(TreeSelection, draw_among=planted),
        replaced(LinearPool, draw=pooled),
    ):
        yield


def _records(sample: Sample) -> Counter[Hashable]:
    """Count each record with each label."""
    return Counter(
        {
            (*cells, label): int(count)
            for label, row in enumerate(sample.counts)
            for cells, count in zip(sample.cells.tolist(), row, strict=True)
            if count
        }
    )


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
