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
EPSILON, DELTA = 1.0, 1e-6
# Powers of four: batches of 4√T fit an even number of times, so that both labels are as frequent.
QUICK = (1 << 8, 1 << 10, 1 << 12)
FULL = (*QUICK, 1 << 14, 1 << 16, 1 << 18)
FACTOR = 4
# The mean regret over so many rounds is off by 5 %, the exponent by 0.03: eight times less than
# the interval allows.
QUICK_ROUNDS, FULL_ROUNDS = 1 << 13, 1 << 19
EXPONENTS = (0.5, 1.0)


def alternating(rounds: int, batch: int) -> Replay:
    """One label throughout a batch, the other one in the next: what was learned is wrong."""
    return Replay(CONCEPTS, [(0, t // batch % 2) for t in range(rounds)])


def predicted(rounds: int) -> float:
    """The shape, through the regret of exact copies on the same stream: √(8 ln 2 · B T) / 8."""
    return math.sqrt(8 * math.log(2) * FACTOR * rounds**1.5) / 8


def measured(rounds: int, runs: int, rng: Randomness) -> Row:
    """Mean regret with batches of 4√T, beside Hedge on the same stream."""
    learner = SanitizedBatches(
        concepts=CONCEPTS,
        rounds=rounds,
        epsilon=EPSILON,
        delta=DELTA,
        batch=FACTOR * math.isqrt(rounds),
    )
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
        "bound": learner.regret_bound(failure_probability=FALSE_REFUTATION / runs),
        "shape": predicted(rounds),
        "not private": play(hedge, foe, rounds=rounds, rng=rng).regret,
    }


@claimed(
    says="With batches of order √T, the proper private learner has regret of order T^(3/4).",
    source="[P], Theorem 4.1 and Corollary 4.3 (thm:simple, cor:proper)",
    setting=f"two concepts, labels that alternate from batch to batch, ε = 1, batches of "
    f"{FACTOR}√T; T from 2^8 to 2^18 (quick: 2^12), beside Hedge without privacy",
    judged=f"refuted if a regret exceeds its bound, or the fitted exponent lies outside "
    f"{EXPONENTS[0]} … {EXPONENTS[1]}; a fit confirms no order",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Fewer games for larger sizes, whose regret varies less."""
    sizes, total = (FULL, FULL_ROUNDS) if full else (QUICK, QUICK_ROUNDS)
    rows = tabulate(sizes, lambda rounds: measured(rounds, total // rounds, rng), progress)
    exponent = power(sizes, column(rows, "mean regret", at_least=1))
    kept = all(row["largest regret"] <= row["bound"] for row in rows)
    fits = EXPONENTS[0] <= exponent <= EXPONENTS[1]
    last = rows[-1]
    return Finding(
        verdict=Verdict.NOT_REFUTED if kept and fits else Verdict.REFUTED,
        summary=f"regret ~ T^{exponent:.2f} with batches of {FACTOR}√T; at T = {last['rounds']} "
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
