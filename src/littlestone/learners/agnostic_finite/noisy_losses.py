"""Noisy losses once a batch; what is drawn from them, afresh in every round, costs nothing more."""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Final, Self

from littlestone import require
from littlestone.concepts.protocols import ConceptClass
from littlestone.experts.selection import zcdp_budget
from littlestone.learners.agnostic_finite.batch_queries import Lines, Queries
from littlestone.learners.agnostic_finite.noisy_losses_plan import best_sizes, noise_of, questions
from littlestone.learners.agnostic_finite.running_totals import squared_shift
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.theory.expert_bounds import (
    largest_noise_upper_bound,
    noisy_losses_regret_upper_bound,
)
from littlestone.theory.outwards import upwards

_SHARPER: Final = 1.4
"""Times the rate with the least bound, since ln N/rate is what most streams make one pay.

Chosen on thresholds of 9, 99 and 999 points in 10⁴, 10⁵ and 10⁶ rounds at ε = 1 and 0.1: the worst
of four adversaries is 0.85 of that at the least bound on average, and 1.07 at worst; at 1.75 times
the rate it is 0.80 and 1.22. The bound grows by at most 6 %.
"""
_SHARPER_CORRELATED: Final = 2.5
"""The same for noise that is correlated: 0.73 of the regret on average on three oblivious streams
of these sizes, nowhere more, and 1.45 of the bound; beyond it the bound grows faster than it pays.
"""
_DRAW_ERROR: Final = 2.0**-36
"""For each concept; together, the probabilities of a draw are off by less."""
_ROUNDED: Final = 2.0**-36
"""The share of a bound that rounding upwards may add."""
_FINENESS: Final = 1 << 20


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyLosses:
    """Release the losses of each ``batch`` with noise, and play fresh draws from the weights.

    Concept i has the weight exp(-rate * estimated loss of i) for a whole batch, and each round
    draws by these weights anew: who attacks the hypothesis on display attacks a past draw. With
    ``epoch`` > 1 the noises of so many batches are correlated so that they nearly cancel in sums
    (and those of so many epochs, and so on), which is far better against oblivious adversaries and
    promises nothing against others.
    Sizes that are not given are planned for the smallest regret bound, and the rate is then a
    little above the one that has it.

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
    """Of each answer's noise."""
    noise_variance: float = field(init=False, repr=False, compare=False)
    """Of a concept's estimated total loss at the end, at most."""
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
                f"epoch must be 1 unless oblivious_only, for classes of stretches, got "
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
        return self.concepts.size or 0

    @property
    def queries(self) -> Queries:
        """What is asked about each batch."""
        return questions(self.concepts, self._rho)

    @property
    def lengths(self) -> tuple[int, int]:
        """Of each batch but the last, and of the last; nothing is released after that one."""
        assert self.batch is not None
        return self.batch, (self.rounds - 1) % self.batch + 1

    @property
    def releases(self) -> int:
        assert self.batch is not None
        return (self.rounds - 1) // self.batch

    @property
    def _rho(self) -> float:
        return zcdp_budget(float(self.epsilon), float(self.delta))

    @property
    def _spent(self) -> float:
        """What the bound says that a rate costs, for each unit of it."""
        length, last = self.lengths
        return (self.releases * length**2 + last**2) / 8 + self.noise_variance / 2

    def _sharp_rate(self) -> float:
        least = math.sqrt(math.log(max(self.experts, 2)) / self._spent)
        if not self.releases:  # nothing is weighed, at whatever rate
            return _in_few_digits(least)
        return _in_few_digits((_SHARPER if self.epoch == 1 else _SHARPER_CORRELATED) * least)

    def bounded_by(self, bound: float) -> Self | None:
        """With the largest rate, up to this one, whose bound is at most ``bound``, if there is one.

        It is the larger of the two at which ln N/rate + rate * spent is what is left of that.
        """
        assert self.rate is not None
        require.non_negative(bound=bound)
        if self.expected_regret_bound() <= bound:
            return self
        # A little less, since bounds are rounded upwards.
        left = (1 - _ROUNDED) * bound - self._largest_noise - self._draw_error
        squared = left**2 - 4 * math.log(max(self.experts, 2)) * self._spent
        if left <= 0 or squared < 0:
            return None
        rate = _in_few_digits((left + math.sqrt(squared)) / (2 * self._spent))
        return replace(self, rate=rate) if rate < self.rate else None

    @property
    def _largest_noise(self) -> float:
        """Of all concepts' totals at the end, on average; oblivious streams cannot pick it."""
        if self.oblivious_only:
            return 0.0
        return largest_noise_upper_bound(
            experts=self.experts,
            noise_variance=self.noise_variance,
            draws=self.releases * self.queries.cells,
            draw_variance=float(self.variance),
        )

    def guarantee(self) -> PrivacyGuarantee:
        """What all releases together promise; at most what was asked for."""
        return self._guarantee

    def _cost(self) -> PrivacyGuarantee:
        if not self.releases:
            return PrivacyGuarantee(epsilon=0.0, delta=0.0)
        return self.zero_concentrated().guarantee(delta=self.delta)

    def zero_concentrated(self) -> ZeroConcentrated:
        """What all releases cost together."""
        if not self.releases:
            return ZeroConcentrated(rho=0.0)
        moved = self.queries.squared_sensitivity * squared_shift(self.releases, self.epoch or 1)
        return ZeroConcentrated.rounded_up(rho=Fraction(moved) / (2 * self.variance))

    @property
    def _draw_error(self) -> float:
        return self.rounds * self.experts * _DRAW_ERROR

    def expected_regret_bound(self) -> float:
        """Against the adversaries that are allowed."""
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
        """How far the regret may exceed the bound on its mean; all rounds if nothing is proved.

        For independent noise: fresh draws, the supermartingale of the weights and the largest
        noise each fail with a third of the probability.
        """
        require.open_probability(failure_probability=failure_probability)
        assert self.rate is not None
        if self.epoch != 1:
            return float(self.rounds)
        logarithm = math.log(3 / failure_probability)
        draws = math.sqrt(self.rounds * logarithm / 2)
        largest = math.log(max(self.experts, 2)) + logarithm
        noise = math.sqrt(2 * self.noise_variance * largest)
        return upwards(draws + logarithm / self.rate + max(0.0, noise - self._largest_noise))

    def for_rounds(self, rounds: int) -> Self:
        """Planned anew for another horizon."""
        return replace(self, rounds=rounds, batch=None, epoch=None, rate=None)


def _in_few_digits(rate: float) -> float:
    """Not above it. The last digits of a float may differ from machine to machine, a recipe not."""
    mantissa, exponent = math.frexp(rate)
    return math.ldexp(math.floor(mantissa * _FINENESS), exponent) / _FINENESS
