"""Adversaries of PrivateWitnesses in the two-world game."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from littlestone.audit.adversaries.learner_attacks import EARLY
from littlestone.audit.two_worlds import Deterministic, World
from littlestone.learners.private_witnesses.recipe import PrivateWitnesses


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMoreMistake(Deterministic):
    """Bring a witness up to the threshold, but for ``short`` mistakes; then name it or rest.

    The conjunction over one feature is 0 everywhere at first. A 1 at (1,) names the literal
    "not x0", and the rule changes as soon as that is gone. While its gap is large this happens at
    once with odds of e**query_rate, nearly all of epsilon.
    """

    short: int = 2

    def noticed(self, world: World) -> Hashable:
        return _changed(_after(world, (1,), _threshold(world) - self.short))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseOfOtherEpochs(Deterministic):
    """Learn the threshold noise from some epochs, then aim at the next one if it has the same.

    The most mistakes that any of them needed is where "not x0" is given up for sure; a 0 at the
    point that is labelled 1 then names "start again".
    """

    epochs: int = 6

    def noticed(self, world: World) -> Hashable:
        one, most = (1,), 0
        for _ in range(self.epochs):
            named = 1
            while not world.send((one, 1)).hypothesis(one):
                named += 1
            most = max(most, named)
            while world.send((one, 0)).hypothesis(one):
                pass
        return _changed(_after(world, one, most - 1))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacesOfEarlierEpochs(Deterministic):
    """A mistake or none; then epochs that are alike, as if a draw could still know of it."""

    epochs: int = 40
    most: int = 26

    def noticed(self, world: World) -> Hashable:
        empty, drawn, turn = world.opening.shown, 0, 0
        shown = world.challenge((0, 1), (0, 0))
        for _ in range(self.epochs):
            while shown == empty:
                shown, turn = world.send((turn, 1)), 1 - turn
            drawn += shown.hypothesis(0)
            place = 1 - shown.hypothesis(0)
            while shown != empty:
                shown = world.send((place, 0))
        return drawn >= self.most


def _threshold(world: World) -> int:
    recipe = world.opening.recipe
    assert isinstance(recipe, PrivateWitnesses)
    return recipe.planned.threshold


def _after(world: World, point: tuple[int, ...], named: int) -> Any:
    """What is shown after so many mistakes and the special round; None if it comes too early."""
    for _ in range(named):
        if world.send((point, 1)).hypothesis(point):
            return None
    return world.challenge((point, 1), (point, 0))


def _changed(shown: Any) -> Hashable:
    return EARLY if shown is None else bool(shown.hypothesis((1,)))
