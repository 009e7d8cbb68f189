"""Several claims do the same: they repeat a game, fit a line, or bound a binomial tail."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import bdtrc

from littlestone.adversaries.mistake_forcing import MistakeForcing
from littlestone.experts.loss_sequences import OneBetter
from littlestone.experts.play_experts import play_experts
from littlestone.experts.protocols import ExpertsRecipe
from littlestone.game.play import play
from littlestone.randomness import Randomness

FALSE_REFUTATION = 1e-9
"""Probability with which a true statement may be called refuted."""


def forced_mistakes(learner: Any, *, runs: int, rng: Randomness) -> list[int]:
    """Mistakes that are forced in ``runs`` independent games of all its rounds; none is dropped."""
    foe, rounds = MistakeForcing(learner.concepts), learner.rounds
    return [play(learner, foe, rounds=rounds, rng=parties).mistakes for parties in rng.spawn(runs)]


def mean_regret(
    recipe: ExpertsRecipe, *, gap: float, runs: int, rng: Randomness
) -> tuple[float, float]:
    """Mean regret and its standard error where one expert is better by ``gap``, 1/2 at most."""
    foe, rounds = OneBetter(experts=recipe.experts, gap=min(0.5, gap)), recipe.rounds
    regrets = [
        play_experts(recipe, foe, rounds=rounds, rng=parties).known_regret
        for parties in rng.spawn(runs)
    ]
    return float(np.mean(regrets)), float(np.std(regrets, ddof=1)) / math.sqrt(runs)


def line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Intercept and slope of the least-squares line."""
    slope, intercept = np.polyfit(np.asarray(xs, float), np.asarray(ys, float), 1)
    return float(intercept), float(slope)


def power(xs: Sequence[float], ys: Sequence[float]) -> float:
    """The exponent of the best power law through positive values."""
    return line([math.log(x) for x in xs], [math.log(y) for y in ys])[1]


def chance_of_as_many(failures: int, trials: int, probability: float) -> float:
    """How likely so many failures are when each has at most this probability."""
    return float(bdtrc(failures - 1, trials, min(1.0, probability)))


def too_many(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether some row has more failures than chance explains, all rows together."""
    return any(row["chance of as many"] < FALSE_REFUTATION / len(rows) for row in rows)
