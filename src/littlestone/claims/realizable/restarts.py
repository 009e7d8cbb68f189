"""Restarts turn a failure probability into a factor on the expected mistakes."""

from dataclasses import replace
from statistics import fmean
from typing import Any

from littlestone.adversaries.mistake_forcing import MistakeForcing
from littlestone.claims.core import Finding, Progress, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION, mean_bounds, share_upper_bound
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.randomness import Randomness

CONCEPTS = Thresholds(6)
# So few that the mean of some hundred games is known well, so many that most copies learn.
ROUNDS = 1_500
QUICK, FULL = 400, 4_000


@claimed(
    says="Expected mistakes with restarts are at most those of one copy over (1 - beta).",
    source="GUARANTEES.md, F3 (beyond the paper, which halts)",
    setting=f"LazyForest on Thresholds(6) with list thresholds 15/8 times the planned ones, "
    f"T = {ROUNDS}; {FULL} games of each kind (quick: {QUICK})",
    judged="refuted if bounds on the three means, which fail with probability 1e-9, contradict it",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Mistakes of whole runs against those of single copies, halted ones included."""
    runs = FULL if full else QUICK
    planned = LazyForest.calibrated(
        concepts=CONCEPTS, rounds=ROUNDS, epsilon=1.0, delta=1e-6, failure_probability=1 / 16
    )
    # Lists that ask for more than planned: copies fail often enough for restarts to matter.
    thresholds = tuple(15 * threshold // 8 for threshold in planned.plan.list_thresholds)
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
    allowed = FALSE_REFUTATION / 3
    least, _ = mean_bounds([m for m, _ in wholes], largest=ROUNDS, allowed=allowed)
    _, most = mean_bounds([m for m, _ in ones], largest=ROUNDS, allowed=allowed)
    fails = share_upper_bound(sum(halted for _, halted in ones), runs, allowed=allowed)
    promised = one / max(1 - failed, 1 / runs)
    rows: list[dict[str, Any]] = [
        {
            "runs": runs,
            "one copy": one,
            "copies that fail": failed,
            "with restarts": whole,
            "one copy / (1 - failures)": promised,
            "with restarts, at least": least,
            "promised, at most": most / (1 - fails),
        }
    ]
    return Finding(
        verdict=Verdict.REFUTED if least > rows[0]["promised, at most"] else Verdict.NOT_REFUTED,
        false_refutation=FALSE_REFUTATION,
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
