"""Packed layers of two neighbouring worlds, coupled as the proof in lazy_forest/layer.md has it.

The table of a packed forest knows how many pairs are in which states, not which pair is which, so
two worlds with equal coins soon differ everywhere. Here every pair has a number, and the second
world takes over what was drawn in the first one: guesses, matchings and seats of common pairs.
"""

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

from littlestone.audit.visits import SensitivityError
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.game.protocols import OnlineState
from littlestone.learners.lazy_forest.layer import Siblings, random_pairs, smallest_even, tournament
from littlestone.randomness import Randomness, seeded

Matching = dict[int, tuple[int, int]]
"""By the number of each pair, its first and its second element."""


class Living(Counter[OnlineState]):
    """The children of a layer, still knowing the numbers of their pairs."""

    def __init__(self, numbered: dict[int, OnlineState]) -> None:
        super().__init__(numbered.values())
        self.numbered = numbered


class CoupledForest:
    """The pairs of one layer. Layer 0 has one pair of empty sequences on every slot."""

    def __init__(
        self, coupling: "Coupling", pairs: dict[int, Siblings], empty: Siblings | None = None
    ) -> None:
        self._coupling, self._pairs, self._empty = coupling, pairs, empty
        self._split: dict[int, OnlineState | None] = {}
        self._layer = coupling.next_layer()

    def agreeing(self) -> Counter[Hypothesis]:
        """How many pairs, none of them split, agree on which hypothesis."""
        return Counter(
            first.hypothesis
            for number, (first, second) in self._pairs.items()
            if number not in self._split and first.hypothesis == second.hypothesis
        )

    def insert(
        self, hypothesis: Hypothesis, x: Any, y: Label, *, slots: int, rng: Randomness
    ) -> OnlineState | None:
        """A mistake of ``hypothesis`` goes to one of ``slots`` slots, whoever sits there."""
        dart = rng.below(slots)
        seat = dart if self._empty else self._seats(hypothesis, slots, rng).get(dart)
        if seat is None or seat in self._split:
            return None
        first, _ = self._empty or self._pairs[seat]
        grown = first.after(x, y)
        self._split[seat] = None if grown.failed else grown
        return self._split[seat]

    def _seats(self, hypothesis: Hypothesis, slots: int, rng: Randomness) -> dict[int, int]:
        """The pairs that agreed on it when the layer was made, on slots of their own."""
        agreed = [
            number
            for number, (first, second) in self._pairs.items()
            if first.hypothesis == second.hypothesis == hypothesis
        ]

        def seated(numbers: list[int], free: list[int]) -> dict[int, int]:
            order = rng.permutation(len(free)).tolist()
            return {free[place]: number for place, number in zip(order, numbers, strict=False)}

        def adapted(before: dict[int, int]) -> dict[int, int]:
            kept = {seat: number for seat, number in before.items() if number in agreed}
            new = [number for number in agreed if number not in kept.values()]
            return kept | seated(new, [seat for seat in range(slots) if seat not in kept])

        return self._coupling.coupled(
            ("seats", self._layer, hypothesis), lambda: seated(agreed, list(range(slots))), adapted
        )

    def update(self, *, rng: Randomness) -> Living:
        """Algorithm 1; the guess of a pair depends on its number alone."""
        coins, numbered = rng.bits(64), {n: s for n, s in self._split.items() if s is not None}
        for number, siblings in self._pairs.items():
            if number not in self._split and siblings[0].hypothesis != siblings[1].hypothesis:
                child = tournament(siblings, seeded(coins + number).coin())
                if child is not None and not child.failed:
                    numbered[number] = child
        return Living(numbered)


class Coupling:
    """Stands where the engine has ``ForestTable``, in one world and then in the other."""

    def __init__(self) -> None:
        self._drawn: dict[Hashable, Any] = {}
        self._world, self._layers = -1, 0

    def next_world(self) -> None:
        self._world, self._layers = self._world + 1, 0

    def next_layer(self) -> int:
        self._layers += 1
        return self._layers

    def coupled(self, key: Hashable, draw: Callable[[], Any], adapt: Callable[[Any], Any]) -> Any:
        """What is drawn in the first world, and what becomes of it in the second one."""
        if (self._world, key) not in self._drawn:
            before = self._drawn.get((0, key)) if self._world else None
            self._drawn[self._world, key] = draw() if before is None else adapt(before)
        return self._drawn[self._world, key]

    def __call__(self) -> CoupledForest:
        return CoupledForest(self, {})

    def of_empty_sequences(self, start: OnlineState, *, pairs: int) -> CoupledForest:
        del pairs
        return CoupledForest(self, {}, empty=(start, start))

    def placed(self, living: Living, *, slots: int | None, rng: Randomness) -> CoupledForest:
        assert slots is None  # packed
        elements = list(living.numbered)
        matching = self.coupled(
            ("matching", self._layers),
            lambda: (elements, self.matched(elements, rng)),
            lambda before: (elements, self.rematched(before[0], before[1], elements, rng)),
        )[1]
        return CoupledForest(
            self,
            {n: (living.numbered[a], living.numbered[b]) for n, (a, b) in matching.items()},
        )

    def matched(self, elements: list[int], rng: Randomness) -> Matching:
        """A random matching, the order within each pair random, too."""
        pairs = random_pairs(len(elements), slots=smallest_even(len(elements)), rng=rng).tolist()
        return {number: (elements[a], elements[b]) for number, (a, b) in enumerate(pairs)}

    def rematched(
        self, before: list[int], matching: Matching, elements: list[int], rng: Randomness
    ) -> Matching:
        """The matching of the second world's elements: layer.md, Lemma (b)."""
        gone, new = sorted({*before} - {*elements}), sorted({*elements} - {*before})
        if len(gone) > 1 or len(new) > 1:
            raise SensitivityError(f"{len(gone)} sequences are gone and {len(new)} are new")
        if gone and new:
            return _instead(matching, {gone[0]: new[0]})
        if gone:
            return without(gone[0], matching, before)
        return with_one_more(new[0], matching, before, rng) if new else matching


def without(gone: int, matching: Matching, elements: list[int]) -> Matching:
    """The coupled matching of the elements but one."""
    alone = _alone(matching, elements)
    if alone and alone != [gone]:
        return _instead(matching, {gone: alone[0]})
    return {number: pair for number, pair in matching.items() if gone not in pair}


def with_one_more(new: int, matching: Matching, elements: list[int], rng: Randomness) -> Matching:
    """A coupled matching of one element more: ``without`` it the old one is left."""
    alone = _alone(matching, elements)
    if alone:
        pair = (new, alone[0]) if rng.coin() else (alone[0], new)
        return matching | {max(matching, default=-1) + 1: pair}
    leaves = rng.below(len(elements) + 1)
    return matching if leaves == len(elements) else _instead(matching, {elements[leaves]: new})


def _instead(matching: Matching, other: dict[int, int]) -> Matching:
    return {n: (other.get(a, a), other.get(b, b)) for n, (a, b) in matching.items()}


def _alone(matching: Matching, elements: list[int]) -> list[int]:
    matched = {element for pair in matching.values() for element in pair}
    return [element for element in elements if element not in matched]
