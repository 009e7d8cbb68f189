"""A setting holds what bounds depend on: the horizon, the budget, the sizes."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

from littlestone import require
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.theory import expert_bounds, realizable_bounds
from littlestone.theory.above_threshold_bounds import one_sided_early_upper_bound
from littlestone.theory.concentration import coupon_cells_upper_bound
from littlestone.theory.golowich_livni_bounds import selections_upper_bound
from littlestone.theory.sanitization import subsampled_samples_upper_bound

LARGEST_DIMENSION: Final = 6
"""Beyond it finding the paper's sharpest numbers takes minutes: they have thousands of digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Nine numbers; what some bounds ask for besides is ``CHOSEN`` from them."""

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

    def __getitem__(self, name: str) -> Any:
        """One of the nine, or one that is chosen from them."""
        return _chosen(self, name) if name in CHOSEN else getattr(self, name)

    def of(self, function: Callable[..., Any], *names: str, **instead: Any) -> Any:
        """What a function says of the numbers with these names."""
        return function(**{name: self[name] for name in names}, **instead)


CHOSEN: Final[Mapping[str, Callable[[Setting], Any]]] = {
    "half_epsilon": lambda s: s.epsilon / 2,
    "zcdp": lambda s: s.of(ZeroConcentrated.largest, "epsilon", "delta").rho,
    "half_zcdp": lambda s: s.of(ZeroConcentrated.largest, "delta", epsilon=s.epsilon / 2).rho,
    # √T: rounds of a batch, or switches of a lazy algorithm.
    "root": lambda s: math.isqrt(s.rounds),
    "per_round": lambda s: s.failure_probability / s.rounds,
    "rate": lambda s: s["dartboard"][0],
    "fake": lambda s: s["dartboard"][1],
    "dartboard_switches": lambda s: s["dartboard"][2],
    # Noisy losses of unrelated experts: batches of 3.5 deviations are nearly best.
    "noisy_batch": lambda s: min(s.rounds, math.ceil(3.5 * math.sqrt(s["one_variance"]))),
    "noise_variance": lambda s: (-(-s.rounds // s["noisy_batch"]) - 1) * s["one_variance"],
    "one_variance": lambda s: expert_bounds.noisy_losses_variance_upper_bound(
        experts=s.concepts, zcdp=s["zcdp"]
    ),
    "dartboard": lambda s: _dartboard(s.rounds, s.concepts, s["zcdp"]),
    # 2^d: how many leaves a tournament of Golowich and Livni's has.
    "leaves": lambda s: 2**s.dimension,
    "selections": lambda s: s.of(selections_upper_bound, "leaves"),
    "instances": lambda s: s.of(realizable_bounds.instances_upper_bound, "dimension"),
    "slots": lambda s: s.of(
        realizable_bounds.slots_upper_bound,
        *("dimension", "epsilon", "delta", "failure_probability"),
    ),
    "half_slots": lambda s: s["slots"] // 2,
    # As large as an eighth of all pairs: the proof allows a quarter of those that collide.
    "guess_slack": lambda s: s["half_slots"] / 4,
    # A quarter of what is left after the guesses.
    "matching_slack": lambda s: s["half_slots"] / 384,
    "cells": lambda s: s.of(coupon_cells_upper_bound, "failure_probability"),
    "bins": lambda s: 4 * s["cells"],
    "draws": lambda s: 8 * s["cells"],
    # αn: a share of the samples as a number.
    "deviation": lambda s: s.error * s.samples,
    # How early AboveThreshold may answer, to take the mean of.
    "tail": lambda s: partial(one_sided_early_upper_bound, rounds=s.rounds, epsilon=s.epsilon),
    "three": lambda s: [s.dimension] * 3,
    "inverse_error": lambda s: s.dimension / s.error,
    "subsampled": lambda s: s.of(subsampled_samples_upper_bound, "samples", epsilon=1.0),
    # Of Hedge, on every √T-th round.
    "copy_regret": lambda s: expert_bounds.hedge_regret_upper_bound(
        experts=s.concepts, rounds=-(-s.rounds // s["root"])
    ),
}


@lru_cache(maxsize=512)
def _chosen(setting: Setting, name: str) -> Any:
    return CHOSEN[name](setting)


def _dartboard(rounds: int, experts: int, zcdp: float) -> tuple[float, float, int]:
    """A rate (Hedge's, halved until it fits), a chance of fake switches and how many are paid."""
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
