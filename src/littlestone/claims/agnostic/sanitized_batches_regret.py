"""The regret of Algorithm 3 grows like T^(3/4) [P, Corollary proper]."""

import math

from littlestone.adversaries.replay import Replay
from littlestone.claims.core import Finding, Picture, Progress, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION, power
from littlestone.claims.rows import Row, column, curves, tabulate
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.play import play
from littlestone.learners.sanitized_batches.recipe import SanitizedBatches
from littlestone.online.hedge_learner import HedgeLearner
from littlestone.randomness import Randomness

CONCEPTS = Thresholds(1)
# At a smaller epsilon every regret that can come up at these sizes is within the bound.
EPSILON, DELTA = 16.0, 1e-6
# Powers of four: batches of 4√T fit an even number of times, so that both labels are as frequent.
QUICK = (1 << 10, 1 << 12, 1 << 14)
FULL = (*QUICK, 1 << 16, 1 << 18)
FACTOR = 4
QUICK_ROUNDS, FULL_ROUNDS = 1 << 14, 1 << 19
PLANNED = (1 << 28, 1 << 36)
EXPONENTS = (0.7, 0.8)


def alternating(rounds: int, batch: int) -> Replay:
    """One label throughout a batch, the other one in the next: what was learned is wrong."""
    return Replay(CONCEPTS, [(0, t // batch % 2) for t in range(rounds)])


def predicted(rounds: int) -> float:
    """The shape, through the regret of exact copies on the same stream: √(8 ln 2 · B T) / 8."""
    return math.sqrt(8 * math.log(2) * FACTOR * rounds**1.5) / 8


def planned(rounds: int) -> SanitizedBatches:
    """With batches of 4√T."""
    return SanitizedBatches(
        concepts=CONCEPTS,
        rounds=rounds,
        epsilon=EPSILON,
        delta=DELTA,
        batch=FACTOR * math.isqrt(rounds),
    )


def measured(rounds: int, runs: int, allowed: float, rng: Randomness) -> Row:
    """Regrets of some games, beside the bound on each and beside Hedge on the same stream."""
    learner = planned(rounds)
    foe = alternating(rounds, learner.plan.batch)
    hedge = HedgeLearner(concepts=CONCEPTS, rounds=rounds)
    games = [play(learner, foe, rounds=rounds, rng=part) for part in rng.spawn(runs)]
    regrets = [game.known_regret for game in games]
    return {
        "rounds": rounds,
        "batch": learner.plan.batch,
        "runs": runs,
        "mean regret": sum(regrets) / runs,
        "largest regret": max(regrets),
        "bound": learner.regret_bound(failure_probability=allowed),
        "shape": predicted(rounds),
        "not private": play(hedge, foe, rounds=rounds, rng=rng).regret,
    }


@claimed(
    says="With batches of order √T, the proper private learner has regret of order T^(3/4).",
    source="[P], Theorem 4.1 and Corollary 4.3 (thm:simple, cor:proper)",
    setting=f"two concepts, labels that alternate from batch to batch, ε = {EPSILON:g}, batches of "
    f"{FACTOR}√T; T from 2^10 to 2^18 (quick: 2^14), beside Hedge without privacy; bounds up to "
    f"2^36",
    judged=f"refuted if a regret exceeds its bound (by chance: 1e-9), or the bound's exponent lies "
    f"outside {EXPONENTS[0]} … {EXPONENTS[1]}; what is fitted to the means is reported only",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Fewer games for larger sizes, whose regret varies less."""
    sizes, total = (FULL, FULL_ROUNDS) if full else (QUICK, QUICK_ROUNDS)
    allowed = FALSE_REFUTATION / sum(total // rounds for rounds in sizes)
    rows = tabulate(sizes, lambda rounds: measured(rounds, total // rounds, allowed, rng), progress)
    exponent = power(sizes, column(rows, "mean regret", at_least=1))
    kept = all(row["largest regret"] <= row["bound"] for row in rows)
    bounds = [planned(rounds).regret_bound(failure_probability=allowed) for rounds in PLANNED]
    fits = EXPONENTS[0] <= power(PLANNED, bounds) <= EXPONENTS[1]
    last = rows[-1]
    return Finding(
        verdict=Verdict.NOT_REFUTED if kept and fits else Verdict.REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"regret ~ T^{exponent:.2f} with batches of {FACTOR}√T, the bound in the end ~ "
        f"T^{power(PLANNED, bounds):.2f}; at T = {last['rounds']} "
        f"{last['mean regret']:.0f} against {last['not private']} without privacy",
        rows=rows,
        pictures=[
            Picture(
                title=f"Regret of SanitizedBatches on two concepts, ε = {EPSILON:g}",
                x_label="rounds",
                y_label="regret",
                series=curves(
                    rows,
                    "rounds",
                    ("private", "mean regret", "o-"),
                    ("T^(3/4), exact copies", "shape", ":"),
                    ("bound", "bound", "--"),
                    ("not private (Hedge)", "not private", "s-"),
                    at_least=1,
                ),
            )
        ],
    )
