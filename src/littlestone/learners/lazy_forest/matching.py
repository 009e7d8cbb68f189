"""Random neighbours: elements on distinct random slots, and who sits on the slots 2i and 2i + 1."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.randomness import Randomness

# Up to this many slots per element, shuffling all slots is the cheapest way to choose some.
_DENSE: Final = 8

Pairs = NDArray[np.int64]
"""One row (first, second) for each pair of slots that are both taken."""


def random_pairs(elements: int, *, slots: int, rng: Randomness) -> Pairs:
    """Put ``elements`` on distinct uniformly random slots; pair those on the slots 2i and 2i + 1.

    The law is exactly that of a random permutation of the elements and of ``slots - elements``
    placeholders, whose pairs are dropped. Time and memory grow with the elements only.

    >>> from littlestone.randomness import seeded
    >>> sorted(random_pairs(4, slots=4, rng=seeded(1)).ravel().tolist())
    [0, 1, 2, 3]
    >>> random_pairs(1000, slots=2**80, rng=seeded(1)).shape
    (0, 2)
    """
    require.integer(elements=elements, slots=slots, at_least=0)
    if slots % 2 or slots < elements:
        raise ValueError(f"slots must be even and at least {elements}, got slots={slots!r}")
    if slots <= _DENSE * elements:
        return _dense_pairs(elements, slots, rng)
    return _sparse_pairs(elements, slots, rng)


def just_enough(elements: int) -> int:
    """The smallest even number of slots: everyone has a neighbour, but for one if it is odd."""
    return elements + elements % 2


def _dense_pairs(elements: int, slots: int, rng: Randomness) -> Pairs:
    seats = np.full(slots, -1, dtype=np.int64)
    seats[rng.permutation(slots)[:elements]] = np.arange(elements)
    neighbours = seats.reshape(-1, 2)
    taken: Pairs = neighbours[(neighbours >= 0).all(axis=1)]
    return taken


def _sparse_pairs(elements: int, slots: int, rng: Randomness) -> Pairs:
    seats: dict[int, int] = {}
    for element in range(elements):
        slot = rng.below(slots)
        while slot in seats:  # a taken slot is refused, so the choice among the free is uniform
            slot = rng.below(slots)
        seats[slot] = element
    pairs = [
        (element, seats[slot + 1])
        for slot, element in seats.items()
        if slot % 2 == 0 and slot + 1 in seats
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
