"""Adversaries of the two-world game, each built against one learner's weakest moment."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from littlestone.audit.two_worlds import Deterministic, World
from littlestone.learners.lazy_forest.recipe import LazyForest

EARLY = "too early"
PATIENCE = 60
AGREEING, ANOTHER, NO_MISTAKE = (2, 1), (3, 0), (0, 0)
"""Examples for a forest over Thresholds(6): two mistakes of its first rule, and none."""


@lru_cache(maxsize=64)
def _release_threshold(recipe: LazyForest) -> int:
    return recipe.first_frequent().threshold


class TwoKeys(Deterministic):
    """Against the early release: bring two keys up to the threshold, then count one of them more.

    One is released at once with odds of e**query_rate, and that the other one is not released has
    odds of up to e**threshold_rate: together epsilon.
    """

    def noticed(self, world: World) -> Hashable:
        recipe, nothing = world.opening
        for _ in range(_release_threshold(recipe) - 1):
            for key in "ab":
                if world.send((key, 1)) != nothing:
                    return EARLY
        hypothesis, _ = world.challenge(("a", 1), ("b", 1))
        return hypothesis("a"), hypothesis("b")


@dataclass(frozen=True, slots=True, kw_only=True)
class LastSwitch(Deterministic):
    """Against AboveThreshold in the last layer: one mistake below its threshold, then the special.

    The answer is yes with probability P(noise >= noise') or e**-epsilon times that. Earlier
    copies (``copies`` of them) are used up first, to see whether they leave something behind.
    """

    copies: int = 0

    def noticed(self, world: World) -> Hashable:
        recipe, newest = world.opening
        forest = getattr(recipe, "learner", recipe)
        threshold = forest.switch(forest.depth, 0).threshold
        for copy in range(self.copies + 1):
            while not newest.hypothesis("a"):
                newest = world.send(("a", 1))
            if copy < self.copies:
                newest = until_it_changes(world, newest, ("a", 0))
        for _ in range(threshold - 1):
            if world.send(("a", 0)) != newest:
                return EARLY
        return bool(world.challenge(("a", 0), ("a", 1)) != newest)


class ListMembership(Deterministic):
    """Against the last list: two keys at its threshold, one of which gets one element more.

    That the one is listed and the other is not has odds of e**epsilon, the list's whole price.
    """

    def noticed(self, world: World) -> Hashable:
        newest, shown = world.opening.shown, one_more_of_two(world)
        if shown is None:
            return EARLY
        strangers = 0
        while shown == newest:
            strangers += 1
            shown = world.send((strangers, 1))
        listed = []
        while shown.hypothesis != newest.hypothesis:
            key = "a" if shown.hypothesis("a") else "b"
            listed.append(key)
            shown = until_it_changes(world, shown, (key, 0))
        return tuple(listed)


class PairsOnTheFirstList(Deterministic):
    """Against the list of layer 1: sequences that all agree, or all but one.

    Twice the threshold of them make as many pairs as the list wants, or one pair less.
    """

    def noticed(self, world: World) -> Hashable:
        recipe, newest = world.opening
        for _ in range(2 * recipe.plan.list_thresholds[0] - 1):
            if world.send(AGREEING) != newest:
                return EARLY
        shown = world.challenge(AGREEING, ANOTHER)
        if shown == newest:
            shown = until_it_changes(world, newest, NO_MISTAKE)
        return bool(shown.hypothesis == newest.hypothesis), shown == newest


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstMistake(Deterministic):
    """A mistake or none in a first round; notice what is shown after it.

    Enough where the first mistake is one that AboveThreshold may answer with yes.
    """

    after: int = 0
    """Rounds without a mistake that come before."""

    def noticed(self, world: World) -> Hashable:
        newest = world.opening.shown
        for _ in range(self.after):
            newest = world.send((0, newest.hypothesis(0)))
        # A sampled majority may publish the key itself before it has seen anything.
        wrong = 1 - newest.hypothesis(0)
        shown = world.challenge((0, wrong), (0, 1 - wrong))
        return wrong, shown != newest, shown.hypothesis(0)


class FirstWeights(Deterministic):
    """A long gradient or its opposite; notice the published weights along it, in half deviations.

    The rate is such that noise moves the sum of the weights by one deviation, ten thousand.
    """

    def noticed(self, world: World) -> Hashable:
        card: Any = world.challenge(((1, 1, 1, 1), 1), ((1, 1, 1, 1), 0)).hypothesis
        along = card.constant + sum(points for (points,) in card.points)
        return int(max(-8, min(8, along // 5_000)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MistakesInOrder(Deterministic):
    """A mistake or none, with mistakes (1) and other examples (0) before it and after it."""

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()

    def noticed(self, world: World) -> Hashable:
        for label in self.before:
            world.send(("a", label))
        shown = world.challenge(("a", 1), ("a", 0))
        for label in self.after:
            shown = world.send(("a", label))
        return shown.hypothesis("a"), shown.status


class FirstRelease(Deterministic):
    """A mistake, then a mistake on the same point or none: is it published?"""

    def noticed(self, world: World) -> Hashable:
        world.send(("a", 1))
        return bool(world.challenge(("a", 1), ("a", 0)).hypothesis("a"))


def one_more_of_two(world: World) -> Any:
    """Two keys at the list's threshold, then one of them once more; None if it was too early."""
    recipe, newest = world.opening
    [threshold] = recipe.plan.list_thresholds
    keys = ["a", "b"] * (threshold - 1) + ["b"]
    if any(world.send((key, 1)) != newest for key in keys):
        return None
    return world.challenge(("a", 1), ("b", 1))


def until_it_changes(
    world: World, shown: Any, example: tuple[Any, int], *, patience: int = PATIENCE
) -> Any:
    """Send the example until something else is shown; give up after ``patience`` rounds.

    Where nothing but noise can make it change, the mean waiting time is infinite.
    """
    for _ in range(patience):
        newest = world.send(example)
        if newest != shown:
            return newest
    return shown
