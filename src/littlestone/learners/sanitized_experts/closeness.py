"""How close the constructed experts come to a concept: [P, Theorem experts], measured."""

from collections.abc import Sequence

from littlestone.concepts.protocols import Hypothesis, Point
from littlestone.learners.sanitized_experts.expert_losses import PredictorLosses
from littlestone.learners.sanitized_experts.interval_runs import IntervalPoints
from littlestone.learners.sanitized_experts.paths import Paths, Released
from littlestone.learners.sanitized_experts.plan import ConstructionPlan
from littlestone.online.protocols import OnlineLearner
from littlestone.randomness import Randomness


def closest_expert(
    base: OnlineLearner,
    concept: Hypothesis,
    xs: Sequence[Point],
    released: Released,
    *,
    switch_grid: int,
    most_switches: int | None = None,
    most_groups: int = 1 << 20,
) -> int:
    """In how many rounds the closest of all constructed experts differs from ``concept``.

    The experts' losses on the stream that the concept labels; ``released(first, last)`` are the
    points of steps ``first`` to ``last`` of the grid.
    """
    losses = PredictorLosses(base.concepts.domain)
    paths = Paths(
        base,
        losses,
        switch_times=(len(xs) - 1) // switch_grid,
        most_switches=base.mistake_bound if most_switches is None else most_switches,
        most_groups=most_groups,
    )
    for round_number, x in enumerate(xs, start=1):
        losses.add(x, concept(x))
        if round_number % switch_grid == 0 and not paths.finished:
            paths.branch(released)
            losses.keep({group.predictor for group in paths.groups})
            losses.settle()
    return min(loss for _, _, loss, _ in paths.elements(paths.losses_now()))


def released_points(plan: ConstructionPlan, xs: Sequence[Point], *, rng: Randomness) -> Released:
    """What the plan's sanitizers release about a stream, by steps of the switch grid."""
    points = IntervalPoints(plan.intervals, rng)
    for x in xs:
        points.observe(x)
    grid = plan.switch_grid

    def released(first: int, last: int) -> Sequence[Point]:
        return points.points((first - 1) * grid + 1, last * grid)

    return released
