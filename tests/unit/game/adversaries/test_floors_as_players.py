"""The streams that floors are proved with: played, and added up exactly for a private learner."""

from collections.abc import Sequence
from typing import Any

import pytest

import littlestone as ls
from littlestone.audit.exact.laws import enumerable
from littlestone.audit.exact.masses import UNIT
from littlestone.audit.exact.tape import law_of
from littlestone.game.adversaries.mistake_forcing import CoinTree
from littlestone.game.adversaries.random_stream import HiddenOnes
from littlestone.game.adversaries.replay import Replay
from littlestone.game.play import play
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.learners.private_witnesses.plan import WitnessPlan
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses
from littlestone.randomness import seeded
from littlestone.theory.floors import coin_tree_lower_bound, points_window_lower_bound

Example = tuple[Any, int]
PLAN = WitnessPlan(query_rate=1.5, threshold_rate=1.5, threshold=1, again=1)


def expected_mistakes(recipe: Any, examples: Sequence[Example]) -> float:
    """Over all coins of the learner, from below."""

    def count(tape: Any) -> int:
        run, mistakes = recipe.start(rng=tape), 0
        for x, y in examples:
            mistakes += run.hypothesis(x) != y
            run.observe(x, y)
            tape.left -= 1
        return mistakes

    with enumerable():
        law = law_of(count, rounds=len(examples), negligible=UNIT >> 14, most=10**4)
    views: Any = law.views
    return float(sum(number * (mass.low / UNIT) for number, mass in views.items()))


def first_examples(foe: Any, rounds: int, seed: int) -> list[Example]:
    attack = foe.start(rng=seeded(seed))
    return [attack.choose(None) for _ in range(rounds)]


def test_a_private_learner_errs_as_often_as_the_tree_says_and_another_need_not() -> None:
    concepts, times = ls.Thresholds(1), 2
    recipe = PrivateWitnesses(concepts=concepts, rounds=times, epsilon=3.0, plan=PLAN)
    streams = [[(0, y)] * times for y in (0, 1)]
    mean = sum(expected_mistakes(recipe, stream) for stream in streams) / 2
    budget: dict[str, Any] = {"littlestone_dimension": 1, "rounds": times, "delta": 0.0}
    floor = coin_tree_lower_bound(epsilon=3.0, **budget)
    assert floor <= mean <= times
    # Without privacy one mistake on one of the two streams is enough.
    learner = StandardOptimal(concepts)
    games = [
        play(learner, Replay(concepts, stream), rounds=times, rng=seeded(1)) for stream in streams
    ]
    wrong = sum(game.mistakes for game in games)
    assert wrong / 2 < floor


@pytest.mark.slow
def test_zeros_and_then_ones_cost_what_the_floor_of_windows_says() -> None:
    concepts, n = ls.Thresholds(2), 2
    recipe = PrivateWitnesses(concepts=concepts, rounds=n, epsilon=3.0, plan=PLAN)
    streams = [[(x, int(x >= start)) for x in range(n)] for start in range(n + 1)]
    worst = max(expected_mistakes(recipe, stream) for stream in streams)
    # On a line the points come in order, and ones from the block on fit a threshold.
    assert worst >= points_window_lower_bound(rounds=n, epsilon=3.0, delta=0.0) > 0.5


@pytest.mark.parametrize("repeats", [1, 5])
def test_coins_decide_the_way_down_and_every_vertex_is_repeated(repeats: int) -> None:
    concepts = ls.Thresholds(15)
    seen = set()
    for seed in range(40):
        foe = CoinTree(concepts, repeats=repeats)
        examples = first_examples(foe, 4 * repeats, seed)
        vertices = examples[::repeats]
        assert [e for v in vertices for e in [v] * repeats] == examples
        space = concepts.version_space()
        for depth, (x, y) in enumerate(vertices, start=1):
            space = space.restrict(x, y)
            assert space.dimension == 4 - depth
        seen.add(tuple(y for _, y in vertices))
    assert len(seen) > 8


def test_ones_hide_among_zeros() -> None:
    for concepts, moving in ((ls.Thresholds(100), True), (ls.Points(), False)):
        foe = HiddenOnes(concepts, within=60, length=7)
        starts = set()
        for seed in range(10):
            examples = first_examples(foe, 60, seed)
            labels = [y for _, y in examples]
            start = labels.index(1)
            starts.add(start)
            ones = [x for x, _ in examples[start : start + 7]]
            assert labels[start : start + 7] == [1] * min(7, 60 - start)
            assert (len(set(ones)) == len(ones)) == (moving or len(ones) == 1)
            assert len({x for x, y in examples if not y}) == labels.count(0)
        assert len(starts) > 4
