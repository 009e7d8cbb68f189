"""Experts and losses meet at the one table of ``littlestone.game``: losses are the example.

An expert is the function that reads its own loss, so it errs on (losses, 0) where that loss is 1.
The mistakes of the transcript are then the loss, and its fewest mistakes those of the best expert.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from littlestone.concepts.protocols import Example
from littlestone.experts.loss_sequences import LossAdversary, Losses
from littlestone.experts.protocols import ExpertsRecipe
from littlestone.game.play import play_out
from littlestone.game.transcript import Transcript
from littlestone.randomness import Randomness


def play_experts(
    recipe: ExpertsRecipe,
    adversary: LossAdversary,
    *,
    rounds: int,
    rng: Randomness,
    even_if_oblivious_only: bool = False,
) -> Transcript:
    """Play ``rounds`` rounds; each side gets its own stream of randomness.

    In round t expert i_t is played; the adversary, who knows i_1 .. i_{t-1}, chooses the losses.
    An algorithm that promises nothing against adaptive adversaries meets one only with
    ``even_if_oblivious_only``.
    """
    if recipe.experts != adversary.experts or recipe.loss_scale != 1:
        raise ValueError(
            f"both sides need the same experts and losses 0 or 1, got {recipe!r} and {adversary!r}"
        )
    return play_out(
        recipe,
        adversary,
        _LossReferee(recipe.experts),
        rounds=rounds,
        rng=rng,
        even_if_oblivious_only=even_if_oblivious_only,
        # Blocks pay where the expert stays for several rounds.
        blocks=recipe.oblivious_only,
    )


class _LossReferee:
    """Adds up the losses of every expert; that they are valid, the run checks."""

    admitted: ClassVar[Mapping[Any, Example]] = MappingProxyType({})
    singles: ClassVar[None] = None

    def __init__(self, experts: int) -> None:
        self._totals = np.zeros(experts, dtype=np.int64)

    def admit(self, example: Any, round_number: int, /) -> Any:
        del round_number
        self._totals += example[0]
        return example

    def admit_many(self, rows: Any, labels: Any, round_number: int, /) -> tuple[Losses, Any]:
        del round_number
        return rows, labels

    def count(self, rows: Losses, labels: Any, round_number: int, /) -> None:
        del labels, round_number
        self._totals += rows.sum(axis=0, dtype=np.int64)

    def fewest_so_far(self) -> int:
        return int(self._totals.min())

    fewest_mistakes = fewest_so_far
