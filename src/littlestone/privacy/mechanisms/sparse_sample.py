"""Choose an element that many short lists share, without knowing the possible elements."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any, Final

from littlestone import require
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.integer_weights import weight_table
from littlestone.privacy.rounding import exp_upper_bound, float_at_most
from littlestone.randomness import Randomness
from littlestone.theory.outwards import upwards

_GUARD: Final = 8
_LONGEST_TABLE: Final = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseSample:
    """Draw u with weight exp(epsilon / 2 * number of lists with u), or nothing at all.

    "Nothing" has the weight of an element that ``bottom`` lists contain, which hides an element
    that only one list contains. The weights are integers.

    Privacy:
        Releases:   one element, or None
        Neighbours: ``lists`` lists of at most ``longest`` elements, one of them replaced
        Adversary:  adaptive; the lists may depend on everything released before
        Guarantee:  (epsilon, delta)
        Assumes:    timing (docs/GUARANTEES.md): the number of different elements shows
        Proof:      sparse_sample.md, after [GGKM21]

    >>> from littlestone.randomness import seeded
    >>> recipe = SparseSample(epsilon=1.0, delta=1e-6, lists=100, longest=1000)
    >>> recipe.bottom
    45
    >>> recipe.draw([{"a", "b"}] * 99 + [{"c"}], rng=seeded(1)) in ("a", "b")
    True
    """

    epsilon: float
    delta: float
    lists: int
    longest: int
    bottom: int = field(init=False)
    _weights: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.usual_fields(self)
        require.integer(longest=self.longest, at_least=1)
        require.integer(lists=self.lists, at_least=1, at_most=_LONGEST_TABLE)
        half = Fraction(float_at_most(self.epsilon)) / 2
        # Generous; the guarantee is computed below from the weights themselves.
        nearly = (
            1 + math.log(self.longest * (1 + math.exp(min(float(half), 700.0))) / self.delta) / half
        )
        if nearly > _LONGEST_TABLE:
            raise ValueError(
                f"epsilon is too small for a table of weights, got epsilon={self.epsilon!r}"
            )
        most = max(self.lists, math.ceil(nearly) + _GUARD)
        floor_bits = math.ceil(most * half / math.log(2)) + _GUARD
        weights = weight_table(half, floor_bits).weights[most::-1]  # from score 0 to ``most``
        allowed = Fraction(self.delta) / (self.longest * (1 + exp_upper_bound(half)))
        bottom = next(s for s, w in enumerate(weights) if s and Fraction(weights[1], w) <= allowed)
        require.settle(self, _weights=weights, bottom=bottom)

    def guarantee(self) -> PrivacyGuarantee:
        """Return the guarantee of one run."""
        return PrivacyGuarantee(epsilon=self.epsilon, delta=self.delta)

    def none_bound(self, *, score: int) -> float:
        """Bound the probability of None if some element is in ``score`` lists."""
        require.integer(score=score, at_least=0, at_most=self.lists)
        bottom, held = self._weights[self.bottom], self._weights[score]
        return upwards(float(Fraction(bottom, bottom + held)))

    def draw(self, lists: Sequence[Collection[Any]], *, rng: Randomness) -> Any | None:
        """Return one element of the lists, or None.

        A list that is too long loses its last elements.
        """
        if len(lists) != self.lists:
            raise ValueError(f"lists must be {self.lists} in number, got {len(lists)}")
        scores = Counter(u for known in lists for u in sorted(set(known))[: self.longest])  # (L1)
        elements = sorted(scores)  # the law does not depend on the order
        weights = [
            self._weights[self.bottom],
            *(self._weights[scores[u]] for u in elements),
        ]  # (L2)
        ends = list(accumulate(weights))
        place = bisect_right(ends, rng.below(ends[-1]))  # (L3)
        return elements[place - 1] if place else None
