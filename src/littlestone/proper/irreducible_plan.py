"""How many examples the irreducibility learner needs: public planning, with every constant."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypedDict, Unpack

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.mechanisms.above_threshold import AboveThreshold
from littlestone.mechanisms.sparse_sample import SparseSample
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.rounding import float_at_most
from littlestone.proper.growth import log2_growth
from littlestone.proper.proper_step import irreducible_gap_bound, step_excess_bound
from littlestone.proper.restriction_tree import leaves_bound
from littlestone.theory.generalization import relative_failure_upper_bound
from littlestone.theory.outwards import upwards

_PARTS = 5
"""What can go wrong, each with a fifth of the failure probability: blocks that mislead, the watch,
drawing None, the proper step, and generalization."""


class Asked(TypedDict):
    """What a plan is for."""

    epsilon: float
    delta: float
    error: float
    failure_probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """The epsilons of the three steps."""

    watch: float
    sample: float
    choose: float

    @classmethod
    @require.checked
    def split(cls, epsilon: float) -> "Budgets":
        """Half of it for the sample, which pays for two lists, and a quarter for each other."""
        require.positive(epsilon=epsilon)
        quarter = float_at_most(Fraction(epsilon) / 4)
        return cls(watch=quarter, sample=2 * quarter, choose=quarter)


@dataclass(frozen=True, slots=True, kw_only=True)
class IrreduciblePlan:
    """The numbers of irreducible.md that make the learner (error, failure_probability)-PAC.

    >>> from littlestone.concepts.classes.points import Points
    >>> plan = IrreduciblePlan.of(
    ...     Points(), epsilon=1.0, delta=1e-6, error=0.1, failure_probability=0.05)
    >>> plan.blocks, f"{plan.samples:.1e}"
    (520, '6.3e+08')
    """

    blocks: int
    block_size: int
    longest: int
    """Λ: a bound on the length of every list."""

    @property
    def samples(self) -> int:
        return self.blocks * self.block_size

    @classmethod
    @require.checked
    def of(cls, concepts: ConceptClass, **asked: Unpack[Asked]) -> "IrreduciblePlan":
        """The smallest plan that the proof supports; infinite classes have one too."""
        require.usual(**asked)
        budgets, delta, error = Budgets.split(asked["epsilon"]), asked["delta"], asked["error"]
        share = asked["failure_probability"] / _PARTS
        size, dimension = concepts.size, concepts.littlestone_dimension
        if dimension == 0:
            return cls(blocks=1, block_size=1, longest=1)
        samples = 1
        while True:
            longest = _longest(dimension, size, samples)
            blocks = _blocks(dimension, longest, budgets, delta, share)
            growth = log2_growth(concepts, samples) * math.log(2)
            needed = 225 * 16 * dimension**2 / error * (math.log(4 * blocks / share) + growth)
            block_size = max(math.ceil(upwards(needed)), -(-samples // blocks))
            plan = cls(blocks=blocks, block_size=block_size, longest=longest)
            if plan.samples <= samples:
                if plan._is_accurate(concepts, budgets, error, share):
                    return plan
                samples = 2 * samples
            else:
                samples = plan.samples

    def _is_accurate(
        self, concepts: ConceptClass, budgets: Budgets, error: float, share: float
    ) -> bool:
        """Whether the proper step and generalization keep within the rest of the error."""
        reach = self.samples * concepts.littlestone_dimension
        gap = irreducible_gap_bound(reach=reach, log2_growth=log2_growth(concepts, 2 * reach))
        beyond = step_excess_bound(
            epsilon=budgets.choose, size=self.samples, gap=gap, failure_probability=share
        )
        deviates = relative_failure_upper_bound(
            samples=self.samples,
            vc_dimension=concepts.vc_dimension,
            relative=0.9,
            additive=error / 2,
        )
        return 1.25 * error / 16 + beyond <= error / 4 and deviates <= share


def longest_list(concepts: ConceptClass, samples: int) -> int:
    """Λ for this many examples: no tree of any stage has more leaves."""
    return _longest(concepts.littlestone_dimension, concepts.size, samples)


def _longest(dimension: int, size: int | None, samples: int) -> int:
    largest_reach = (samples * dimension) << dimension
    leaves = leaves_bound(dimension=dimension, reach=largest_reach)
    return leaves if size is None else min(leaves, size)


def _blocks(dimension: int, longest: int, budgets: Budgets, delta: float, share: float) -> int:
    """k with k/2 above the watch's error, plus what the sample needs not to draw None."""
    watch = AboveThreshold(epsilon=budgets.watch, threshold=0).error_bound(
        queries=dimension + 1, failure_probability=share
    )
    bottom = SparseSample(epsilon=budgets.sample, delta=delta, lists=1, longest=longest).bottom
    margin = bottom + 2 * math.log(1 / share) / budgets.sample
    return 2 * math.ceil(upwards(watch + margin)) + 2


def spent(budgets: Budgets, delta: float) -> PrivacyGuarantee:
    """What the three steps cost together."""
    epsilon = sum(map(Fraction, (budgets.watch, budgets.sample, budgets.choose)), Fraction(0))
    return PrivacyGuarantee.rounded_up(epsilon=epsilon, delta=delta)
