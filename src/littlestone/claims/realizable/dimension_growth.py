"""Generality has a price: the forest doubles its exponent with d, majorities do not."""

from typing import Any

from littlestone.claims.core import Finding, Picture, Progress, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION, forced_mistakes
from littlestone.claims.rows import Row, curves, tabulate
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.randomness import Randomness
from littlestone.theory.realizable_bounds import slots_upper_bound

EPSILON, DELTA = 1.0, 1e-6
FOREST = (2, 6, 8)
MAJORITY = (2, 6, 16, 64, 1024, 2**14, 2**20 - 1)


@claimed(
    says="The forest's cost is doubly exponential in d; for finite classes polylog |H| suffices.",
    source="Theorem 3.1 against PrivateMajority (beyond the paper)",
    setting="thresholds, T = 10^6, forest d = 1, 2, 3, majority d = 1 .. 20 (quick: smaller)",
    judged="refuted if a run exceeds the proved bound of its learner (by chance: 1e-9), or from "
    "d = 1 to 2 the majority's bound grows faster than the theorem's forest; means are reported",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Mistakes of both learners on thresholds of growing dimension, beside what is proved."""
    rounds, runs = (10**6, 10) if full else (10**5, 2)
    forest, majority = (FOREST, MAJORITY) if full else (FOREST[:2], MAJORITY[:5])
    cases = [("lazy forest", size) for size in forest]
    cases += [("private majority", size) for size in majority]
    allowed = FALSE_REFUTATION / len(cases) / runs
    rows = tabulate(cases, lambda case: measured(*case, rounds, runs, allowed, rng), progress)
    means = {(row["learner"], row["dimension"]): row["mean mistakes"] for row in rows}
    forest_jump = means["lazy forest", 2] / means["lazy forest", 1]
    majority_jump = means["private majority", 2] / means["private majority", 1]
    kept = all(row["most mistakes"] <= row["bound"] for row in rows)
    proved = [row["bound"] for row in rows if row["learner"] == "private majority"]
    slots = [
        slots_upper_bound(dimension=d, epsilon=EPSILON, delta=DELTA, failure_probability=0.05)
        for d in (1, 2)
    ]
    slower = proved[1] * slots[0] < proved[0] * slots[1]
    return Finding(
        verdict=Verdict.NOT_REFUTED if kept and slower else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"from d = 1 to 2 the forest's mistakes grow {forest_jump:.1f} times, the "
        f"majority's {majority_jump:.1f} times (the theorem's forest has "
        f"2^{slots[1].bit_length() - 1} slots at d = 2)",
        rows=rows,
        pictures=[
            Picture(
                title=f"Thresholds, epsilon = 1, delta = 1e-6, T = {rounds}, mistake forcing",
                x_label="Littlestone dimension",
                y_label="mean mistakes",
                x_scale="linear",
                series=[
                    series
                    for kind in ("lazy forest", "private majority")
                    for series in curves(
                        [row for row in rows if row["learner"] == kind],
                        "dimension",
                        (kind, "mean mistakes", "o-"),
                    )
                ],
            )
        ],
    )


def measured(kind: str, size: int, rounds: int, runs: int, allowed: float, rng: Randomness) -> Row:
    """Mistakes of one learner on thresholds of one size, beside the bound on each run."""
    concepts = Thresholds(size)
    build: Any = LazyForest.calibrated if kind == "lazy forest" else PrivateMajority
    learner = build(concepts=concepts, rounds=rounds, epsilon=EPSILON, delta=DELTA)
    found = forced_mistakes(learner, runs=runs, rng=rng)
    return {
        "learner": kind,
        "class": repr(concepts),
        "dimension": concepts.littlestone_dimension,
        "mean mistakes": sum(found) / runs,
        "most mistakes": max(found),
        "bound": learner.mistake_bound(failure_probability=allowed),
    }
