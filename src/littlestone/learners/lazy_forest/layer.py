"""One layer of the forest, as a table of how many pairs of siblings are in which states.

A sequence counts only through the base learner's state after it, and siblings are a uniformly
random matching, so these counts are all that matters; time and memory do not depend on the number
of slots. ``reference.py`` has Update as printed, sequence by sequence.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone import require
from littlestone.concepts.json_form import one_form
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.game.protocols import OnlineState
from littlestone.lazy import Lazy
from littlestone.learners.codec import register
from littlestone.randomness import Randomness

# Up to this many slots per element, shuffling all slots is the cheapest way to choose some.
_DENSE: Final = 8

Pairs = NDArray[np.int64]
"""One row (first, second) for each pair of slots that are both taken."""


def random_pairs(elements: int, *, slots: int, rng: Randomness) -> Pairs:
    """Put ``elements`` on distinct random slots; return the pairs on the slots 2i and 2i + 1.

    The law is exactly that of a random permutation of the elements and of ``slots - elements``
    placeholders, with pairs that hold a placeholder dropped. Time and memory grow with the elements
    only.

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


def smallest_even(elements: int) -> int:
    """Return the smallest even number of slots, which leaves at most one element unpaired."""
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
        while slot in seats:  # redraw taken slots, so the choice among free ones is uniform
            slot = rng.below(slots)
        seats[slot] = element
    pairs = [
        (element, seats[slot + 1])
        for slot, element in seats.items()
        if slot % 2 == 0 and slot + 1 in seats
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


Siblings = tuple[OnlineState, OnlineState]


@register
@dataclass(slots=True)
class Agreeing:
    """The pairs that agree on one hypothesis and are not split."""

    whole: int = 0
    siblings: list[Siblings] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def add(self, siblings: Siblings, count: int) -> None:
        """Add ``count`` pairs in these states."""
        self.siblings.append(siblings)
        self.counts.append(count)
        self.whole += count

    def take(self, dart: int) -> Siblings:
        """Remove and return the pair at position ``dart``, counting each kind with multiplicity."""
        kind = 0
        while dart >= self.counts[kind]:
            dart -= self.counts[kind]
            kind += 1
        self.counts[kind] -= 1
        self.whole -= 1
        return self.siblings[kind]


@register
@dataclass(eq=False)
class ForestTable(Lazy):
    """The pairs of one layer: agreeing on a hypothesis, colliding, or split.

    Rounds without a mistake do not read it.

    Privacy:  none; algorithm.md says what may be released of it.
    """

    _agreeing: dict[Hypothesis, Agreeing] = field(default_factory=dict)
    _collisions: Counter[Siblings] = field(default_factory=Counter)
    _split: Counter[OnlineState] = field(default_factory=Counter)

    @classmethod
    def of_empty_sequences(cls, start: OnlineState, *, pairs: int) -> "ForestTable":
        """Return layer 0: ``pairs`` pairs of empty sequences."""
        table = cls()
        table._agree(one_form(start.hypothesis)).add((start, start), pairs)
        return table

    @classmethod
    def placed(
        cls, living: Counter[OnlineState], *, slots: int | None, rng: Randomness
    ) -> "ForestTable":
        """Return the next layer: the living sequences on random slots (L3); all others are ⊥.

        Departs from [P, Algorithm 1]: with ``slots=None`` there are just enough slots, so that no
        living sequence gets ⊥ as its sibling.
        """
        states = list(living)
        hypotheses = [one_form(state.hypothesis) for state in states]
        owners = [kind for kind, state in enumerate(states) for _ in range(living[state])]
        room = smallest_even(len(owners)) if slots is None else slots  # (L1, L2)
        table = cls()
        for (first, second), count in neighbours(owners, slots=room, rng=rng).items():  # (L3)
            siblings = states[first], states[second]
            if hypotheses[first] == hypotheses[second]:
                table._agree(hypotheses[first]).add(siblings, count)
            else:
                table._collisions[siblings] = count
        return table

    def _agree(self, hypothesis: Hypothesis) -> Agreeing:
        return self._agreeing.setdefault(hypothesis, Agreeing())

    def agreeing(self) -> Counter[Hypothesis]:
        """Count the pairs, none of them split, that agree on each hypothesis."""
        return Counter({h: pairs.whole for h, pairs in self._agreeing.items() if pairs.whole})

    def insert(
        self, hypothesis: Hypothesis, x: Any, y: Label, *, slots: int, rng: Randomness
    ) -> OnlineState | None:
        """Send a mistake of ``hypothesis`` to a random one of ``slots`` slots.

        If the slot holds an unsplit pair that agrees on ``hypothesis``, its first sequence grows by
        (x, y) and is returned, unless that makes it ⊥.
        """
        dart, pairs = rng.below(slots), self._agreeing.get(hypothesis)
        if pairs is None or dart >= pairs.whole:
            return None
        first, _ = pairs.take(dart)
        grown = first.after(x, y)
        if grown.failed:
            return None
        self._split[grown] += 1
        return grown

    def update(self, *, rng: Randomness) -> Counter[OnlineState]:
        """Run Algorithm 1: return the living sequences that this layer hands to the next (L8)."""
        # Departs from (L5): a pair split by a real example hands it up and needs no guess.
        living = Counter(self._split)
        for siblings, count in self._collisions.items():  # (L4, L5)
            ones = rng.bits(count).bit_count()  # (L6)
            for label, times in ((0, count - ones), (1, ones)):
                child = tournament(siblings, label)
                if times and child is not None and not child.failed:
                    living[child] += times
        return living


def neighbours(owners: Sequence[int], *, slots: int, rng: Randomness) -> Counter[tuple[int, int]]:
    """Match ``owners``, the kind of each element, at random; count the pairs of kinds."""
    pairs = random_pairs(len(owners), slots=slots, rng=rng)
    return Counter((owners[first], owners[second]) for first, second in pairs.tolist())


def tournament(siblings: Siblings, label: Label) -> OnlineState | None:
    """Return the sibling that errs if a point on which they differ has ``label``, after it.

    None if there is no such point: unequal hypotheses may be the same function.
    """
    first, second = siblings
    point = one_form(first.hypothesis).disagreement(one_form(second.hypothesis))  # (L6)
    if point is None:
        return None
    loser = first if first.hypothesis(point) != label else second
    return loser.after(point, label)  # (L7)
