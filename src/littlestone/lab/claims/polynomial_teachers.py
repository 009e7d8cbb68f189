"""The footnote of Section 5: against oblivious adversaries a polynomial of d is enough."""

import math

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.lab.claim import Finding, Picture, Progress, Verdict, claimed
from littlestone.lab.measuring import Measured, curves, tabulate
from littlestone.lab.private_teachers.plan import plan_teachers
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.randomness import Randomness
from littlestone.theory.realizable_bounds import mistakes_upper_bound, sharp_slots_upper_bound

EPSILON, DELTA, FAILURE, ROUNDS = 1.0, 1e-6, 0.05, 10**15
DIMENSIONS = (1, 2, 3, 4, 6)
SIZES = {1: 2, 2: 6, 3: 8}
"""Thresholds of the dimensions for which the library proves a forest."""


@claimed(
    says="Oblivious realizable streams cost poly(d) log T mistakes; the forest's bound doubles its "
    "exponent with d.",
    source="footnote of Section 5 (Lyu 2025) against Theorem 3.1",
    setting="planned numbers, T = 10^15, ε = 1, δ = 1e-6, β = 0.05, d = 1 .. 6",
    judged="refuted if doubling d multiplies the teachers' planned bound by 2^9.5 or more, or if "
    "it is not below the theorem's forest from some d on",
)
def polynomial_teachers(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Compute the bounds only, since the numbers are far beyond any run."""
    del rng
    proved = 3 if full else 2
    rows = tabulate(DIMENSIONS, lambda dimension: planned(dimension, proved), progress)
    bound = {row["dimension"]: row["log10 teachers"] for row in rows}
    powers = [(bound[2 * d] - bound[d]) / math.log10(2) for d in bound if 2 * d in bound]
    ahead = [row["dimension"] for row in rows if row["log10 teachers"] < row["log10 theorem"]]
    wins = bool(ahead) and ahead == [d for d in DIMENSIONS if d >= ahead[0]]
    behind = [row["dimension"] for row in rows if row["log10 proved"] <= row["log10 teachers"]]
    return Finding(
        verdict=Verdict.NOT_REFUTED if wins and max(powers) < 9.5 else Verdict.REFUTED,
        false_refutation=0.0,
        summary=f"planned mistakes 10^{bound[1]:.1f} at d = 1, growing like d^{min(powers):.1f} to "
        f"d^{max(powers):.1f}; below the theorem's forest from d = {ahead[0] if ahead else '–'} "
        f"on, above the library's proved forest up to d = {max(behind, default=0)} (it has a bound "
        "up to 3)",
        rows=rows,
        pictures=[
            Picture(
                title="Planned mistakes, T = 10^15, epsilon = 1, delta = 1e-6",
                x_label="Littlestone dimension",
                y_label="log10 of the bound",
                x_scale="linear",
                y_scale="linear",
                series=curves(
                    rows[:4],
                    "dimension",
                    ("PrivateTeachers", "log10 teachers", "o-"),
                    ("the theorem's forest", "log10 theorem", "s-"),
                ),
            )
        ],
    )


def planned(dimension: int, proved: int) -> Measured:
    """Return the logarithms of three bounds; infinite where no forest is proved."""
    plan = plan_teachers(
        dimension=dimension,
        log_growth=dimension * math.log(math.e * ROUNDS / dimension),
        size=None,
        rounds=ROUNDS,
        epsilon=EPSILON,
        delta=DELTA,
        failure_probability=FAILURE,
    )
    slots = sharp_slots_upper_bound(
        dimension=dimension, epsilon=EPSILON, delta=DELTA, failure_probability=FAILURE
    )
    theorem = mistakes_upper_bound(
        dimension=dimension,
        rounds=ROUNDS,
        epsilon=EPSILON,
        delta=DELTA,
        failure_probability=FAILURE,
        slots=slots,
    )
    return {
        "dimension": dimension,
        "log10 teachers": math.log10(plan.mistakes_bound(failure_probability=FAILURE)),
        "log10 theorem": math.log10(theorem),
        "log10 proved": _proved(dimension) if dimension <= proved else math.inf,
    }


def _proved(dimension: int) -> float:
    forest = LazyForest.proved(
        concepts=Thresholds(SIZES[dimension]), rounds=ROUNDS, epsilon=EPSILON, delta=DELTA
    )
    return math.log10(forest.mistake_bound(failure_probability=FAILURE))


CLAIMS = (polynomial_teachers,)
