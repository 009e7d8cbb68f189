"""A round without an example reads nothing: by its exact law, and beside a round that is read."""

from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import pytest

from littlestone.audit.exact.laws import enumerable
from littlestone.audit.exact.masses import UNIT
from littlestone.audit.exact.privacy_curve import PrivacyCurve, curve_between
from littlestone.audit.exact.tape import Law, Tape, law_of
from littlestone.audit.subjects.small_learners import fresh_majority
from littlestone.audit.two_worlds import look
from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.schema import Schema
from littlestone.errors import HorizonExceededError
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import seeded

EPSILON = 0.5
SLACK = 1e-3  # for runs that are left out
TREES = DecisionTrees(Schema.from_mapping({"delay": {"grid": [0]}}), 1)
Stream = list[tuple[Any, int] | None]
"""None is a round without an example."""

SMALL: dict[str, tuple[PrivateLearner, Any]] = {
    "trees": (DisjointBatches(concepts=TREES, epsilon=EPSILON, first=2), (1,)),
    "thresholds": (
        DisjointBatches(concepts=Thresholds(3), epsilon=EPSILON, first=2),
        1,
    ),
}
"""Each with a point at which one label helps and the other does not."""


def law(recipe: PrivateLearner, stream: Stream) -> Law:
    def play(tape: Tape) -> Hashable:
        run = recipe.start(rng=tape)
        views = [look(run.hypothesis)]
        for example in stream:
            run.pass_round() if example is None else run.observe(*example)
            tape.left -= 1
            views.append(look(run.hypothesis))
        return tuple(views)

    cut = int(Fraction(1, 1 << 24) * UNIT)
    return law_of(play, rounds=len(stream), negligible=cut, most=100_000)


def curve(recipe: PrivateLearner, zero: Stream, one: Stream) -> PrivacyCurve:
    with enumerable():
        return curve_between(law(recipe, zero), law(recipe, one))


@pytest.mark.parametrize("name", SMALL)
def test_of_a_user_with_two_rows_one_is_read(name: str) -> None:
    """k = 1: what the other says cannot be seen; if it is read, too, the promise is broken."""
    recipe, x = SMALL[name]
    bounded = curve(recipe, [(x, 0), None], [(x, 1), None])
    assert bounded.epsilon_upper_bound(SLACK) <= EPSILON * (1 + 1e-9)
    unbounded = curve(recipe, [(x, 0), (x, 0)], [(x, 1), (x, 1)])
    assert unbounded.epsilon_lower_bound(SLACK) > bounded.epsilon_upper_bound(SLACK)


@pytest.mark.parametrize("name", SMALL)
def test_the_law_is_that_of_fewer_examples(name: str) -> None:
    """There is nothing to count; an example in its place has another law, whatever its label."""
    recipe, x = SMALL[name]
    with enumerable():
        laws = [law(recipe, [each, (x, 1)]) for each in (None, (x, 0), (x, 1))]
    idle, zero, one = (each.views for each in laws)
    assert zero != idle != one


def test_neutral_gains_are_added_for_noisy_losses() -> None:
    """The sums after a batch of idle rounds are those of the noise alone."""
    recipe = AgnosticFinite(concepts=Thresholds(7), rounds=64, epsilon=1.0, delta=1e-6)
    idle, read = (recipe.start(rng=seeded(5)) for _ in range(2))
    other = recipe.start(rng=seeded(5))
    for round_number in range(64):
        idle.pass_round()
        other._engine.idle(3)
        read.observe(3, 1)
        assert idle.hypothesis == other._engine.hypothesis, round_number
    assert read.snapshot() != idle.snapshot()


def test_idle_rounds_use_up_the_horizon() -> None:
    run = fresh_majority(1.0).for_rounds(2).start(rng=seeded(1))
    run.pass_round()
    run.pass_round()
    with pytest.raises(HorizonExceededError):
        run.pass_round()
    assert run.rounds_played == 2
