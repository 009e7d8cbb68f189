"""Lemmas about single mechanisms and updates hold with their printed constants.

``above-threshold-error``: Theorem 2.5 (thm:abovethreshold): AboveThreshold answers near its
    threshold.
``histogram-error``: Theorem 2.6 (thm:histogram): the private histogram's error has a bound that
    never fails.
``coupon-collector``: Lemma A.14 (lem:coupon): twice as many draws as bins hit half of any set of
    cells.
``update-lemma``: Lemma B.1 (lem:update): one Update leaves many pairs for every consistent concept.
"""

import math
from collections import Counter

import numpy as np

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import Example, Hypothesis
from littlestone.game.protocols import OnlineState
from littlestone.lab.claim import Finding, Progress, Verdict, claimed
from littlestone.lab.measuring import (
    FALSE_REFUTATION,
    Measured,
    chance_of_as_many,
    column,
    tabulate,
    too_many,
)
from littlestone.learners.lazy_forest.layer import tournament
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.privacy.mechanisms.count_above_threshold import CountAboveThreshold
from littlestone.privacy.mechanisms.histogram import PrivateHistogram
from littlestone.randomness import Randomness
from littlestone.theory.above_threshold_bounds import (
    paper_error_upper_bound as answer_error_upper_bound,
)
from littlestone.theory.concentration import coupon_failure_upper_bound, half_uncovered_upper_bound
from littlestone.theory.histogram_bounds import (
    paper_error_upper_bound as histogram_error_upper_bound,
)
from littlestone.theory.realizable_bounds import surviving_pairs_lower_bound

EPSILON, ANSWERS_FAILURE = 0.5, 0.05
ANSWERS_QUICK, ANSWERS_FULL = (10**3, 10**5), (10**3, 10**5, 10**7)


@claimed(
    says="AboveThreshold answers within O((ln T + ln 1/beta)/epsilon) of its threshold.",
    source="Theorem 2.5 (thm:abovethreshold), in the one-sided form of count_above_threshold.md",
    setting="epsilon = 0.5, beta = 0.05, T up to 10^7, a one in every hundredth round",
    judged="refuted if as many answers outside our (smaller) error had a chance below 1e-9",
)
def above_threshold_error(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Play a one in every hundredth round; the yes must come within both errors."""
    sizes, runs = (ANSWERS_FULL, 2000) if full else (ANSWERS_QUICK, 200)
    rows = tabulate(sizes, lambda rounds: answers_measured(rounds, runs, rng), progress)
    widest = max(*column(rows, "most below"), *column(rows, "most above"))
    return Finding(
        verdict=Verdict.REFUTED if too_many(rows) else Verdict.NOT_REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"at most {widest} off; the paper's form allows {rows[-1]['paper allows']:.0f}",
        rows=rows,
    )


def answers_measured(rounds: int, runs: int, rng: Randomness) -> Measured:
    """Return how far from the threshold the answers were, and how many too far."""
    recipe = CountAboveThreshold(epsilon=EPSILON, threshold=rounds // 200)
    early = recipe.early_error_bound(rounds=rounds, failure_probability=ANSWERS_FAILURE / 2)
    late = recipe.late_error_bound(instances=1, failure_probability=ANSWERS_FAILURE / 2)
    errors = [_error(recipe, rounds, rng) for _ in range(runs)]
    outside = sum(not -early <= error <= late + 1 for error in errors)
    return {
        "rounds": rounds,
        "runs": runs,
        "most below": -min(errors),
        "most above": max(errors),
        "allowed below": early,
        "allowed above": late + 1,
        "outside": outside,
        "paper allows": answer_error_upper_bound(
            rounds=rounds, epsilon=EPSILON, failure_probability=ANSWERS_FAILURE
        ),
        "chance of as many": chance_of_as_many(outside, runs, ANSWERS_FAILURE),
    }


def _error(recipe: CountAboveThreshold, rounds: int, rng: Randomness) -> int:
    """Return the count at the yes minus the threshold; the largest possible when none came."""
    fired = recipe.start(rng=rng).observe_block(range(0, rounds, 100), rounds)
    count = rounds // 100 if fired is None else fired // 100 + 1
    return count - recipe.threshold


BUDGETS = ((0.1, 1e-6), (0.5, 1e-6), (1.0, 1e-6), (1.0, 1e-9))


@claimed(
    says="sup |noisy count - count| <= 8 ln(8/delta)/epsilon with probability 1.",
    source="Theorem 2.6 (thm:histogram)",
    setting="neighbours by replacement, four budgets, 200,000 keys (quick: 20,000)",
    judged="exact: one larger error, or a bound of ours above the paper's, refutes it",
)
def histogram_error(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Release many keys of every count near the threshold; a single larger error refutes."""
    keys = 200_000 if full else 20_000
    rows = tabulate(BUDGETS, lambda budget: histogram_measured(*budget, keys, rng), progress)
    within = all(row["largest error"] <= row["allowed"] <= row["paper allows"] for row in rows)
    return Finding(
        verdict=Verdict.CONFIRMED if within else Verdict.REFUTED,
        false_refutation=0.0,
        summary="no key beyond the bound, which is below the paper's in every row",
        rows=rows,
    )


def histogram_measured(epsilon: float, delta: float, keys: int, rng: Randomness) -> Measured:
    """Return the largest error over all keys of one release."""
    recipe = PrivateHistogram(epsilon=epsilon, delta=delta, neighbours="replace")
    counts = {key: 1 + key % (2 * recipe.certain_inclusion) for key in range(keys)}
    released = recipe.release(counts, rng=rng, order=int)
    return {
        "epsilon": epsilon,
        "delta": delta,
        "keys": keys,
        "largest error": max(abs(released.get(key, 0) - count) for key, count in counts.items()),
        "allowed": recipe.error_bound,
        "paper allows": histogram_error_upper_bound(epsilon=epsilon, delta=delta),
    }


# (bins, cells): with few cells the lemma's bound is large enough to observe.
COUPON_QUICK = ((64, 4), (64, 8), (256, 16))
COUPON_FULL = (*COUPON_QUICK, (1024, 4), (4096, 12), (65_536, 24))


@claimed(
    says="With m >= 2n draws, more than half of k cells are hit except with probability (2/e)^k.",
    source="Lemma A.14 (lem:coupon)",
    setting="up to 65,536 bins and 24 cells",
    judged="refuted if this number of failures had a chance below 1e-9",
)
def coupon_collector(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Count how often half of the cells stay empty, against the lemma's probability."""
    sizes, trials = (COUPON_FULL, 4000) if full else (COUPON_QUICK, 1000)
    rows = tabulate(sizes, lambda size: coupon_measured(*size, trials, rng), progress)
    return Finding(
        verdict=Verdict.REFUTED if too_many(rows) else Verdict.NOT_REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"{sum(column(rows, 'failures'))} failures, "
        f"{sum(column(rows, 'lemma allows')):.0f} allowed",
        rows=rows,
    )


def coupon_measured(bins: int, cells: int, trials: int, rng: Randomness) -> Measured:
    """Return the failures beside the bounds of the lemma and of the first line of its proof."""
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


Child = tuple[OnlineState, Example]

CONCEPTS = Thresholds(6)
UPDATE_FAILURE = 0.01
UPDATE_QUICK, UPDATE_FULL = (2**18, 2**20), (2**18, 2**20, 2**22)


@claimed(
    says="After Update, (M/2 - r1)^2/(6N) - r2 pairs collide or agree on one hypothesis, for "
    "every concept that fits.",
    source="Lemma B.1 (lem:update)",
    setting="layer 0 of Thresholds(6), all pairs collided, 2^18 to 2^22 slots (quick: 2^20)",
    judged="refuted if this number of runs below the promise had a chance below 1e-9",
)
def update_lemma(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Collide every pair of layer 0, update, and count pairs as the lemma does, for every f."""
    sizes, runs = (UPDATE_FULL, 100) if full else (UPDATE_QUICK, 10)
    rows = tabulate(sizes, lambda slots: update_measured(slots, runs, rng), progress)
    closest = min(row["fewest found"] / row["lemma promises"] for row in rows)
    return Finding(
        verdict=Verdict.REFUTED if too_many(rows) else Verdict.NOT_REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"at least {closest:.1f} times what the lemma promises, for every concept",
        rows=rows,
    )


def update_measured(slots: int, runs: int, rng: Randomness) -> Measured:
    """Measure the fewest remaining pairs, and how often there were fewer than promised."""
    collisions = slots // 2
    # The slacks at which each of the two tail bounds is FAILURE / 2 for one labelling.
    guesses = math.sqrt(collisions * math.log(2 / UPDATE_FAILURE) / 2)
    matching = math.sqrt(9 * (slots // 2) * math.log(2 / UPDATE_FAILURE) / 2)
    lower = surviving_pairs_lower_bound(
        collisions=collisions,
        next_slots=slots // 2,
        guess_slack=guesses,
        matching_slack=matching,
    )
    least = [_least_survivors(collisions, rng) for _ in range(runs)]
    failures = sum(found < lower for found in least)
    labelings = len(list(CONCEPTS.concepts()))
    return {
        "slots": slots,
        "collisions": collisions,
        "runs": runs,
        "lemma promises": float(lower),
        "fewest found": min(least),
        "failures": failures,
        "chance of as many": chance_of_as_many(failures, runs, labelings * UPDATE_FAILURE),
    }


def _least_survivors(collisions: int, rng: Randomness) -> int:
    """Return the minimum, over consistent concepts, of colliding or agreeing pairs."""
    start = StandardOptimal(CONCEPTS).start()
    target = list(CONCEPTS.concepts())[rng.below(CONCEPTS.n + 1)]
    wrong = [(x, target(x)) for x in range(CONCEPTS.n) if start.hypothesis(x) != target(x)]
    if not wrong:
        return collisions  # everyone publishes the target: nothing collides
    kinds = [_child(start, real, guess) for real in wrong for guess in (0, 1)]
    children = rng.below_many(len(kinds), collisions)[rng.permutation(collisions)]
    codes = children[::2] * len(kinds) + children[1::2]
    counts = np.bincount(codes, minlength=len(kinds) ** 2)
    fitting = [f for f in CONCEPTS.concepts() if all(f(x) == y for x, y in wrong)]
    return min(_survivors(kinds, counts.tolist(), f) for f in fitting)


def _child(start: OnlineState, real: Example, guess: int) -> Child:
    """Run Algorithm 1 on a pair in which one sibling has taken the example ``real``."""
    learned = start.after(*real)
    point = learned.hypothesis.disagreement(start.hypothesis)
    child = tournament((learned, start), guess)
    assert child is not None  # unequal hypotheses of the standard optimal learner differ
    return child, (point, guess)


def _survivors(kinds: list[Child], counts: list[int], concept: Hypothesis) -> int:
    collide, agree = 0, Counter[Hypothesis]()
    for code, count in enumerate(counts):
        pair = [kinds[kind] for kind in divmod(code, len(kinds))]
        if any(concept(x) != y for _, (x, y) in pair):
            continue
        first, second = (state.hypothesis for state, _ in pair)
        if first != second:
            collide += count
        else:
            agree[first] += count
    return max(collide, max(agree.values(), default=0))


CLAIMS = (
    above_threshold_error,
    histogram_error,
    coupon_collector,
    update_lemma,
)
