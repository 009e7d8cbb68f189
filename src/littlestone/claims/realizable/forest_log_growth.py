"""Theorem 3.1 (shape in T): the lazy forest's mistakes grow with log T, not with a power of T."""

import math

from littlestone.adversaries.mistake_forcing import MistakeForcing
from littlestone.claims.core import Claim, Finding, Picture, Progress, Series, Verdict
from littlestone.claims.measuring import FALSE_REFUTATION, line, mistakes_of
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.randomness import Randomness
from littlestone.theory.floors import points_floor

# Thresholds on two points have dimension 1, and blocks of them are the fastest to play.
CONCEPTS = Thresholds(2)
EPSILON, DELTA = 1.0, 1e-6
QUICK = (10**3, 10**4, 10**5, 10**6)
FULL = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9)


def measure(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Every run must stay below the proved bound, which is affine in ln T."""
    rows = []
    sizes = FULL if full else QUICK
    for number, rounds in enumerate(sizes, start=1):
        runs = 5 if rounds >= 10**9 else 20
        learner = LazyForest.calibrated(
            concepts=CONCEPTS, rounds=rounds, epsilon=EPSILON, delta=DELTA
        )
        found = mistakes_of(
            learner, MistakeForcing(concepts=CONCEPTS), rounds=rounds, runs=runs, rng=rng
        )
        allowed = learner.mistake_bound(failure_probability=FALSE_REFUTATION / len(sizes) / runs)
        rows.append(
            {
                "rounds": rounds,
                "runs": runs,
                "mean mistakes": sum(found) / runs,
                "largest": max(found),
                "bound, all runs": allowed,
                "bound, 95 %": learner.mistake_bound(failure_probability=0.05),
                "floor": points_floor(rounds=rounds, epsilon=EPSILON, delta=DELTA),
            }
        )
        progress(number / len(sizes))
    logs = [math.log(int(row["rounds"])) for row in rows]
    intercept, slope = line(logs, [float(row["mean mistakes"]) for row in rows])
    bounded = all(float(row["largest"]) <= float(row["bound, all runs"]) for row in rows)
    xs = [float(row["rounds"]) for row in rows]
    return Finding(
        verdict=Verdict.NOT_REFUTED if bounded else Verdict.REFUTED,
        summary=f"mistakes about {intercept:.1f} + {slope:.2f} ln T; non-private 1",
        rows=rows,
        pictures=[
            Picture(
                title="LazyForest, dimension 1, epsilon = 1, delta = 1e-6, mistake forcing",
                x_label="rounds T",
                y_label="mistakes",
                y_scale="linear",
                series=[
                    Series(name="mean", xs=xs, ys=[float(r["mean mistakes"]) for r in rows]),
                    Series(
                        name="proved bound (95 %)",
                        xs=xs,
                        ys=[float(r["bound, 95 %"]) for r in rows],
                        style="--",
                    ),
                    Series(
                        name="floor for unbounded points",
                        xs=xs,
                        ys=[float(r["floor"]) for r in rows],
                        style=":",
                    ),
                    Series(name="non-private", xs=xs, ys=[1.0] * len(rows), style="-."),
                ],
            )
        ],
    )


CLAIM = Claim(
    name="forest-log-growth",
    says="The lazy forest makes O_d(log T) mistakes against an adaptive adversary.",
    source="Theorem 3.1 (thm:realizable2), shape in T at d = 1",
    setting="Thresholds(2), epsilon = 1, delta = 1e-6, T = 10^3 .. 10^9 (quick: 10^6)",
    judged="no run may exceed the proved bound, affine in ln T, at failure probability 1e-9",
    measure=measure,
)
