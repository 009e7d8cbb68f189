"""Theorem 2.5 (thm:abovethreshold): AboveThreshold answers near its threshold."""

from littlestone.claims.core import Finding, Progress, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION, chance_of_as_many, too_many
from littlestone.claims.rows import Row, column, tabulate
from littlestone.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.randomness import Randomness
from littlestone.theory.above_threshold_bounds import paper_error_upper_bound

EPSILON, FAILURE = 0.5, 0.05
QUICK, FULL = (10**3, 10**5), (10**3, 10**5, 10**7)


@claimed(
    says="AboveThreshold answers within O((ln T + ln 1/beta)/epsilon) of its threshold.",
    source="Theorem 2.5 (thm:abovethreshold), in the one-sided form of count_above_threshold.md",
    setting="epsilon = 0.5, beta = 0.05, T up to 10^7, a one in every hundredth round",
    judged="refuted if as many answers outside our (smaller) error had a chance below 1e-9",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """A one in every hundredth round; the answer must come within both errors."""
    sizes, runs = (FULL, 2000) if full else (QUICK, 200)
    rows = tabulate(sizes, lambda rounds: measured(rounds, runs, rng), progress)
    widest = max(*column(rows, "most below"), *column(rows, "most above"))
    return Finding(
        verdict=Verdict.REFUTED if too_many(rows) else Verdict.NOT_REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"at most {widest} off; the paper's form allows {rows[-1]['paper allows']:.0f}",
        rows=rows,
    )


def measured(rounds: int, runs: int, rng: Randomness) -> Row:
    """How far from the threshold the answers came, and how many too far."""
    recipe = CountAboveThreshold(epsilon=EPSILON, threshold=rounds // 200)
    early = recipe.early_error_bound(rounds=rounds, failure_probability=FAILURE / 2)
    late = recipe.late_error_bound(instances=1, failure_probability=FAILURE / 2)
    errors = [_error(recipe, rounds, rng) for _ in range(runs)]
    outside = sum(not -early <= error <= late + 1 for error in errors)
    return {
        "rounds": rounds,
        "runs": runs,
        "most below": -min(errors),
        "most above": max(errors),
        "allowed below": early,
        "allowed above": late + 1,
        "outside": outside,
        "paper allows": paper_error_upper_bound(
            rounds=rounds, epsilon=EPSILON, failure_probability=FAILURE
        ),
        "chance of as many": chance_of_as_many(outside, runs, FAILURE),
    }


def _error(recipe: CountAboveThreshold, rounds: int, rng: Randomness) -> int:
    """The count at the yes minus the threshold; the largest possible when none came."""
    fired = recipe.start(rng=rng).observe_block(range(0, rounds, 100), rounds)
    count = rounds // 100 if fired is None else fired // 100 + 1
    return count - recipe.threshold
