"""Theorem 2.6 (thm:histogram): the private histogram's error has a bound that never fails."""

from littlestone.claims.core import Finding, Progress, Verdict, claimed
from littlestone.claims.rows import Row, tabulate
from littlestone.mechanisms.histogram import PrivateHistogram
from littlestone.randomness import Randomness
from littlestone.theory.histogram_bounds import paper_error_upper_bound

BUDGETS = ((0.1, 1e-6), (0.5, 1e-6), (1.0, 1e-6), (1.0, 1e-9))


@claimed(
    says="sup |noisy count - count| <= 8 ln(8/delta)/epsilon with probability 1.",
    source="Theorem 2.6 (thm:histogram)",
    setting="neighbours by replacement, four budgets, 200,000 keys (quick: 20,000)",
    judged="exact: one larger error, or a bound of ours above the paper's, refutes it",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Release many keys of every count around the threshold; one larger error refutes."""
    keys = 200_000 if full else 20_000
    rows = tabulate(BUDGETS, lambda budget: measured(*budget, keys, rng), progress)
    kept = all(row["largest error"] <= row["allowed"] <= row["paper allows"] for row in rows)
    return Finding(
        verdict=Verdict.CONFIRMED if kept else Verdict.REFUTED,
        false_refutation=0.0,
        summary="no key beyond the bound, which is below the paper's in every row",
        rows=rows,
    )


def measured(epsilon: float, delta: float, keys: int, rng: Randomness) -> Row:
    """The largest error over all keys of one release."""
    recipe = PrivateHistogram(epsilon=epsilon, delta=delta, neighbours="replace")
    counts = {key: 1 + key % (2 * recipe.certain_inclusion) for key in range(keys)}
    released = recipe.release(counts, rng=rng, order=int)
    return {
        "epsilon": epsilon,
        "delta": delta,
        "keys": keys,
        "largest error": max(abs(released.get(key, 0) - count) for key, count in counts.items()),
        "allowed": recipe.error_bound,
        "paper allows": paper_error_upper_bound(epsilon=epsilon, delta=delta),
    }
