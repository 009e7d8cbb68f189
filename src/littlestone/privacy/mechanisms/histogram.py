"""Publish the frequent keys of a list and their counts, with a certain error bound.

The keys may come from an unbounded set: only those that occur are ever touched.
"""

import json
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.canonical_key import canonical_key, canonical_keys
from littlestone.concepts.json_form import canonical_value
from littlestone.concepts.keys import key_order
from littlestone.privacy.guarantee import Neighbours, PrivacyGuarantee
from littlestone.privacy.mechanisms.noise.exact import exp_bounds, fraction, noise_rate
from littlestone.privacy.mechanisms.noise.geometric import TruncatedLaplace
from littlestone.randomness import Randomness

_CELLS_CHANGED: Final = {"add-remove": 1, "replace": 2}
_LARGEST_COUNT: Final = 1 << 60
_SMALLEST_FLOAT: Final = 1e-300


@require.checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateHistogram:
    """Release every key whose noisy count reaches a threshold, with that count.

    Privacy:
        Releases:   the keys whose noisy count reaches ``threshold``, with their noisy counts
        Neighbours: lists that differ by one element: added or removed (``add-remove``), or
                    exchanged for another (``replace``)
        Adversary:  adaptive; may choose the list after seeing earlier releases
        Guarantee:  (epsilon, delta) for each release
        Assumes:    timing (docs/GUARANTEES.md): the work grows with the number of distinct keys
        Proof:      histogram.md
        Checked:    proofs/promises/PrivateHistogram.v, theorem private_histogram_private

    Every count is off by at most ``error_bound``, with probability 1; unreleased keys count as
    zero.

    >>> recipe = PrivateHistogram(epsilon=1.0, delta=1e-6, neighbours="add-remove")
    >>> recipe.guarantee()
    PrivacyGuarantee(epsilon=1.0, delta=1e-06)
    >>> recipe.noise_bound, recipe.error_bound, recipe.certain_inclusion
    (14, 28, 29)
    >>> from littlestone.randomness import seeded
    >>> release = recipe.release({"rare": 1, "frequent": 1000}, rng=seeded(1))
    >>> list(release), abs(release["frequent"] - 1000) <= 14
    (['frequent'], True)
    """

    epsilon: float
    delta: float
    threshold: int | None = None
    """The smallest noisy count released; by default the smallest that delta allows."""
    neighbours: Neighbours = "replace"
    _noise: TruncatedLaplace = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require.fields_fit(self)
        noise_rate(epsilon=self.epsilon)
        require.open_probability(delta=self.delta)
        if self.neighbours not in _CELLS_CHANGED:
            raise ValueError(
                f"neighbours must be 'add-remove' or 'replace', got neighbours={self.neighbours!r}"
            )
        cells = _CELLS_CHANGED[self.neighbours]
        epsilon, delta = fraction(self.epsilon) / cells, fraction(self.delta) / cells  # (L1)
        noise_bound = smallest_noise_bound(epsilon, delta)  # (L2)
        object.__setattr__(self, "_noise", TruncatedLaplace(rate=epsilon, bound=noise_bound))
        if self.threshold is None:
            object.__setattr__(self, "threshold", noise_bound + 1)  # (L3)
        require.integer(threshold=self.threshold)
        if self._threshold <= noise_bound:  # (L3)
            raise ValueError(
                f"threshold must be at least {noise_bound + 1} for this epsilon and delta, "
                f"got threshold={self.threshold!r}"
            )

    @property
    def _threshold(self) -> int:
        assert self.threshold is not None
        return self.threshold

    @property
    def noise_bound(self) -> int:
        """No released count is further than this from the truth."""
        return self._noise.bound

    @property
    def error_bound(self) -> int:
        """No count is further than this from the truth, unreleased keys counting as zero."""
        return self._threshold + self.noise_bound - 1

    @property
    def certain_inclusion(self) -> int:
        """Every key that occurs at least this often is released."""
        return self._threshold + self.noise_bound

    @property
    def certain_exclusion(self) -> int:
        """No key that occurs at most this often is released."""
        return self._threshold - self.noise_bound - 1

    def guarantee(self) -> PrivacyGuarantee:
        """Return what one release promises."""
        return PrivacyGuarantee.rounded_up(epsilon=self.epsilon, delta=self.delta)

    def release(
        self,
        data: Mapping[Any, int] | Iterable[Hashable],
        *,
        rng: Randomness,
        order: Callable[[Any], Any] | None = None,
    ) -> dict[Any, int]:
        """Return the released keys with noisy counts, in an order that depends only on the keys.

        ``data`` is a list (or array, or any iterable) of keys, or a mapping from keys to counts.
        Keys are plain values (``canonical_key``) or have a ``to_json()``, as hypotheses do; they
        are released in canonical form; other keys raise a ValueError. ``order``, if given, must be
        one-to-one and depend only on the key.
        """
        keys, counts = _tally(data)
        # For all keys, released or not: an error must not reveal which were.
        ranks: list[Any] = [(order or _place)(key) for key in keys]
        if len(set(ranks)) < len(keys):
            raise ValueError("order must be one-to-one, but two keys have the same place")
        noisy = counts + self._noise.draw_many(len(keys), rng)  # (L4)
        released = np.flatnonzero(noisy >= self._threshold).tolist()  # (L5)
        released.sort(key=ranks.__getitem__)  # (L6)
        shown = noisy.tolist()
        return {canonical_value(keys[i]): shown[i] for i in released}


def _tally(data: Mapping[Any, int] | Iterable[Hashable]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the count of each key that occurs, in canonical form."""
    array = require.plain_array(data)
    if array is not None and array.ndim == 1 and array.dtype.kind in "iu":
        values, how_often = np.unique(array, return_counts=True)
        return values.tolist(), how_often.astype(np.int64)
    if isinstance(data, Mapping):
        counts: Counter[Any] = Counter()
        for key, count in data.items():
            require.integer(count=count, at_least=0)
            counts[_checked(key)] += int(count)
    else:
        given = require.listed(data=data)
        plain = not any(hasattr(kind, "to_json") for kind in set(map(type, given)))
        counts = Counter(canonical_keys(given) if plain else map(_checked, given))
    if max(counts.values(), default=0) > _LARGEST_COUNT:
        raise ValueError(f"count must be at most 2**60, got count={max(counts.values())}")
    keys = [key for key, count in counts.items() if count]
    return keys, np.fromiter((counts[key] for key in keys), dtype=np.int64, count=len(keys))


def _checked(key: Any) -> Any:
    """Return the canonical form of a plain key; hypotheses are converted at the release."""
    return key if hasattr(key, "to_json") else canonical_key(key)


def _place(key: Any) -> Hashable:
    """Return the rank in a fixed order; arrival and hash orders depend on other data."""
    if hasattr(key, "to_json"):
        return (7, json.dumps(key.to_json(), sort_keys=True))  # sorts after every type of key_order
    return key_order(key)


@lru_cache(maxsize=1024)
def smallest_noise_bound(epsilon: Fraction, delta: Fraction) -> int:
    """Return the smallest a with e**(-epsilon * a) / Z_a <= delta, decided without rounding.

    Z_a is the sum of e**(-epsilon * |k|) over k from -a to a.

    >>> smallest_noise_bound(Fraction(1), Fraction(1, 10**6))
    14
    """
    light = partial(_edge_is_light, epsilon, delta)
    bounds = range(1, _LARGEST_COUNT)
    if delta > _SMALLEST_FLOAT:  # a float estimate; integers decide
        q = math.exp(-epsilon)
        edge = (-math.expm1(-epsilon) + 2 * delta * q) / (delta * (1 + q))
        near = max(2, math.ceil(math.log(edge) / epsilon))
        if light(near + 1) and (near == 2 or not light(near - 2)):
            bounds = range(near - 1, near + 2)
    return bounds[bisect_left(bounds, True, key=light)]


def _edge_is_light(epsilon: Fraction, delta: Fraction, bound: int) -> bool:
    """Return whether q**a * (1 - q) <= delta * (1 + q - 2 * q**(a + 1)), with q = e**(-epsilon).

    Equality is impossible, because q is transcendental [Lindemann], so enough bits decide.
    """
    bits = 128 + delta.denominator.bit_length()
    while True:
        one = 1 << bits
        q_low, q_high = exp_bounds(epsilon, bits)
        edge_low, edge_high = exp_bounds(epsilon * bound, bits)
        weight_low, weight_high = edge_low * (one - q_high), edge_high * (one - q_low)
        total_low = one * (one + q_low) - 2 * edge_high * q_high
        total_high = one * (one + q_high) - 2 * edge_low * q_low
        if weight_high <= delta * total_low:
            return True
        if weight_low > delta * total_high:
            return False
        bits *= 2
