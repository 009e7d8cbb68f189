"""Private prediction from experts has regret of order √T [P, Theorem 1.2]."""

import math

from littlestone.claims.core import Finding, Picture, Progress, Series, Verdict, claimed
from littlestone.claims.measuring import ADVANTAGE, FALSE_REFUTATION, mean_regret, power
from littlestone.claims.rows import Row, column, curves, tabulate
from littlestone.experts.exponential_weights import ExponentialWeights
from littlestone.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.randomness import Randomness

EXPERTS = 16
EPSILON, DELTA = 4.0, 1e-6
QUICK = tuple(1 << power for power in range(8, 11))
FULL = tuple(1 << power for power in range(8, 18))
Kind = ExponentialWeights | ShrinkingDartboard
KINDS: tuple[type[Kind], ...] = (ExponentialWeights, ShrinkingDartboard)
# One game with fresh draws says as much as many in which an expert is kept.
RUNS = {ExponentialWeights: 8, ShrinkingDartboard: 128}
# Of the dartboard's bound a term of lower order is the larger one at all sizes that can be played.
PLANNED = (1 << 20, 1 << 23)
EXPONENTS = (0.45, 0.55)


def recipe_of(kind: type[Kind], rounds: int) -> Kind:
    return kind(experts=EXPERTS, rounds=rounds, epsilon=EPSILON, delta=DELTA)


def bound_exponent(kind: type[Kind]) -> float:
    """Of the proved bound, between two horizons beyond all that are played."""
    return power(PLANNED, [recipe_of(kind, rounds).expected_regret_bound() for rounds in PLANNED])


@claimed(
    says="Private prediction from experts has expected regret of order √T (ε and N fixed).",
    source="[P], Theorems E.11 and E.12, quoting [JT14] and [AKLT24]",
    setting=(
        f"{EXPERTS} experts, ε = {EPSILON:g}, δ = 1e-6; games of 2^8 to 2^17 rounds "
        f"(quick: 2^10), one expert better by {ADVANTAGE} times the bound; bounds up to 2^23"
    ),
    judged=(
        f"refuted if a mean regret exceeds its bound by more than chance explains (1e-9, "
        f"Hoeffding), or the bound's exponent lies outside {EXPONENTS[0]} … {EXPONENTS[1]}; what "
        f"is fitted to the means is reported only"
    ),
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """No mean may exceed its bound, and the bound must grow like the root."""
    sizes = FULL if full else QUICK
    cases = [(kind, rounds) for kind in KINDS for rounds in sizes]
    allowed = FALSE_REFUTATION / len(cases)
    rows = tabulate(cases, lambda case: measured(*case, allowed, rng), progress)
    by_kind = {
        kind.__name__: [row for row in rows if row["algorithm"] == kind.__name__] for kind in KINDS
    }
    exponents = {
        name: power(sizes, column(mine, "regret", at_least=1.0)) for name, mine in by_kind.items()
    }
    kept = all(row["regret"] <= row["bound"] + row["deviation"] for row in rows)
    bounds = {kind.__name__: bound_exponent(kind) for kind in KINDS}
    fits = all(EXPONENTS[0] <= exponent <= EXPONENTS[1] for exponent in bounds.values())
    promised = " and ".join(f"T^{exponent:.2f}" for exponent in bounds.values())
    told = ", ".join(f"{name} T^{exponent:.2f}" for name, exponent in exponents.items())
    roots = [math.sqrt(rounds) for rounds in sizes]
    return Finding(
        verdict=Verdict.NOT_REFUTED if kept and fits else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"bounds like {promised}; fitted over {sizes[0]} to {sizes[-1]} rounds: {told}",
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


def measured(kind: type[Kind], rounds: int, allowed: float, rng: Randomness) -> Row:
    """Mean regret of one algorithm, beside its bound."""
    recipe = recipe_of(kind, rounds)
    bound = recipe.expected_regret_bound()
    found = mean_regret(recipe, bound=bound, runs=RUNS[kind], allowed=allowed, rng=rng)
    return {
        "algorithm": kind.__name__,
        "rounds": rounds,
        "games": RUNS[kind],
        "losses": found.losses,
        "regret": found.mean,
        "deviation": found.deviation,
        "bound": bound,
    }
