"""One layer of the forest, as a table of how many pairs of siblings are in which states.

Sequences count only through the state that the base learner is in after them, and siblings are a
uniformly random matching, so nothing but these counts matters; neither time nor memory depends on
the number of slots. ``reference.py`` has Update as printed, sequence by sequence.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from littlestone.concepts.hypotheses.one_form import one_form
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.learners.codec import register
from littlestone.learners.lazy_forest.matching import just_enough, random_pairs
from littlestone.online.protocols import OnlineState
from littlestone.randomness import Randomness
from littlestone.unread import Unread

Siblings = tuple[OnlineState, OnlineState]


@register
@dataclass(slots=True)
class Agreeing:
    """The pairs that agree on one hypothesis and are not split."""

    whole: int = 0
    siblings: list[Siblings] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def add(self, siblings: Siblings, count: int) -> None:
        self.siblings.append(siblings)
        self.counts.append(count)
        self.whole += count

    def take(self, dart: int) -> Siblings:
        """Remove the pair under ``dart``, each kind covering as many places as it counts."""
        kind = 0
        while dart >= self.counts[kind]:
            dart -= self.counts[kind]
            kind += 1
        self.counts[kind] -= 1
        self.whole -= 1
        return self.siblings[kind]


@register
@dataclass(eq=False)
class ForestTable(Unread):
    """The pairs of one layer: those that agree on a hypothesis, those that collide, the split ones.

    Rounds without a mistake do not look at it.

    Privacy:  none; algorithm.md says what may be released of it.
    """

    _agreeing: dict[Hypothesis, Agreeing] = field(default_factory=dict)
    _collisions: Counter[Siblings] = field(default_factory=Counter)
    _split: Counter[OnlineState] = field(default_factory=Counter)

    @classmethod
    def of_empty_sequences(cls, start: OnlineState, *, pairs: int) -> "ForestTable":
        """Layer 0: ``pairs`` pairs, nothing learned."""
        table = cls()
        table._agree(one_form(start.hypothesis)).add((start, start), pairs)
        return table

    @classmethod
    def placed(
        cls, living: Counter[OnlineState], *, slots: int | None, rng: Randomness
    ) -> "ForestTable":
        """The next layer: the living sequences on random slots (L3); all others are ⊥.

        Departs from [P, Algorithm 1]: with ``slots=None`` there are just enough of them, so that
        no living sequence gets ⊥ as its sibling.
        """
        states = list(living)
        hypotheses = [one_form(state.hypothesis) for state in states]
        owners = [kind for kind, state in enumerate(states) for _ in range(living[state])]
        room = just_enough(len(owners)) if slots is None else slots  # (L1, L2)
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
        """How many pairs, none of them split, agree on which hypothesis."""
        return Counter({h: pairs.whole for h, pairs in self._agreeing.items() if pairs.whole})

    def insert(
        self, hypothesis: Hypothesis, x: Any, y: Label, *, slots: int, rng: Randomness
    ) -> OnlineState | None:
        """Send a mistake of ``hypothesis`` to a random one of ``slots`` slots.

        If a pair that agrees on it and is not split yet sits there, its first sequence grows by
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
        """Algorithm 1: the living sequences that this layer hands to the next (L8)."""
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
    """How often a random pair of neighbours are of which kinds; ``owners`` has the kind of each."""
    pairs = random_pairs(len(owners), slots=slots, rng=rng)
    return Counter((owners[first], owners[second]) for first, second in pairs.tolist())


def tournament(siblings: Siblings, label: Label) -> OnlineState | None:
    """The sibling that errs when a point on which they differ has ``label``, with that example.

    None if there is no such point: hypotheses that are unequal and yet the same function.
    """
    first, second = siblings
    point = one_form(first.hypothesis).disagreement(one_form(second.hypothesis))  # (L6)
    if point is None:
        return None
    loser = first if first.hypothesis(point) != label else second
    return loser.after(point, label)  # (L7)
