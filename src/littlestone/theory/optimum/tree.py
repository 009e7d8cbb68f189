"""Enumerate the histories of a tiny game up to symmetry, and the pairs of neighbouring ones.

A history is h_1 z_1 h_2 z_2 … h_t: published hypotheses and examples. A learner is given by the
probabilities of its histories (its sequence form), in which privacy and worst-case mistakes are
linear. Some symmetric learner is optimal: the average of a private learner over all symmetries of
the class is private and makes no more mistakes. So one history of each orbit is enough.
"""

from dataclasses import dataclass, field
from functools import cached_property
from math import lcm
from typing import Any, Final

from littlestone.errors import LittlestoneError
from littlestone.theory.optimum.symmetry import Orbits, Symmetries, TinyClass

ROOT: Final = 0
MOST_NODES: Final = 400_000


@dataclass(slots=True)
class Published:
    """Histories that end with a hypothesis."""

    row: int
    """The history before this hypothesis, among ``GameTree.received``."""
    level: int
    hypothesis: int
    fitting: tuple[int, ...]
    """The concepts that agree with all examples; none if the adversary is not realizable."""
    count: int
    """The number of histories of this kind: the product of the orbits' sizes."""
    group: Symmetries
    rows: dict[int, int] = field(default_factory=dict)
    """By example: the histories that are one example longer."""


@dataclass(slots=True)
class Received:
    """Histories that end with an example, or are empty."""

    before: int
    """The history before this example, among ``GameTree.published``; -1 if there is none."""
    example: int
    mistake: bool
    fitting: tuple[int, ...]
    group: Symmetries
    nodes: dict[int, int] = field(default_factory=dict)
    """By hypothesis: the histories that are one hypothesis longer."""


@dataclass(slots=True)
class Split:
    """Two histories that end with an example and differ in one."""

    before: int
    """A pair among ``GameTree.pairs``; if the last example differs, -1."""
    node: int
    """If the last example differs: the common history, among ``published``; else -1."""
    pairs: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Pair:
    """Two histories that end with a hypothesis and differ in one example."""

    split: int
    left: int
    right: int
    count: int
    last: bool


class GameTree:
    """The game of ``rounds`` rounds on a tiny class.

    In the last round, the adversary can force a mistake on any hypothesis that is not a concept, so
    only concepts are published there.
    """

    def __init__(self, tiny: TinyClass, rounds: int, *, most: int = MOST_NODES) -> None:
        self.tiny, self.rounds = tiny, rounds
        self.orbits = Orbits(tiny)
        self._most = most
        self._refuse_large()
        self.published: list[Published] = []
        self.received = [Received(-1, -1, False, tiny.concepts, self.orbits.everything)]
        self._grow()
        self.splits: list[Split] = []
        self.pairs: list[Pair] = []
        self._pair_up()

    @cached_property
    def unit(self) -> int:
        """A common multiple of all counts."""
        return lcm(*(node.count for node in self.published))

    def costs(self, node: Published) -> bool:
        """Return whether the adversary can still force a mistake in the last round."""
        return bool(node.fitting) and node.fitting != (node.hypothesis,)

    def step(self, row: int, symmetry: int, hypothesis: int) -> tuple[int, int]:
        """Return the node after a hypothesis, if ``symmetry`` maps the history to ``row``."""
        here = self.received[row]
        moved = self.orbits.moved(symmetry, hypothesis=hypothesis)
        orbit, taking = self.orbits.of_hypotheses(here.group)[moved]
        return here.nodes[orbit.first], self.orbits.product(taking, symmetry)

    def step_example(self, node: int, symmetry: int, example: int) -> tuple[int, int]:
        """Return the row after an example, if ``symmetry`` maps the history to ``node``."""
        here = self.published[node]
        moved = self.orbits.moved_example(symmetry, example)
        orbit, taking = self.orbits.of_examples(here.group)[moved]
        return here.rows[orbit.first], self.orbits.product(taking, symmetry)

    def moves(self, level: int) -> tuple[int, ...]:
        """Return the hypotheses that may be published in a round."""
        tiny = self.tiny
        return tiny.concepts if level == self.rounds else tuple(range(1 << tiny.columns))

    def _grow(self) -> None:
        waiting = [(ROOT, 1, 1)]
        while waiting:
            row, level, count = waiting.pop()
            here = self.received[row]
            for hypothesis in self.moves(level):
                orbit, _ = self.orbits.of_hypotheses(here.group)[hypothesis]
                if orbit.first != hypothesis:
                    continue
                node = Published(
                    row, level, hypothesis, here.fitting, count * orbit.size, orbit.keepers
                )
                here.nodes[hypothesis] = self._added(self.published, node)
                if level < self.rounds:
                    self._receive(here.nodes[hypothesis])
                    waiting += [(new, level + 1, node.count) for new in node.rows.values()]

    def _receive(self, number: int) -> None:
        node, tiny = self.published[number], self.tiny
        for example in tiny.examples_after(node.hypothesis):
            orbit, _ = self.orbits.of_examples(node.group)[example]
            if orbit.first == example:
                mistake = tiny.is_mistake(node.hypothesis, example)
                fitting = tiny.fitting(node.fitting, example)
                row = Received(number, example, mistake, fitting, orbit.keepers)
                node.rows[example] = self._added(self.received, row)

    def _pair_up(self) -> None:
        for number, node in enumerate(self.published):
            if node.level == self.rounds:
                continue
            for example, row in node.rows.items():
                group = self.received[row].group
                for other in self.tiny.examples_after(node.hypothesis):
                    orbit, _ = self.orbits.of_examples(group)[other]
                    if other == example or orbit.first != other:
                        continue
                    right, symmetry = self.step_example(number, 0, other)
                    split = self._added(self.splits, Split(-1, number))
                    self._follow(split, (row, 0), (right, symmetry), orbit.keepers, node.count)

    def _follow(
        self,
        split: int,
        left: tuple[int, int],
        right: tuple[int, int],
        group: Symmetries,
        count: int,
    ) -> None:
        level = self.published[self.received[left[0]].before].level + 1
        for hypothesis in self.moves(level):
            orbit, _ = self.orbits.of_hypotheses(group)[hypothesis]
            if orbit.first != hypothesis:
                continue
            one, other = self.step(*left, hypothesis), self.step(*right, hypothesis)
            last = level == self.rounds
            pair = Pair(split, one[0], other[0], count * orbit.size, last)
            number = self._added(self.pairs, pair)
            self.splits[split].pairs.append(number)
            if not last:
                self._go_on(number, one, other, hypothesis, orbit.keepers)

    def _go_on(
        self,
        pair: int,
        left: tuple[int, int],
        right: tuple[int, int],
        hypothesis: int,
        group: Symmetries,
    ) -> None:
        for example in self.tiny.examples_after(hypothesis):
            orbit, _ = self.orbits.of_examples(group)[example]
            if orbit.first == example:
                split = self._added(self.splits, Split(pair, -1))
                one, other = (self.step_example(*way, example) for way in (left, right))
                self._follow(split, one, other, orbit.keepers, self.pairs[pair].count)

    def _refuse_large(self) -> None:
        """Reject a large game before building it: an orbit has at most one history per symmetry."""
        tiny = self.tiny
        branches = len(tiny.examples_after(0)) << tiny.columns
        most = self._most * len(self.orbits.everything)
        if branches > 1 and branches ** min(self.rounds - 1, most.bit_length() + 1) > most:
            raise self._too_large()

    def _too_large(self) -> LittlestoneError:
        return LittlestoneError(
            f"the game has more than {self._most} histories up to symmetry; "
            "take fewer rounds or a smaller class"
        )

    def _added(self, place: list[Any], item: Any) -> int:
        place.append(item)
        if len(place) > self._most:
            raise self._too_large()
        return len(place) - 1
