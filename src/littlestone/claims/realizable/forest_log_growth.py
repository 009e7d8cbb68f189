"""Theorem 3.1 (shape in T): the lazy forest's mistakes grow with log T, not with a power of T."""

import math

from littlestone.claims.core import Finding, Picture, Progress, Series, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION, forced_mistakes, line
from littlestone.claims.rows import Row, column, curves, tabulate
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.randomness import Randomness
from littlestone.theory.floors import points_floor

# Thresholds on two points have dimension 1, and blocks of them are the fastest to play.
CONCEPTS = Thresholds(2)
EPSILON, DELTA = 1.0, 1e-6
QUICK = (10**3, 10**4, 10**5, 10**6)
FULL = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9)


@claimed(
    says="The lazy forest makes O_d(log T) mistakes against an adaptive adversary.",
    source="Theorem 3.1 (thm:realizable2), shape in T at d = 1",
    setting="Thresholds(2), epsilon = 1, delta = 1e-6, T = 10^3 .. 10^9 (quick: 10^6)",
    judged="no run may exceed the proved bound, affine in ln T, at failure probability 1e-9",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Every run must stay below the proved bound, which is affine in ln T."""
    sizes = FULL if full else QUICK
    rows = tabulate(sizes, lambda rounds: measured(rounds, len(sizes), rng), progress)
    logs = [math.log(rounds) for rounds in sizes]
    intercept, slope = line(logs, column(rows, "mean mistakes"))
    bounded = all(row["largest"] <= row["bound, all runs"] for row in rows)
    return Finding(
        verdict=Verdict.NOT_REFUTED if bounded else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"mistakes about {intercept:.1f} + {slope:.2f} ln T; non-private 1",
        rows=rows,
        pictures=[
            Picture(
                title="LazyForest, dimension 1, epsilon = 1, delta = 1e-6, mistake forcing",
                x_label="rounds T",
                y_label="mistakes",
                y_scale="linear",
                series=[
                    *curves(
                        rows,
                        "rounds",
                        ("mean", "mean mistakes", "o-"),
                        ("proved bound (95 %)", "bound, 95 %", "--"),
                        ("floor for unbounded points", "floor", ":"),
                    ),
                    Series(name="non-private", xs=sizes, ys=[1.0] * len(rows), style="-."),
                ],
            )
        ],
    )


def measured(rounds: int, sizes: int, rng: Randomness) -> Row:
    """Mistakes in several games of one length, beside the bounds on them."""
    runs = 5 if rounds >= 10**9 else 20
    learner = LazyForest.calibrated(concepts=CONCEPTS, rounds=rounds, epsilon=EPSILON, delta=DELTA)
    found = forced_mistakes(learner, runs=runs, rng=rng)
    return {
        "rounds": rounds,
        "runs": runs,
        "mean mistakes": sum(found) / runs,
        "largest": max(found),
        "bound, all runs": learner.mistake_bound(
            failure_probability=FALSE_REFUTATION / sizes / runs
        ),
        "bound, 95 %": learner.mistake_bound(failure_probability=0.05),
        "floor": points_floor(rounds=rounds, epsilon=EPSILON, delta=DELTA),
    }
