"""A few dyadic intervals of a stream add up to any other interval (Fact binary)."""

import math

from littlestone import require
from littlestone.theory.outwards import upwards


def dyadic_count_upper_bound(*, rounds: int) -> int:
    """2T − 1 intervals [k·2^j + 1, (k + 1)·2^j] fit into T rounds [P, Fact binary].

    >>> dyadic_count_upper_bound(rounds=8)
    15
    """
    require.integer(rounds=rounds, at_least=1)
    return 2 * rounds - 1


def dyadic_membership_upper_bound(*, rounds: int) -> int:
    """⌊log₂T⌋ + 1 of them contain a given round, one for each length [P, Fact binary].

    >>> dyadic_membership_upper_bound(rounds=1000)
    10
    """
    require.integer(rounds=rounds, at_least=1)
    return rounds.bit_length()


def dyadic_pieces_upper_bound(*, length: int) -> int:
    """2(m − 1) + 1[n + 2 ≥ 3·2^(m−1)], m = ⌊log₂(n + 2)⌋: pieces of an interval of ≤ n rounds.

    Attained by some interval of at most n rounds, if the stream is long enough [P, Fact binary].

    >>> [dyadic_pieces_upper_bound(length=n) for n in (1, 2, 4, 6, 10, 14)]
    [1, 2, 3, 4, 5, 6]
    """
    require.integer(length=length, at_least=1)
    level = (length + 2).bit_length() - 1
    return 2 * (level - 1) + int(length + 2 >= 3 * 2 ** (level - 1))


def dyadic_constant_upper_bound(*, rounds: int) -> float:
    """C·ln T with C = 2/ln 2 bounds all three numbers of the fact, for T ≥ 2 [P, Fact binary].

    >>> round(dyadic_constant_upper_bound(rounds=1024))
    20
    """
    require.integer(rounds=rounds, at_least=2)
    return upwards(2 * math.log2(rounds))
