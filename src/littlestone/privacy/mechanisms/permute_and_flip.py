"""Choose an element with a small score, privately, by permute-and-flip."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from littlestone import require
from littlestone.privacy.guarantee import PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.integer_weights import (
    WeightTable,
    table_for,
    whole_scores,
)
from littlestone.privacy.rounding import float_at_most
from littlestone.privacy.zcdp import ZeroConcentrated
from littlestone.randomness import Randomness

_LEADING_BITS: Final = 16


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PermuteAndFlip:
    """Visit the elements in random order; stop at i with probability exp(-eta * excess[i]).

    The excess is how far score i, a whole number, lies above the smallest; eta is
    ``epsilon / range_width`` and ``range_width`` as for the exponential mechanism, whose expected
    score this never exceeds [MS20]. The coins are those of an integer table.

    Privacy (of each draw):
        Releases:   one element
        Neighbours: inputs whose scores differ by a vector with max - min <= ``range_width``
        Adversary:  adaptive; scores may depend on everything released before
        Guarantee:  (epsilon, 0)
        Assumes:    honest-caller (the range width is true)
        Proof:      permute_and_flip.md, after [MS20, Theorem 1]

    All coins are flipped before any is looked at, so that the time of a draw shows the number of
    scores and not where the small ones are.

    >>> from littlestone.randomness import seeded
    >>> mechanism = PermuteAndFlip(epsilon=0.5)
    >>> mechanism.guarantee()
    PrivacyGuarantee(epsilon=0.5, delta=0.0)
    >>> mechanism.draw([1000, 0, 1000], rng=seeded(1))
    1
    """

    epsilon: float
    range_width: int = 2
    floor_bits: int = 64
    _table: WeightTable = field(init=False, repr=False, compare=False)
    _leading: NDArray[np.int32] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.usual_fields(self)
        # Rounded down, so never above the request; the proof is about the stored number.
        object.__setattr__(self, "epsilon", float_at_most(self.epsilon))
        table = table_for(
            epsilon=self.epsilon, range_width=self.range_width, floor_bits=self.floor_bits
        )
        rest = _rest_bits(table)
        leading = np.array([weight >> rest for weight in table.weights], dtype=np.int32)
        require.settle(self, _table=table, _leading=leading)

    def guarantee(self) -> PrivacyGuarantee:
        """Return the cost of one draw."""
        return PrivacyGuarantee(epsilon=self.epsilon)

    def zero_concentrated(self) -> ZeroConcentrated:
        """Return the zCDP cost of one draw; its log-likelihood ratio may span more than epsilon."""
        return ZeroConcentrated.from_pure(self.epsilon)

    def draw(self, scores: ArrayLike, *, rng: Randomness) -> int:
        """Return the position of one element."""
        known = whole_scores(scores)
        levels = self._table.levels(known, known.min())  # (L1)
        heads = np.flatnonzero(self._flip(levels, rng))  # (L3)
        # The first head in a random order is a uniformly random head.
        return int(heads[rng.below(len(heads))])  # (L2, L4)

    def _flip(self, levels: NDArray[np.int64], rng: Randomness) -> NDArray[np.bool_]:
        """Return a coin for each element: heads with probability W[level] / W[0], a power of two.

        Compares a uniform number below W[0] with the weight: the leading bits of all at once, and
        the rest of them in the rare case that these agree.
        """
        drawn = rng.words(-(-len(levels) // 4)).view(np.uint16)[: len(levels)]
        wanted = self._leading.take(levels)
        heads = drawn < wanted
        rest = _rest_bits(self._table)
        for i in np.flatnonzero(drawn == wanted):
            weight = self._table.weights[int(levels[i])]
            heads[i] = rng.bits(rest) < weight & (1 << rest) - 1
        return heads


def _rest_bits(table: WeightTable) -> int:
    return table.weights[0].bit_length() - 1 - _LEADING_BITS
