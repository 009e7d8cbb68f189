"""How many leaves and trees a forest needs, and when no forest can be that large."""

import math
from typing import Final

from littlestone import require
from littlestone.errors import LittlestoneError
from littlestone.online.protocols import OnlineLearner

_MOST_TREES: Final = 1 << 60
"""A histogram counts no further."""
_MOST_LEAVES: Final = 1 << 24
_BEYOND: Final = 1000  # exponents from here on are all the same: too large


class TooManyTreesError(LittlestoneError):
    """No forest has so many trees, or trees with so many leaves."""

    def __init__(self, *, trees: int, leaves: int) -> None:
        super().__init__(
            f"this forest cannot exist: it would have about 2^{math.log2(trees):.1f} trees of "
            f"2^{math.log2(leaves):.0f} leaves, so seldom do all guesses of a tree come true; 2^60 "
            f"trees of 2^24 leaves are the most. EagerForest and FreshCopies suit dimensions up to "
            f"5, PrivateMajority finite classes of any dimension"
        )
        self.trees = trees
        self.leaves = leaves


def leaves_for(base: OnlineLearner, given: int | None) -> int:
    """As ``given``, or enough for a tree to reach its root: a level for each mistake."""
    if given is None:
        return 1 << min(max(1, base.mistake_bound), _BEYOND)
    require.integer(leaves=given, at_least=1, at_most=_MOST_LEAVES)
    return given


def trees_for(frequent: int, leaves: int) -> int:
    """So many that ``frequent`` of them guess right in all their tournaments, on average."""
    return frequent << min(leaves - 1, _BEYOND)


def refuse_too_large(trees: int, leaves: int) -> None:
    if trees > _MOST_TREES or leaves > _MOST_LEAVES:
        raise TooManyTreesError(trees=trees, leaves=leaves)
