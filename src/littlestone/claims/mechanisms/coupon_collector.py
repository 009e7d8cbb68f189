"""Lemma A.14 (lem:coupon): twice as many draws as bins hit half of any set of cells."""

import numpy as np

from littlestone.claims.core import Finding, Progress, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION, chance_of_as_many, too_many
from littlestone.claims.rows import Row, column, tabulate
from littlestone.randomness import Randomness
from littlestone.theory.concentration import coupon_failure_upper_bound, half_uncovered_upper_bound

# (bins, cells): with few cells the lemma's bound is large enough to be seen.
QUICK = ((64, 4), (64, 8), (256, 16))
FULL = (*QUICK, (1024, 4), (4096, 12), (65_536, 24))


@claimed(
    says="With m >= 2n draws, more than half of k cells are hit except with probability (2/e)^k.",
    source="Lemma A.14 (lem:coupon)",
    setting="up to 65,536 bins and 24 cells",
    judged="refuted if so many failures had a chance below 1e-9",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Count how often half of the cells stay empty, against the lemma's probability."""
    sizes, trials = (FULL, 4000) if full else (QUICK, 1000)
    rows = tabulate(sizes, lambda size: measured(*size, trials, rng), progress)
    return Finding(
        verdict=Verdict.REFUTED if too_many(rows) else Verdict.NOT_REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"{sum(column(rows, 'failures'))} failures, "
        f"{sum(column(rows, 'lemma allows')):.0f} allowed",
        rows=rows,
    )


def measured(bins: int, cells: int, trials: int, rng: Randomness) -> Row:
    """Failures, beside what the lemma and the first line of its proof allow."""
    failures = sum(_half_is_missed(bins, cells, rng) for _ in range(trials))
    allowed = coupon_failure_upper_bound(cells=cells)
    first = half_uncovered_upper_bound(cells=cells, bins=bins, draws=2 * bins)
    return {
        "bins": bins,
        "cells": cells,
        "trials": trials,
        "failures": failures,
        "lemma allows": allowed * trials,
        "first line of its proof": trials * first,
        "chance of as many": chance_of_as_many(failures, trials, allowed),
    }


def _half_is_missed(bins: int, cells: int, rng: Randomness) -> bool:
    drawn = rng.below_many(bins, 2 * bins)
    return 2 * len(np.unique(drawn[drawn < cells])) <= cells
