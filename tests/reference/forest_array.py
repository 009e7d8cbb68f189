"""One layer of the forest written out, sequence by sequence: the reference for the table.

Every coin is drawn whether or not the data let it matter, so that two neighbouring streams can be
replayed with the same coins.
"""

from collections import Counter
from typing import Any

from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.game.protocols import OnlineState
from littlestone.learners.lazy_forest.layer import smallest_even, tournament
from littlestone.randomness import Randomness

Sequence = OnlineState | None
"""None is the paper's ⊥."""


class ForestArray:
    """The sequences S_1 .. S_N of one layer; siblings are neighbours.

    Privacy:  none; algorithm.md says what may be released of it.
    """

    def __init__(self, sequences: list[Sequence], *, packed: bool) -> None:
        self.sequences = sequences
        self.packed = packed
        self.split = [False] * (len(sequences) // 2)
        self._homes: dict[Hypothesis, list[int]] = {}
        for pair in range(len(self.split)):
            hypothesis = self._agreed(pair)
            if hypothesis is not None:
                self._homes.setdefault(hypothesis, []).append(pair)

    @classmethod
    def of_empty_sequences(cls, start: OnlineState, *, pairs: int, packed: bool) -> "ForestArray":
        return cls([start] * (2 * pairs), packed=packed)

    @classmethod
    def placed(cls, children: list[Sequence], *, packed: bool, rng: Randomness) -> "ForestArray":
        """The children in a random order: all of them, or the living ones only if ``packed``."""
        kept = [child for child in children if child is not None] if packed else children
        room = smallest_even(len(kept))
        sequences: list[Sequence] = [None] * room
        for child, slot in zip(kept, rng.permutation(room).tolist(), strict=False):
            sequences[slot] = child
        return cls(sequences, packed=packed)

    def agreeing(self) -> Counter[Hypothesis]:
        """How many pairs, none of them split, agree on which hypothesis."""
        return Counter(
            hypothesis
            for hypothesis, pairs in self._homes.items()
            for pair in pairs
            if not self.split[pair]
        )

    def insert(
        self, hypothesis: Hypothesis, x: Any, y: Label, *, slots: int, rng: Randomness
    ) -> Sequence:
        """Send a mistake of ``hypothesis`` to a random one of ``slots`` slots.

        If ``packed``, the slots hold the pairs that agreed on the hypothesis, and nothing else;
        otherwise slot i holds the i-th pair.
        """
        coin = rng.below(slots)
        homes = self._homes.get(hypothesis, [])
        if self.packed:
            pair = homes[coin] if coin < len(homes) else None
        else:
            pair = coin if self._agreed(coin) == hypothesis else None
        if pair is None or self.split[pair]:
            return None
        first = self.sequences[2 * pair]
        assert first is not None
        grown = first.after(x, y)
        self.sequences[2 * pair] = None if grown.failed else grown
        self.split[pair] = True
        return self.sequences[2 * pair]

    def update(self, *, rng: Randomness) -> list[Sequence]:
        """Algorithm 1, with one coin for each pair."""
        return [self._child(pair, rng.coin()) for pair in range(len(self.split))]

    def _child(self, pair: int, label: Label) -> Sequence:
        first, second = self.sequences[2 * pair], self.sequences[2 * pair + 1]
        if self.split[pair] or first is None or second is None:
            return first if self.split[pair] else None
        if first.hypothesis == second.hypothesis:
            return None
        child = tournament((first, second), label)
        return None if child is None or child.failed else child

    def _agreed(self, pair: int) -> Hypothesis | None:
        """What both siblings say; None if they differ or one is ⊥ (a split pair's may be)."""
        first, second = self.sequences[2 * pair], self.sequences[2 * pair + 1]
        if first is None or second is None or first.hypothesis != second.hypothesis:
            return None
        return first.hypothesis
