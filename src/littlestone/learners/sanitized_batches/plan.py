"""How long a batch should be, and what regret to expect: public planning for Algorithm 3."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.online.proper import ProperOnlineLearner
from littlestone.sanitizers.choose import sanitizer_for
from littlestone.sanitizers.fooling.fooling_sanitizer import FoolingSanitizer
from littlestone.sanitizers.protocols import Sanitizer
from littlestone.sanitizers.specialised.tree_sanitizer import TreeSanitizer
from littlestone.theory.outwards import upwards
from littlestone.theory.sanitization import batched_regret_upper_bound

_STEP: Final = 1.4
_CHANCES: Final = (1e-3, 1e-4, 1e-5, 1e-6, 1e-8)

SanitizerFor = Callable[[int], Sanitizer]
"""The sanitizer to use for batches of a given length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """Batches of one length, with the sanitizer for them."""

    rounds: int
    batch: int
    sanitizer: Sanitizer
    base: ProperOnlineLearner

    @classmethod
    @require.checked
    def best(
        cls, *, rounds: int, sanitizers: SanitizerFor, base: ProperOnlineLearner
    ) -> "BatchPlan":
        """The length with the smallest bound; where no length has one, with the best shape."""
        require.integer(rounds=rounds, at_least=1)
        plans = [
            cls(rounds=rounds, batch=batch, sanitizer=sanitizers(batch), base=base)
            for batch in _lengths(rounds)
        ]
        best = min(plans, key=BatchPlan.expected_regret_bound)
        if best.expected_regret_bound() < rounds:
            return best
        half = best.sanitizer.needed(error=0.5, failure_probability=0.05)
        return min(plans, key=lambda plan: plan._shape(half))

    @property
    def batches(self) -> int:
        """How many there are, the last one perhaps cut short."""
        return -(-self.rounds // self.batch)

    def copy_regret(self) -> float:
        """Of one of the copies of the base learner, which sees one example of each batch."""
        return self.base.for_rounds(self.batches).expected_regret_bound()

    def expected_regret_bound(self) -> float:
        """B·R(⌈T/B⌉) + 2αT and failures in full, the best failure probability among a few.

        α is the error of a synthetic dataset, for which the theory has twice the error of an
        estimate.
        """
        copy_regret = self.copy_regret()
        bounds = [
            batched_regret_upper_bound(
                rounds=self.rounds,
                batch=self.batch,
                copy_regret=copy_regret,
                error=self._error(chance) / 2,
                failure_probability=chance,
            )
            for chance in _CHANCES
        ]
        return min(float(self.rounds), *bounds)

    def regret_bound(self, *, failure_probability: float) -> float:
        """With probability 1 - failure_probability; a third of it for each of three reasons.

        The sanitizers, the permutations of the synthetic examples, and the draws.
        """
        require.open_probability(failure_probability=failure_probability)
        third = failure_probability / 3
        error = self._error(third / self.batches)
        chance = math.sqrt(self.rounds * math.log(1 / third))
        spread = chance * (math.sqrt(2) + math.sqrt(0.5))
        total = self.batch * self.copy_regret() + 2 * error * self.rounds + spread
        return min(float(self.rounds), upwards(total))

    def _error(self, failure_probability: float) -> float:
        return synthetic_error_bound(
            self.sanitizer, size=self.batch, failure_probability=failure_probability
        )

    def _shape(self, half: int) -> float:
        """B·R(T/B) + 2αT for an error that falls like 1/√B and is 1/2 at ``half`` examples."""
        error = math.sqrt(half / self.batch) / 2
        return self.batch * self.copy_regret() + 2 * error * self.rounds


def synthetic_error_bound(sanitizer: Sanitizer, *, size: int, failure_probability: float) -> float:
    """No concept errs on ``dataset(size)`` by more than on the data; 1 if that is not known.

    The error of the distribution, and of rounding it to whole examples. For other kinds of
    sanitizers only estimates are bounded, not datasets.
    """
    error = sanitizer.error_bound(size=size, failure_probability=failure_probability)
    if isinstance(sanitizer, TreeSanitizer):
        # A threshold adds up two values of the curve and an interval five, each off by 1/2.
        return min(1.0, upwards(error + 2.5 / size))
    if isinstance(sanitizer, FoolingSanitizer):
        queries = sanitizer.queries
        rest = min(size, queries.cells)
        rounding = math.sqrt(rest * math.log(2 * queries.concepts) / 2) / size
        return min(1.0, upwards(error + rounding))
    return 1.0


def planned_sanitizers(
    concepts: ConceptClass, *, rounds: int, epsilon: float, delta: float
) -> SanitizerFor:
    """The sanitizer that fits the class; planned anew for each length if its kind has a plan."""

    def for_length(batch: int) -> Sanitizer:
        return sanitizer_for(
            concepts,
            size=batch,
            epsilon=epsilon,
            delta=delta,
            labelled=True,
            failure_probability=min(0.05, 1 / rounds),
        )

    first = for_length(max(1, math.isqrt(rounds)))
    return for_length if isinstance(first, FoolingSanitizer) else lambda batch: first


def _lengths(rounds: int) -> list[int]:
    lengths = [1]
    while lengths[-1] < rounds:
        lengths.append(min(rounds, max(lengths[-1] + 1, round(lengths[-1] * _STEP))))
    return lengths
