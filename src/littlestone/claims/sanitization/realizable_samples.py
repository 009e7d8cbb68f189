"""Error α needs of order 1/α^1.5 realizable examples [P, Theorem realizable_sanitizer]."""

import numpy as np

from littlestone.claims.core import Finding, Picture, Progress, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION, power
from littlestone.claims.rows import Row, column, curves, tabulate
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.randomness import Randomness
from littlestone.sanitizers.fooling.fooling_sanitizer import FoolingSanitizer
from littlestone.sanitizers.realizable.realizable_sanitizer import RealizableSanitizer

CONCEPTS = Thresholds(127)
EPSILON, DELTA = 1.0, 1e-6
QUICK = tuple(1 << power for power in range(17, 22))
FULL = tuple(1 << power for power in range(17, 25))
EXPONENTS = (1.3, 1.75)


@claimed(
    says="A realizable sanitizer with error α needs of order 1/α^1.5 examples (ε, class fixed).",
    source="[P], Theorem E.5 (thm:realizable_sanitizer)",
    setting="128 thresholds, ε = 1, δ = 1e-6; 2^17 to 2^24 examples (quick: 2^21)",
    judged=f"refuted if a share above the bound is missed or an empty concept is flagged (by "
    f"chance: 1e-9), or the bound's exponent of n(α) lies outside -{EXPONENTS[1]} … "
    f"-{EXPONENTS[0]}; no fit confirms it",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """The largest share that goes unflagged, beside the bound, for more and more examples."""
    sizes, generator = FULL if full else QUICK, rng.generator()
    allowed = FALSE_REFUTATION / len(sizes)
    rows = tabulate(sizes, lambda size: measured(size, allowed, generator, rng), progress)
    bounds = column(rows, "bound")
    exponent, rounds = power(bounds, sizes), power(bounds, column(rows, "rounds allowed"))
    missed = power([max(row["largest share missed"], 1 / row["examples"]) for row in rows], sizes)
    kept = all(
        row["largest share missed"] < row["bound"] and row["empty ones flagged"] == 0
        for row in rows
    )
    fits = EXPONENTS[0] <= -exponent <= EXPONENTS[1]
    return Finding(
        verdict=Verdict.NOT_REFUTED if kept and fits else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"examples ~ α^{exponent:.2f} and rounds ~ α^{rounds:.2f} by the bound, "
        f"examples ~ α^{missed:.2f} by the largest share missed",
        rows=rows,
        pictures=[
            Picture(
                title=f"Realizable sanitization of {CONCEPTS.size} thresholds, ε = {EPSILON:g}",
                x_label="examples",
                y_label="share that is certainly flagged",
                series=curves(
                    rows,
                    "examples",
                    ("largest share missed", "largest share missed", "o-"),
                    ("bound", "bound", "--"),
                    ("additive bound, for comparison", "additive sanitizer's bound", ":"),
                    at_least=1e-5,
                ),
            )
        ],
    )


def measured(size: int, allowed: float, generator: np.random.Generator, rng: Randomness) -> Row:
    """One release, beside the bounds of this sanitizer and of the additive one."""
    recipe, additive = (
        kind.planned(
            concepts=CONCEPTS,
            size=size,
            epsilon=EPSILON,
            delta=DELTA,
            failure_probability=allowed,
        )
        for kind in (RealizableSanitizer, FoolingSanitizer)
    )
    assert isinstance(recipe, RealizableSanitizer)
    # Shares of thresholds on a fine grid, each a tenth smaller than the one before.
    data = np.minimum(generator.geometric(0.1, size=size) - 1, CONCEPTS.n - 2)
    shares = recipe.queries.counts(recipe.queries.tally(data)) / size
    flags = recipe.release(data, rng=rng).flags
    return {
        "examples": size,
        "largest share missed": float(shares[~flags].max()),
        "empty ones flagged": int((flags & (shares == 0)).sum()),
        "bound": recipe.error_bound(size=size, failure_probability=allowed),
        "rounds allowed": recipe.rounds,
        "additive sanitizer's bound": additive.error_bound(size=size, failure_probability=allowed),
    }
