"""Choose an element with a small score, privately: the exponential mechanism on whole numbers."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from operator import index, lshift, mul
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

# Below this many elements, numpy's fixed costs exceed those of plain Python.
_MOST_DRAWS: Final = 1 << 24
_SMALL: Final = 128
# Arrays of this size are reused by the allocator; larger ones are fetched page by page.
_BLOCK: Final = 8192


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialMechanism:
    """Draw element i with probability proportional to exp(-eta * score[i]), eta = epsilon / width.

    Scores are whole numbers, losses for instance; small is good. ``range_width`` says how far
    apart the changes of two elements' scores can be when one person's data change: 1 if all
    scores move by 0 or 1 (or all by 0 or -1), 2 if each moves by -1, 0 or 1. The exponentials
    are those of an integer table, so the sampled law contains no floating point, and
    ``floor_bits`` bounds them below by 2**-floor_bits times the best element's.

    Privacy (of each draw):
        Releases:   one element
        Neighbours: inputs whose scores differ by a vector with max - min <= ``range_width``
        Adversary:  adaptive; scores may depend on everything released before
        Guarantee:  (epsilon, 0); its log-likelihood ratio spans at most epsilon
        Assumes:    honest-caller (the range width is true); timing (docs/GUARANTEES.md): with
                    ``multiplicities`` the number of runs shows
        Proof:      exponential.md
        Checked:    proofs/promises/ExponentialMechanism.v, theorem exponential_mechanism_private

    A draw takes time in proportion to the number of scores, or of runs if ``multiplicities`` are
    given, and each further draw from the same scores a logarithm of it.

    >>> from littlestone.randomness import seeded
    >>> mechanism = ExponentialMechanism(epsilon=0.5)
    >>> mechanism.guarantee(), mechanism.zero_concentrated()
    (PrivacyGuarantee(epsilon=0.5, delta=0.0), ZeroConcentrated(rho=0.03125))
    >>> mechanism.draw([1000, 0, 1000], rng=seeded(1))
    [1]
    >>> mechanism.draw([1000, 0], multiplicities=[2**40, 1], rng=seeded(1)) == [2**40]
    True
    """

    epsilon: float
    range_width: int = 2
    floor_bits: int = 64
    _table: WeightTable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.usual_fields(self)
        # Rounded down, so never above the request; the proof is about the stored number.
        object.__setattr__(self, "epsilon", float_at_most(self.epsilon))
        table = table_for(
            epsilon=self.epsilon, range_width=self.range_width, floor_bits=self.floor_bits
        )
        object.__setattr__(self, "_table", table)

    @classmethod
    @require.checked
    def from_eta(
        cls, eta: Fraction | float, *, range_width: int = 2, floor_bits: int = 64
    ) -> "ExponentialMechanism":
        """Return the mechanism of rate ``eta``, rounded down by at most one float."""
        require.positive(eta=eta)
        epsilon = float_at_most(Fraction(eta) * range_width)
        return cls(epsilon=epsilon, range_width=range_width, floor_bits=floor_bits)

    @property
    def eta(self) -> Fraction:
        """The rate in the exponent, exactly."""
        return Fraction(self.epsilon) / self.range_width

    def guarantee(self) -> PrivacyGuarantee:
        """Return the cost of one draw."""
        return PrivacyGuarantee(epsilon=self.epsilon)

    def zero_concentrated(self) -> ZeroConcentrated:
        """Return the cost of one draw for zCDP.

        A range of epsilon costs epsilon**2 / 8, not / 2.
        """
        return ZeroConcentrated.from_bounded_range(self.epsilon)

    def draw(
        self,
        scores: ArrayLike,
        *,
        rng: Randomness,
        multiplicities: Iterable[int] | None = None,
        count: int = 1,
    ) -> list[int]:
        """``count`` independent draws; each is an element's position and costs the guarantee.

        With ``multiplicities``, score i stands for that many equal neighbours in a row, and
        positions are counted as if each had been written out.
        """
        require.integer(count=count, at_least=1, at_most=_MOST_DRAWS)
        known = whole_scores(scores)
        if multiplicities is not None:
            lengths = _lengths(multiplicities, runs=len(known))
            return self._draw_from_runs(known.tolist(), lengths, rng, count)
        if len(known) <= _SMALL:
            return self._draw_from_runs(known.tolist(), [1] * len(known), rng, count)
        return self._draw_by_digits(known, rng, count)

    def _draw_from_runs(
        self, scores: list[int], lengths: list[int], rng: Randomness, count: int
    ) -> list[int]:
        """Lay the runs out one after another, each as long as it weighs: the definition."""
        each, ends = self._stretches(scores, lengths)
        positions = list(accumulate(lengths))
        chosen = []
        for _ in range(count):
            dart = rng.below(ends[-1])  # (L3)
            run = bisect_right(ends, dart)  # (L4)
            chosen.append(positions[run] - 1 - (ends[run] - 1 - dart) // each[run])
        return chosen

    def _stretches(self, scores: list[int], lengths: list[int]) -> tuple[list[int], list[int]]:
        """Return the weight of an element of each run, and where the stretches of runs end."""
        weights, last = self._table.weights, len(self._table.weights) - 1
        least = min(score for score, length in zip(scores, lengths, strict=True) if length)  # (L1)
        # An empty run may have a smaller score; its weight is zero whichever entry it reads.
        each = [weights[min(abs(score - least), last)] for score in scores]  # (L2)
        return each, list(accumulate(map(mul, each, lengths)))

    def _draw_by_digits(self, scores: NDArray[np.int64], rng: Randomness, count: int) -> list[int]:
        """Return the same law in 64-bit arithmetic: first a digit of the weights, then an element.

        A weight is the sum of its digits times their places. So the darts that fall on an
        element are those that fall on one of its digits: each place of each block of elements
        is a stretch of its own.
        """
        table = self._table
        least = scores.min()  # (L1)
        starts = range(0, len(scores), _BLOCK)
        blocks = [table.levels(scores[start : start + _BLOCK], least) for start in starts]  # (L2)
        stretches = [(digit, block) for digit in table.digits for block in blocks]
        places = [table.digit_bits * place for place in range(len(table.digits)) for _ in blocks]
        sums = [int(digit.take(block).sum()) for digit, block in stretches]
        ends = list(accumulate(map(lshift, sums, places)))
        darts = [rng.below(ends[-1]) for _ in range(count)]  # (L3)
        hit = [bisect_right(ends, dart) for dart in darts]
        within = {i: stretches[i][0].take(stretches[i][1]).cumsum() for i in set(hit)}
        chosen = []
        for i, dart in zip(hit, darts, strict=True):
            unit = sums[i] - 1 - (ends[i] - 1 - dart >> places[i])
            element = int(within[i].searchsorted(unit, side="right"))  # (L4)
            chosen.append(starts[i % len(blocks)] + element)
        return chosen


def run_drawn(
    mechanism: ExponentialMechanism, scores: list[int], lengths: list[int], *, rng: Randomness
) -> int:
    """Return the run that one draw hits, for engines, whose lists need no checks."""
    _, ends = mechanism._stretches(scores, lengths)
    return bisect_right(ends, rng.below(ends[-1]))


def _lengths(multiplicities: Iterable[int], *, runs: int) -> list[int]:
    try:
        lengths = [index(length) for length in require.listed(multiplicities=multiplicities)]
    except Exception:  # a float, say, or what raises an error of its own
        lengths = []
    if len(lengths) != runs or min(lengths) < 0 or max(lengths) == 0:
        raise ValueError(
            "multiplicities must be whole numbers of at least 0, one for each score, not all 0"
        )
    return lengths
