"""A lazy algorithm made private by batches of 1/epsilon rounds, as published (oblivious)."""

import math
from dataclasses import dataclass

from littlestone.learners.experts.shrinking_dartboard import ShrinkingDartboard


@dataclass(frozen=True, slots=True, kw_only=True)
class LazySwitching(ShrinkingDartboard):
    """Exponential weights in batches of 1/epsilon rounds: a lazy algorithm made private [AKLT24].

    The rule is the dartboard's: whether to switch depends on the last batch alone and is hidden
    among fake switches. Only the batch length differs: it is the published one here, and the best
    provable one there. The bound has the published term T^(1/3) / epsilon^(2/3), but sqrt(T ln N /
    epsilon) in place of the published sqrt(T ln N): lazy_switching.md proves that no algorithm that
    plays in such batches can achieve the latter.

    Privacy:
        Releases:   the expert of every round, and after which batches it was drawn anew
        Neighbours: streams in which the losses of one round differ
        Adversary:  adaptive, as far as privacy goes
        Guarantee:  (epsilon, delta)
        Assumes:    timing (docs/GUARANTEES.md): how long a draw takes depends on the losses
        Proof:      shrinking_dartboard.md

    Regret: sqrt(T ln N / (2 epsilon)) + O(T^(1/3) ln N ln(1/delta)^(1/3) / epsilon^(2/3)) in
    expectation, against oblivious adversaries only; ``expected_regret_bound`` is the exact number.

    >>> sizes = dict(experts=100, rounds=10**6, epsilon=0.1, delta=1e-6)
    >>> LazySwitching(**sizes).plan.batch
    10
    >>> best, lazy = ShrinkingDartboard(**sizes), LazySwitching(**sizes)
    >>> best.expected_regret_bound() <= lazy.expected_regret_bound()
    True
    """

    def _batch(self) -> int:
        return min(self.rounds, math.ceil(1 / self.epsilon))
