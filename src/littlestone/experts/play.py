"""The loop in which an experts algorithm meets its losses."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.experts.loss_sequences import BlockAttack, LossAdversary
from littlestone.experts.protocols import ExpertsRecipe
from littlestone.experts.run import ExpertsRun
from littlestone.game.transcript import checkpoints
from littlestone.randomness import Randomness


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertsTranscript:
    """The outcome of a game."""

    rounds: int
    loss: int
    best_loss: int
    """That of the best expert in hindsight."""
    switches: int
    """How often another expert was played than in the round before."""
    curve: tuple[tuple[int, int], ...]
    """Rounds and the regret after them."""

    @property
    def regret(self) -> int:
        return self.loss - self.best_loss


def play_experts(
    recipe: ExpertsRecipe,
    adversary: LossAdversary,
    *,
    rounds: int,
    rng: Randomness,
    even_if_oblivious_only: bool = False,
) -> ExpertsTranscript:
    """Play ``rounds`` rounds; each side gets its own stream of randomness.

    In round t expert i_t is played; the adversary, who knows i_1 .. i_{t-1}, chooses the losses.
    An algorithm that promises nothing against adaptive adversaries meets one only with
    ``even_if_oblivious_only``.
    """
    require.integer(rounds=rounds, at_least=1)
    _refuse_mismatch(recipe, adversary, rounds, even_if_oblivious_only)
    learner_rng, adversary_rng = rng.spawn(2)
    game = _Game(ExpertsRun(recipe, learner_rng), recipe.experts)
    attack = adversary.start(rng=adversary_rng)
    # Blocks pay where the expert stays for several rounds, and may only be used if it can be
    # foreseen what is played against it.
    in_blocks = isinstance(attack, BlockAttack) and recipe.oblivious_only
    curve = []
    for checkpoint in checkpoints(rounds):
        while game.played < checkpoint:
            if in_blocks:
                assert isinstance(attack, BlockAttack)
                game.block(attack.several(checkpoint - game.played))
            else:
                game.single(attack.choose(game.seen))
        curve.append((checkpoint, game.regret))
    return ExpertsTranscript(
        rounds=rounds,
        loss=game.loss,
        best_loss=int(game.totals.min()),
        switches=game.switches,
        curve=tuple(curve),
    )


class _Game:
    """The running totals of a game."""

    def __init__(self, run: ExpertsRun, experts: int) -> None:
        self.run = run
        self.totals = np.zeros(experts, dtype=np.int64)
        self.played = self.loss = self.switches = 0
        self.seen: int | None = None

    @property
    def regret(self) -> int:
        return self.loss - int(self.totals.min())

    def single(self, losses: NDArray[np.uint8]) -> None:
        expert = self.run.play()
        self.run.observe(losses)
        self._count(expert, losses[np.newaxis])

    def block(self, rows: NDArray[np.uint8]) -> None:
        while len(rows):
            expert = self.run.play()
            taken = self.run.observe_many(rows)
            self._count(expert, rows[:taken])
            rows = rows[taken:]

    def _count(self, expert: int, rows: NDArray[np.uint8]) -> None:
        self.played += len(rows)
        self.loss += int(rows[:, expert].sum(dtype=np.int64))
        self.totals += rows.sum(axis=0, dtype=np.int64)
        self.switches += self.seen is not None and self.seen != expert
        self.seen = expert


def _refuse_mismatch(
    recipe: ExpertsRecipe, adversary: LossAdversary, rounds: int, even_if_oblivious_only: bool
) -> None:
    if recipe.experts != adversary.experts or recipe.loss_scale != 1:
        raise ValueError(
            f"both sides need the same experts and losses 0 or 1, got {recipe!r} and {adversary!r}"
        )
    if rounds > recipe.rounds:
        raise ValueError(
            f"rounds must be at most the recipe's {recipe.rounds}, got rounds={rounds}"
        )
    if recipe.oblivious_only and adversary.adaptive and not even_if_oblivious_only:
        raise ValueError(
            f"{type(recipe).__name__} promises regret against oblivious adversaries only, and "
            f"{type(adversary).__name__} is adaptive; even_if_oblivious_only=True plays anyway"
        )
