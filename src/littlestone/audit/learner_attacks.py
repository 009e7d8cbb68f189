"""Adversaries of the two-world game, each built against one learner."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from littlestone.audit.two_worlds import Deterministic, World
from littlestone.learners.lazy_forest.recipe import LazyForest
from littlestone.learners.private_keys.recipe import PrivateKeys

EARLY = "too early"
PATIENCE = 60
AGREEING, ANOTHER, NO_MISTAKE = (2, 1), (3, 0), (0, 0)
"""Examples for a forest over Thresholds(6): two mistakes of its first rule, and none."""


@lru_cache(maxsize=64)
def _release_threshold(recipe: LazyForest) -> int:
    return recipe.first_frequent().threshold


class TwoKeys(Deterministic):
    """Against the early release: bring two keys to the threshold, then count one once more.

    The counted key is released at once with odds of e**query_rate, and the other is not released
    with odds of up to e**threshold_rate: together epsilon.
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
    """Against AboveThreshold in the last layer: challenge one mistake below the threshold.

    The answer is yes with probability P(noise >= noise') or e**-epsilon times that. ``copies``
    earlier copies are used up first, to detect state that outlives a copy.
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
    """Against the last list: two keys at its threshold, one of which gets one more element.

    "The first is listed, the second is not" has odds of e**epsilon, the list's whole price.
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

    Twice the threshold of them make exactly as many pairs as the list needs, or one less.
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
    """Send a mistake or none in the first round; notice what is published after it.

    Enough if AboveThreshold may answer yes to the first mistake.
    """

    after: int = 0
    """The number of rounds without a mistake before."""

    def noticed(self, world: World) -> Hashable:
        newest = world.opening.shown
        for _ in range(self.after):
            newest = world.send((0, newest.hypothesis(0)))
        # A sampled majority may publish the key itself before any example.
        wrong = 1 - newest.hypothesis(0)
        shown = world.challenge((0, wrong), (0, 1 - wrong))
        return wrong, shown != newest, shown.hypothesis(0)


class FirstWeights(Deterministic):
    """Send a gradient or its opposite; notice the sign and size of the published weights."""

    def noticed(self, world: World) -> Hashable:
        card: Any = world.challenge(((1, 1, 1, 1), 1), ((1, 1, 1, 1), 0)).hypothesis
        along = card.constant + sum(points for (points,) in card.points)
        return int(max(-8, min(8, along // 500)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MistakesInOrder(Deterministic):
    """Send a mistake or none, with given mistakes (1) and other examples (0) around it."""

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
    """Send a mistake, then the same mistake or none; notice whether the point is published."""

    def noticed(self, world: World) -> Hashable:
        world.send(("a", 1))
        return bool(world.challenge(("a", 1), ("a", 0)).hypothesis("a"))


def one_more_of_two(world: World) -> Any:
    """Bring two keys to the list's threshold, then send one once more; None if it is too early."""
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

    If only noise can change it, the mean waiting time is infinite.
    """
    for _ in range(patience):
        newest = world.send(example)
        if newest != shown:
            return newest
    return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMoreReport(Deterministic):
    """Bring a key to ``short`` reports below the threshold; then report it or not.

    While its gap is large, it is listed at once with odds of e**query_rate, nearly all of epsilon.
    """

    short: int = 3

    def noticed(self, world: World) -> Hashable:
        return _is_one(_counted(world, "a", self.short), "a")


class ListedTwice(Deterministic):
    """Have a key listed, unlisted and reported again; notice whether it is listed at once.

    The special example is among the first reports; a counter that is not reset counts it twice,
    with odds of e**query_rate each time.
    """

    def noticed(self, world: World) -> Hashable:
        shown = _counted(world, "a", 3)
        if shown is None or not shown.hypothesis("a"):
            return EARLY
        until_it_changes(world, shown, ("a", 0))
        return bool(world.send(("a", 1)).hypothesis("a"))


class NoiseOfOthers(Deterministic):
    """Learn the threshold noise from some keys, then attack another key with the same noise.

    The largest number of reports that any of them needed lists every key.
    """

    def noticed(self, world: World) -> Hashable:
        most = 0
        for key in range(6):
            reports, listed = 0, False
            while not listed:
                listed = bool(world.send((key, 1)).hypothesis(key))
                reports += 1
            most = max(most, reports)
        return _is_one(_after(world, "a", most - 1), "a")


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMoreMistake(Deterministic):
    """Bring a witness to ``short`` mistakes below the threshold; then name it or not.

    The conjunction over one feature is first 0 everywhere. A 1 at (1,) names the literal "not x0",
    and the rule changes when that is dropped. While its gap is large, this happens at once with
    odds of e**query_rate, nearly all of epsilon.
    """

    short: int = 2

    def noticed(self, world: World) -> Hashable:
        return _is_one(_counted(world, (1,), self.short), (1,))


class NoiseOfOtherEpochs(Deterministic):
    """Learn the threshold noise from some epochs, then attack the next, if it reuses the noise.

    The largest number of mistakes that any of them needed drops "not x0" for sure; then a 0 at the
    point labelled 1 names "start again".
    """

    def noticed(self, world: World) -> Hashable:
        one, most = (1,), 0
        for _ in range(6):
            named = 1
            while not world.send((one, 1)).hypothesis(one):
                named += 1
            most = max(most, named)
            while world.send((one, 0)).hypothesis(one):
                pass
        return _is_one(_after(world, one, most - 1), one)


class OtherPlace(Deterministic):
    """Send two mistakes at one place; the third at the other place or the same.

    Further mistakes alternate until a place is drawn.
    """

    def noticed(self, world: World) -> Hashable:
        newest = world.opening.shown
        if any(world.send((0, 1)) != newest for _ in range(2)):
            return EARLY
        shown, turn = world.challenge((1, 1), (0, 1)), 0
        while shown == newest:
            shown, turn = world.send((turn, 1)), 1 - turn
        return int(shown.hypothesis(1))


class PlacesOfEarlierEpochs(Deterministic):
    """Send a mistake or none, then identical epochs; notice whether a later draw depends on it."""

    def noticed(self, world: World) -> Hashable:
        empty, drawn, turn = world.opening.shown, 0, 0
        shown = world.challenge((0, 1), (0, 0))
        for _ in range(40):
            while shown == empty:
                shown, turn = world.send((turn, 1)), 1 - turn
            drawn += shown.hypothesis(0)
            place = 1 - shown.hypothesis(0)
            while shown != empty:
                shown = world.send((place, 0))
        return drawn >= 26


def _counted(world: World, point: Any, short: int) -> Any:
    """Return what is published after threshold minus ``short`` mistakes and the challenge."""
    recipe = world.opening.recipe
    keys = isinstance(recipe, PrivateKeys)
    return _after(world, point, (recipe.reports if keys else recipe.planned.threshold) - short)


def _after(world: World, point: Any, mistakes: int) -> Any:
    """Return what is published after these mistakes and the challenge; None if too early."""
    for _ in range(mistakes):
        if world.send((point, 1)).hypothesis(point):
            return None
    return world.challenge((point, 1), (point, 0))


def _is_one(shown: Any, point: Any) -> Hashable:
    return EARLY if shown is None else bool(shown.hypothesis(point))
