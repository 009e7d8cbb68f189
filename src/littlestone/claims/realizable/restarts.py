"""Restarts turn a failure probability into a factor on the expected mistakes."""

import math
from dataclasses import replace
from statistics import fmean, variance
from typing import Any

from littlestone.adversaries.mistake_forcing import MistakeForcing
from littlestone.claims.core import Finding, Progress, Verdict, claimed
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.randomness import Randomness

CONCEPTS = Thresholds(6)
ROUNDS = 20_000
# Under a normal law, six standard errors are passed with probability 1e-9.
STANDARD_ERRORS = 6.0


@claimed(
    says="Expected mistakes with restarts are at most those of one copy over (1 - beta).",
    source="GUARANTEES.md, F3 (beyond the paper, which halts)",
    setting="LazyForest on Thresholds(6) with list thresholds twice the planned ones, T = 20,000",
    judged="refuted beyond six standard errors",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Mistakes of whole runs against those of single copies, halted ones included."""
    runs = 400 if full else 40
    planned = LazyForest.calibrated(
        concepts=CONCEPTS, rounds=ROUNDS, epsilon=1.0, delta=1e-6, failure_probability=1 / 16
    )
    # Lists that ask for more than planned: copies fail often enough for restarts to matter.
    thresholds = tuple(2 * threshold for threshold in planned.plan.list_thresholds)
    learner = replace(planned, plan=replace(planned.plan, list_thresholds=thresholds))
    single = replace(learner, restarts=False)
    ones, wholes = [], []
    for number, parties in enumerate(rng.spawn(runs), start=1):
        first, second = parties.spawn(2)
        ones.append(_game(single, first))
        wholes.append(_game(learner, second))
        progress(number / runs)
    failed = sum(halted for _, halted in ones) / runs
    one, whole = fmean(m for m, _ in ones), fmean(m for m, _ in wholes)
    promised = one / (1 - failed) if failed < 1 else math.inf
    slack = STANDARD_ERRORS * math.sqrt(
        (variance([m for m, _ in ones]) / (1 - failed) ** 2 + variance([m for m, _ in wholes]))
        / runs
        + (one / (1 - failed) ** 2) ** 2 * failed * (1 - failed) / runs
    )
    rows: list[dict[str, Any]] = [
        {
            "runs": runs,
            "one copy": one,
            "copies that fail": failed,
            "with restarts": whole,
            "one copy / (1 - failures)": promised,
            "six standard errors": slack,
        }
    ]
    return Finding(
        verdict=Verdict.NOT_REFUTED if whole <= promised + slack else Verdict.REFUTED,
        summary=f"{whole:.0f} mistakes with restarts, {promised:.0f} promised "
        f"({100 * failed:.0f} % of the copies fail)",
        rows=rows,
    )


def _game(learner: LazyForest, rng: Randomness) -> tuple[int, bool]:
    """Mistakes until the horizon or until the run halts, and whether it halted."""
    learner_rng, adversary_rng = rng.spawn(2)
    run = learner.start(rng=learner_rng)
    attack = MistakeForcing(concepts=CONCEPTS).start(rng=adversary_rng)
    mistakes, seen = 0, None
    for _ in range(ROUNDS):
        x, y = attack.choose(seen)
        seen = run.hypothesis
        mistakes += seen(x) != y
        run.observe(x, y)
        if run.status.startswith("halted"):
            return mistakes, True
    return mistakes, False
