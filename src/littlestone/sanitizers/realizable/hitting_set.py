"""Choose few cells such that every flagged concept holds on one: they are the synthetic points."""

import numpy as np

from littlestone.sanitizers.queries import FiniteQueries
from littlestone.sanitizers.realizable.winnow_generator import Flags


def hitting_set(queries: FiniteQueries, flags: Flags) -> list[int]:
    """Cells such that each flagged concept is 1 on some of them, if on any at all.

    Greedy: always the cell that most of the concepts left hold on. If every flagged concept has a
    share of at least c of some distribution, some cell is good for a part c of those left, so
    ceil(ln |F| / c) cells are enough.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.sanitizers.queries import queries_of
    >>> hitting_set(queries_of(Thresholds(4)), np.array([True, True, False, True, False]))
    [3]
    """
    left = flags.astype(np.float64)
    chosen = []
    while left.any():
        hits = queries.cells_answers(left)
        place = int(hits.argmax())
        if hits[place] <= 0:  # what is left is 0 everywhere
            break
        chosen.append(place)
        left[queries.column(place) == 1] = 0.0
    return chosen
