"""Experts at the common table: the game that the definition says, round by round."""

from typing import Any

import numpy as np
import pytest
from tests.reference.block_losses import OneBetter

from littlestone.game.transcript import Transcript, checkpoints
from littlestone.learners.experts.exponential_weights import ExponentialWeights
from littlestone.learners.experts.play_experts import (
    ChargeTheSeen,
    LossAdversary,
    OneNeverErrs,
    play_experts,
)
from littlestone.learners.experts.protocols import ExpertsRecipe
from littlestone.learners.experts.run import Expert, ExpertsRun
from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.randomness import seeded

SIZES: dict[str, Any] = {"experts": 4, "rounds": 3000, "epsilon": 2.0, "delta": 1e-4}
RECIPES: list[ExpertsRecipe] = [ExponentialWeights(**SIZES), ShrinkingDartboard(**SIZES)]
ADVERSARIES: list[LossAdversary] = [
    OneBetter(experts=4, gap=0.2),
    OneNeverErrs(experts=4, rounds=3000, losses=700),
    ChargeTheSeen(experts=4),
]


def by_definition(recipe: ExpertsRecipe, adversary: LossAdversary, seed: int) -> tuple[object, ...]:
    """Loss, best loss, switches and regrets, from a loop without blocks or hypotheses."""
    learner_rng, adversary_rng = seeded(seed).spawn(2)
    run, attack = ExpertsRun(recipe, learner_rng), adversary.start(rng=adversary_rng)
    played: list[int] = []
    totals, loss = np.zeros(recipe.experts, dtype=int), 0
    regrets = []
    for number in range(1, recipe.rounds + 1):
        seen = Expert(played[-1], recipe.experts) if played else None
        losses, _ = attack.choose(seen)
        played.append(run.play())
        loss += int(losses[played[-1]])  # type: ignore[index]
        totals += losses
        run.observe(losses)
        if number in checkpoints(recipe.rounds):
            regrets.append((number, loss - int(totals.min())))
    switches = sum(a != b for a, b in zip(played[1:], played, strict=False))
    return loss, int(totals.min()), switches, tuple(regrets)


def outcome(game: Transcript) -> tuple[object, ...]:
    return game.mistakes, game.fewest_mistakes, game.switches, game.regret_curve


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda a: type(a).__name__)
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: type(r).__name__)
def test_the_common_loop_plays_the_game_of_the_definition(
    recipe: ExpertsRecipe, adversary: LossAdversary
) -> None:
    game = play_experts(
        recipe, adversary, rounds=recipe.rounds, rng=seeded(4), even_if_oblivious_only=True
    )
    assert outcome(game) == by_definition(recipe, adversary, 4)
    assert game.learner == repr(recipe) and game.adversary == repr(adversary)


def test_an_expert_is_the_function_that_reads_its_own_loss() -> None:
    rows = np.array([[0, 1, 0], [1, 0, 1]], dtype=np.uint8)
    first, second = Expert(0, 3), Expert(1, 3)
    assert [first(row) for row in rows] == first.many(rows).tolist() == [0, 1]
    alone = first.disagreement(second)
    assert alone == (1, 0, 0) and first(alone) != second(alone)
    assert first.disagreement(Expert(0, 3)) is None
    assert first.describe() == "expert 0 of 3"


def test_one_expert_never_errs_and_the_others_as_often_as_they_are_told_to() -> None:
    foe = OneNeverErrs(experts=4, rounds=3000, losses=700).start(rng=seeded(1))
    rows = np.array([foe.choose(None)[0] for _ in range(3000)])
    assert rows.sum(axis=0).tolist() == [0, 700, 700, 700]
    halves = rows[:1500, 1].sum(), rows[1500:, 1].sum()
    assert halves == (350, 350)
    with pytest.raises(ValueError, match="losses must lie between 0 and rounds=5, got losses=6"):
        OneNeverErrs(experts=4, rounds=5, losses=6)
