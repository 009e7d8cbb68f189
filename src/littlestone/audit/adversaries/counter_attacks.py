"""Adversaries of many noisy counters, PrivateKeys and PrivateWitnesses, in the two-world game."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from littlestone.audit.adversaries.learner_attacks import EARLY, until_it_changes
from littlestone.audit.two_worlds import Deterministic, World
from littlestone.learners.private_keys.recipe import PrivateKeys


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMoreReport(Deterministic):
    """Bring a key up to the threshold, but for ``short`` reports; then report it or rest.

    While its gap is large it is listed at once with odds of e**query_rate, nearly all of epsilon.
    """

    short: int = 3

    def noticed(self, world: World) -> Hashable:
        return _is_one(_counted(world, "a", self.short), "a")


class ListedTwice(Deterministic):
    """Have a key listed, unlisted and reported once more: is it listed again at once?

    The special example is among the first reports; a counter that is kept counts it twice, for
    odds of e**query_rate each time.
    """

    def noticed(self, world: World) -> Hashable:
        shown = _counted(world, "a", 3)
        if shown is None or not shown.hypothesis("a"):
            return EARLY
        until_it_changes(world, shown, ("a", 0))
        return bool(world.send(("a", 1)).hypothesis("a"))


class NoiseOfOthers(Deterministic):
    """Learn the threshold noise from some keys, then aim at another that has the same.

    The most reports that any of them needed is where every key is listed for sure.
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
    """Bring a witness up to the threshold, but for ``short`` mistakes; then name it or rest.

    The conjunction over one feature is 0 everywhere at first. A 1 at (1,) names the literal
    "not x0", and the rule changes as soon as that is gone. While its gap is large this happens at
    once with odds of e**query_rate, nearly all of epsilon.
    """

    short: int = 2

    def noticed(self, world: World) -> Hashable:
        return _is_one(_counted(world, (1,), self.short), (1,))


class NoiseOfOtherEpochs(Deterministic):
    """Learn the threshold noise from some epochs, then aim at the next one if it has the same.

    The most mistakes that any of them needed is where "not x0" is given up for sure; a 0 at the
    point that is labelled 1 then names "start again".
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
    """Two mistakes lie at one place; the third lies at the other or at the same one.

    Further ones lie at both in turn, until a place is drawn.
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
    """A mistake or none; then epochs that are alike, as if a draw could still know of it."""

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
    """What is shown if all but ``short`` mistakes of the threshold come before the special one."""
    recipe = world.opening.recipe
    keys = isinstance(recipe, PrivateKeys)
    return _after(world, point, (recipe.reports if keys else recipe.planned.threshold) - short)


def _after(world: World, point: Any, mistakes: int) -> Any:
    """What is shown after so many mistakes and the special round; None if it comes too early."""
    for _ in range(mistakes):
        if world.send((point, 1)).hypothesis(point):
            return None
    return world.challenge((point, 1), (point, 0))


def _is_one(shown: Any, point: Any) -> Hashable:
    return EARLY if shown is None else bool(shown.hypothesis(point))
