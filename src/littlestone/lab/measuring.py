"""Steps that claims share: repeat a game, fit a line, bound a share, tabulate rows."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from littlestone.concepts.protocols import Hypothesis, Point
from littlestone.game.adversaries.mistake_forcing import MistakeForcing
from littlestone.game.play import play
from littlestone.game.protocols import OnlineLearner
from littlestone.lab.claim import Progress, Series
from littlestone.learners.experts.play_experts import OneNeverErrs, play_experts
from littlestone.learners.experts.protocols import ExpertsRecipe
from littlestone.learners.sanitized.families import IntervalPoints
from littlestone.learners.sanitized.paths import Paths, PredictorLosses, Released
from littlestone.learners.sanitized.plan import ConstructionPlan
from littlestone.randomness import Randomness
from littlestone.theory.tails import beta_quantile, binomial_upper_tail

Measured = Mapping[str, Any]
Case = TypeVar("Case")


def tabulate(
    cases: Sequence[Case], measured: Callable[[Case], Measured], progress: Progress
) -> list[Measured]:
    """Return one row for each case, in order."""
    rows = []
    for number, case in enumerate(cases, start=1):
        rows.append(measured(case))
        progress(number / len(cases))
    return rows


def column(rows: Sequence[Measured], key: str, *, at_least: float | None = None) -> list[Any]:
    """Return the values of a key, raised to ``at_least`` so that logarithms exist."""
    values = [row[key] for row in rows]
    return values if at_least is None else [max(value, at_least) for value in values]


def curves(
    rows: Sequence[Measured], over: str, *lines: tuple[str, str, str], at_least: float | None = None
) -> list[Series]:
    """Return series of columns (name, key, style) over one column, skipping missing values."""
    found = []
    for name, key, style in lines:
        known = [row for row in rows if row[key] is not None]
        ys = column(known, key, at_least=at_least)
        found.append(Series(name=name, xs=column(known, over), ys=ys, style=style))
    return found


FALSE_REFUTATION = 1e-9
"""The probability with which a true statement may be refuted."""
ADVANTAGE = 4
"""In units of the regret bound; uniformly drawn experts lose nearly this much."""
_MOST_GROUPS = 1 << 20


def forced_mistakes(learner: Any, *, runs: int, rng: Randomness) -> list[int]:
    """Return the mistakes in ``runs`` independent full-length games; no game is dropped."""
    foe, rounds = MistakeForcing(learner.concepts), learner.rounds
    return [play(learner, foe, rounds=rounds, rng=parties).mistakes for parties in rng.spawn(runs)]


class MeanRegret(NamedTuple):
    """The result of ``mean_regret``."""

    mean: float
    deviation: float
    losses: int
    """The losses of every expert except one."""


def mean_regret(
    recipe: ExpertsRecipe, *, bound: float, runs: int, allowed: float, rng: Randomness
) -> "MeanRegret":
    """Measure the mean regret if one expert never errs, and its possible deviation.

    The other experts err in ADVANTAGE times as many rounds as the ``bound`` on the regret. The
    regret is the algorithm's loss, so it lies between 0 and that number, and Hoeffding's inequality
    bounds the mean of ``runs`` independent games, except with probability ``allowed``. If all draws
    are independent, their own deviation bound is used, which independent games reduce.
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
    """Bound the mean of independent values between 0 and ``largest`` [MP09, Theorem 4].

    By the empirical Bernstein inequality; each side fails with probability at most ``allowed``.
    """
    count, mean, logarithm = len(values), float(np.mean(values)), math.log(2 / allowed)
    slack = math.sqrt(2 * float(np.var(values, ddof=1)) * logarithm / count)
    slack += 7 * largest * logarithm / (3 * (count - 1))
    return max(0.0, mean - slack), min(largest, mean + slack)


def share_upper_bound(hits: int, trials: int, *, allowed: float) -> float:
    """Return a number above the success probability, except with probability ``allowed`` [CP34]."""
    return 1.0 - beta_quantile(trials - hits, hits + 1, allowed) if hits < trials else 1.0


def line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return intercept and slope of the least-squares line."""
    slope, intercept = np.polyfit(np.asarray(xs, float), np.asarray(ys, float), 1)
    return float(intercept), float(slope)


def power(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the exponent of the best power law through positive values."""
    return line([math.log(x) for x in xs], [math.log(y) for y in ys])[1]


def chance_of_as_many(failures: int, trials: int, probability: float) -> float:
    """Bound the probability of this many failures, if each has at most ``probability``."""
    return binomial_upper_tail(failures - 1, trials, min(1.0, probability))


def too_many(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether some row has more failures than chance explains, over all rows."""
    return any(row["chance of as many"] < FALSE_REFUTATION / len(rows) for row in rows)


def closest_expert(
    base: OnlineLearner,
    concept: Hypothesis,
    xs: Sequence[Point],
    released: Released,
    *,
    switch_grid: int,
    most_switches: int | None = None,
) -> int:
    """Return in how many rounds the closest constructed expert differs from ``concept``.

    The concept labels the stream; ``released(first, last)`` are the points of steps ``first`` to
    ``last`` of the grid.
    """
    losses = PredictorLosses(base.concepts.domain)
    paths = Paths(
        base,
        losses,
        switch_times=(len(xs) - 1) // switch_grid,
        most_switches=base.mistake_bound if most_switches is None else most_switches,
        most_groups=_MOST_GROUPS,
    )
    for round_number, x in enumerate(xs, start=1):
        losses.add(x, concept(x))
        if round_number % switch_grid == 0 and not paths.finished:
            paths.branch(released)
            losses.keep({group.predictor for group in paths.groups})
            losses.settle()
    return min(loss for _, _, loss, _ in paths.elements(paths.losses_now()))


def released_points(plan: ConstructionPlan, xs: Sequence[Point], *, rng: Randomness) -> Released:
    """Return the releases of the plan's sanitizers about a stream, by steps of the switch grid."""
    points = IntervalPoints(plan.intervals, rng)
    for x in xs:
        points.observe(x)
    grid = plan.switch_grid

    def released(first: int, last: int) -> Sequence[Point]:
        return points.points((first - 1) * grid + 1, last * grid)

    return released
