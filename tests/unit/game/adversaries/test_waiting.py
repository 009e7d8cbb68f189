"""The adversaries that floors are proved with, and every private learner against them."""

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.chance import hoeffding

import littlestone as ls
from littlestone.choose.catalogue import LEARNERS
from littlestone.concepts.capabilities import agreeing
from littlestone.game.adversaries.waiting import BurstAndWait, Wait, WaitDownTree
from littlestone.game.play import play
from littlestone.randomness import seeded
from littlestone.theory.adaptive_floors import WaitingGame

ROUNDS, EPSILON, DELTA = 200, 1.0, 1e-3
GAMES = int(os.environ.get("FLOOR_GAMES", "60"))
BUDGET: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA}
POINTS, LINE = ls.Points(16), ls.Thresholds(4)


def wait() -> tuple[Any, float, int]:
    """An adversary, its floor, and where mistakes may be cut off without losing the floor."""
    foe = Wait(POINTS)
    game = WaitingGame.without_burst(concepts=foe.candidates, rounds=ROUNDS, **BUDGET)
    return replace(foe, within=game.within), game.mistakes, game.counted


def burst_and_wait() -> tuple[Any, float, int]:
    foe = BurstAndWait(POINTS)
    game = WaitingGame.after_burst(concepts=foe.candidates, rounds=ROUNDS, **BUDGET)
    found = replace(foe, burst=game.burst, within=game.within)
    return found, game.mistakes, game.counted


def wait_down_tree() -> tuple[Any, float, int]:
    stage = ROUNDS // 2
    game = WaitingGame.without_burst(concepts=2, rounds=stage, **BUDGET)
    foe = WaitDownTree(LINE, stage=stage, within=game.within)
    return foe, 2 * game.mistakes, 2 * game.counted


FOES = {"wait": wait, "burst-and-wait": burst_and_wait, "wait-down-tree": wait_down_tree}
QUICK = [
    ("private-keys", "wait"),
    ("lazy-forest", "wait"),
    ("private-witnesses", "wait-down-tree"),
]
ONLY = {"private-keys": POINTS}
SLOW = [
    (name, foe)
    for name, entry in LEARNERS.items()
    for foe in FOES
    if entry.private and (name, foe) not in QUICK
    if ONLY.get(name) in (None, LINE if foe == "wait-down-tree" else POINTS)
]


def mean_mistakes(learner: Any, foe: Any, most: int, games: int = GAMES) -> float:
    """Of games in which the adversary knows the published hypothesis, cut off at ``most``."""
    options: dict[str, Any] = {"peek": True, "even_if_oblivious_only": True}
    found = [
        play(learner, foe, rounds=ROUNDS, rng=rng, **options).mistakes
        for rng in seeded(27).spawn(games)
    ]
    return float(np.minimum(found, most).mean())


@pytest.mark.parametrize(
    ("name", "against"), [*QUICK, *(pytest.param(*pair, marks=pytest.mark.slow) for pair in SLOW)]
)
def test_no_private_learner_errs_less_often_than_the_floor(name: str, against: str) -> None:
    foe, floor, most = FOES[against]()
    learner = LEARNERS[name].build(foe.concepts, rounds=ROUNDS, **BUDGET)
    guarantee = learner.guarantee()
    assert guarantee.epsilon <= EPSILON * 1.000001 and guarantee.delta <= DELTA
    games = GAMES // 5 if name == "fresh-copies" else GAMES  # a second for each of its games
    # The floor is on the mean of min(mistakes, most), so that Hoeffding's bound applies.
    assert mean_mistakes(learner, foe, most, games) + most * hoeffding(games) >= floor


@pytest.mark.parametrize("against", FOES)
def test_a_learner_that_is_not_private_goes_below_the_floor(against: str) -> None:
    foe, floor, most = FOES[against]()
    mean = mean_mistakes(ls.StandardOptimal(foe.concepts), foe, most)
    assert mean + most * hoeffding(GAMES) < floor


def test_without_peeking_a_switch_counts_like_a_mistake() -> None:
    foe, floor, most = wait()
    for learner, stays in (
        (ls.PrivateKeys(concepts=POINTS, rounds=ROUNDS, **BUDGET), True),
        (ls.StandardOptimal(POINTS), False),
    ):
        many = seeded(5).spawn(GAMES if stays else 4 * GAMES)
        games = [play(learner, foe, rounds=ROUNDS, rng=rng) for rng in many]
        paid = [min(most, game.mistakes + game.switches + 1) for game in games]
        assert (sum(paid) / len(paid) + most * hoeffding(len(paid)) >= floor) == stays


def test_wait_is_silent_and_then_shows_one_concept_where_it_differs() -> None:
    starts = set()
    published = POINTS.concept(3)
    silent, candidates = agreeing(POINTS, 99)
    for rng in seeded(1).spawn(300):
        attack = Wait(POINTS, within=10).start(rng=rng)
        played = [attack.choose(published) for _ in range(30)]
        start = next(i for i, example in enumerate(played) if example != silent)
        assert start < 10 and len(set(played[start:])) == 1
        x, y = played[start]
        assert published(x) != y
        fitting = [c for c in candidates if c(x) == y]
        assert fitting
        # Once what is published fits, nothing is shown any more.
        if len(fitting) == 1:
            assert attack.choose(fitting[0]) == silent
        starts.add(start)
    assert starts == set(range(10))


def test_the_target_is_uniform_among_those_not_published() -> None:
    concepts = ls.Points(4)
    counts: dict[Any, int] = {}
    for rng in seeded(2).spawn(3000):
        attack = Wait(concepts, within=1).start(rng=rng)
        example = attack.choose(concepts.concept(2))  # 1 on the key 1
        counts[example] = counts.get(example, 0) + 1
    # 0 everywhere shows that the published key is 0, another key shows itself or the same.
    assert {x for x, _ in counts} <= {1, 2, 3}
    off = 3000 * hoeffding(3000, frequencies=4)
    for example in counts.keys() - {(1, 0)}:
        assert abs(counts[example] - 1000) < off
    assert counts[1, 0] > 1000 - off


def test_a_burst_shows_the_same_concept_as_the_second_attack() -> None:
    zero = POINTS.concept(0)
    for rng in seeded(3).spawn(50):
        attack = BurstAndWait(POINTS, burst=4, within=10, most=99).start(rng=rng)
        played = [attack.choose(zero) for _ in range(30)]
        silent = agreeing(POINTS, 99)[0]
        shown = {example for example in played if example != silent}
        assert len(shown) <= 1
        if shown:
            assert [example != silent for example in played[:4]] == [True] * 4
            assert silent in played[4:14] or played[4] != silent
            assert played[14:] == [*shown] * 16


@pytest.mark.parametrize(
    "concepts",
    [
        ls.Thresholds(7),
        ls.Thresholds(8),
        ls.Intervals(9),
        ls.Conjunctions(3),
        ls.concepts.SparseSets(2, 6),
    ],
    ids=repr,
)
def test_every_stage_leaves_one_level_less(concepts: Any) -> None:
    depth = concepts.littlestone_dimension
    learner = ls.StandardOptimal(concepts)
    for rng in seeded(4).spawn(20):
        foe = WaitDownTree(concepts, stage=12, within=6)
        rounds = 12 * depth + 1
        game = play(learner, foe, rounds=rounds, rng=rng, peek=True)
        # Who is not private errs once a level; the first round may be one.
        assert game.mistakes == depth


@pytest.mark.parametrize(
    "concepts",
    [
        *(ls.Thresholds(n) for n in (1, 2, 3, 7, 8, 12)),
        *(ls.Intervals(n) for n in (1, 2, 5, 9)),
        *(ls.Conjunctions(n) for n in (1, 2, 3)),
        *(ls.concepts.MonotoneDisjunctions(k, n) for k, n in ((1, 3), (2, 4), (3, 3), (2, 7))),
        ls.concepts.Boxes(2, 4),
    ],
    ids=repr,
)
def test_concepts_that_fit_the_named_example_shatter_as_deep_a_tree(concepts: Any) -> None:
    (x, y), depth = concepts.agreed()
    points = list(concepts.domain)
    left = [tuple(c.many(points).tolist()) for c in concepts.concepts() if c(x) == y]
    assert ls.FiniteClass(left).littlestone_dimension >= depth
