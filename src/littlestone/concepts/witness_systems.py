"""Witness systems of conjunctions, disjunctions and keys (docs/theory/witnesses.md).

A depth is a score for the exponential mechanism. One more mistake raises every depth by 0 or 1, and
a place at which no concept fits all mistakes has depth 0 (recipe.md of ``PrivateWitnesses``).

For conjunctions, the place is a corner of the cube that agrees with many mistakes in every feature.
One of the two literals of each feature is false there, so n of 2n literals are dropped at once. All
mistakes agree with the target conjunction in its features, so a corner that does not has depth 0
(docs/theory/witnesses.md).
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from operator import mul
from typing import Any, Final

from littlestone.concepts.capabilities import (
    PlacingSystem,
    Witnesses,
    Witnessing,
    WitnessLoad,
    WitnessSystem,
)
from littlestone.concepts.protocols import ConceptClass, Example, Hypothesis, Label

AGAIN: Final = -1
"""The key of "a dropped literal is part of the target", which causes a restart."""
PLACE: Final = -2
"""The key of mistakes from which a place between them is drawn."""


def starts_again(key: Any) -> bool:
    """Return whether a key contradicts an accepted one."""
    return bool(key == AGAIN or (isinstance(key, tuple) and key[0] == AGAIN))


MOST_COUNTERS: Final = 1 << 16
"""The largest number of live keys at a time; each draws noise when it becomes live."""


@dataclass(frozen=True, slots=True)
class LiteralSystem(WitnessSystem):
    """Start with all literals; a mistake names one that is not in the target conjunction.

    While no literal was dropped wrongly, the conjunction of the literals left is 1 at too few
    points. A mistake where the target is 1 falsifies some literal left and none of the target; it
    names the first that it falsifies. A mistake where the target is 0 although all literals left
    hold shows that one was dropped wrongly.

    A state is the set of literals left, as bits. ``label`` is 1 for conjunctions, and 0 for
    disjunctions, which are 0 where all of their negated literals hold.
    """

    literals: tuple[tuple[int, Label], ...]
    """Features and their required values, in naming order."""
    label: Label
    rule: Callable[[int], Hypothesis] = field(compare=False)
    """The hypothesis of a state."""

    def begin(self) -> int:
        return (1 << len(self.literals)) - 1

    def hypothesis(self, state: int, /) -> Hypothesis:
        return self.rule(state)

    def live(self, state: int, /) -> tuple[int, ...]:
        return (AGAIN, *(number for number in range(len(self.literals)) if state >> number & 1))

    def named_by(self, state: int, x: Any, y: Label, /) -> int:
        if y != self.label:
            return AGAIN
        numbered = enumerate(self.literals)
        return next(i for i, (f, value) in numbered if state >> i & 1 and x[f] != value)

    def after(self, state: int, key: Any, /) -> int | None:
        """Return the state without a literal; None to restart."""
        return None if key == AGAIN else state & ~(1 << key)

    def loads(self) -> list[WitnessLoad]:
        """Return the load: every literal may be dropped, and any that was not named may be true."""
        every = len(self.literals)
        return [WitnessLoad(every, counters=every, again=1, further=1)]


@dataclass(frozen=True, slots=True)
class KeySystem(WitnessSystem):
    """The system for sets of at most k of n keys: a mistake with label 1 names its key.

    A state is the set of the keys found. While all of them are in the target set, mistakes have
    label 1 and lie at missing keys. A mistake with label 0, or a key too many, shows that a false
    one was accepted.
    """

    k: int
    n: int
    rule: Callable[[frozenset[int]], Hypothesis] = field(compare=False)
    """The hypothesis with these keys."""

    def begin(self) -> tuple[int, ...]:
        return ()

    def hypothesis(self, state: tuple[int, ...], /) -> Hypothesis:
        return self.rule(frozenset(state))

    def live(self, state: tuple[int, ...], /) -> tuple[int, ...]:
        if len(state) >= self.k:
            return (AGAIN,)
        found = frozenset(state)
        return (AGAIN, *(key for key in range(self.n) if key not in found))

    def named_by(self, state: tuple[int, ...], x: int, y: Label, /) -> int:
        return x if y and len(state) < self.k else AGAIN

    def after(self, state: tuple[int, ...], key: Any, /) -> tuple[int, ...] | None:
        return None if key == AGAIN else tuple(sorted((*state, key)))

    def loads(self) -> list[WitnessLoad]:
        """Return the load: every key that was not named may be missing from the target."""
        return [WitnessLoad(min(self.k, self.n), counters=self.n, again=1, further=1)]


def line_depths(places: list[int], length: int) -> tuple[list[int], list[int]]:
    """Return the depths of runs of places: the smaller number of mistakes on either side.

    A mistake at a place lies on both sides of it. Returns depths and lengths of the runs.

    >>> line_depths([2, 5, 5, 7], 10)
    ([0, 1, 1, 3, 1, 1, 0], [2, 1, 2, 1, 1, 1, 2])
    """
    found, lengths, passed, end = [], [], 0, 0
    for place, times in sorted(Counter(places).items()):
        found += [min(passed, len(places) - passed), min(passed + times, len(places) - passed)]
        lengths += [place - end, 1]
        passed, end = passed + times, place + 1
    return [*found, 0], [*lengths, length - end]


def cube_depths(places: list[int], features: int) -> tuple[list[int], list[int]]:
    """Return the depths of corners of the cube, and how many corners have each.

    The depth of a corner is the smallest number of mistakes that agree with it in one feature. Bit
    f of a place is feature f.

    >>> cube_depths([0b00, 0b01, 0b01], 2)
    ([0, 1, 2], [2, 1, 1])
    """
    support = _support(places, features)
    values = sorted({0, *(count for pair in support for count in pair)})
    reached = [
        math.prod(sum(count >= value for count in pair) for pair in support) for value in values
    ]
    sizes = (more - fewer for more, fewer in pairwise([*reached, 0]))
    found = [(value, size) for value, size in zip(values, sizes, strict=True) if size]
    return [value for value, _ in found], [size for _, size in found]


def cube_corner(places: list[int], features: int, position: int) -> int:
    """Return the corner at a position; corners of one depth are ordered by their features.

    >>> [cube_corner([0b00, 0b01, 0b01], 2, position) for position in range(4)]
    [2, 3, 0, 1]
    """
    support = _support(places, features)
    values, sizes = cube_depths(places, features)
    ends = list(accumulate(sizes))
    group = next(i for i, end in enumerate(ends) if position < end)
    rank = position - (ends[group] - sizes[group])
    least = values[group]
    deeper = values[group + 1] if group + 1 < len(values) else None

    def choices(bound: int | None) -> list[int]:
        """Return in how many ways the remaining features can reach the bound."""
        if bound is None:
            return [0] * (features + 1)
        each = (sum(count >= bound for count in pair) for pair in reversed(support))
        return [1, *accumulate(each, mul)][::-1]

    at_least, beyond = choices(least), choices(deeper)
    corner, still = 0, deeper is not None
    for feature, pair in enumerate(support):
        for value in (0, 1):
            if pair[value] < least:
                continue
            stays = still and deeper is not None and pair[value] >= deeper
            ways = at_least[feature + 1] - (beyond[feature + 1] if stays else 0)
            if rank < ways:
                corner |= value << feature
                still = stays
                break
            rank -= ways
    return corner


def _support(places: list[int], features: int) -> list[tuple[int, int]]:
    """Return, for each feature, how many mistakes have 0 and how many have 1."""
    ones = [sum(place >> feature & 1 for place in places) for feature in range(features)]
    return [(len(places) - count, count) for count in ones]


SOUGHT: Final = -1
"""The state that searches for a point."""


@dataclass(frozen=True, slots=True)
class CubeSystem(PlacingSystem):
    """Conjunctions over n features; a state is the set of literals left, as bits, or SOUGHT.

    Literal 2f + v says that feature f has the value v.
    """

    n: int
    rule: Callable[[int], Hypothesis] = field(compare=False)
    """The conjunction of these literals."""

    @property
    def sought(self) -> int:
        return 1

    @property
    def places(self) -> int:
        return 1 << self.n

    @property
    def renews(self) -> bool:
        return False

    def begin(self) -> int:
        return SOUGHT

    def hypothesis(self, state: int, /) -> Hypothesis:
        """Return the conjunction of the literals left; 0 everywhere before a point is found."""
        return self.rule((1 << 2 * self.n) - 1 if state == SOUGHT else state)

    def live(self, state: int, /) -> tuple[int, ...]:
        if state == SOUGHT:
            return (PLACE,)
        return (AGAIN, *(number for number in range(2 * self.n) if state >> number & 1))

    def place(self, state: int, x: Any, /) -> int:
        return sum(int(value) << feature for feature, value in enumerate(x))

    def named_by(self, state: int, x: Any, y: Label, /) -> int:
        if state == SOUGHT:
            return PLACE
        if not y:
            return AGAIN
        false = (2 * feature + 1 - int(value) for feature, value in enumerate(x))
        return next(number for number in false if state >> number & 1)

    def after(self, state: int, key: Any, /) -> int | None:
        if state == SOUGHT:
            corner: int = key[1]
            return sum(1 << 2 * feature + (corner >> feature & 1) for feature in range(self.n))
        return None if key == AGAIN else state & ~(1 << int(key))

    def loads(self) -> list[WitnessLoad]:
        """Return the load: every literal may be dropped, and any that was not named may be true.

        After a false corner, too, at most all of them are dropped.
        """
        return [WitnessLoad(self.n, counters=self.n, again=1, further=1)]

    def depths(self, places: list[int], /) -> tuple[list[int], list[int]]:
        return cube_depths(places, self.n)

    def place_at(self, places: list[int], position: int, /) -> int:
        return cube_corner(places, self.n, position)


MOST_KEYS: Final = 1 << 20


def witnesses_for(concepts: ConceptClass) -> Witnesses | None:
    """Return the witnesses of a class, or None if it has none."""
    return concepts.witnesses() if isinstance(concepts, Witnessing) else None


@dataclass(frozen=True, slots=True)
class ThresholdWitnesses(Witnesses):
    """Two witnesses: "the target is larger" (label 0 was right) and "smaller" (label 1 was).

    A mistake of 1[x >= k] with label 0 lies at x >= k, so the target exceeds k and the
    example (k, 0) is true; one with label 1 lies at x < k, and (k - 1, 1) is true. All mistakes
    of k on examples that fit one threshold have the same label.
    """

    def count(self) -> int:
        return 2

    def named_by(self, space: Any, x: Any, y: Label, /) -> int:
        return y

    def example(self, space: Any, number: int, /) -> Example | None:
        k = space.standard_optimal().k
        x, y = (k - 1, 1) if number else (k, 0)
        return (x, y) if 0 <= x < space.concept_class.n else None

    def confusion(self, answered: int, /) -> tuple[int, int]:
        return 1, 1


@dataclass(frozen=True, slots=True)
class SparseWitnesses(Witnesses):
    """One witness per key, "this key is in the set", and one for "the published set is wrong".

    The published set holds the keys found so far. A mistake with label 1 names its key; one with
    label 0 lies at a published key, which cannot happen if all of them are correct.
    """

    k: int
    n: int

    def count(self) -> int:
        return self.n + 1

    def named_by(self, space: Any, x: int, y: Label, /) -> int:
        return x if y else self.n

    def example(self, space: Any, number: int, /) -> Example | None:
        known = number == self.n or space.label_of(number) is not None
        return None if known else (number, 1)

    def confusion(self, answered: int, /) -> tuple[int, int]:
        left = min(self.k, self.n) - answered
        return self.n + 1 - left, left
