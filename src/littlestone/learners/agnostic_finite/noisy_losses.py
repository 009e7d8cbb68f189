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
from littlestone.theory.expert_bounds import noisy_losses_regret_upper_bound
from littlestone.theory.outwards import upwards

_SHARPER: Final = 2.0
"""Correlated noise is so small that a rate above the one with the least bound pays."""
_DRAW_ERROR: Final = 2.0**-36
"""For each concept; together, the probabilities of a draw are off by less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyLosses:
    """Release the losses of each ``batch`` with noise, and play fresh draws from the weights.

    Concept i has the weight exp(-rate * estimated loss of i) for a whole batch, and each round
    draws by these weights anew: who attacks the hypothesis on display attacks a past draw. With
    ``epoch`` > 1 the noises of so many batches are correlated so that they nearly cancel in sums
    (and those of so many epochs, and so on), which is far better against oblivious adversaries and
    promises nothing against others.
    What is not given is planned for the smallest regret bound.

    Privacy:
        Releases:   the noisy answers of every batch but the last, and all draws from them
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta)
        Assumes:    timing (docs/GUARANTEES.md): how long sampling takes depends on the noise, and
                    how long a release takes on how many different points its batch has
        Proof:      noisy_losses_engine.md

    Regret: ln N / rate + rate * (sum of squared batch lengths / 8 + V / 2), and sqrt(2 V ln N) more
    against adaptive adversaries, V being the variance of a concept's noise at the end.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> plan = NoisyLosses(concepts=Thresholds(99), rounds=10**5, epsilon=1.0, delta=1e-6)
    >>> plan.batch, plan.epoch, plan.expected_regret_bound() < 6500
    (61, 1, True)
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
            object.__setattr__(self, "rate", self._best_rate())
        require.positive(rate=self.rate)  # type: ignore[arg-type]
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

    def _best_rate(self) -> float:
        length, last = self.lengths
        spent = (self.releases * length**2 + last**2) / 8 + self.noise_variance / 2
        rate = math.sqrt(math.log(max(self.experts, 2)) / spent)
        return rate if self.epoch == 1 else _SHARPER * rate

    def guarantee(self) -> PrivacyGuarantee:
        """What all releases together promise; at most what was asked for."""
        return self._guarantee

    def _cost(self) -> PrivacyGuarantee:
        if not self.releases:
            return PrivacyGuarantee(epsilon=0.0, delta=0.0)
        moved = self.queries.squared_sensitivity * squared_shift(self.releases, self.epoch or 1)
        cost = ZeroConcentrated.rounded_up(rho=Fraction(moved) / (2 * self.variance))
        return cost.guarantee(delta=self.delta)

    def expected_regret_bound(self) -> float:
        """Against the adversaries that are allowed."""
        assert self.batch is not None
        regret = noisy_losses_regret_upper_bound(
            experts=self.experts,
            rounds=self.rounds,
            batch=self.batch,
            noise_variance=self.noise_variance,
            rate=self.rate,
            oblivious=self.oblivious_only,
        )
        return upwards(regret + self.rounds * self.experts * _DRAW_ERROR)

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
        return upwards(draws + logarithm / self.rate + noise)

    def for_rounds(self, rounds: int) -> Self:
        """Planned anew for another horizon."""
        return replace(self, rounds=rounds, batch=None, epoch=None, rate=None)
