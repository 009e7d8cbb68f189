"""What every algorithm for prediction from experts owes."""

import math
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from tests.reference.block_losses import Blocks, OneBetter

from littlestone.errors import HorizonExceededError
from littlestone.learners import codec, known_types  # noqa: F401 (names the classes of parts)
from littlestone.learners.experts.dartboard_plan import DartboardPlan
from littlestone.learners.experts.exponential_weights import ExponentialWeights, Hedge
from littlestone.learners.experts.lazy_switching import LazySwitching
from littlestone.learners.experts.play_experts import ChargeTheSeen, play_experts
from littlestone.learners.experts.protocols import Batches, ExpertsRecipe
from littlestone.learners.experts.realizable_experts import RealizableExperts
from littlestone.learners.experts.run import ExpertsRun, Totals
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.incremental_selection import IncrementalSelectionRun
from littlestone.privacy.mechanisms.saved_run import fields_of, load_fields
from littlestone.randomness import Randomness, secure, seeded

ROUNDS, EXPERTS = 400, 5
BUDGET = PrivacyGuarantee(epsilon=2.0, delta=1e-4)
SIZES: dict[str, Any] = {"experts": EXPERTS, "rounds": ROUNDS, "epsilon": 2.0, "delta": 1e-4}

RECIPES: dict[str, Callable[..., ExpertsRecipe]] = {
    "exponential-weights": ExponentialWeights,
    "growing-batches": lambda **sizes: ExponentialWeights(
        **sizes, batches=Batches(first=3, growth=1.3), spend_all=True
    ),
    "shrinking-dartboard": ShrinkingDartboard,
    "lazy-switching": LazySwitching,
    "realizable-experts": RealizableExperts,
    "hedge": lambda **sizes: Hedge(
        **{name: size for name, size in sizes.items() if name not in ("epsilon", "delta")}
    ),
}
every_recipe = pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
PRIVATE = {name: kind for name, kind in RECIPES.items() if name != "hedge"}
every_private_recipe = pytest.mark.parametrize("recipe", PRIVATE.values(), ids=PRIVATE)


def losses(seed: int = 1, rounds: int = ROUNDS) -> np.ndarray:
    chances = np.linspace(0.2, 0.8, EXPERTS)
    return (np.random.default_rng(seed).random((rounds, EXPERTS)) < chances).astype(np.uint8)


def played_singly(recipe: ExpertsRecipe, rows: np.ndarray, seed: int) -> list[int]:
    run = ExpertsRun(recipe, seeded(seed))
    experts = []
    for row in rows:
        experts.append(run.play())
        run.observe(row)
    return experts


def played_in_blocks(recipe: ExpertsRecipe, rows: np.ndarray, seed: int, block: int) -> list[int]:
    run = ExpertsRun(recipe, seeded(seed))
    experts: list[int] = []
    while len(experts) < len(rows):
        expert = run.play()
        experts += [expert] * run.observe_many(rows[len(experts) : len(experts) + block])
    return experts


@every_recipe
def test_a_recipe_is_a_value(recipe: Callable[..., ExpertsRecipe]) -> None:
    assert recipe(**SIZES) == recipe(**SIZES)
    assert recipe(**SIZES) != recipe(**{**SIZES, "rounds": ROUNDS + 1})
    assert repr(recipe(**SIZES)) == repr(recipe(**SIZES))
    assert recipe(**SIZES).for_rounds(77) == recipe(**{**SIZES, "rounds": 77})


@every_private_recipe
@pytest.mark.parametrize("epsilon", [0.05, 0.7, 5.0])
def test_the_guarantee_stays_within_the_budget(
    recipe: Callable[..., ExpertsRecipe], epsilon: float
) -> None:
    known = recipe(**{**SIZES, "epsilon": epsilon})
    assert known.guarantee().within(PrivacyGuarantee(epsilon=epsilon, delta=1e-4))
    assert known.prefix_conditional


@every_recipe
def test_asking_twice_changes_nothing_and_the_seed_decides(
    recipe: Callable[..., ExpertsRecipe],
) -> None:
    run = ExpertsRun(recipe(**SIZES), seeded(3))
    assert run.play() == run.play()
    assert played_singly(recipe(**SIZES), losses(), 3) == played_singly(
        recipe(**SIZES), losses(), 3
    )


@every_recipe
@pytest.mark.parametrize("kind", ["bool", "int8", "uint64", ">u8", ">i4"])
def test_losses_of_every_type_of_whole_numbers_are_the_same(
    recipe: Callable[..., ExpertsRecipe], kind: str
) -> None:
    rows = losses()
    assert played_singly(recipe(**SIZES), rows.astype(kind), 3) == played_singly(
        recipe(**SIZES), rows, 3
    )
    assert played_in_blocks(recipe(**SIZES), rows.astype(kind), 3, 7) == played_in_blocks(
        recipe(**SIZES), rows, 3, 7
    )


@every_recipe
@pytest.mark.parametrize("block", [1, 7, ROUNDS])
def test_blocks_are_played_like_single_rounds(
    recipe: Callable[..., ExpertsRecipe], block: int
) -> None:
    known = recipe(**SIZES)
    blocks = played_in_blocks(known, losses(), 5, block)
    if isinstance(known, RealizableExperts):
        # AboveThreshold draws its waiting times differently: the law is the same, not the coins.
        assert len(blocks) == ROUNDS
    else:
        assert blocks == played_singly(known, losses(), 5)


@every_recipe
@pytest.mark.parametrize(
    "bad",
    [
        [0, 1],
        [[0] * EXPERTS],
        [0.5] * EXPERTS,
        [2] * EXPERTS,
        [-1] * EXPERTS,
        np.full(EXPERTS, 2, dtype=np.uint8),
    ],
    ids=["few", "matrix", "fractions", "large", "negative", "large-bytes"],
)
def test_bad_losses_are_refused_without_effect(
    recipe: Callable[..., ExpertsRecipe], bad: Any
) -> None:
    rows = losses()
    run, undisturbed = (ExpertsRun(recipe(**SIZES), seeded(8)) for _ in range(2))
    for row in rows[:50]:
        with pytest.raises(ValueError, match="losses must"):
            run.observe(bad)
        run.observe(row)
        undisturbed.observe(row)
        assert run.play() == undisturbed.play()
    assert run.rounds_played == 50


@every_recipe
def test_the_horizon_is_kept(recipe: Callable[..., ExpertsRecipe]) -> None:
    run = ExpertsRun(recipe(**{**SIZES, "rounds": 3}), seeded(1))
    while run.rounds_played < 3:  # a block that is too long is cut
        assert 1 <= run.observe_many(losses(rounds=10)) <= 3
    assert run.rounds_played == 3
    with pytest.raises(HorizonExceededError):
        run.observe([0] * EXPERTS)


@every_recipe
def test_a_restored_strategy_continues_identically(recipe: Callable[..., ExpertsRecipe]) -> None:
    known, rows = recipe(**SIZES), losses()
    totals, rng = Totals(EXPERTS), seeded(11)
    strategy = known.strategy(totals, rng)
    strategy.begin()

    def played(strategy: Any, rows: np.ndarray) -> list[int]:
        experts = []
        for row in rows:
            experts.append(strategy.expert)
            strategy.take((int(row[strategy.expert]),))
            totals.add(row)
            strategy.settle()
        return experts

    played(strategy, rows[:150])
    state = codec.dumps(fields_of(strategy))
    coins, sums = Randomness.from_state(rng.state()), totals.as_array()
    went_on = played(strategy, rows[150:])
    totals._totals[:] = sums
    restored = known.strategy(totals, coins)
    load_fields(restored, codec.loads(state, rng=coins))
    assert played(restored, rows[150:]) == went_on


@every_recipe
def test_the_ledger_holds_the_promise(recipe: Callable[..., ExpertsRecipe]) -> None:
    known = recipe(**SIZES)
    run = ExpertsRun(known, secure())
    assert run.ledger.budget == known.guarantee()
    assert run.ledger.spent().within(BUDGET) or not known.guarantee().is_private
    with pytest.raises(TypeError, match="cannot be copied"):
        run.__reduce__()


@every_recipe
def test_adaptive_adversaries_are_refused_where_nothing_is_promised(
    recipe: Callable[..., ExpertsRecipe],
) -> None:
    known, foe = recipe(**SIZES), ChargeTheSeen(experts=EXPERTS)
    if known.oblivious_only:
        with pytest.raises(ValueError, match="even_if_oblivious_only=True"):
            play_experts(known, foe, rounds=10, rng=seeded(1))
    played = play_experts(known, foe, rounds=10, rng=seeded(1), even_if_oblivious_only=True)
    assert played.rounds == 10 and 0 <= played.mistakes <= 10
    oblivious = OneBetter(experts=EXPERTS, gap=0.4)
    assert play_experts(known, oblivious, rounds=10, rng=seeded(1)).rounds == 10


@every_recipe
def test_bounds_are_numbers_on_the_safe_side(recipe: Callable[..., ExpertsRecipe]) -> None:
    known = recipe(**SIZES)
    assert 0 < known.expected_regret_bound() < math.inf
    likely, unlikely = (known.deviation_bound(failure_probability=p) for p in (0.5, 1e-9))
    assert 0 <= likely <= unlikely


def test_who_is_for_whom() -> None:
    assert not ExponentialWeights(**SIZES).oblivious_only
    assert not RECIPES["hedge"](**SIZES).oblivious_only
    for name in ("growing-batches", "shrinking-dartboard", "lazy-switching", "realizable-experts"):
        assert RECIPES[name](**SIZES).oblivious_only


def test_bounds_at_a_million_rounds() -> None:
    sizes: dict[str, Any] = {"experts": 100, "rounds": 10**6, "epsilon": 1.0, "delta": 1e-6}
    assert ShrinkingDartboard(**sizes).expected_regret_bound() <= 2650
    assert ExponentialWeights(**sizes).expected_regret_bound() <= 2.1e4


def test_a_budget_that_needs_too_small_a_rate_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="rounds=1000000000 and this budget"):
        ExponentialWeights(experts=10, rounds=10**9, epsilon=0.01, delta=1e-6)


def test_losses_on_a_finer_scale_mean_the_same() -> None:
    coarse = ExponentialWeights(**SIZES)
    fine = ExponentialWeights(**SIZES, loss_scale=10)
    assert fine.rate == coarse.rate and fine.guarantee() == coarse.guarantee()
    run = fine.start(rng=seeded(1))
    run.observe([10, 3, 0, 7, 1])
    with pytest.raises(ValueError, match="loss_scale=10"):
        run.observe([11, 0, 0, 0, 0])
    assert fine._selection.mechanism.eta * 10 == coarse._selection.mechanism.eta


def test_mismatched_games_are_refused() -> None:
    with pytest.raises(ValueError, match="same experts"):
        play_experts(ExponentialWeights(**SIZES), Blocks(length=2), rounds=5, rng=seeded(1))
    with pytest.raises(ValueError, match="rounds must be at most"):
        play_experts(
            ExponentialWeights(**SIZES),
            OneBetter(experts=EXPERTS, gap=0.1),
            rounds=ROUNDS + 1,
            rng=seeded(1),
        )


def test_a_dartboard_that_used_all_switches_says_so_and_stays() -> None:
    recipe = ShrinkingDartboard(**{**SIZES, "epsilon": 0.05})
    assert recipe.plan is not None
    run = recipe.start(rng=seeded(2))
    experts = set()
    for _ in range(ROUNDS):
        run.observe([1] * EXPERTS)
        if run.status != "learning":
            experts.add(run.play())
    assert recipe.plan.cap < ROUNDS / recipe.plan.batch
    assert len(experts) <= 1


def draws_of(recipe: ExpertsRecipe) -> int:
    """How often an expert is drawn when everybody errs all the time."""
    draw = IncrementalSelectionRun.draw
    with mock.patch.object(IncrementalSelectionRun, "draw", autospec=True, side_effect=draw) as spy:
        run = ExpertsRun(recipe, seeded(2))
        for _ in range(recipe.rounds):
            run.observe([1] * recipe.experts)
    return spy.call_count


def test_no_more_experts_are_drawn_than_are_paid_for() -> None:
    plan = DartboardPlan(rate=0.05, fake=0.5, batch=2, cap=3)
    assert draws_of(ShrinkingDartboard(**SIZES, plan=plan)) == 1 + 3
    realizable = RealizableExperts(**{**SIZES, "rounds": 4000, "epsilon": 20.0})
    assert draws_of(realizable) == realizable.phases
    growing = RECIPES["growing-batches"](**SIZES)
    assert isinstance(growing, ExponentialWeights)
    assert draws_of(growing) == growing.batches.count(ROUNDS) == growing._draws + 1
