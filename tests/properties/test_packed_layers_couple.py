"""Packed layers of neighbouring worlds, all coins enumerated: their laws can be coupled.

The proof of the forest's privacy (forest_table.md) needs coins of the two worlds, each with the
right law, under which the lists of a new layer differ by one element added or removed, and the
children that it hands on by one sequence. Such coins exist if and only if a flow between the two
exact laws along allowed pairs of outcomes carries everything (Strassen's theorem).
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from math import lcm
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from littlestone.audit.controls.broken_forests import _in_order
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.game.protocols import OnlineState
from littlestone.learners.lazy_forest import layer as forest_table
from littlestone.learners.lazy_forest.layer import ForestTable, smallest_even
from littlestone.learners.online.standard_optimal import StandardOptimal

START = StandardOptimal(Thresholds(6)).start()
AGREED = START.after(2, 1)
STATES: list[OnlineState] = [AGREED, START.after(3, 0), START.after(1, 1), START.after(5, 0)]
INSERTED = [(0, 1), (1, 0)]
Outcome = tuple[frozenset[Any], frozenset[Any]]


class Scripted:
    """Randomness that says what it was told to."""

    def __init__(self, order: tuple[int, ...] = (), numbers: tuple[int, ...] = ()) -> None:
        self._order, self._numbers = order, list(numbers)

    def permutation(self, count: int) -> Any:
        assert count == len(self._order)
        return np.array(self._order, dtype=np.int64)

    def below(self, bound: int) -> int:
        number = self._numbers.pop(0)
        assert number < bound
        return number

    bits = below


def outcomes(living: list[OnlineState], slots: int) -> Iterator[tuple[Outcome, Fraction]]:
    """List and children of the layer made from ``living``, for all coins.

    In the turn of the hypothesis that ``AGREED`` shows, two examples arrive.
    """
    orders = list(permutations(range(smallest_even(len(living)))))
    for order in orders:
        for darts in product(range(slots), repeat=len(INSERTED)):
            rng: Any = Scripted(order, darts)
            table = ForestTable.placed(Counter(living), slots=None, rng=rng)
            listed = table.agreeing()
            for x, y in INSERTED:
                table.insert(AGREED.hypothesis, x, y, slots=slots, rng=rng)
            sides = [1 << count for count in table._collisions.values()]
            chance = Fraction(1, len(orders) * slots ** len(INSERTED) * int(np.prod(sides)))
            for coins in product(*map(range, sides)):
                tossed: Any = Bits(coins)
                children = table.update(rng=tossed)
                yield (frozenset(listed.items()), frozenset(children.items())), chance


class Bits:
    def __init__(self, coins: tuple[int, ...]) -> None:
        self._coins = list(coins)

    def bits(self, count: int) -> int:
        del count
        return self._coins.pop(0)


def law(living: list[OnlineState], slots: int) -> dict[Outcome, Fraction]:
    found: dict[Outcome, Fraction] = {}
    for outcome, chance in outcomes(living, slots):
        found[outcome] = found.get(outcome, Fraction(0)) + chance
    assert sum(found.values()) == 1
    return found


def allowed(one: Outcome, other: Outcome) -> bool:
    """Lists one element apart, children one sequence apart (perhaps replaced)."""
    apart = [
        ((a - b).total(), (b - a).total())
        for a, b in zip(map(_counts, one), map(_counts, other), strict=True)
    ]
    return sum(apart[0]) <= 1 and max(apart[1]) <= 1


@cache
def _counts(items: frozenset[Any]) -> Counter[Any]:
    return Counter(dict(items))


def carried(one: dict[Outcome, Fraction], other: dict[Outcome, Fraction]) -> Fraction:
    """The largest share of the two laws that a coupling can put on allowed pairs."""
    scale = lcm(*(p.denominator for p in [*one.values(), *other.values()]))
    left, right = list(one), list(other)
    source, sink = len(left) + len(right), len(left) + len(right) + 1
    edges = [(source, i, int(one[o] * scale)) for i, o in enumerate(left)]
    edges += [(len(left) + j, sink, int(other[o] * scale)) for j, o in enumerate(right)]
    edges += [
        (i, len(left) + j, scale)
        for (i, a), (j, b) in product(enumerate(left), enumerate(right))
        if allowed(a, b)
    ]
    rows, columns, capacities = (
        np.array(part, dtype=np.int32) for part in zip(*edges, strict=True)
    )
    graph = coo_array((capacities, (rows, columns)), shape=(sink + 1, sink + 1)).tocsr()
    return Fraction(int(maximum_flow(graph, source, sink).flow_value), scale)


COMMON = [[0], [0, 0], [0, 1], [0, 0, 0], [0, 0, 1], [0, 2, 3]]
LONG = pytest.param([0, 0, 1, 2], marks=pytest.mark.slow)


@pytest.mark.parametrize("common", [*COMMON, LONG], ids=str)
def test_lists_and_children_of_neighbouring_worlds_couple(common: list[int]) -> None:
    rest = [STATES[i] for i in common]
    slots = 2  # no hypothesis has more pairs than that
    worlds = [law(rest, slots), *(law([*rest, state], slots) for state in STATES)]
    # What may flow from the one to the other may flow back.
    for one, other in combinations_with_replacement(worlds, 2):
        assert carried(one, other) == 1


def test_layers_that_are_matched_in_order_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: without a permutation, one sequence more changes every pair behind it."""
    monkeypatch.setattr(forest_table, "random_pairs", _in_order)
    rest = [STATES[0], STATES[0], STATES[1], STATES[1]]
    assert carried(law(rest, 2), law([STATES[3], *rest], 2)) < 1
