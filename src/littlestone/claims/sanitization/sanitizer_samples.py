"""The examples needed for error α grow like 1/α² [P, Theorem sanitizer]."""

import numpy as np

from littlestone.claims.core import Finding, Picture, Progress, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION, power
from littlestone.claims.rows import Row, column, curves, tabulate
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.randomness import Randomness
from littlestone.sanitizers.fooling.fooling_sanitizer import FoolingSanitizer

POINTS, CONCEPTS = 64, 64
EPSILON, DELTA = 1.0, 1e-6
QUICK = tuple(1 << power for power in range(15, 20))
FULL = tuple(1 << power for power in range(15, 23))
RUNS = 3
EXPONENTS = (1.6, 2.4)


@claimed(
    says="A sanitizer with error α needs of order 1/α² examples (ε, class fixed).",
    source="[P], Theorem 4.2 (thm:sanitizer)",
    setting=f"{CONCEPTS} random concepts on {POINTS} points, ε = 1, δ = 1e-6; 2^15 to 2^22 "
    f"examples (quick: 2^19), {RUNS} runs each",
    judged=f"refuted if an error exceeds its bound (by chance: 1e-9) or the bound's exponent of "
    f"n(α) lies outside -{EXPONENTS[1]} … -{EXPONENTS[0]}; what is fitted to the errors is "
    f"reported only",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """The largest error over all concepts, beside the bound, for more and more examples."""
    sizes, generator = FULL if full else QUICK, rng.generator()
    concepts = FiniteClass(generator.integers(2, size=(CONCEPTS, POINTS)))
    shares = generator.dirichlet(np.full(POINTS, 0.1))
    allowed = FALSE_REFUTATION / len(sizes) / RUNS

    def measured(size: int) -> Row:
        recipe = FoolingSanitizer.planned(
            concepts=concepts,
            size=size,
            epsilon=EPSILON,
            delta=DELTA,
            failure_probability=allowed,
        )
        errors = []
        for _ in range(RUNS):
            data = generator.choice(POINTS, size=size, p=shares)
            truth = recipe.queries.counts(recipe.queries.tally(data)) / size
            estimates = recipe.release(data, rng=rng).estimates()
            errors.append(float(np.abs(estimates - truth).max()))
        return {
            "examples": size,
            "largest error": max(errors),
            "mean error": float(np.mean(errors)),
            "bound": recipe.error_bound(size=size, failure_probability=allowed),
            "rounds allowed": recipe.discriminator.rounds,
        }

    rows = tabulate(sizes, measured, progress)
    found, bound = (power(column(rows, key), sizes) for key in ("mean error", "bound"))
    kept = all(row["largest error"] <= row["bound"] for row in rows)
    fits = EXPONENTS[0] <= -bound <= EXPONENTS[1]
    return Finding(
        verdict=Verdict.NOT_REFUTED if kept and fits else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"examples ~ error^{found:.2f} measured, error^{bound:.2f} by the bound",
        rows=rows,
        pictures=[
            Picture(
                title=f"Error of the sanitizer, {CONCEPTS} concepts, ε = {EPSILON:g}",
                x_label="examples",
                y_label="largest error over the class",
                series=curves(
                    rows, "examples", ("measured", "mean error", "o-"), ("bound", "bound", "--")
                ),
            )
        ],
    )
