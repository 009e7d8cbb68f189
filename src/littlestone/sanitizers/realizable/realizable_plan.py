"""Planning gives the numbers of a realizable sanitizer for a given size; it is public."""

import math
from dataclasses import dataclass
from typing import ClassVar

from littlestone.sanitizers.fooling.discriminator import NoiseBounds
from littlestone.sanitizers.fooling.fooling_plan import GamePlan
from littlestone.sanitizers.queries import FiniteQueries
from littlestone.sanitizers.realizable.winnow_generator import identric_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class RealizablePlan(GamePlan):
    """For objections to flags: shares to tell apart."""

    low: float
    """Objections to a flag have at most this share."""
    high: float
    """Objections to a missing flag have at least this share."""
    lower: float
    """Test against this share before objecting to a flag."""
    upper: float
    """Test against this share before objecting to a missing flag."""

    proposals: ClassVar[int] = 1

    @classmethod
    def numbers(
        cls, queries: FiniteQueries, *, size: int, rounds: float, noise: NoiseBounds
    ) -> dict[str, float]:
        # A little more than the noise, for shares are rounded to whole examples.
        lower = (noise.choose + noise.test + 2) / size
        low = lower + (noise.test + 1) / size
        wanted = math.log(queries.cells) * (1 + 1e-6) / rounds
        high = smallest_high(low, wanted) if low < 1 else 1.0
        upper = high + (noise.test + 1) / size
        error = min(1.0, upper + (noise.choose + noise.test + 2) / size)
        return {"low": low, "high": high, "lower": lower, "upper": upper, "error": error}


def smallest_high(low: float, drop: float) -> float:
    """The smallest share that can be told from ``low`` at a gain of ``drop`` for each objection.

    >>> round(smallest_high(0.01, 0.005), 3)
    0.041
    """
    below, above = low, max(4 * low, 4 * drop)
    while _drop(low, above) < drop:
        above *= 2
    for _ in range(60):
        middle = (below + above) / 2
        if middle > low and _drop(low, middle) >= drop:
            above = middle
        else:
            below = middle
    return above


def _drop(low: float, high: float) -> float:
    """What ``WinnowGenerator.between`` gains with each objection."""
    cut = identric_mean(low, high)
    return high * math.log(high / cut) - high + cut
