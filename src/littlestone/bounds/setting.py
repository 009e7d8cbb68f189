"""A setting holds what bounds depend on: the horizon, the budget, the sizes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from littlestone import require
from littlestone.privacy.zcdp import largest_zero_concentrated
from littlestone.theory import (
    concentration,
    expert_bounds,
    private_halving,
    realizable_bounds,
    sanitization,
)
from littlestone.theory.above_threshold_bounds import one_sided_early_upper_bound
from littlestone.theory.golowich_livni_bounds import selections_upper_bound

LARGEST_DIMENSION: Final = 6
"""Beyond it finding the paper's sharpest numbers takes minutes: they have thousands of digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Nine numbers; the properties are what some bounds ask for besides, chosen from them."""

    rounds: int = 10**6
    epsilon: float = 1.0
    delta: float = 1e-6
    failure_probability: float = 0.05
    dimension: int = 2
    concepts: int = 1024
    points: int = 1024
    samples: int = 10**5
    error: float = 0.1

    def __post_init__(self) -> None:
        require.integer(
            rounds=self.rounds, concepts=self.concepts, samples=self.samples, at_least=2
        )
        require.integer(dimension=self.dimension, points=self.points, at_least=1)
        require.positive(epsilon=self.epsilon)
        require.open_probability(
            delta=self.delta, failure_probability=self.failure_probability, error=self.error
        )
        if self.dimension > LARGEST_DIMENSION:
            raise ValueError(
                f"dimension must be at most {LARGEST_DIMENSION}, got dimension={self.dimension}: "
                f"the paper's numbers are doubly exponential in it"
            )

    @property
    def half_epsilon(self) -> float:
        return self.epsilon / 2

    @property
    def zcdp(self) -> float:
        return _rho(self.epsilon, self.delta)

    @property
    def half_zcdp(self) -> float:
        return _rho(self.half_epsilon, self.delta)

    @property
    def root(self) -> int:
        """√T: rounds of a batch, or switches of a lazy algorithm."""
        return math.isqrt(self.rounds)

    @property
    def rate(self) -> float:
        """The dartboard's: Hedge's, halved until the whole fits the budget."""
        return _dartboard(self.rounds, self.concepts, self.zcdp)[0]

    @property
    def fake(self) -> float:
        """The probability of a switch without a reason."""
        return _dartboard(self.rounds, self.concepts, self.zcdp)[1]

    @property
    def dartboard_switches(self) -> int:
        return _dartboard(self.rounds, self.concepts, self.zcdp)[2]

    @property
    def one_run(self) -> float:
        """Mistakes of one run of private halving on points."""
        return private_halving.points_triple_plan(
            concepts=self.concepts,
            rounds=self.rounds,
            zcdp=self.half_zcdp,
            above_threshold_epsilon=self.half_epsilon,
            failure_probability=self.failure_probability,
        ).mistakes

    @property
    def leaves(self) -> int:
        """2^d: how many leaves a tournament of Golowich and Livni's has."""
        return int(2**self.dimension)

    @property
    def selections(self) -> int:
        return selections_upper_bound(leaves=self.leaves)

    @property
    def instances(self) -> int:
        return realizable_bounds.instances_upper_bound(dimension=self.dimension)

    @property
    def slots(self) -> int:
        return _slots(self.dimension, self.epsilon, self.delta, self.failure_probability)

    @property
    def half_slots(self) -> int:
        return self.slots // 2

    @property
    def guess_slack(self) -> float:
        """As large as an eighth of all pairs: the proof allows a quarter of those that collide."""
        return self.half_slots / 4

    @property
    def matching_slack(self) -> float:
        """A quarter of what is left after the guesses."""
        return self.half_slots / 384

    @property
    def cells(self) -> int:
        return concentration.coupon_cells_upper_bound(failure_probability=self.failure_probability)

    @property
    def bins(self) -> int:
        return 4 * self.cells

    @property
    def draws(self) -> int:
        return 2 * self.bins

    @property
    def deviation(self) -> float:
        """αn: a share of the samples as a number."""
        return self.error * self.samples

    @property
    def tail(self) -> Callable[..., float]:
        """How early AboveThreshold may answer, to take the mean of."""
        return partial(one_sided_early_upper_bound, rounds=self.rounds, epsilon=self.epsilon)

    @property
    def three(self) -> list[int]:
        """The dimensions of three classes."""
        return [self.dimension] * 3

    @property
    def inverse_error(self) -> float:
        return self.dimension / self.error

    @property
    def subsampled(self) -> int:
        return sanitization.subsampled_samples_upper_bound(samples=self.samples, epsilon=1.0)

    @property
    def copy_regret(self) -> float:
        """Of Hedge, on every √T-th round."""
        return expert_bounds.hedge_regret_upper_bound(
            experts=self.concepts, rounds=-(-self.rounds // self.root)
        )

    @property
    def batch_failure(self) -> float:
        return self.failure_probability / self.rounds


@lru_cache(maxsize=256)
def _rho(epsilon: float, delta: float) -> float:
    return largest_zero_concentrated(epsilon=epsilon, delta=delta).rho


@lru_cache(maxsize=256)
def _slots(dimension: int, epsilon: float, delta: float, failure_probability: float) -> int:
    return realizable_bounds.slots_upper_bound(
        dimension=dimension,
        epsilon=epsilon,
        delta=delta,
        failure_probability=failure_probability,
    )


@lru_cache(maxsize=256)
def _dartboard(rounds: int, experts: int, zcdp: float) -> tuple[float, float, int]:
    """A rate, a chance of fake switches and a number of switches that cost at most ρ."""
    rate = min(0.5, math.sqrt(8 * math.log(experts) / rounds))
    while True:
        # Half of ρ for the bit that depends on the special round: (η/p)²/8 is about that.
        fake = min(0.5, rate / (2 * math.sqrt(zcdp)))
        switches = expert_bounds.dartboard_switches_upper_bound(
            rounds=rounds, batch=1, rate=rate, fake=fake
        )
        cost = expert_bounds.dartboard_zcdp_upper_bound(rate=rate, fake=fake, switches=switches)
        if cost <= zcdp:
            return rate, fake, switches
        rate /= 2
