"""Laws that replace samplers of raw words while coins are enumerated.

All other samplers, such as those of the exponential mechanism and of coins, run unchanged: their
comparisons decide what is enumerated. Noise that is only compared is integrated exactly, whatever
its support. SUBSTITUTES lists what is replaced, and BLIND_SPOTS what is not enumerated.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from itertools import count as from_zero
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.audit.exact.masses import BITS, NOTHING, ONE, Mass, exp_mass
from littlestone.audit.exact.tape import Dart, Memoryless, Tape, Weighted
from littlestone.audit.substitution import replaced
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.game.protocols import OnlineState
from littlestone.learners.agnostic_finite.batch_queries import FreshDraws
from littlestone.learners.batch.irreducible import IrreducibleLearner
from littlestone.learners.batch.proper_step import ProperStep
from littlestone.learners.lazy_forest import layer as forest_layer
from littlestone.learners.lazy_forest.eager_forest import Forest
from littlestone.learners.lazy_forest.layer import ForestTable
from littlestone.learners.online import proper, proper_agnostic
from littlestone.privacy.mechanisms.incremental_selection import IncrementalSelectionRun
from littlestone.privacy.mechanisms.noise.coins import BernoulliExp
from littlestone.privacy.mechanisms.noise.exact import fraction
from littlestone.privacy.mechanisms.noise.gaussian import DiscreteGaussian, _distribution_at
from littlestone.privacy.mechanisms.noise.geometric import (
    DiscreteLaplace,
    Geometric,
    TruncatedLaplace,
)
from littlestone.privacy.mechanisms.noise.waiting_time import LIMIT, WaitingTime
from littlestone.privacy.mechanisms.permute_and_flip import PermuteAndFlip

_WEIGHT_BITS: Final = 60
_FEW: Final = 64


def _one_by_one(noise: Any, count: int, rng: Tape) -> Any:
    return np.array([int(noise.draw(rng)) for _ in range(count)], dtype=np.int64)


def _coins(noise: BernoulliExp, count: int, rng: Tape) -> Any:
    return np.array([noise.draw(rng) for _ in range(count)], dtype=np.bool_)


def _geometric(noise: Geometric, rng: Tape) -> Any:
    rate = fraction(noise.rate)
    return Dart(Memoryless(rng, rate, high=noise.size))


def _around_zero(number: int) -> int:
    """Return the number-th of 0, 1, -1, 2, -2, …."""
    return (number + 1) // 2 * (1 if number % 2 else -1)


def _discrete_laplace(noise: DiscreteLaplace, rng: Tape) -> int:
    rate = fraction(noise.rate)
    q = exp_mass(rate)
    centre = q.rest().over(ONE.plus(q))
    cases = (centre.times(exp_mass(rate * abs(_around_zero(n)))) for n in from_zero())
    return _around_zero(rng.choose(cases))


@lru_cache(maxsize=16)
def _gaussian_centre(variance: Fraction) -> Mass:
    """Return P(0) = 2 F(0) - 1, by symmetry."""
    below, above = _distribution_at(variance, 0, BITS)
    return Mass(2 * below - (1 << BITS), 2 * above - (1 << BITS))


def _discrete_gaussian(noise: DiscreteGaussian, rng: Tape) -> int:
    variance = fraction(noise.variance)
    half, centre = 1 / (2 * variance), _gaussian_centre(variance)
    cases = (centre.times(exp_mass(half * _around_zero(n) ** 2)) for n in from_zero())
    return _around_zero(rng.choose(cases))


@lru_cache(maxsize=64)
def _laplace_sums(rate: Fraction, bound: int) -> tuple[Mass, ...]:
    weights = (exp_mass(rate * abs(k)) for k in range(-bound, bound + 1))
    return tuple(accumulate(weights, Mass.plus, initial=NOTHING))


def _truncated_laplace(noise: TruncatedLaplace, rng: Tape) -> Any:
    sums = _laplace_sums(fraction(noise.rate), noise.bound)
    return Dart(Weighted(rng, sums), shift=-noise.bound)


def _truncated_laplaces(noise: TruncatedLaplace, count: int, rng: Tape) -> Any:
    """Return undecided values, since a comparison with a threshold may be enough."""
    return np.array([noise.draw(rng) for _ in range(count)] + [None], dtype=object)[:count]


def _position(weights: NDArray[np.float64], rng: Tape) -> int:
    """Return the position by the same rounding: how many of 2**53 fall before each end."""
    ends, numbers = np.cumsum(weights), range(1 << 53)
    total = ends[-1]
    cuts = [
        bisect_left(numbers, True, key=lambda n, end=end: n * 2.0**-53 * total >= end)  # type: ignore[misc]
        for end in ends[: np.flatnonzero(weights)[-1]]
    ]
    return rng.choose(
        [Mass.from_ratio(last - first, 1 << 53) for first, last in pairwise((0, *cuts, 1 << 53))]
    )


def _proposed(step: ProperStep, weights: NDArray[np.float64], rng: Tape) -> NDArray[np.int64]:
    return np.array([_position(weights, rng) for _ in range(step.proposals)], dtype=np.int64)


def _dealt(
    learner: IrreducibleLearner, points: NDArray[np.int64], labels: NDArray[np.uint8], rng: Tape
) -> NDArray[np.int64]:
    """Deal examples to blocks without distinguishing equal examples."""
    left = Counter(zip(points.tolist(), labels.tolist(), strict=True))
    each = len(points) // learner.blocks
    counts = np.zeros((2, learner.blocks, len(learner.concepts.sides)), dtype=np.int64)
    for place in range(each * learner.blocks):
        point, label = _taken(left, rng)
        counts[label, place // each, point] += 1
    return counts


_neighbours = forest_layer.neighbours


def _of_kinds(owners: Sequence[int], *, slots: int, rng: Tape) -> Counter[tuple[int, int]]:
    """Place sequences without distinguishing equal ones."""
    if slots > _FEW:
        return _neighbours(owners, slots=slots, rng=rng)
    empty = -1
    left = Counter([*owners, *[empty] * (slots - len(owners))])
    seats = [_taken(left, rng) for _ in range(slots)]
    pairs = zip(seats[::2], seats[1::2], strict=True)
    return Counter(pair for pair in pairs if empty not in pair)


def _taken(left: Counter[Any], rng: Tape) -> Any:
    """Return a uniform choice of the remaining ones."""
    kinds = sorted(left)
    kind = kinds[rng.choose([Mass.from_ratio(left[kind], left.total()) for kind in kinds])]
    left.subtract([kind])
    if not left[kind]:
        del left[kind]
    return kind


class _Decided:
    """Replaces the coins of one slot."""

    def __init__(self, slot: int) -> None:
        self._slot = slot

    def below(self, bound: int) -> int:
        assert self._slot < bound
        return self._slot


_into_a_slot = ForestTable.insert


def _inserted(
    table: ForestTable, hypothesis: Hypothesis, x: Any, y: Label, *, slots: int, rng: Tape
) -> OnlineState | None:
    """Treat all slots without a pair that the mistake would split as one case."""
    slots, whole = int(slots), table.agreeing()[hypothesis]
    if whole > _FEW:  # layer 0, where mistakes never share a slot
        return _into_a_slot(table, hypothesis, x, y, slots=slots, rng=rng)
    hit = rng.choose(
        [Mass.from_ratio(1, slots)] * whole
        + [Mass.from_ratio(slots - whole, slots)] * (whole < slots)
    )
    decided: Any = _Decided(hit)
    return _into_a_slot(table, hypothesis, x, y, slots=slots, rng=decided)


def _tree_and_leaf(forest: Forest) -> tuple[int, int]:
    """Treat all trees without examples as one case; their numbers are never used."""
    tape, grown = forest.coins, len(forest.grown)
    assert isinstance(tape, Tape)
    each = [Mass.from_ratio(1, forest.trees)] * grown
    rest = [Mass.from_ratio(forest.trees - grown, forest.trees)] if grown < forest.trees else []
    return tape.choose([*each, *rest]), int(tape.below(forest.leaves))


def _waiting_time(noise: WaitingTime, gap: int, rng: Tape) -> int:
    """Choose a waiting time; all beyond the last round are one case."""
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
    """Return the law of rejection sampling from the old weights, computed directly."""
    scores, table, rng = run._scores.as_array(), run._table, run._rng
    least = int(scores.min()) if run._base is None else run._least
    each = [table.weights[table.level(score - least)] for score in scores.tolist()]
    whole = sum(each)
    assert isinstance(rng, Tape)
    return rng.choose([Mass.from_ratio(weight, whole) for weight in each])


def _read_ahead(draws: FreshDraws, count: int) -> None:
    """Make each draw a separate decision when it is used."""


def _fresh_draws(draws: FreshDraws, costs: Any, count: int) -> Any:
    weights = [int(weight * 2.0**_WEIGHT_BITS) for weight in np.exp(costs.min() - costs).tolist()]
    masses = [Mass.from_ratio(weight, sum(weights)) for weight in weights]
    rng = draws._rng
    assert isinstance(rng, Tape)
    return np.array([rng.choose(masses) for _ in range(count)], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Substitute:
    """A replacement of some methods during enumeration, and what it leaves out."""

    owner: Any
    methods: Mapping[str, Any]
    why: str

    @property
    def name(self) -> str:
        """The name of the class or module that is replaced."""
        return str(self.owner.__name__).rpartition(".")[2]


_LAW: Final = "its law; statistical tests check that the code has this law"
_ALIKE: Final = (
    "one case for all that behave alike; on small instances the result is that of all cases"
)

SUBSTITUTES: Final = (
    Substitute(Geometric, {"draw": _geometric, "draw_many": _one_by_one}, _LAW),
    Substitute(BernoulliExp, {"draw_many": _coins}, "one coin at a time"),
    Substitute(DiscreteLaplace, {"draw": _discrete_laplace, "draw_many": _one_by_one}, _LAW),
    Substitute(
        DiscreteGaussian,
        {"draw": _discrete_gaussian, "draw_many": _one_by_one},
        f"{_LAW}. So WideGaussian, which draws for variances from 2^16 on, never runs",
    ),
    Substitute(
        TruncatedLaplace, {"draw": _truncated_laplace, "draw_many": _truncated_laplaces}, _LAW
    ),
    Substitute(WaitingTime, {"draw": _waiting_time, "first": _first}, _LAW),
    Substitute(PermuteAndFlip, {"_flip": _flip}, "one coin at a time"),
    Substitute(
        IncrementalSelectionRun,
        {"draw": _present_weights},
        "the law of an accepted proposal; a test runs the proposals and rejections themselves",
    ),
    Substitute(Forest, {"tree_and_leaf": _tree_and_leaf}, _ALIKE),
    Substitute(ForestTable, {"insert": _inserted}, _ALIKE),
    Substitute(forest_layer, {"neighbours": _of_kinds}, _ALIKE),
    Substitute(IrreducibleLearner, {"_tallies": _dealt}, _ALIKE),
    Substitute(ProperStep, {"_propose": _proposed}, "one position at a time"),
    Substitute(proper, {"draw_position": _position}, "the same rounding, one number at a time"),
    Substitute(
        proper_agnostic, {"draw_position": _position}, "the same rounding, one number at a time"
    ),
    Substitute(
        FreshDraws,
        {"read_ahead": _read_ahead, "draw": _fresh_draws},
        "the law of each draw, drawn when it is used; nothing is read ahead",
    ),
)
"""Everything that is replaced while coins are enumerated."""

BLIND_SPOTS: Final = {
    "WideGaussian": "reads raw words: a test enumerates those of one proposal, outside a game",
    "LinearPool": "reads raw words; enumerated only for a source of a few given words",
    "PrivateLinear": "has noise with many components; its laws are enumerated for one or two",
    "readers of rows other than CSV": "is outside the games; `make rows` tests them",
}
"""What is not enumerated, or not for every word."""


@contextmanager
def enumerable(*, proposals: bool = False) -> Iterator[None]:
    """Make every private sampler of the library accept a ``Tape`` (and nothing else) in a block.

    With ``proposals`` IncrementalSelection runs unchanged, including rejections.
    """
    with ExitStack() as stack:
        for substitute in SUBSTITUTES:
            if not (proposals and substitute.owner is IncrementalSelectionRun):
                stack.enter_context(replaced(substitute.owner, **substitute.methods))
        yield
