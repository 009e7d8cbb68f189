"""Release a whole number with discrete Laplace noise."""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.geometric import DiscreteLaplace
from littlestone.privacy.rounding import exp_lower_bound, float_at_most, ln_upper_bound
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceCount:
    """A count plus noise k of probability proportional to exp(-epsilon * abs(k) / sensitivity).

    Privacy (of each release):
        Releases:   one whole number
        Neighbours: inputs whose counts differ by at most ``sensitivity``
        Adversary:  adaptive; counts may depend on everything released before
        Guarantee:  (epsilon, 0)
        Assumes:    honest-caller (the sensitivity is true)
        Proof:      laplace_count.md
        Checked:    proofs/promises/LaplaceCount.v, theorem laplace_count_private

    >>> from littlestone.randomness import seeded
    >>> mechanism = LaplaceCount(epsilon=0.5)
    >>> mechanism.guarantee()
    PrivacyGuarantee(epsilon=0.5, delta=0.0)
    >>> mechanism.error_upper_bound(failure_probability=0.05)
    6
    >>> abs(mechanism.release(1000, rng=seeded(1)) - 1000) < 100
    True
    """

    epsilon: float
    sensitivity: int = 1
    _noise: DiscreteLaplace = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.usual_fields(self)
        require.integer(sensitivity=self.sensitivity, at_least=1)
        # Rounded down, so never above the request; the proof is about the stored number.
        object.__setattr__(self, "epsilon", float_at_most(self.epsilon))
        object.__setattr__(self, "_noise", DiscreteLaplace(rate=self._rate))

    @property
    def _rate(self) -> Fraction:
        return Fraction(self.epsilon) / self.sensitivity

    def guarantee(self) -> PrivacyGuarantee:
        """Return the cost of one release."""
        return PrivacyGuarantee(epsilon=self.epsilon)

    def zero_concentrated(self) -> ZeroConcentrated:
        """Return the cost of one release for zCDP."""
        return ZeroConcentrated.from_pure(self.epsilon)

    def error_upper_bound(self, *, failure_probability: float) -> int:
        """Return the smallest n such that abs(noise) > n with at most this probability."""
        # P(abs(noise) > n) = 2 q**(n+1) / (1 + q) with q = e**(-rate).
        allowed = Fraction(failure_probability) * (1 + exp_lower_bound(-self._rate)) / 2
        steps = ln_upper_bound(1 / allowed) / self._rate
        return max(0, -(-steps.numerator // steps.denominator) - 1)

    def release(self, count: int, *, rng: Randomness) -> int:
        """Return the noisy count, which may be negative; clamp it if you need to."""
        require.integer(count=count)
        return int(count) + self._noise.draw(rng)  # (L1)

    def release_many(self, counts: NDArray[np.int64], *, rng: Randomness) -> NDArray[np.int64]:
        """Return noisy counts; each costs one release to the examples that it counts."""
        known = require.array(counts=counts)
        if known.dtype.kind not in "iu" or not np.can_cast(known.dtype, np.int64):
            raise ValueError(
                f"counts must be whole numbers of at most 64 bits with sign, got an array of "
                f"{known.dtype}"
            )
        noise = self._noise.draw_many(known.size, rng)  # (L1)
        return known.astype(np.int64) + noise.reshape(known.shape)
