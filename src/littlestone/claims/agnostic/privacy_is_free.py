"""Against oblivious adversaries privacy is free in the long run [AFKT23, AKLT24]."""

from itertools import pairwise

from littlestone.claims.core import Finding, Picture, Progress, Series, Verdict, claimed
from littlestone.claims.measuring import ADVANTAGE, FALSE_REFUTATION, mean_regret
from littlestone.claims.rows import Row, curves, tabulate
from littlestone.experts.hedge import Hedge
from littlestone.experts.selection import zcdp_budget
from littlestone.experts.shrinking_dartboard import ShrinkingDartboard
from littlestone.randomness import Randomness
from littlestone.theory.expert_bounds import (
    exponential_weights_regret_upper_bound,
    hedge_regret_upper_bound,
)

EXPERTS = 16
EPSILON, DELTA = 1.0, 1e-6
PLAYED_QUICK = (1 << 10, 1 << 12)
PLAYED_FULL = (1 << 10, 1 << 12, 1 << 14, 1 << 16)
PLANNED = tuple(10**power for power in range(3, 9))
RUNS, HEDGE_RUNS = 128, 8


def bound_ratios(rounds: int) -> tuple[float, float]:
    """How much larger than Hedge's the proven bounds are: dartboard, fresh draws."""
    plain = hedge_regret_upper_bound(experts=EXPERTS, rounds=rounds)
    dartboard = ShrinkingDartboard(experts=EXPERTS, rounds=rounds, epsilon=EPSILON, delta=DELTA)
    fresh = exponential_weights_regret_upper_bound(
        experts=EXPERTS, rounds=rounds, zcdp=zcdp_budget(EPSILON, DELTA)
    )
    return dartboard.expected_regret_bound() / plain, fresh / plain


@claimed(
    says="Against oblivious adversaries private regret approaches that without privacy as T grows.",
    source="[AFKT23], [AKLT24], quoted after Theorem 1.2 of [P]",
    setting=(
        f"{EXPERTS} experts, ε = 1, δ = 1e-6; bounds at 10^3 … 10^8 rounds, {RUNS} games each of "
        f"2^10 … 2^16 rounds (quick: up to 2^12), one expert better by {ADVANTAGE} times the bound"
    ),
    judged=(
        "refuted if the ratio of the proven bounds does not fall with T, or if the dartboard's "
        "mean regret exceeds its bound by more than chance explains (1e-9, Hoeffding); no ratio at "
        "finite T confirms a limit"
    ),
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """The dartboard's bound must approach Hedge's; measured regrets must keep their bounds."""
    played = PLAYED_FULL if full else PLAYED_QUICK
    allowed = FALSE_REFUTATION / len(played)
    rows = tabulate(played, lambda rounds: measured(rounds, allowed, rng), progress)
    ratios = [bound_ratios(rounds) for rounds in PLANNED]
    falls = all(late[0] < early[0] for early, late in pairwise(ratios))
    kept = all(row["dartboard"] <= row["bound"] + row["deviation"] for row in rows)
    return Finding(
        verdict=Verdict.NOT_REFUTED if falls and kept else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=(
            f"the dartboard's bound over Hedge's falls from {ratios[0][0]:.2f} at 10^3 rounds to "
            f"{ratios[-1][0]:.2f} at 10^8; that of fresh draws is {ratios[-1][1]:.1f} there"
        ),
        rows=rows,
        pictures=[
            Picture(
                title="What privacy costs: regret over Hedge's regret, 16 experts, ε = 1",
                x_label="rounds",
                y_label="ratio",
                series=[
                    Series(name="bounds, dartboard", xs=PLANNED, ys=[r[0] for r in ratios]),
                    Series(name="bounds, fresh draws", xs=PLANNED, ys=[r[1] for r in ratios]),
                    *curves(rows, "rounds", ("measured, dartboard", "measured ratio", "s")),
                ],
            )
        ],
    )


def measured(rounds: int, allowed: float, rng: Randomness) -> Row:
    """Mean regrets with and without privacy, beside the bounds on them."""
    hedge = Hedge(experts=EXPERTS, rounds=rounds)
    dartboard = ShrinkingDartboard(experts=EXPERTS, rounds=rounds, epsilon=EPSILON, delta=DELTA)
    bound = dartboard.expected_regret_bound()
    plain, private = (
        mean_regret(recipe, bound=bound, runs=runs, allowed=allowed, rng=rng)
        for recipe, runs in ((hedge, HEDGE_RUNS), (dartboard, RUNS))
    )
    return {
        "rounds": rounds,
        "games": RUNS,
        "losses": private.losses,
        "Hedge": plain.mean,
        "dartboard": private.mean,
        "deviation": private.deviation,
        "measured ratio": private.mean / max(plain.mean, 1.0),
        "bound": bound,
        "bound ratio": bound / hedge.expected_regret_bound(),
    }
