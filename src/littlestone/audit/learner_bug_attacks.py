"""Adversaries that exploit one bug each, for the controls of ``controls/broken_learners.py``."""

from collections.abc import Hashable
from functools import lru_cache

from littlestone.audit.learner_attacks import (
    AGREEING,
    ANOTHER,
    EARLY,
    NO_MISTAKE,
    one_more_of_two,
    until_it_changes,
)
from littlestone.audit.two_worlds import Deterministic, Shown, World
from littlestone.learners.lazy_forest.recipe import LazyForest

LATE = "too late"
FOUR_MISTAKES = ((0, 1), (2, 1), (3, 0), (5, 0))
"""For a forest over Thresholds(6)."""


@lru_cache(maxsize=64)
def _certain_inclusion(recipe: LazyForest) -> int:
    return recipe.histogram(recipe.depth).certain_inclusion


class KnownThreshold(Deterministic):
    """Measure the noisy threshold with one copy; in the next, stop just below it."""

    def noticed(self, world: World) -> Hashable:
        recipe, newest = world.opening
        threshold = recipe.switch(recipe.depth, 0).threshold
        while not newest.hypothesis("a"):
            newest = world.send(("a", 1))
        mistakes, shown = 1, world.send(("a", 0))
        while shown == newest:
            mistakes, shown = mistakes + 1, world.send(("a", 0))
        while not shown.hypothesis("a"):
            shown = world.send(("a", 1))
        quiet = world.challenge(("a", 0), ("a", 1)) == shown
        quiet = quiet and all(world.send(("a", 1)) == shown for _ in range(30))
        return mistakes <= threshold, quiet


class BothErr(Deterministic):
    """Get two hypotheses listed; send an example on which both err, or neither."""

    def noticed(self, world: World) -> Hashable:
        recipe, newest = world.opening
        for _ in range(_certain_inclusion(recipe)):
            if any(world.send((key, 1)) != newest for key in "ab"):
                return EARLY
        shown = until_it_changes(world, newest, ("stranger", 0))
        if shown == newest:
            return LATE
        for _ in range(recipe.switch(recipe.depth, 0).threshold - 1):
            if world.send(("stranger", 1)) != shown:
                return EARLY
        after = world.challenge(("stranger", 1), ("stranger", 0))
        return after == shown, after.hypothesis == newest.hypothesis


class TwoSwitches(Deterministic):
    """Send a mistake, then another or none; notice how many copies have ended."""

    def noticed(self, world: World) -> Hashable:
        if world.send((0, 1)) != world.opening.shown:
            return EARLY
        return str(world.challenge((0, 1), (0, 0)).status)


class WhichComesFirst(Deterministic):
    """Send two keys equally often, then one once more; notice which is first on the list."""

    def noticed(self, world: World) -> Hashable:
        newest = world.opening.shown
        shown, number = world.challenge(("a", 1), ("b", 1)), 0
        while shown == newest:
            number += 1
            shown = world.send(("ab"[number % 2], 1))
        return number % 2, shown.hypothesis("a")


class ShiftedPairs(Deterministic):
    """Build four groups of sequences; one more sequence in the first shifts all others."""

    def noticed(self, world: World) -> Hashable:
        recipe, newest = world.opening
        shown = world.challenge(FOUR_MISTAKES[0], NO_MISTAKE)
        for example in FOUR_MISTAKES:
            for _ in range(2 * recipe.plan.list_thresholds[0]):
                if shown != newest:
                    return EARLY
                shown = world.send(example)
        if shown == newest:
            shown = until_it_changes(world, newest, NO_MISTAKE)
        listed = 0
        while shown.hypothesis != newest.hypothesis and "layer 1" in shown.status:
            listed += 1
            x = 0
            shown = until_it_changes(world, shown, (x, 1 - shown.hypothesis(x)))
        return listed


class EdgesOfBothLists(Deterministic):
    """Watch for noise at its bound, which separates the worlds, on two lists whose deltas add up.

    Sends an even number of sequences, all of which agree or all but one, and then no mistake until
    they are listed. The first list's noisy count shows in how long its hypothesis lasts.
    """

    def noticed(self, world: World) -> Hashable:
        recipe, newest = world.opening
        noise = recipe.plan.list_thresholds[0] - 1
        pairs = 2 * noise + 2
        shown = world.challenge(AGREEING, ANOTHER)
        for _ in range(2 * pairs - 1):
            if shown != newest:
                return EARLY
            shown = world.send(AGREEING)
        if shown == newest:
            shown = until_it_changes(world, newest, NO_MISTAKE, patience=300)
        if "layer 1" not in shown.status:
            return LATE
        taken, shown = _brought_to_its_end(world, shown)
        per_slot = round(recipe.plan.mistakes_per_slot[1])
        # Rounded down: a late switch must not look like one more slot.
        slots = (taken - recipe.plan.margins[1] + 1) // per_slot
        return slots >= pairs + 2 * noise, "layer 2" in shown.status


class LengthOfTheTurn(Deterministic):
    """Send one pair more or less in layer 1; notice how long its first hypothesis lasts."""

    def noticed(self, world: World) -> Hashable:
        shown, number = world.challenge(AGREEING, ANOTHER), 1
        while shown == world.opening.shown:
            shown, number = world.send(AGREEING), number + 1
        if "layer 1" not in shown.status:
            return EARLY
        taken, _ = _brought_to_its_end(world, shown)
        return number % 2, taken - 6 * (number // 2)


def _brought_to_its_end(world: World, first: Shown) -> tuple[int, Shown]:
    """Return how many mistakes end the turn of a hypothesis, and what is published then."""
    shown, taken = first, 0
    while shown == first:
        shown, taken = world.send((0, 1)), taken + 1
    return taken, shown


class SeveralLists(Deterministic):
    """Bring two keys to the list's threshold, add one element to one; then play several copies.

    In each copy other keys end the first layer. Notices how often each key is listed.
    """

    def noticed(self, world: World) -> Hashable:
        newest, shown = world.opening.shown, one_more_of_two(world)
        if shown is None:
            return EARLY
        strangers, lead = 0, 0
        for _ in range(3):
            before = shown
            while shown.status == before.status and shown.hypothesis == newest.hypothesis:
                strangers += 1
                shown = world.send((strangers, 1))
            while shown.hypothesis != newest.hypothesis:
                key = "a" if shown.hypothesis("a") else "b"
                lead += 1 if key == "a" else -1
                shown = until_it_changes(world, shown, (key, 0))
        return lead


class RareListing(Deterministic):
    """Make one tree have the key, or none; notice whether it is ever listed."""

    def noticed(self, world: World) -> Hashable:
        shown = world.challenge(("a", 1), ("a", 0))
        for _ in range(world.opening.recipe.release.selections):
            if shown.hypothesis("a"):
                return True
            shown = world.send(("a", 0))
        return False


class CountsOfEarlierPhases(Deterministic):
    """Send a mistake at one key or another, then play phases; notice which key is drawn more.

    Later mistakes are the same for both keys. Phases that start with a published key are ignored.
    """

    def noticed(self, world: World) -> Hashable:
        newest, lead, key = world.opening.shown, 0, 0
        shown = world.challenge((0, 1), (1, 1))
        for _ in range(24):
            published = [x for x in (0, 1) if newest.hypothesis(x)]
            while shown == newest:
                key = 1 - key
                shown = world.send((published[0], 0) if published else (key, 1))
            if not published:
                lead += shown.hypothesis(0) - shown.hypothesis(1)
            newest = shown
        return lead


class OtherWitness(Deterministic):
    """Send two mistakes that name one witness; the third names the other or the same."""

    def noticed(self, world: World) -> Hashable:
        newest = world.opening.shown
        if any(world.send((0, 1)) != newest for _ in range(2)):
            return EARLY
        shown = world.challenge((2, 0), (0, 1))
        if shown == newest:
            shown = until_it_changes(world, newest, (0, 0))
        if shown == newest:
            return LATE
        return int(shown.hypothesis(2))


class WaitForTheFlag(Deterministic):
    """Wait until a copy is in its bad state; then challenge."""

    def noticed(self, world: World) -> Hashable:
        shown = world.opening.shown
        for _ in range(32):
            if shown.hypothesis("flag"):
                return int(world.challenge(("a", 1), ("a", 0)).hypothesis("a"))
            shown = world.send(("a", 0))
        return EARLY
