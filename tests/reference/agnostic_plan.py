"""How many examples [P, Corollary proper_agnostic] asks for: too many for any computer."""

import math
from dataclasses import dataclass

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.batch.agnostic_empirical import spent
from littlestone.learners.batch.irreducible import IrreduciblePlan
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.theory.outwards import upwards
from littlestone.theory.sanitization import subsampled_samples_upper_bound


@dataclass(frozen=True, slots=True, kw_only=True)
class AgnosticPlan:
    """[P, Corollary proper_agnostic] in numbers: the irreducibility learner inside Algorithm 4.

    >>> from littlestone.concepts.classes.sparse_sets import Points
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
            guarantee=PrivacyGuarantee(epsilon=spent(share, share, 1.0), delta=delta),
        )


def _largest_share(epsilon: float) -> float:
    """γ = ε₁ = 1/c, for which a (1, ·)-private learner inside costs at most epsilon."""
    factor = 2
    while spent(1 / factor, 1 / factor, 1.0) > epsilon:
        factor *= 2
    low = factor // 2
    while factor - low > 1:
        middle = (low + factor) // 2
        fits = spent(1 / middle, 1 / middle, 1.0) <= epsilon
        low, factor = (low, middle) if fits else (middle, factor)
    return 1 / factor
