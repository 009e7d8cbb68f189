"""The Littlestone dimension of intervals that avoid some points, in closed form.

While every label was 0, the intervals left are the empty one and those within a *gap*, a run of g
points that no example touched. Label 1 at the i-th point of a gap leaves i choices of the left
end and g - i + 1 of the right end, hence the dimension f(g, i) = floor(log2 i) +
floor(log2(g - i + 1)); label 0 cuts the gap into i - 1 and g - i. So dimension d needs d cuts, one
after the other, of which the first has f >= d - 1, the second f >= d - 2, and so on down to 0.
A cut with f >= m needs a gap of at least L(m) = 2**floor(m/2) + 2**ceil(m/2) - 1 points.

**Theorem.** Let g1 >= g2 be the two largest gaps (0 where there is none), and p >= 1.
Dimension 1 needs g1 >= 1, dimension 2 needs g1 >= 2, and

- dimension 2p + 1 needs g1 >= 2**(p+1) - 1 and g2 >= 3 * 2**(p-1) - 1, or g1 >= 5 * 2**(p-1) - 1;
- dimension 2p + 2 needs g1 >= 3 * 2**p - 1 and g2 >= 3 * 2**(p-1) - 1, or g1 >= 7 * 2**(p-1) - 1.

*Enough.* 2p + 1, two gaps: halve g1 (f = 2p) into 2**p - 1 and as much; cut g2 (f = 2p - 1) into
2**(p-1) - 1 and 2**p - 1. Three gaps of 2**p - 1 are left, enough for dimension 2p - 1 by
induction. One gap: cut 2**p - 1 off, then 2**(p-1) - 1 off; two gaps of 2**p - 1 are left.
2p + 2: cut 2**p - 1 off (f = 2p + 1); a gap of 2**(p+1) - 1, or of 5 * 2**(p-1) - 1, is left, and
the case 2p + 1 applies from there.

*Necessary.* The first cut needs g1 >= L(d - 1), which is the first number of each line. If g2 is
below L(2p - 1) = 3 * 2**(p-1) - 1, the cuts with f >= 2p - 1 all fall into g1. Write a cut as the
distances l, r to the ends of its gap (l + r = g + 1). 2p + 1: after a cut with f >= 2p one side is
to be cut with f >= 2p - 1, so r >= 3 * 2**(p-1), say; if r < 2**(p+1) then l >= 2**p, else
if r < 2**(p+2) then l >= 2**(p-1); each time l + r >= 5 * 2**(p-1). 2p + 2: of the two sides of
the first cut one, r say, has the second cut, f >= 2p, so r >= 2**(p+1). If the third is on the
other side, l >= 3 * 2**(p-1) and l + r >= 7 * 2**(p-1). If it is on the same side, then
again r >= 5 * 2**(p-1); if r < 2**(p+2) then l >= 2**p. Each time l + r >= 7 * 2**(p-1). ∎

**Corollary.** The standard optimal prediction is 1 at most within the one largest gap: in another
gap f <= m with L(m) <= g2 <= g1, and one gap of L(m) points already has dimension m.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain


def cut_dimension(before: int, after: int) -> int:
    """Return the dimension after a 1 at a point with these numbers of left and right ends."""
    return before.bit_length() + after.bit_length() - 2


def gaps_dimension(largest: int, second: int = 0) -> int:
    """Return the dimension while every label was 0, from the two largest gaps.

    >>> [gaps_dimension(n) for n in (0, 1, 2, 4, 6, 9, 13, 19)]
    [0, 1, 2, 3, 4, 5, 6, 7]
    >>> gaps_dimension(7), gaps_dimension(7, 5)
    (4, 5)
    """
    if largest <= 2:
        return largest
    # largest >= 3 * 2**(p-1) - 1 is necessary for 2p + 1 and more, so p is at most this.
    for p in range((largest + 1).bit_length() - 1, 0, -1):
        half = 1 << (p - 1)
        two = second >= 3 * half - 1
        if largest >= 7 * half - 1 or (two and largest >= 6 * half - 1):
            return 2 * p + 2
        if largest >= 5 * half - 1 or (two and largest >= 4 * half - 1):
            return 2 * p + 1
    return 2


def breakpoints(gap: int) -> Iterator[int]:
    """Yield positions 1 .. gap, with repeats, between which no dimension changes.

    Every condition above compares i or gap + 1 - i with an odd number up to 7 times a power of 2.
    """
    yield 1
    for odd in (1, 3, 5, 7):
        distance = odd
        while distance <= gap:
            yield distance
            yield gap + 2 - distance  # the first position nearer to the end
            distance *= 2


def pieces(gap: int) -> Iterator[tuple[int, int]]:
    """Yield the positions 1 .. gap in ranges (first, last) on which every dimension is constant."""
    starts = sorted({i for i in breakpoints(gap) if i <= gap})
    return zip(starts, chain((start - 1 for start in starts[1:]), (gap,)), strict=True)


@lru_cache(maxsize=1 << 12)
def optimal_ones_within(largest: int, second: int, third: int) -> tuple[tuple[int, int], ...]:
    """Return the ranges of the largest gap where the standard optimal prediction is 1.

    >>> optimal_ones_within(3, 0, 0), optimal_ones_within(3, 3, 0)
    (((2, 2),), ())
    """
    found = []
    for first, last in pieces(largest) if largest > second else ():
        *_, runner_up, longest = sorted((second, third, first - 1, largest - first))
        if cut_dimension(first, largest - first + 1) > gaps_dimension(longest, runner_up):
            found.append((first, last))
    return tuple(found)


def optimal_rank(size: int) -> int:
    """Return the smallest k with floor(log2 k) > floor(log2(size - k)), where floor(log2 0) is -1.

    Of 2**j <= size < 2**(j+1) thresholds, k = 2**j at the bottom have the larger logarithm; so do
    already size - 2**(j-1) + 1 if that is less: they are more than 2**(j-1), and fewer than
    2**(j-1) remain above. No smaller k does: the rest has at least the bit length of k.

    >>> [optimal_rank(size) for size in range(1, 9)]
    [1, 2, 2, 3, 4, 4, 4, 5]
    """
    half = 1 << (size.bit_length() - 1)
    return min(half, size - half // 2 + 1)
