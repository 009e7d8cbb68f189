"""Sets as bit masks: small exact searches for those that meet every set of a family."""

import math
from collections.abc import Iterable, Iterator
from functools import cache

Family = frozenset[int]


def minimal(family: Iterable[int]) -> Family:
    """The members that hold no other member: the same sets meet them all."""
    kept: list[int] = []
    for part in sorted(set(family), key=int.bit_count):
        if not any(small & part == small for small in kept):
            kept.append(part)
    return frozenset(kept)


@cache
def fewest_hitting(family: Family) -> int:
    """The size of a smallest set that meets every member; exponential in it at worst.

    >>> fewest_hitting(frozenset({0b0011, 0b0110, 0b1100}))
    2
    """
    size = 0
    while not _can_hit(tuple(sorted(family, key=lambda part: (part.bit_count(), part))), size):
        size += 1
    return size


def _can_hit(family: tuple[int, ...], size: int) -> bool:
    if not family:
        return True
    if size == 0:
        return False
    smallest, allowed = family[0], -1
    for bit in bits(smallest):
        rest = tuple(part & allowed for part in family if not part & bit)
        if all(rest) and _can_hit(rest, size - 1):
            return True
        allowed &= ~bit  # sets with this element were all tried
    return False


@cache
def count_hitting(family: Family, elements: int, most: int | None = None) -> int:
    """How many subsets of ``elements`` (a mask), of size at most ``most``, meet every member.

    >>> count_hitting(frozenset({0b011}), 0b111), count_hitting(frozenset({0b011}), 0b111, 1)
    (6, 2)
    """
    if 0 in family or most == -1:
        return 0
    if not family:
        free = elements.bit_count()
        return 1 << free if most is None else sum(math.comb(free, j) for j in range(most + 1))
    bit = next(bits(min(family, key=lambda part: (part.bit_count(), part))))
    rest = elements & ~bit
    with_it = minimal(part for part in family if not part & bit)
    without = minimal(part & ~bit for part in family)
    fewer = None if most is None else most - 1
    return count_hitting(with_it, rest, fewer) + count_hitting(without, rest, most)


def bits(mask: int) -> Iterator[int]:
    """The single bits of a mask, lowest first."""
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


def mask_of(x: tuple[int, ...]) -> int:
    """The features of a point that are 1, as bits."""
    return sum(value << feature for feature, value in enumerate(x))


def point_of(mask: int, n: int) -> tuple[int, ...]:
    """The point whose features are the bits of the mask."""
    return tuple(mask >> feature & 1 for feature in range(n))
