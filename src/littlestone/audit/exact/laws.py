"""Laws that the tape is asked for as a whole, in place of samplers that read raw words.

All other samplers run as they are, those of the exponential mechanism and of coins among them:
their comparisons decide what is enumerated. Noise that is only compared with something is
integrated exactly, whatever its support.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count as from_zero
from typing import Any

import numpy as np

from littlestone.audit.exact.masses import BITS, ONE, Mass, exp_mass
from littlestone.audit.exact.tape import Dart, Memoryless, Tape
from littlestone.audit.substitution import replaced
from littlestone.mechanisms.incremental_selection import IncrementalSelectionRun
from littlestone.mechanisms.noise.bernoulli import BernoulliExp
from littlestone.mechanisms.noise.discrete_gaussian import DiscreteGaussian, _distribution_at
from littlestone.mechanisms.noise.discrete_laplace import DiscreteLaplace
from littlestone.mechanisms.noise.exact import fraction
from littlestone.mechanisms.noise.geometric import Geometric
from littlestone.mechanisms.noise.truncated_laplace import TruncatedLaplace
from littlestone.mechanisms.noise.waiting_time import LIMIT, WaitingTime
from littlestone.mechanisms.permute_and_flip import PermuteAndFlip


def _one_by_one(noise: Any, count: int, rng: Tape) -> Any:
    return np.array([int(noise.draw(rng)) for _ in range(count)], dtype=np.int64)


def _coins(noise: BernoulliExp, count: int, rng: Tape) -> Any:
    return np.array([noise.draw(rng) for _ in range(count)], dtype=np.bool_)


def _geometric(noise: Geometric, rng: Tape) -> Any:
    rate = fraction(noise.rate)
    return Dart(Memoryless(rng, rate, high=noise.size))


def _around_zero(number: int) -> int:
    """0, 1, -1, 2, -2, …"""
    return (number + 1) // 2 * (1 if number % 2 else -1)


def _discrete_laplace(noise: DiscreteLaplace, rng: Tape) -> int:
    rate = fraction(noise.rate)
    q = exp_mass(rate)
    centre = q.rest().over(ONE.plus(q))
    cases = (centre.times(exp_mass(rate * abs(_around_zero(n)))) for n in from_zero())
    return _around_zero(rng.choose(cases))


def _discrete_gaussian(noise: DiscreteGaussian, rng: Tape) -> int:
    half = 1 / (2 * fraction(noise.variance))
    # P(0) = 2 F(0) - 1, since the law is symmetric.
    below, above = _distribution_at(fraction(noise.variance), 0, BITS)
    centre = Mass(2 * below - (1 << BITS), 2 * above - (1 << BITS))
    cases = (centre.times(exp_mass(half * _around_zero(n) ** 2)) for n in from_zero())
    return _around_zero(rng.choose(cases))


def _truncated_laplace(noise: TruncatedLaplace, rng: Tape) -> int:
    rate, values = fraction(noise.rate), range(2 * noise.bound + 1)
    weights = [exp_mass(rate * abs(_around_zero(n))) for n in values]
    whole = Mass(sum(w.low for w in weights), sum(w.high for w in weights))
    return _around_zero(rng.choose([w.over(whole) for w in weights]))


def _waiting_time(noise: WaitingTime, gap: int, rng: Tape) -> int:
    """Beyond the last round that is played, all waiting times look the same."""
    gap = int(gap)
    if gap <= 0:
        return 1
    now = exp_mass(fraction(noise.rate) * gap)
    later, rounds = now.rest(), rng.left
    cases = [now.times(later.power(waited)) for waited in range(rounds)]
    waited = rng.choose([*cases, later.power(rounds)])
    return waited + 1 if waited < rounds else LIMIT + 1


def _first(noise: WaitingTime, gap: int, lengths: Any, rng: Tape) -> Any:
    return noise._first_one_by_one(gap, lengths.tolist(), rng)


def _flip(mechanism: PermuteAndFlip, levels: Any, rng: Tape) -> Any:
    weights = mechanism._table.weights
    heads = [rng.below(weights[0]) < weights[level] for level in levels.tolist()]
    return np.array(heads, dtype=np.bool_)


def _present_weights(run: IncrementalSelectionRun) -> int:
    """The law that proposing by old weights and rejecting leads to, without the rejections."""
    scores, table, rng = run._scores.as_array(), run._table, run._rng
    least = int(scores.min()) if run._base is None else run._least
    each = [table.weights[table.level(score - least)] for score in scores.tolist()]
    whole = sum(each)
    assert isinstance(rng, Tape)
    return rng.choose([Mass.from_ratio(weight, whole) for weight in each])


@contextmanager
def enumerable() -> Iterator[None]:
    """Within it, every private sampler of the library can be given a ``Tape``, and only that."""
    with (
        replaced(Geometric, draw=_geometric, draw_many=_one_by_one),
        replaced(BernoulliExp, draw_many=_coins),
        replaced(DiscreteLaplace, draw=_discrete_laplace, draw_many=_one_by_one),
        replaced(DiscreteGaussian, draw=_discrete_gaussian, draw_many=_one_by_one),
        replaced(TruncatedLaplace, draw=_truncated_laplace, draw_many=_one_by_one),
        replaced(WaitingTime, draw=_waiting_time, first=_first),
        replaced(PermuteAndFlip, _flip=_flip),
        replaced(IncrementalSelectionRun, draw=_present_weights),
    ):
        yield
