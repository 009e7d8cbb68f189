"""FirstFrequent: its delta and epsilon by exact laws on short streams, and its runs."""

import heapq
import itertools
import math
from collections.abc import Hashable

import numpy as np
import pytest
from tests.chance import fits, is_told_apart

from littlestone.errors import HaltedError
from littlestone.privacy.mechanisms.first_frequent import FirstFrequent, FirstFrequentRun
from littlestone.randomness import Randomness, seeded

ROUNDS = 7
RECIPE = FirstFrequent(epsilon=1.0, delta=0.05, rounds=ROUNDS)
Stream = tuple[str | None, ...]
NOISES = np.arange(400)


def key_law(recipe: FirstFrequent, stream: Stream, key: str, threshold: int) -> np.ndarray:
    """P(the key is due first in round k), k = 1 .. rounds, and P(never)."""
    noise = -math.expm1(-recipe.threshold_rate) * np.exp(-recipe.threshold_rate * NOISES)
    quiet, law = noise.copy(), []
    for k in range(1, len(stream) + 1):
        count = stream[:k].count(key)
        gap = np.maximum(threshold + NOISES - count, 0)
        yes = np.exp(-recipe.query_rate * gap) if count else np.zeros(len(NOISES))
        law.append(float((quiet * yes).sum()))
        quiet = quiet * (1 - yes)
    return np.array([*law, float(quiet.sum())])


def release_law(
    recipe: FirstFrequent, stream: Stream, keys: tuple[str, ...], threshold: int
) -> dict[tuple[int, frozenset[str]], float]:
    """The exact law of (round, released keys); round ROUNDS + 1 stands for none."""
    laws = {key: key_law(recipe, stream, key, threshold) for key in keys}
    found = {}
    for k in range(ROUNDS):
        for size in range(1, len(keys) + 1):
            for released in itertools.combinations(keys, size):
                weight = math.prod(
                    laws[key][k] if key in released else laws[key][k + 1 :].sum() for key in keys
                )
                found[k + 1, frozenset(released)] = weight
    found[ROUNDS + 1, frozenset()] = math.prod(laws[key][-1] for key in keys)
    return found


def excess(recipe: FirstFrequent, one: Stream, other: Stream, threshold: int) -> float:
    """The smallest delta for which (epsilon, delta) holds in this direction."""
    laws = [release_law(recipe, world, ("a", "b"), threshold) for world in (one, other)]
    assert sum(laws[0].values()) == pytest.approx(1.0)
    growth = math.exp(recipe.epsilon)
    return sum(max(0.0, weight - growth * laws[1][outcome]) for outcome, weight in laws[0].items())


def neighbours() -> list[tuple[Stream, Stream]]:
    """One world counts a key once more in round p, the other one in round q, or not at all."""
    found = []
    for base in itertools.product(("a", "b", None), repeat=4):
        common: Stream = (*base, None, "a", None)
        for p, q in itertools.permutations([i for i, key in enumerate(common) if key is None], 2):
            for first, second in (("a", "b"), ("a", "a"), ("b", None)):
                one = (*common[:p], first, *common[p + 1 :])
                found.append((one, (*common[:q], second, *common[q + 1 :])))
    return found[::7]


def test_the_exact_law_keeps_the_promise_on_short_streams() -> None:
    worst = max(
        excess(RECIPE, *worlds, RECIPE.threshold)
        for pair in neighbours()
        for worlds in (pair, pair[::-1])
    )
    assert worst <= RECIPE.delta


def test_a_threshold_that_is_too_low_breaks_the_promise() -> None:
    worst = max(excess(RECIPE, *pair, RECIPE.threshold - 4) for pair in neighbours())
    assert worst > RECIPE.delta


def test_the_threshold_is_the_smallest_that_delta_allows() -> None:
    for epsilon, delta, rounds in ((1.0, 1e-6, 10**6), (0.1, 1e-9, 10**4), (8.0, 1e-3, 5)):
        recipe = FirstFrequent(epsilon=epsilon, delta=delta, rounds=rounds)
        a, b = math.exp(-recipe.query_rate), math.exp(-recipe.threshold_rate)
        spent = rounds * (1 + math.exp(epsilon)) * a**recipe.threshold * (1 - b) / (1 - a * b)
        assert spent <= delta * (1 + 1e-9)
        assert spent / a > delta or recipe.threshold == 1


@pytest.mark.statistical
def test_the_release_has_the_exact_law(rng: Randomness) -> None:
    stream: Stream = ("a", "a", "a", None, "a", "a", None)
    recipe, runs = FirstFrequent(epsilon=1.0, delta=0.3, rounds=ROUNDS), 20_000

    def released(world: Stream) -> int:
        run = recipe.start(rng=rng)
        return next((k for k, key in enumerate(world) if run.observe(key)), ROUNDS)

    less: Stream = (*stream[:4], None, *stream[5:])
    law, other = (
        dict(enumerate(key_law(recipe, world, "a", recipe.threshold).tolist()))
        for world in (stream, less)
    )
    assert fits((released(stream) for _ in range(runs)), law)
    assert is_told_apart((released(less) for _ in range(runs)), law, actual=other)


def test_rounds_without_a_key_can_be_played_at_once() -> None:
    for seed in range(40):
        single = RECIPE.start(rng=seeded(seed))
        block = RECIPE.start(rng=seeded(seed))
        for run in (single, block):
            run.observe("a")
        if single.released:
            continue
        rounds = next((k for k in range(300) if single.observe(None)), None)
        assert block.observe_zeros(300) == rounds
        assert block.released == single.released


class Remembering(FirstFrequentRun):
    """Drops no turn before its round has come."""

    __slots__ = ()

    def _draw_turn(self, key: Hashable) -> None:
        kept = self._turns.copy()
        super()._draw_turn(key)
        heapq.heapify(merged := list({*kept, *self._turns}))
        self._turns = merged


def test_turns_of_gaps_that_have_moved_are_dropped_and_never_missed() -> None:
    recipe, dropped = FirstFrequent(epsilon=1.0, delta=1e-3, rounds=1000), 0
    for seed in range(60):
        run = recipe.start(rng=seeded(seed))
        other = Remembering(recipe, seeded(seed))
        coins = seeded(1000 + seed)
        for _ in range(100):
            key = (None, "a", "b", "c")[coins.below(4)]
            assert run.observe(key) == other.observe(key)
            assert run.released == other.released and run._gaps == other._gaps
            assert len(run._turns) <= 2 * len(run._newest)
            dropped = max(dropped, len(other._turns) - len(run._turns))
            if run.released:
                break
    assert dropped > 10  # it was worth it


def test_a_run_that_has_released_refuses_to_go_on() -> None:
    run = RECIPE.start(rng=seeded(1))
    while not run.observe("a"):
        pass
    assert run.released == ("a",)
    with pytest.raises(HaltedError):
        run.observe("a")
    with pytest.raises(HaltedError):
        run.observe_zeros(1)


def test_a_restored_run_continues_identically() -> None:
    source = seeded(3)
    run = RECIPE.start(rng=source)
    for key in ("a", "b", "a"):
        run.observe(key)
    copies = [
        RECIPE.restore(run.state(), rng=Randomness.from_state(source.state())) for _ in range(2)
    ]
    futures = [[copy.observe("b") for _ in range(3)] + [copy.observe_zeros(50)] for copy in copies]
    assert futures[0] == futures[1]
