"""NaiveRecomposition: the baseline keeps its promises too."""

from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes.conjunctions import Conjunctions
from littlestone.concepts.classes.sparse_sets import Points
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import HorizonExceededError
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.play import play
from littlestone.learners.agnostic_finite.naive_recomposition import NaiveRecomposition
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness, seeded

RECIPE = NaiveRecomposition(concepts=Thresholds(16), rounds=400, epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"delta": 0.0}, "delta must lie"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"rounds": 0}, "rounds must be"),
        ({"concepts": Points()}, "infinitely many"),
        ({"rounds": 10**15}, "epsilon must be at least"),
    ],
)
def test_bad_recipes_are_refused_by_name(wrong: dict[str, Any], message: str) -> None:
    given = {"concepts": Thresholds(4), "rounds": 10, "epsilon": 1.0, "delta": 1e-6}
    with pytest.raises(ValueError, match=message):
        NaiveRecomposition(**{**given, **wrong})


def test_all_draws_together_spend_the_budget() -> None:
    promised = RECIPE.guarantee()
    assert promised.within(PrivacyGuarantee(epsilon=1.0, delta=1e-6))
    assert promised.epsilon > 0.999
    one_more = RECIPE.rounds + 1
    draws = ZeroConcentrated.from_bounded_range(RECIPE._mechanism.epsilon).times(one_more)
    assert not draws.guarantee(delta=1e-6).within(PrivacyGuarantee(epsilon=1.0, delta=1e-6))


def test_mistakes_stay_within_the_bound(rng: Randomness) -> None:
    recipe = NaiveRecomposition(concepts=Thresholds(16), rounds=3000, epsilon=4.0, delta=1e-6)
    # Exceeded with probability 1e-9 at most.
    bound = recipe.mistake_bound(failure_probability=1e-9)
    assert bound < 1000
    game = play(recipe, MistakeForcing(recipe.concepts), rounds=3000, rng=rng)
    assert game.mistakes <= bound
    # An adversary that knows the draw forces a mistake unless it is the right concept.
    peeked = play(recipe, MistakeForcing(recipe.concepts), rounds=3000, rng=rng, peek=True)
    assert peeked.mistakes > game.mistakes


def test_blocks_snapshots_and_the_horizon() -> None:
    xs, ys = np.arange(400) % 16, (np.arange(400) % 16 >= 5).astype(np.uint8)
    run = RECIPE.start(rng=seeded(3))
    taken = 0
    while taken < 200:
        taken += run.observe_many(xs[taken:200], ys[taken:200])
    restored = RECIPE.restore(run.snapshot())
    for x, y in zip(xs[200:].tolist(), ys[200:].tolist(), strict=True):
        run.observe(x, y)
        restored.observe(x, y)
        assert run.hypothesis == restored.hypothesis
    with pytest.raises(HorizonExceededError):
        run.observe(0, 0)
    assert run.ledger.spent().within(PrivacyGuarantee(epsilon=1.0, delta=1e-6))


def test_points_of_any_kind_are_taken_in_blocks() -> None:
    recipe = NaiveRecomposition(concepts=Conjunctions(3), rounds=50, epsilon=1.0, delta=1e-6)
    run = recipe.start(rng=seeded(4))
    assert run.observe_many([(0, 1, 1), (1, 1, 1)], [0, 1]) >= 1
