"""Release sums of whole-number vectors, batch after batch, with noise that cancels over time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness
from littlestone.randomness.noise_owner import NoiseOwner

Vector = tuple[int, ...]

MOST_RELEASES: Final = 1 << 10
_LARGEST_VARIANCE: Final = 1 << 76


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelatedSums:
    """After each batch, a mix of the sums of all batches so far, and discrete Gaussian noise.

    A batch that ended k batches ago has weight binomial(2k, k) / 4**k, in units of 1/``unit``: this
    is the square root of the prefix-sum matrix [FHU23]. ``prefix_sum`` applies the other root, and
    the noise of a prefix sum grows only with the logarithm of the number of batches.

    Privacy:
        Releases:   a vector of whole numbers after each batch
        Neighbours: streams that differ in one example, which adds one vector to one batch
        Adversary:  adaptive; examples may depend on everything released before
        Guarantee:  rho-zero-concentrated for all releases together, conditionally on every prefix
        Assumes:    honest-caller (no example's vector has a squared length above
                    ``longest_squared``)
        Proof:      correlated_sums.md

    >>> from littlestone.randomness import seeded
    >>> sums = CorrelatedSums(releases=3, width=2, longest_squared=100, rho=2.0)
    >>> sums.mix, sums.zero_concentrated().rho <= 2.0
    ((1024, 512, 384), True)
    >>> run = sums.start(rng=seeded(1))
    >>> released = [run.release((1000, 0)), run.release((500, -2000))]
    >>> [round(part, -2) for part in sums.prefix_sum(released).tolist()]
    [1500.0, -2000.0]
    """

    releases: int
    width: int
    longest_squared: int
    rho: float
    unit: int = 1 << 10
    """The resolution of the weights of the mix; small numbers suit few batches."""
    mix: Vector = field(init=False, repr=False, compare=False)
    """The integer weight of a batch when 0, 1, … further ones have ended."""
    noise: DiscreteGaussian = field(init=False, repr=False, compare=False)
    _unmix: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(releases=self.releases, width=self.width, at_least=1)
        require.integer(longest_squared=self.longest_squared, at_least=1)
        require.integer(unit=self.unit, at_least=1, at_most=1 << 62)
        require.positive(rho=self.rho)
        require.integer(releases=self.releases, at_most=MOST_RELEASES)
        require.settle(self, rho=float_at_most(self.rho), mix=_mix(self.releases, self.unit))
        variance = math.ceil(self._shift_squared / (2 * Fraction(self.rho)))
        if variance > _LARGEST_VARIANCE:
            least = float(Fraction(self._shift_squared, 2 * _LARGEST_VARIANCE))
            raise ValueError(f"rho must be at least {least:.2g} here, got rho={self.rho!r}")
        require.settle(
            self, noise=DiscreteGaussian(variance=Fraction(variance)), _unmix=_unmix(self.mix)
        )

    @property
    def _shift_squared(self) -> int:
        """The squared distance between the means of neighbours; a replacement moves each twice."""
        return 4 * self.longest_squared * sum(weight * weight for weight in self.mix)

    def zero_concentrated(self) -> ZeroConcentrated:
        """Return the cost of all releases together."""
        return ZeroConcentrated.rounded_up(
            rho=Fraction(self._shift_squared) / (2 * Fraction(self.noise.variance))
        )

    def guarantee(self, *, delta: float) -> PrivacyGuarantee:
        """Return the joint guarantee of all releases at any ``delta``."""
        return self.zero_concentrated().guarantee(delta=delta)

    def deviation(self) -> float:
        """Return the approximate standard deviation of each component of the last prefix sum."""
        return math.sqrt(float(self.noise.variance) * math.fsum(part**2 for part in self._unmix))

    def prefix_sum(self, released: Sequence[Vector]) -> NDArray[np.float64]:
        """Return an estimate of the sum over all batches so far, from what was released."""
        vectors = [require.array(released=each) for each in require.listed(released=released)]
        weights = np.array(self._unmix[: len(vectors)][::-1])
        return np.asarray(weights @ np.array(vectors, dtype=np.float64))

    def start(self, *, rng: Randomness) -> "CorrelatedSumsRun":
        """Start a run with its own noise."""
        run = CorrelatedSumsRun(self, rng)
        run.begin()
        return run


@require.checked
@dataclass(init=False, eq=False, repr=False)
class CorrelatedSumsRun(NoiseOwner):
    """A run: holds the secret sums of all batches and draws new noise for every release."""

    _sums: list[Vector]

    def __init__(self, recipe: CorrelatedSums, rng: Randomness) -> None:
        self._recipe, self._rng = recipe, rng

    def begin(self) -> None:
        """Forget the sums of earlier batches."""
        self._sums = []

    def release(self, total: Sequence[Any]) -> Vector:
        """Return the next vector, given the sum of the batch that has just ended."""
        recipe, parts = self._recipe, require.listed(total=total)
        known = tuple(require.integer(total=part) for part in parts)
        self._begin()
        if len(self._sums) == recipe.releases or len(known) != recipe.width:
            refusal = ValueError(
                f"total must be {recipe.width} whole numbers, at most {recipe.releases} times, "
                f"got {len(known)} after {len(self._sums)} releases"
            )
            self._break_off(refusal)
        self._sums.append(known)  # (L1)
        weights = recipe.mix[: len(self._sums)][::-1]
        # Python's whole numbers: products of long sums must not wrap around.
        mixed = np.array(weights, dtype=object) @ np.array(self._sums, dtype=object)  # (L2)
        noise = recipe.noise.draw_many(recipe.width, self._rng).tolist()  # (L3)
        self._end()
        return tuple(int(mean) + part for mean, part in zip(mixed, noise, strict=True))


def _mix(count: int, unit: int) -> Vector:
    """Return the power series of 1 / sqrt(1 - x), in whole units."""
    return tuple(round(Fraction(unit * math.comb(2 * k, k), 4**k)) for k in range(count))


def _unmix(mix: Vector) -> tuple[float, ...]:
    """Return the power series of 1 / ((1 - x) * mix(x)): nearly 1 / sqrt(1 - x) once more."""
    inverse: list[float] = []
    for k in range(len(mix)):
        rest = math.fsum(mix[j] * inverse[k - j] for j in range(1, k + 1))
        inverse.append((float(k == 0) - rest) / mix[0])
    return tuple(np.cumsum(inverse).tolist())
