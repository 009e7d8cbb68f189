"""Which sample and which budgets make Algorithm 4 as accurate as a wanted epsilon allows."""

import math
from dataclasses import dataclass
from itertools import product
from typing import Final

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.proper.agnostic_empirical import Accuracy, AgnosticEmpirical
from littlestone.proper.irreducible_plan import IrreduciblePlan
from littlestone.proper.projection import fits_into_memory
from littlestone.proper.proper_selection import ProperLearner, ProperSelection
from littlestone.proper.subsampling import Subsampled
from littlestone.theory.outwards import upwards
from littlestone.theory.sanitization import subsampled_samples_upper_bound

_FACTORS: Final = (3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
_INNER: Final = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
# A choice c: swapping a sampled example may change a weight by e^(c / 2).
_CHOICES: Final = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0)


def planned_agnostic(
    *, concepts: ConceptClass, size: int, epsilon: float, failure_probability: float = 0.05
) -> AgnosticEmpirical:
    """Algorithm 4 around ProperSelection with the smallest error bound for this epsilon.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> learner = planned_agnostic(concepts=Thresholds(63), size=100_000, epsilon=1.0)
    >>> learner.guarantee().epsilon <= 1, learner.sampled
    (True, 25000)
    """
    require.integer(size=size, at_least=4)
    require.positive(epsilon=epsilon)
    found: list[tuple[float, int, float, float]] = []
    for factor, inner, choice in product(_FACTORS, _INNER, _CHOICES):
        if factor > size or _spent(1 / factor, choice / factor, inner) > epsilon:
            continue
        if fits_into_memory(concepts, size=size, sampled=size // factor):
            accuracy = Accuracy.of(
                ProperSelection(concepts=concepts, epsilon=inner),
                size=size,
                sampled=size // factor,
                epsilon=choice / factor,
                failure_probability=failure_probability,
            )
            found.append((accuracy.error_bound(), factor, inner, choice))
    for _, factor, inner, choice in sorted(found):
        recipe = AgnosticEmpirical(
            learner=ProperSelection(concepts=concepts, epsilon=inner),
            size=size,
            sampled=size // factor,
            epsilon=choice / factor,
        )
        if recipe.guarantee().epsilon <= epsilon:  # the factor may not divide the size
            return recipe
    raise ValueError(
        f"epsilon={epsilon!r} is too small for Algorithm 4 on {size} examples: it spends more "
        f"than its budgets (docs/ERRATA.md, S7); use ProperSelection"
    )


def agnostic_from_pac(learner: ProperLearner, *, draws: int, share: float) -> AgnosticEmpirical:
    """[P, Lemma pac_to_agnostic]: a PAC learner for ``draws`` examples, with epsilon at most 1.

    Subsampled to an empirical learner, which Algorithm 4 makes agnostic; its exponential mechanism
    has the budget ``share``, as in the paper.
    """
    require.open_probability(share=share)
    inner = Subsampled.of(learner, draws=draws)
    size = math.ceil(inner.size / share)
    return AgnosticEmpirical(learner=inner, size=size, sampled=inner.size, epsilon=share)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgnosticPlan:
    """[P, Corollary proper_agnostic] in numbers: the irreducibility learner inside Algorithm 4.

    >>> from littlestone.concepts.classes.points import Points
    >>> plan = AgnosticPlan.of(
    ...     Points(), epsilon=1.0, delta=1e-6, error=0.1, failure_probability=0.05)
    >>> f"{plan.size:.0e}", plan.guarantee.epsilon <= 1
    ('2e+11', True)
    """

    size: int
    sampled: int
    draws: int
    guarantee: PrivacyGuarantee

    @classmethod
    def of(
        cls,
        concepts: ConceptClass,
        *,
        epsilon: float,
        delta: float,
        error: float,
        failure_probability: float,
    ) -> "AgnosticPlan":
        """An (error, failure_probability)-agnostic empirical learner; α is a fifth of the error."""
        require.open_probability(delta=delta, error=error, failure_probability=failure_probability)
        require.positive(epsilon=epsilon)
        share = _largest_share(epsilon)
        inner_delta = delta / (4 * share * math.exp(share + 1)) / 1.23 * share
        pac = IrreduciblePlan.of(
            concepts,
            epsilon=share,
            delta=min(inner_delta, 0.5),
            error=error / 5,
            failure_probability=failure_probability / 3,
        )
        sampled = subsampled_samples_upper_bound(samples=pac.samples, epsilon=share)
        size = math.ceil(upwards(sampled / share))
        return cls(
            size=size,
            sampled=sampled,
            draws=pac.samples,
            guarantee=PrivacyGuarantee(epsilon=_spent(share, share, 1.0), delta=delta),
        )


def _spent(share: float, choose: float, inner: float) -> float:
    """ε of Algorithm 4 (agnostic_empirical.md), nearly: the recipe says it exactly."""
    swapped = 4 * share * math.exp(choose * (1 + math.ceil(1 / share)) + inner)
    return upwards(math.log((1 - share) * math.exp(choose) + swapped))


def _largest_share(epsilon: float) -> float:
    """γ = ε₁ = 1/c, for which a (1, ·)-private learner inside costs at most epsilon."""
    factor = 2
    while _spent(1 / factor, 1 / factor, 1.0) > epsilon:
        factor *= 2
    low = factor // 2
    while factor - low > 1:
        middle = (low + factor) // 2
        fits = _spent(1 / middle, 1 / middle, 1.0) <= epsilon
        low, factor = (low, middle) if fits else (middle, factor)
    return 1 / factor
