"""Adversaries of PrivateKeys in the two-world game."""

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
        return _is_listed(_at_the_edge(world, "a", self.short))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTwice(Deterministic):
    """Have a key listed, unlisted and reported once more: is it listed again at once?

    The special example is among the first reports; a counter that is kept counts it twice, for
    odds of e**query_rate each time.
    """

    short: int = 3

    def noticed(self, world: World) -> Hashable:
        shown = _at_the_edge(world, "a", self.short)
        if shown is None or not shown.hypothesis("a"):
            return EARLY
        until_it_changes(world, shown, ("a", 0))
        return bool(world.send(("a", 1)).hypothesis("a"))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseOfOthers(Deterministic):
    """Learn the threshold noise from some keys, then aim at another that has the same.

    The most reports that any of them needed is where every key is listed for sure.
    """

    others: int = 6

    def noticed(self, world: World) -> Hashable:
        most = 0
        for key in range(self.others):
            reports, listed = 0, False
            while not listed:
                listed = bool(world.send((key, 1)).hypothesis(key))
                reports += 1
            most = max(most, reports)
        return _is_listed(_after(world, "a", most - 1))


def _at_the_edge(world: World, key: str, short: int) -> Any:
    recipe = world.opening.recipe
    assert isinstance(recipe, PrivateKeys)
    return _after(world, key, recipe.reports - short)


def _after(world: World, key: str, reports: int) -> Any:
    """What is shown after so many reports and the special round; None if it comes too early."""
    for _ in range(reports):
        if world.send((key, 1)).hypothesis(key):
            return None
    return world.challenge((key, 1), ("nobody", 0))


def _is_listed(shown: Any) -> Hashable:
    return EARLY if shown is None else bool(shown.hypothesis("a"))
