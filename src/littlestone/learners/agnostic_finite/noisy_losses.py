"""Noisy losses, released once a batch; fresh draws from them in every round cost nothing more."""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final, Self

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.agnostic_finite.batch_queries import Lines, Queries, queries_about
from littlestone.learners.agnostic_finite.running_totals import (
    levels_for,
    squared_shift,
    total_error,
)
from littlestone.learners.experts.run import zcdp_budget
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.gaussian import LARGEST_TABLE_VARIANCE
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.theory.expert_bounds import (
    largest_noise_upper_bound,
    noisy_losses_regret_upper_bound,
)
from littlestone.theory.outwards import upwards

_MOST_DRAWS: Final = 1 << 27  # noise draws in one run
_LONGEST_EPOCH: Final = 400
_SHORTEST_EPOCH: Final = 4  # unless there are fewer batches
_MOST_REMEMBERED: Final = 1 << 15  # answers of one epoch
_VARIANCE_STEPS: Final = 256  # variances are multiples of 1/256
_UNROUNDED: Final = float(1 << 20)
_GRID: Final = 1.04

Sizes = tuple[int, int]
"""The length of a batch in rounds, and of an epoch in batches."""


@lru_cache(maxsize=64)
def finest_queries(concepts: ConceptClass, rho: float) -> Queries:
    """Return the finest queries whose noise is drawn quickly.

    Rounding them costs little from a scale of 1.6 √X on.
    """
    found = queries_about(concepts, _UNROUNDED)
    if not isinstance(found, Lines):
        return found
    root = math.sqrt(max(found.stretches.widths))
    quick = math.sqrt(
        LARGEST_TABLE_VARIANCE * 2 * rho / (found.squared_sensitivity / _UNROUNDED**2)
    )
    return queries_about(concepts, float(int(max(8 + 1.6 * root, min(quick, 8 + 6 * root)))))


def noise_of(
    queries: Queries, rho: float, rounds: int, batch: int, epoch: int
) -> tuple[Fraction, float]:
    """Return the variance of each answer's noise, and that of a total's estimate at the end."""
    releases = (rounds - 1) // batch
    if not releases:  # no noise is drawn
        return Fraction(1), 0.0
    moved = queries.squared_sensitivity * squared_shift(releases, epoch)
    least = Fraction(moved) / (2 * Fraction(rho))
    variance = max(Fraction(1, 16), Fraction(math.ceil(_VARIANCE_STEPS * least), _VARIANCE_STEPS))
    total = float(variance) * queries.spread * total_error(releases, epoch)
    return variance, upwards(total)


def best_sizes(
    queries: Queries,
    experts: int,
    rounds: int,
    rho: float,
    oblivious: bool,
    *,
    batch: int | None,
    epoch: int | None,
) -> Sizes:
    """Return the given sizes, and otherwise those with the smallest bound that a run can afford."""

    def regret(sizes: Sizes) -> float:
        length, correlated = sizes
        releases = (rounds - 1) // length
        root = queries.squared_sensitivity * queries.spread / (2 * rho)
        # Approximately γ(m) for each level, by the closed form for m → ∞ [FHU23].
        near = (1.07 + math.log(correlated) / math.pi) * levels_for(releases, correlated)
        return noisy_losses_regret_upper_bound(
            experts=experts,
            rounds=rounds,
            batch=length,
            noise_variance=root * (releases if correlated == 1 else near**2),
            largest_noise=0.0 if oblivious else None,
        )

    correlating = oblivious and isinstance(queries, Lines)
    drafts = []
    for length in _lengths(queries, rounds) if batch is None else [min(batch, rounds)]:
        choices = {1, _epoch((rounds - 1) // length, queries.cells)} if correlating else {1}
        drafts += [(length, size) for size in (choices if epoch is None else [epoch])]
    return min(drafts, key=regret)


def _epoch(releases: int, cells: int) -> int:
    """Return the shortest epoch with the fewest levels that memory allows."""
    longest = max(_SHORTEST_EPOCH, min(_LONGEST_EPOCH, _MOST_REMEMBERED // cells))
    levels = levels_for(releases, longest)
    return next(m for m in range(2, longest + 1) if m**levels > releases)


def _lengths(queries: Queries, rounds: int) -> list[int]:
    """Return candidate batch lengths, from the shortest that a run can afford."""
    shortest = -(-rounds * queries.cells // _MOST_DRAWS)
    steps = int(math.log(rounds) / math.log(_GRID)) + 1
    grid = {round(_GRID**step) for step in range(steps + 1)} | {1, rounds}
    return sorted(length for length in grid if min(shortest, rounds) <= length <= rounds)


_SHARPER: Final = 1.4
"""The rate in units of the one with the least bound; most streams cost ln N/rate.

Chosen on thresholds of 9, 99 and 999 points in 10⁴, 10⁵ and 10⁶ rounds at ε = 1 and 0.1: the regret
against the worst of four adversaries is 0.85 of that at the least bound on average, and 1.07 at
worst; at 1.75 times the rate it is 0.80 and 1.22. The bound grows by at most 6 %.
"""
_SHARPER_CORRELATED: Final = 2.5
"""The same for correlated noise: 0.73 of the regret on average on three oblivious streams of these
sizes, nowhere more, and 1.45 of the bound; beyond it the bound grows faster than the regret falls.
"""
_DRAW_ERROR: Final = 2.0**-36
"""Per concept: the probabilities of a draw are off by less in total."""
_ROUNDED: Final = 2.0**-36
"""The relative error that rounding upwards may add to a bound."""
_FINENESS: Final = 1 << 20


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyLosses:
    """Release the losses of each ``batch`` with noise, and publish fresh draws by the weights.

    For a whole batch concept i has the weight exp(-rate * estimated loss of i), and each round
    draws again by these weights, so an attack on the published hypothesis attacks a past draw. With
    ``epoch`` > 1 the noises of that many batches are correlated so that they nearly cancel in sums
    (and those of that many epochs, and so on). This is far better against oblivious adversaries and
    promises nothing against others. Sizes that are not given are planned for the smallest regret
    bound; the rate is then set a little higher.

    Privacy:
        Releases:   the noisy answers of every batch but the last, and all draws from them
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta)
        Assumes:    timing (docs/GUARANTEES.md): how long sampling takes depends on the noise, and
                    how long a release takes on how many different points its batch has
        Proof:      noisy_losses_engine.md

    Regret: ln N / rate + rate * (sum of squared batch lengths / 8 + V / 2), V being the variance of
    a concept's noise at the end; against adaptive adversaries the mean of the largest of N such
    noises more, which is below sqrt(2 V ln N).

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> plan = NoisyLosses(concepts=Thresholds(99), rounds=10**5, epsilon=1.0, delta=1e-6)
    >>> plan.batch, plan.epoch, plan.expected_regret_bound() < 6500
    (59, 1, True)
    >>> plan.guarantee().within(PrivacyGuarantee(epsilon=1.0, delta=1e-6))
    True
    """

    concepts: ConceptClass
    rounds: int
    epsilon: float
    delta: float
    oblivious_only: bool = False
    batch: int | None = None
    epoch: int | None = None
    rate: float | None = None
    variance: Fraction = field(init=False, repr=False, compare=False)
    """The variance of each answer's noise."""
    noise_variance: float = field(init=False, repr=False, compare=False)
    """A bound on the variance of a concept's estimated total loss at the end."""
    _guarantee: PrivacyGuarantee = field(init=False, repr=False, compare=False)

    prefix_conditional: ClassVar[bool] = True
    loss_scale: ClassVar[int] = 1
    form_version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        require.fields_fit(self)
        require.integer(rounds=self.rounds, at_least=1)
        require.positive(epsilon=self.epsilon)
        require.open_probability(delta=self.delta)
        given = {name: getattr(self, name) for name in ("batch", "epoch")}
        require.integer(
            **{name: size for name, size in given.items() if size is not None}, at_least=1
        )
        correlated = self.oblivious_only and isinstance(self.queries, Lines)
        if not correlated and (self.epoch or 1) > 1:
            raise ValueError(
                f"epoch must be 1 unless oblivious_only is set for a class of stretches, got "
                f"epoch={self.epoch!r}"
            )
        sizes = best_sizes(
            self.queries, self.experts, self.rounds, self._rho, self.oblivious_only, **given
        )
        noise = noise_of(self.queries, self._rho, self.rounds, *sizes)
        derived = zip(("batch", "epoch", "variance", "noise_variance"), sizes + noise, strict=True)
        for name, value in derived:
            object.__setattr__(self, name, value)
        if self.rate is None:
            object.__setattr__(self, "rate", self._sharp_rate())
        require.positive(rate=self.rate)
        object.__setattr__(self, "_guarantee", self._cost())

    @property
    def experts(self) -> int:
        """The number of concepts."""
        return self.concepts.size or 0

    @property
    def queries(self) -> Queries:
        """The queries about each batch."""
        return finest_queries(self.concepts, self._rho)

    @property
    def lengths(self) -> tuple[int, int]:
        """The length of every batch but the last, and that of the last."""
        assert self.batch is not None
        return self.batch, (self.rounds - 1) % self.batch + 1

    @property
    def releases(self) -> int:
        """The number of releases: one after each batch but the last."""
        assert self.batch is not None
        return (self.rounds - 1) // self.batch

    @property
    def _rho(self) -> float:
        return zcdp_budget(float(self.epsilon), float(self.delta))

    @property
    def _spent(self) -> float:
        """The coefficient of the rate in the regret bound."""
        length, last = self.lengths
        return (self.releases * length**2 + last**2) / 8 + self.noise_variance / 2

    def _sharp_rate(self) -> float:
        least = math.sqrt(math.log(max(self.experts, 2)) / self._spent)
        if not self.releases:  # nothing is weighed, whatever the rate
            return _in_few_digits(least)
        return _in_few_digits((_SHARPER if self.epoch == 1 else _SHARPER_CORRELATED) * least)

    def bounded_by(self, bound: float) -> Self | None:
        """Return the plan with the largest rate, up to this one, whose bound is at most ``bound``.

        None if there is none. The rate is the larger solution of ln N/rate + rate * spent = what is
        left of ``bound``.
        """
        assert self.rate is not None
        require.non_negative(bound=bound)
        if self.expected_regret_bound() <= bound:
            return self
        # Slightly less, since bounds are rounded upwards.
        left = (1 - _ROUNDED) * bound - self._largest_noise - self._draw_error
        squared = left**2 - 4 * math.log(max(self.experts, 2)) * self._spent
        if left <= 0 or squared < 0:
            return None
        rate = _in_few_digits((left + math.sqrt(squared)) / (2 * self._spent))
        return replace(self, rate=rate) if rate < self.rate else None

    @property
    def _largest_noise(self) -> float:
        """The mean of the largest noise of a total at the end; 0 on oblivious streams."""
        if self.oblivious_only:
            return 0.0
        return largest_noise_upper_bound(
            experts=self.experts,
            noise_variance=self.noise_variance,
            draws=self.releases * self.queries.cells,
            draw_variance=float(self.variance),
        )

    def guarantee(self) -> PrivacyGuarantee:
        """Return what all releases together promise; at most the requested budget."""
        return self._guarantee

    def _cost(self) -> PrivacyGuarantee:
        if not self.releases:
            return PrivacyGuarantee(epsilon=0.0, delta=0.0)
        return self.zero_concentrated().guarantee(delta=self.delta)

    def zero_concentrated(self) -> ZeroConcentrated:
        """Return the zCDP cost of all releases together."""
        if not self.releases:
            return ZeroConcentrated(rho=0.0)
        moved = self.queries.squared_sensitivity * squared_shift(self.releases, self.epoch or 1)
        return ZeroConcentrated.rounded_up(rho=Fraction(moved) / (2 * self.variance))

    @property
    def _draw_error(self) -> float:
        return self.rounds * self.experts * _DRAW_ERROR

    def expected_regret_bound(self) -> float:
        """Bound the expected regret against the adversaries that are allowed."""
        assert self.batch is not None
        regret = noisy_losses_regret_upper_bound(
            experts=self.experts,
            rounds=self.rounds,
            batch=self.batch,
            noise_variance=self.noise_variance,
            rate=self.rate,
            largest_noise=self._largest_noise,
        )
        return upwards(regret + self._draw_error)

    def deviation_bound(self, *, failure_probability: float) -> float:
        """Bound how far the regret exceeds the bound on its mean; all rounds if unproved.

        For independent noise: fresh draws, the supermartingale of the weights and the largest noise
        each fail with a third of the probability.
        """
        assert self.rate is not None
        if self.epoch != 1:
            return float(self.rounds)
        logarithm = math.log(3 / failure_probability)
        draws = math.sqrt(self.rounds * logarithm / 2)
        largest = math.log(max(self.experts, 2)) + logarithm
        noise = math.sqrt(2 * self.noise_variance * largest)
        return upwards(draws + logarithm / self.rate + max(0.0, noise - self._largest_noise))

    def for_rounds(self, rounds: int) -> Self:
        """Return the plan for another horizon."""
        return replace(self, rounds=rounds, batch=None, epoch=None, rate=None)


def _in_few_digits(rate: float) -> float:
    """Round down to few digits, as the last digits of floats differ between machines."""
    mantissa, exponent = math.frexp(rate)
    return math.ldexp(math.floor(mantissa * _FINENESS), exponent) / _FINENESS
