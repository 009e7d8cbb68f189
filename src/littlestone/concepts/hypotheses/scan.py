"""Where two hypotheses of different kinds differ, found by looking."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from littlestone.concepts.domain import block_of
from littlestone.concepts.protocols import Domain, Hypothesis

_BLOCK = 1 << 14
_SHOWN = 6


def first_seen_difference(
    left: Hypothesis,
    right: Hypothesis,
    domain: Domain,
    points: Iterable[Any] | None = None,
    most: int | None = None,
) -> Any:
    """The first of the points, all of the domain by default, on which the two differ.

    None if there is none; a ValueError after ``most`` points without one.
    """
    remaining, seen = iter(domain if points is None else points), 0
    while block := list(islice(remaining, _BLOCK)):
        rows = block_of(domain, block)
        differs = np.flatnonzero(left.many(rows) != right.many(rows))
        if differs.size:
            return block[int(differs[0])]
        seen += len(block)
        if most is not None and seen >= most:
            raise ValueError(f"no difference in {seen} points, and there are more to look at")
    return None


def shown(words: Sequence[str], most: int = _SHOWN) -> list[str]:
    """The first of the words, and a sign that there are more."""
    return [*words[:most], "…"] if len(words) > most else list(words)
