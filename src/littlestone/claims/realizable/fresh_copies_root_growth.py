"""[GL21, Theorem 4.2] (shape in T): fresh copies pay about the root of T."""

from typing import Any

from littlestone.adversaries.mistake_forcing import MistakeForcing
from littlestone.claims.core import Claim, Finding, Picture, Progress, Series, Verdict
from littlestone.claims.measuring import mistakes_of, power
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.golowich_livni.fresh_copies import FreshCopies
from littlestone.randomness import Randomness

CONCEPTS = Thresholds(2)
# Running takes time in T squared, and the trees must be reached within T rounds: hence the size.
LARGE_EPSILON, LARGE_DELTA = 400.0, 1e-3
QUICK, FULL = (50, 100, 200), (100, 200, 400, 800, 1600)
# How many trees are needed can be computed without running.
QUICK_COMPUTED, FULL_COMPUTED = (10**2, 10**3, 10**4), (10**3, 10**4, 10**5)


def measure(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Measured: mistakes in proportion to the trees. Computed: trees like a power of T."""
    sizes, runs = (FULL, 5) if full else (QUICK, 3)
    computed = FULL_COMPUTED if full else QUICK_COMPUTED
    rows: list[dict[str, Any]] = []
    for number, rounds in enumerate(sizes, start=1):
        learner = FreshCopies(
            concepts=CONCEPTS, rounds=rounds, epsilon=LARGE_EPSILON, delta=LARGE_DELTA
        )
        found = mistakes_of(
            learner, MistakeForcing(concepts=CONCEPTS), rounds=rounds, runs=runs, rng=rng
        )
        mean = sum(found) / runs
        rows.append(_row(LARGE_EPSILON, rounds, learner, mean))
        progress(number / (len(sizes) + 1))
    per_tree = [row["mistakes per tree"] for row in rows]
    for rounds in computed:
        learner = FreshCopies(concepts=CONCEPTS, rounds=rounds, epsilon=1.0, delta=1e-6)
        rows.append(_row(1.0, rounds, learner, None))
    needed = [float(row["trees"]) for row in rows[len(sizes) :]]
    exponent = power(computed, needed)
    steady = max(per_tree) < 3 * min(per_tree)
    agrees = steady and 0.45 < exponent < 0.65
    return Finding(
        verdict=Verdict.NOT_REFUTED if agrees else Verdict.REFUTED,
        summary=f"{min(per_tree):.2f} to {max(per_tree):.2f} mistakes per tree where it can be "
        f"run; at epsilon = 1 the trees needed grow like T^{exponent:.2f} (predicted T^0.5 and "
        f"a logarithm)",
        rows=rows,
        pictures=[
            Picture(
                title="FreshCopies(EagerForest), dimension 1: trees needed at epsilon = 1",
                x_label="rounds T",
                y_label="trees; mistakes are in proportion",
                series=[
                    Series(name="trees", xs=computed, ys=needed),
                    Series(
                        name="root of T",
                        xs=computed,
                        ys=[needed[0] * (x / computed[0]) ** 0.5 for x in computed],
                        style="--",
                    ),
                ],
            )
        ],
    )


def _row(epsilon: float, rounds: int, learner: FreshCopies, mean: float | None) -> dict[str, Any]:
    return {
        "epsilon": epsilon,
        "rounds": rounds,
        "trees": learner.plan.trees,
        "mean mistakes": "not run" if mean is None else mean,
        "mistakes per tree": "" if mean is None else mean / learner.plan.trees,
    }


CLAIM = Claim(
    name="fresh-copies-root-growth",
    says="A fresh eager forest in every round survives adaptive adversaries at a price of √T.",
    source="[GL21, Theorem 4.2], quoted in the paper's Section 3",
    setting="Thresholds(2); run at epsilon = 400, T up to 1600 (quick: 200); trees computed at "
    "epsilon = 1, T up to 10^5",
    judged="refuted if mistakes per tree vary threefold or the trees' exponent leaves 0.45 .. 0.65",
    measure=measure,
)
