"""Algorithms 1 and 2 of the paper as printed, to be read beside it; start here.

The symbols are the paper's, and (L1), (L2), … its printed lines. Sequences are written out and
numbered from 1, and nothing is fast. ``algorithm.py`` and ``layer.py`` are the same learner made
practical; each place where they depart from a printed line says so, and
tests/unit/learners/lazy_forest/test_reference.py shows that there are no others.

Privacy:  that of the two mechanisms handed in [P, Lemma realizable_privacy]; algorithm.md.
"""

import math
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from functools import cache
from typing import Any, Final, Protocol

from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis
from littlestone.learners.online.standard_optimal import StandardOptimal
from littlestone.randomness import Randomness

BOTTOM: Final = None
"""⊥, for a sequence that no concept fits."""

Sequence = tuple[Example, ...] | None
Sequences = dict[int, Sequence]
SOA = Callable[[Sequence], Hypothesis | None]


class Counting(Protocol):
    """A running AboveThreshold, which takes one bit a round."""

    def observe(self, bit: bool, /) -> bool:
        """Take one bit; return ⊤ (True) or ⊥ (False)."""


ThresholdMechanism = Callable[[float, float], Counting]
"""AboveThreshold, of a privacy parameter and a threshold."""

HistogramMechanism = Callable[[float, float, Counter[Hypothesis]], Mapping[Hypothesis, float]]
"""PrivateHistogram, of two privacy parameters and a multiset: noisy counts, in a public order."""


def standard_optimal(H: ConceptClass) -> SOA:
    """Return SOA: S ↦ the standard optimal predictor after S, or ⊥ if S fits no concept."""

    @cache
    def soa(S: Sequence) -> Hypothesis | None:
        if S is BOTTOM:
            return BOTTOM
        state = StandardOptimal(H).start()
        for x, y in S:
            state = state.after(x, y)
        return BOTTOM if state.failed else state.hypothesis

    return soa


def update(S: Sequences, soa: SOA, rng: Randomness) -> Sequences:
    """Run [P, Algorithm 1], Update."""
    N = len(S) // 2  # (L1)
    children: Sequences = dict.fromkeys(range(1, N + 1), BOTTOM)  # (L2)
    π = [0, *(1 + rng.permutation(N)).tolist()]  # (L3)
    for i in range(1, N + 1):  # (L4)
        first, second = soa(S[2 * i - 1]), soa(S[2 * i])  # ⊥ if none fits (docs/ERRATA.md, R8)
        if first is not BOTTOM and second is not BOTTOM and first != second:  # (L5)
            x, y = first.disagreement(second), rng.coin()  # (L6)
            j = 2 * i - 1 if first(x) != y else 2 * i
            children[π[i]] = (*(S[j] or ()), (x, y))  # (L7)
    return children  # (L8)


def realizable_learner(
    H: ConceptClass,
    *,
    T: int,
    ε: float,
    δ: float,
    β: float,
    N_0: int,
    above_threshold: ThresholdMechanism,
    private_histogram: HistogramMechanism,
    rng: Randomness,
) -> Generator[Hypothesis, Example, None]:
    """Run [P, Algorithm 2], Realizable learner: yield h_t and receive (x_t, y_t).

    M_s has the printed 6 in its exponent; docs/ERRATA.md, R1 explains what is wrong with it.
    """
    soa: Any = standard_optimal(H)
    d, s, ε_0 = H.littlestone_dimension, 0, ε / 2  # (L1)
    N = [N_0 // 2**i for i in range(d + 1)]
    M = [128 * 2.0 ** (-6 * 2**i) * N[i] for i in range(d + 1)]
    margin = 8 * (math.log(T) + math.log(6 * T / β)) / ε_0
    S: Sequences = dict.fromkeys(range(1, N_0 + 1), ())  # (L2)
    L = [soa(())]  # (L3)
    running = above_threshold(ε_0, N[0] + margin)  # (L4)
    for _ in range(T):  # (L5)
        if not L:
            return
        h = L[0]
        x, y = yield h  # (L6)
        i = 1 + rng.below(N[s] // 2)  # (L7)
        if soa(S[2 * i - 1]) == soa(S[2 * i]) is not BOTTOM and soa(S[2 * i - 1])(x) != y:  # (L8)
            S[2 * i - 1] = (*(S[2 * i - 1] or ()), (x, y))  # (L9)
        a = running.observe(h(x) != y)  # (L10)
        if a:  # (L11)
            L.pop(0)  # (L12)
            while s < d and not L:  # (L13)
                S = update(S, soa, rng)  # (L14)
                s += 1  # (L15)
                pairs = [(soa(S[2 * i - 1]), soa(S[2 * i])) for i in range(1, N[s] // 2 + 1)]
                V = Counter(h for g, h in pairs if g == h is not BOTTOM)  # (L16)
                count = private_histogram(ε_0 / d, δ / d, V)  # (L17)
                L = [h for h in count if count[h] >= 3 * M[s] / 4]  # (L18)
            running = above_threshold(ε_0, N[s] + margin)  # (L19)
