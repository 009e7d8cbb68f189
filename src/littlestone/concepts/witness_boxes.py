"""Witness system of boxes in two to four dimensions: find a point inside, then all ends.

Given a point of the box, 2k distances determine the box: how far it reaches in each direction.
Every end has weights on its possible distances; the published box reaches up to a fixed share of
each end's weight. A mistake outside it shows one end that reaches farther, and shorter distances
are dropped. A mistake inside it shows that some end is shorter, but not which: then the far part of
each end's weights is multiplied by a factor. Either way the total shrinks faster than the weight of
the target box (docs/theory/witnesses.md).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any, Final

from littlestone.concepts.capabilities import PlacingSystem, WitnessLoad
from littlestone.concepts.protocols import Hypothesis, Label, Point
from littlestone.concepts.witness_systems import PLACE, line_depths

End = tuple[int, tuple[tuple[int, int], ...]]
"""The smallest distance left, and the stretches from there on: the length of each, and the
weight of each of its distances."""
State = tuple[Any, ...]
"""The coordinates found so far, the number of witnesses accepted since, and the ends."""

_SHARES: Final = {2: Fraction(1, 7), 3: Fraction(3, 29), 4: Fraction(4, 49)}
"""The share of the weight that lies inside, by the number of dimensions."""
MOST_DIMENSIONS: Final = max(_SHARES)


@dataclass(frozen=True, slots=True)
class BoxSystem(PlacingSystem):
    """Boxes in k dimensions with coordinates 0 .. n-1.

    Keys are (end, 1), "this end reaches beyond the published one", and (0, 0), "some end does not
    reach the published one". Counts of a key stay valid while it is live: a published
    end moves outwards only when its own key (end, 1) is accepted, and inwards only when (0, 0) is.
    """

    k: int
    n: int
    rule: Callable[[tuple[tuple[int, int], ...] | None], Hypothesis] = field(compare=False)
    """The box with these first and last coordinates; None for 0 everywhere."""

    @property
    def sought(self) -> int:
        return self.k

    @property
    def places(self) -> int:
        return self.n

    @property
    def rank(self) -> int:
        """The largest number of true witnesses that can be accepted."""
        share, ends = float(self._share), 2 * self.k
        outside = -math.log1p(-share)
        left = (ends - 1) * math.log(float(self._factor)) - ends * math.log(ends * share)
        return int(ends * math.log((self.n + 1) / 2) / min(outside, left) * (1 + 1e-12))

    def begin(self) -> State:
        return (), 0, ()

    def hypothesis(self, state: State, /) -> Hypothesis:
        centre, _, ends = state
        if len(centre) < self.k:
            return self.rule(None)
        reach = [self._reach(end) for end in ends]
        return self.rule(
            tuple((p - reach[2 * i], p + reach[2 * i + 1]) for i, p in enumerate(centre))
        )

    def live(self, state: State, /) -> tuple[Point, ...]:
        if len(state[0]) < self.k:
            return (PLACE,)
        return (0, 0), *((end, 1) for end in range(2 * self.k))

    def place(self, state: State, x: Any, /) -> int:
        place: int = x[len(state[0])]
        return place

    def named_by(self, state: State, x: Any, y: Label, /) -> Point:
        centre, _, ends = state
        if len(centre) < self.k:
            return PLACE
        if not y:
            return 0, 0
        distances = [
            distance
            for place, p in zip(x, centre, strict=True)
            for distance in (p - place, place - p)
        ]
        return next(e for e, end in enumerate(ends) if distances[e] > self._reach(end)), 1

    def after(self, state: State, key: Any, /) -> State | None:
        centre, accepted, ends = state
        if len(centre) < self.k:
            centre = (*centre, key[1])
            whole = len(centre) == self.k
            return centre, 0, tuple(e for p in centre for e in self._unknown(p)) if whole else ()
        number, y = key
        moved = list(ends)
        for e in (number,) if y else range(2 * self.k):
            end = self._farther(ends[e]) if y else self._nearer(ends[e])
            if end is None:
                return None
            moved[e] = end
        return (centre, accepted + 1, tuple(moved)) if accepted < self.rank else None

    def loads(self) -> list[WitnessLoad]:
        """Return the loads: any live key may be false, and unaccepted counts remain."""
        live = 2 * self.k + 1
        return [WitnessLoad(self.rank, counters=live, further=live)]

    @property
    def renews(self) -> bool:
        return True

    def depths(self, places: list[int], /) -> tuple[list[int], list[int]]:
        return line_depths(places, self.n)

    def place_at(self, places: list[int], position: int, /) -> int:
        del places
        return position

    @property
    def _share(self) -> Fraction:
        return _SHARES[self.k]

    @property
    def _factor(self) -> Fraction:
        """The factor for the far part of an end's weight after a mistake inside the box."""
        share = self._share
        return (2 * self.k - 1) * share / (1 - share)

    def _unknown(self, p: int) -> tuple[End, End]:
        """Return uniform weights for both ends around a coordinate."""
        return (0, ((p + 1, 1),)), (0, ((self.n - p, 1),))

    def _reach(self, end: End) -> int:
        """Return the smallest distance that covers the share of the weight."""
        first, stretches = end
        share = self._share
        goal = share.numerator * sum(length * weight for length, weight in stretches)
        for length, weight in stretches:
            each = share.denominator * weight
            if length * each >= goal:
                return first - goal // -each - 1
            first, goal = first + length, goal - length * each
        raise AssertionError("the whole is more than a share of it")

    def _farther(self, end: End) -> End | None:
        """Return the end without the distances up to the published one."""
        reach = self._reach(end)
        _, far = _cut(end, reach + 1)
        return (reach + 1, far) if far else None

    def _nearer(self, end: End) -> End:
        """Multiply the weights from the published distance on by the factor."""
        near, far = _cut(end, self._reach(end))
        up, down = self._factor.denominator, self._factor.numerator
        stretches = [(length, weight * up) for length, weight in near]
        stretches += [(length, weight * down) for length, weight in far]
        common = math.gcd(*(weight for _, weight in stretches))
        return end[0], tuple((length, weight // common) for length, weight in stretches)


def _cut(end: End, at: int) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """Return the stretches below a distance and those from it on."""
    first, stretches = end
    starts = accumulate((length for length, _ in stretches), initial=first)
    near, far = [], []
    for start, (length, weight) in zip(starts, stretches, strict=False):
        below = min(max(at - start, 0), length)
        near.append((below, weight))
        far.append((length - below, weight))
    return tuple(s for s in near if s[0]), tuple(s for s in far if s[0])
