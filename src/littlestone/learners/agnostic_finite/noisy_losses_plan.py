"""How long batches and epochs are best, how fine the questions, how large the noise."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from littlestone.concepts.protocols import ConceptClass
from littlestone.learners.agnostic_finite.batch_queries import Lines, Queries, queries_about
from littlestone.learners.agnostic_finite.running_totals import (
    levels_for,
    squared_shift,
    total_error,
)
from littlestone.mechanisms.noise.discrete_gaussian import LARGEST_TABLE_VARIANCE
from littlestone.theory.expert_bounds import noisy_losses_regret_upper_bound
from littlestone.theory.outwards import upwards

_MOST_DRAWS: Final = 1 << 27  # of noise, in one run
_LONGEST_EPOCH: Final = 400
_SHORTEST_EPOCH: Final = 4  # unless there are fewer batches
_MOST_REMEMBERED: Final = 1 << 15  # answers of one epoch
_FINENESS: Final = 256  # variances are multiples of 1/256
_UNROUNDED: Final = float(1 << 20)
_GRID: Final = 1.04

Sizes = tuple[int, int]
"""Of a batch, in rounds, and of an epoch, in batches."""


@lru_cache(maxsize=64)
def questions(concepts: ConceptClass, rho: float) -> Queries:
    """As fine as noise can still be drawn quickly; rounding costs little from 1.6 √X on."""
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
    """The variance of each answer's noise, and that of an estimate of a total at the end."""
    releases = (rounds - 1) // batch
    if not releases:  # none is drawn, however large it would be
        return Fraction(1), 0.0
    moved = queries.squared_sensitivity * squared_shift(releases, epoch)
    least = Fraction(moved) / (2 * Fraction(rho))
    variance = max(Fraction(1, 16), Fraction(math.ceil(_FINENESS * least), _FINENESS))
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
    """Those given, and else those with the smallest bound that a run can afford."""

    def regret(sizes: Sizes) -> float:
        length, correlated = sizes
        releases = (rounds - 1) // length
        root = queries.squared_sensitivity * queries.spread / (2 * rho)
        # Near enough: γ(m) for each level, by the closed form for m → ∞ [FHU23].
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
    """As few levels as memory allows, and as short epochs as so few levels allow."""
    longest = max(_SHORTEST_EPOCH, min(_LONGEST_EPOCH, _MOST_REMEMBERED // cells))
    levels = levels_for(releases, longest)
    return next(m for m in range(2, longest + 1) if m**levels > releases)


def _lengths(queries: Queries, rounds: int) -> list[int]:
    """Lengths of batches, from the shortest that a run can afford."""
    shortest = -(-rounds * queries.cells // _MOST_DRAWS)
    steps = int(math.log(rounds) / math.log(_GRID)) + 1
    grid = {round(_GRID**step) for step in range(steps + 1)} | {1, rounds}
    return sorted(length for length in grid if min(shortest, rounds) <= length <= rounds)
