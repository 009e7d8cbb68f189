"""Private prediction from experts has regret of order √T [P, Theorem 1.2]."""

import math

from littlestone.claims.core import Finding, Picture, Progress, Series, Verdict, claimed
from littlestone.claims.measuring import mean_regret, power
from littlestone.claims.rows import Row, column, curves, tabulate
from littlestone.experts.exponential_weights import ExponentialWeights
from littlestone.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.randomness import Randomness

EXPERTS = 16
EPSILON, DELTA = 4.0, 1e-6
QUICK = tuple(1 << power for power in range(9, 13))
FULL = tuple(1 << power for power in range(9, 18))
RUNS = 8
Kind = ExponentialWeights | ShrinkingDartboard
KINDS: tuple[type[Kind], ...] = (ExponentialWeights, ShrinkingDartboard)
# The runs at each size leave an error of a few hundredths in the slope. The dartboard's regret has
# a term of lower order that is the larger one at all sizes that can be played: it may look flatter.
LARGEST_SLOPE = 0.65
SMALLEST_SLOPE = {ExponentialWeights.__name__: 0.4, ShrinkingDartboard.__name__: 0.0}


def rate_of(recipe: Kind) -> float:
    """The rate in the exponent, from either recipe."""
    if isinstance(recipe, ShrinkingDartboard):
        assert recipe.plan is not None
        return recipe.plan.rate
    return recipe.rate


@claimed(
    says="Private prediction from experts has expected regret of order √T (ε and N fixed).",
    source="[P], Theorems E.11 and E.12, quoting [JT14] and [AKLT24]",
    setting=f"{EXPERTS} experts, ε = {EPSILON:g}, δ = 1e-6; 2^9 to 2^17 rounds (quick: 2^12)",
    judged=(
        f"refuted if a mean of {RUNS} runs exceeds its bound by five standard errors, a fitted "
        f"exponent exceeds {LARGEST_SLOPE}, or that of fresh draws falls below 0.4; a fit confirms "
        f"no order"
    ),
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Fit an exponent to each algorithm; no mean may exceed its bound."""
    sizes = FULL if full else QUICK
    cases = [(kind, rounds) for kind in KINDS for rounds in sizes]
    rows = tabulate(cases, lambda case: measured(*case, rng), progress)
    by_kind = {
        kind.__name__: [row for row in rows if row["algorithm"] == kind.__name__] for kind in KINDS
    }
    exponents = {
        name: power(sizes, column(mine, "regret", at_least=1.0)) for name, mine in by_kind.items()
    }
    kept = all(row["regret"] - 5 * row["standard error"] <= row["bound"] for row in rows)
    fits = all(
        SMALLEST_SLOPE[name] <= exponent <= LARGEST_SLOPE for name, exponent in exponents.items()
    )
    told = ", ".join(f"{name} T^{exponent:.2f}" for name, exponent in exponents.items())
    roots = [math.sqrt(rounds) for rounds in sizes]
    return Finding(
        verdict=Verdict.NOT_REFUTED if kept and fits else Verdict.REFUTED,
        summary=f"fitted over {sizes[0]} to {sizes[-1]} rounds: {told}",
        rows=rows,
        pictures=[
            Picture(
                title=f"Regret of private prediction from {EXPERTS} experts, ε = {EPSILON:g}",
                x_label="rounds",
                y_label="mean regret",
                series=[
                    *(
                        series
                        for name, mine in by_kind.items()
                        for series in curves(mine, "rounds", (name, "regret", "o-"))
                    ),
                    Series(name="√T", xs=sizes, ys=roots, style="--"),
                ],
            )
        ],
    )


def measured(kind: type[Kind], rounds: int, rng: Randomness) -> Row:
    """Mean regret of one algorithm, beside its bound."""
    recipe = kind(experts=EXPERTS, rounds=rounds, epsilon=EPSILON, delta=DELTA)
    # One expert is better by enough to be found in time.
    gap = 2 * math.log(EXPERTS) / (rate_of(recipe) * rounds)
    mean, error = mean_regret(recipe, gap=gap, runs=RUNS, rng=rng)
    return {
        "algorithm": kind.__name__,
        "rounds": rounds,
        "regret": mean,
        "standard error": error,
        "bound": recipe.expected_regret_bound(),
    }
