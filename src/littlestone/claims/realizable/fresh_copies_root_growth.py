"""The mistakes of fresh copies grow about like the root of T [GL21, Theorem 4.2]."""

from littlestone.claims.core import Finding, Picture, Progress, Series, Verdict, claimed
from littlestone.claims.measuring import forced_mistakes, power
from littlestone.claims.rows import Row, column, curves, tabulate
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.golowich_livni.fresh_copies import FreshCopies
from littlestone.randomness import Randomness

CONCEPTS = Thresholds(2)
# Running takes time in T squared, and the trees must be reached within T rounds: hence the size.
LARGE_EPSILON, LARGE_DELTA = 400.0, 1e-3
QUICK, FULL = (50, 100, 200), (100, 200, 400, 800, 1600)
# How many trees are needed can be computed without running.
QUICK_COMPUTED, FULL_COMPUTED = (10**2, 10**3, 10**4), (10**3, 10**4, 10**5)


@claimed(
    says="A fresh eager forest in every round survives adaptive adversaries at a price of √T.",
    source="[GL21, Theorem 4.2], quoted in the paper's Section 3",
    setting="Thresholds(2); run at epsilon = 400, T up to 1600 (quick: 200); trees computed at "
    "epsilon = 1, T up to 10^5",
    judged="refuted if the trees' exponent leaves 0.45 .. 0.65, which nothing is left to chance "
    "in; mistakes per tree are reported",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Measured: mistakes in proportion to the trees. Computed: trees like a power of T."""
    sizes, runs = (FULL, 5) if full else (QUICK, 3)
    computed = FULL_COMPUTED if full else QUICK_COMPUTED
    played = tabulate(sizes, lambda rounds: measured(rounds, runs, rng), progress)
    planned = [_row(1.0, rounds, _learner(1.0, 1e-6, rounds), None) for rounds in computed]
    per_tree, needed = column(played, "mistakes per tree"), column(planned, "trees")
    exponent = power(computed, needed)
    root = [needed[0] * (x / computed[0]) ** 0.5 for x in computed]
    return Finding(
        verdict=Verdict.NOT_REFUTED if 0.45 < exponent < 0.65 else Verdict.REFUTED,
        false_refutation=0.0,
        summary=f"{min(per_tree):.2f} to {max(per_tree):.2f} mistakes per tree where it can be "
        f"run; at epsilon = 1 the trees needed grow like T^{exponent:.2f} (predicted T^0.5 and "
        f"a logarithm)",
        rows=[*played, *planned],
        pictures=[
            Picture(
                title="FreshCopies(EagerForest), dimension 1: trees needed at epsilon = 1",
                x_label="rounds T",
                y_label="trees; mistakes are in proportion",
                series=[
                    *curves(planned, "rounds", ("trees", "trees", "o-")),
                    Series(name="root of T", xs=computed, ys=root, style="--"),
                ],
            )
        ],
    )


def measured(rounds: int, runs: int, rng: Randomness) -> Row:
    """Mistakes of a learner that is small enough to be run."""
    learner = _learner(LARGE_EPSILON, LARGE_DELTA, rounds)
    found = forced_mistakes(learner, runs=runs, rng=rng)
    return _row(LARGE_EPSILON, rounds, learner, sum(found) / runs)


def _learner(epsilon: float, delta: float, rounds: int) -> FreshCopies:
    return FreshCopies(concepts=CONCEPTS, rounds=rounds, epsilon=epsilon, delta=delta)


def _row(epsilon: float, rounds: int, learner: FreshCopies, mean: float | None) -> Row:
    return {
        "epsilon": epsilon,
        "rounds": rounds,
        "trees": learner.plan.trees,
        "mean mistakes": "not run" if mean is None else mean,
        "mistakes per tree": "" if mean is None else mean / learner.plan.trees,
    }
