"""Several claims do the same: they repeat a game, fit a line, or bound a tail."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtrc, betaincinv

from littlestone.adversaries.mistake_forcing import MistakeForcing
from littlestone.experts.loss_sequences import OneNeverErrs
from littlestone.experts.play_experts import play_experts
from littlestone.experts.protocols import ExpertsRecipe
from littlestone.game.play import play
from littlestone.randomness import Randomness

FALSE_REFUTATION = 1e-9
"""Probability with which a true statement may be called refuted."""
ADVANTAGE = 4
"""In units of the regret bound; an algorithm that draws experts uniformly loses nearly so much."""


def forced_mistakes(learner: Any, *, runs: int, rng: Randomness) -> list[int]:
    """Mistakes that are forced in ``runs`` independent games of all its rounds; none is dropped."""
    foe, rounds = MistakeForcing(learner.concepts), learner.rounds
    return [play(learner, foe, rounds=rounds, rng=parties).mistakes for parties in rng.spawn(runs)]


class MeanRegret(NamedTuple):
    """What ``mean_regret`` found."""

    mean: float
    deviation: float
    losses: int
    """Of every expert but one."""


def mean_regret(
    recipe: ExpertsRecipe, *, bound: float, runs: int, allowed: float, rng: Randomness
) -> "MeanRegret":
    """Mean regret where one expert never errs, and how far it may exceed its expectation.

    The others err in ADVANTAGE times as many rounds as the ``bound`` on the regret. The regret is
    what the algorithm loses, so it lies between 0 and that number: Hoeffding's inequality bounds
    the mean of ``runs`` independent games, except with probability ``allowed``. Where all draws are
    fresh, its own deviation does, which independent games make smaller.
    """
    rounds = recipe.rounds
    losses = min(rounds, math.ceil(ADVANTAGE * bound))
    foe = OneNeverErrs(experts=recipe.experts, rounds=rounds, losses=losses)
    regrets = [
        play_experts(recipe, foe, rounds=rounds, rng=parties).known_regret
        for parties in rng.spawn(runs)
    ]
    deviation = losses * math.sqrt(math.log(1 / allowed) / 2)
    if not recipe.oblivious_only:
        deviation = min(deviation, recipe.deviation_bound(failure_probability=allowed))
    return MeanRegret(float(np.mean(regrets)), deviation / math.sqrt(runs), losses)


def mean_bounds(values: Sequence[float], *, largest: float, allowed: float) -> tuple[float, float]:
    """Bounds on the mean of independent values between 0 and ``largest`` [MP09, Theorem 4].

    The empirical Bernstein inequality; each side fails with probability at most ``allowed``.
    """
    count, mean, logarithm = len(values), float(np.mean(values)), math.log(2 / allowed)
    slack = math.sqrt(2 * float(np.var(values, ddof=1)) * logarithm / count)
    slack += 7 * largest * logarithm / (3 * (count - 1))
    return max(0.0, mean - slack), min(largest, mean + slack)


def share_upper_bound(hits: int, trials: int, *, allowed: float) -> float:
    """A number above the success probability, except with probability ``allowed`` [CP34]."""
    return float(betaincinv(hits + 1, trials - hits, 1 - allowed)) if hits < trials else 1.0


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
