"""One tree of the eager forest: sequences that climb whenever two siblings disagree."""

from dataclasses import dataclass, field
from typing import Any

from littlestone.concepts.hypotheses.one_form import one_form
from littlestone.concepts.protocols import Hypothesis, Label
from littlestone.learners.codec import register
from littlestone.online.protocols import OnlineState
from littlestone.randomness import Randomness

ROOT = 1


@register
@dataclass(slots=True)
class TournamentTree:
    """A complete binary tree; node v has the children 2v and 2v + 1, leaf i is leaves + i.

    ``pertinent`` holds the nodes that own a sequence, each as the state of the base learner after
    it. Every leaf has exactly one pertinent ancestor or is pertinent itself; a pertinent node of
    height r holds a sequence with at least r mistakes of the base learner.
    """

    leaves: int
    pertinent: dict[int, OnlineState]
    shown: int
    """The node whose hypothesis the tree displays; the root without a sequence shows nothing."""

    coins: Randomness = field(repr=False)

    @classmethod
    def fresh(cls, leaves: int, start: OnlineState, coins: Randomness) -> "TournamentTree":
        return cls(leaves, dict.fromkeys(range(leaves, 2 * leaves), start), leaves, coins)

    @property
    def display(self) -> Hypothesis | None:
        """What the tree shows; None once it is frozen."""
        state = self.pertinent.get(self.shown)
        return None if state is None or state.failed else one_form(state.hypothesis)

    def insert(self, leaf: int, x: Any, y: Label) -> None:
        """Give an example to the sequence above ``leaf``, and climb while siblings disagree."""
        node = self.leaves + leaf
        while node not in self.pertinent:
            node >>= 1
        state = self.pertinent[node]
        if node == ROOT or state.failed or state.hypothesis(x) == y:
            return
        self.pertinent[node] = state.after(x, y)
        climbed = False
        while self._siblings_disagree(node):
            node = self._play_tournament(node)
            climbed = True
        if climbed:
            self._choose_display()

    def _siblings_disagree(self, node: int) -> bool:
        mine, theirs = self.pertinent[node], self.pertinent.get(node ^ 1)
        if node == ROOT or theirs is None or mine.failed or theirs.failed:
            return False
        left, right = one_form(mine.hypothesis), one_form(theirs.hypothesis)
        # Unequal hypotheses may still be the same function; then they neither agree nor differ.
        return left != right and left.disagreement(right) is not None

    def _play_tournament(self, node: int) -> int:
        """Guess the label of a point on which the siblings differ; the one that errs moves up."""
        pair = [self.pertinent.pop(node & ~1), self.pertinent.pop(node | 1)]
        x = one_form(pair[0].hypothesis).disagreement(one_form(pair[1].hypothesis))
        y = self.coins.coin()
        erring = pair[0] if pair[0].hypothesis(x) != y else pair[1]
        self.pertinent[node >> 1] = erring.after(x, y)
        return node >> 1

    def _choose_display(self) -> None:
        """A random pertinent pair that agrees; the root if it is pertinent; else freeze."""
        if ROOT in self.pertinent:
            self.shown = ROOT
            return
        agreeing = [
            node
            for node, state in sorted(self.pertinent.items())
            if node % 2 == 0 and not state.failed and self._agrees_with_sibling(node)
        ]
        self.shown = agreeing[self.coins.below(len(agreeing))] if agreeing else ROOT

    def _agrees_with_sibling(self, node: int) -> bool:
        theirs = self.pertinent.get(node + 1)
        if theirs is None or theirs.failed:
            return False
        return one_form(theirs.hypothesis) == one_form(self.pertinent[node].hypothesis)
