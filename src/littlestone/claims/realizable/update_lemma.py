"""Lemma B.1 (lem:update): one Update leaves many pairs for every consistent concept."""

import math
from collections import Counter

import numpy as np

from littlestone.claims.core import Finding, Progress, Verdict, claimed
from littlestone.claims.measuring import FALSE_REFUTATION, chance_of_as_many, too_many
from littlestone.claims.rows import Row, tabulate
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.protocols import Example, Hypothesis
from littlestone.learners.lazy_forest.layer import tournament
from littlestone.online.protocols import OnlineState
from littlestone.online.standard_optimal import StandardOptimal
from littlestone.randomness import Randomness
from littlestone.theory.update_bounds import surviving_pairs_lower_bound

Child = tuple[OnlineState, Example]

CONCEPTS = Thresholds(6)
FAILURE = 0.01
QUICK, FULL = (2**18, 2**20), (2**18, 2**20, 2**22)


@claimed(
    says="After Update, (M/2 - r1)^2/(6N) - r2 pairs collide or agree on one hypothesis, for "
    "every concept that fits.",
    source="Lemma B.1 (lem:update)",
    setting="layer 0 of Thresholds(6), all pairs collided, 2^18 to 2^22 slots (quick: 2^20)",
    judged="refuted if so many runs below the promise had a chance below 1e-9",
)
def claim(*, full: bool, rng: Randomness, progress: Progress) -> Finding:
    """Collide every pair of layer 0, update, and count pairs as the lemma does, for every f."""
    sizes, runs = (FULL, 100) if full else (QUICK, 10)
    rows = tabulate(sizes, lambda slots: measured(slots, runs, rng), progress)
    closest = min(row["fewest found"] / row["lemma promises"] for row in rows)
    return Finding(
        verdict=Verdict.REFUTED if too_many(rows) else Verdict.NOT_REFUTED,
        false_refutation=FALSE_REFUTATION,
        summary=f"at least {closest:.1f} times what the lemma promises, for every concept",
        rows=rows,
    )


def measured(slots: int, runs: int, rng: Randomness) -> Row:
    """The fewest pairs that were left, and how often fewer than promised."""
    collisions = slots // 2
    # The slacks at which each of the two tail bounds is FAILURE / 2 for one labelling.
    guesses = math.sqrt(collisions * math.log(2 / FAILURE) / 2)
    matching = math.sqrt(9 * (slots // 2) * math.log(2 / FAILURE) / 2)
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
        "chance of as many": chance_of_as_many(failures, runs, labelings * FAILURE),
    }


def _least_survivors(collisions: int, rng: Randomness) -> int:
    """Over the concepts that fit the examples: colliding pairs, or pairs agreeing on one h_0."""
    start = StandardOptimal(CONCEPTS).start()
    target = list(CONCEPTS.concepts())[rng.below(CONCEPTS.n + 1)]
    wrong = [(x, target(x)) for x in range(CONCEPTS.n) if start.hypothesis(x) != target(x)]
    if not wrong:
        return collisions  # the target is what everyone publishes: nothing ever collides
    kinds = [_child(start, real, guess) for real in wrong for guess in (0, 1)]
    children = rng.below_many(len(kinds), collisions)[rng.permutation(collisions)]
    codes = children[::2] * len(kinds) + children[1::2]
    counts = np.bincount(codes, minlength=len(kinds) ** 2)
    fitting = [f for f in CONCEPTS.concepts() if all(f(x) == y for x, y in wrong)]
    return min(_survivors(kinds, counts.tolist(), f) for f in fitting)


def _child(start: OnlineState, real: Example, guess: int) -> Child:
    """Algorithm 1 on a pair of which one sibling has taken the example ``real``."""
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
