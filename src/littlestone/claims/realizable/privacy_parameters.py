"""Theorem 3.1 (shape in epsilon and delta): mistakes grow with 1/epsilon and ln(1/delta)."""

import math

from littlestone.claims.core import Finding, Picture, Progress, Series, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION, forced_mistakes, line, power
from littlestone.claims.rows import Row, column, curves, tabulate
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.randomness import Randomness

CONCEPTS = Thresholds(2)
ROUNDS = 10**5
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)
DELTAS = (1e-3, 1e-5, 1e-7, 1e-9, 1e-12)
BUDGETS = (*((epsilon, 1e-6) for epsilon in EPSILONS), *((1.0, delta) for delta in DELTAS))


@claimed(
    says="The lazy forest's mistakes are O_d((log T + log 1/delta)/epsilon).",
    source="Theorem 3.1 (thm:realizable2), shape in epsilon and delta at d = 1",
    setting="Thresholds(2), T = 10^5, epsilon 0.1 .. 2, delta 1e-3 .. 1e-12",
    judged="no run may exceed the proved bound at failure probability 1e-9; exponents reported",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Every run below the proved bound; the exponents are reported."""
    runs = 50 if full else 10
    rows = tabulate(BUDGETS, lambda budget: measured(*budget, runs, rng), progress)
    bounded = all(row["largest"] <= row["bound, all runs"] for row in rows)
    by_epsilon, by_delta = rows[: len(EPSILONS)], rows[len(EPSILONS) :]
    exponent = power(EPSILONS, column(by_epsilon, "mean mistakes"))
    logs = [math.log(1 / delta) for delta in DELTAS]
    means = column(by_delta, "mean mistakes")
    slope = line(logs, means)[1]
    return Finding(
        verdict=Verdict.NOT_REFUTED if bounded else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"mistakes like epsilon^{exponent:.2f}; {slope:.2f} more per unit of ln(1/delta)",
        rows=rows,
        pictures=[
            Picture(
                title=f"LazyForest, dimension 1, T = {ROUNDS}, delta = 1e-6",
                x_label="epsilon",
                y_label="mean mistakes",
                series=curves(by_epsilon, "epsilon", ("mean", "mean mistakes", "o-")),
            ),
            Picture(
                title=f"LazyForest, dimension 1, T = {ROUNDS}, epsilon = 1",
                x_label="ln(1/delta)",
                y_label="mean mistakes",
                x_scale="linear",
                y_scale="linear",
                series=[Series(name="mean", xs=logs, ys=means)],
            ),
        ],
    )


def measured(epsilon: float, delta: float, runs: int, rng: Randomness) -> Row:
    """Mistakes with one budget, beside the bound on all runs of all budgets."""
    learner = LazyForest.calibrated(concepts=CONCEPTS, rounds=ROUNDS, epsilon=epsilon, delta=delta)
    found = forced_mistakes(learner, runs=runs, rng=rng)
    share = FALSE_REFUTATION / len(BUDGETS) / runs
    return {
        "epsilon": epsilon,
        "delta": delta,
        "mean mistakes": sum(found) / runs,
        "largest": max(found),
        "bound, all runs": learner.mistake_bound(failure_probability=share),
    }
