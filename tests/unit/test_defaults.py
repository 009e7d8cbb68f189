"""A learner that was chosen once is gone on with, as long as it is one for what is asked."""

from dataclasses import fields, replace
from typing import Any

import pytest

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.schema import Schema
from littlestone.defaults import Choice
from littlestone.errors import StoreError
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.recipe_forms import canonical_form
from littlestone.learners.wrappers.restarting import Restarting

SCHEMA = Schema.from_mapping({"delay": {"grid": [0, 15]}, "carrier": {"values": ["UA", "AA"]}})
OTHER = Schema.from_mapping({"delay": {"grid": [0, 16]}, "carrier": {"values": ["UA", "AA"]}})
CHOICE = Choice(space=SCHEMA, rounds=1000, epsilon=0.5, delta=1e-6, max_contributions=2)
EARLIER = DisjointBatches(
    concepts=DecisionTrees(SCHEMA, 1), rounds=1000, epsilon=0.5, max_contributions=2
)
"""Nothing that ``auto`` gives today: other trees, no plan, no questions."""


def test_what_auto_gave_once_is_gone_on_with() -> None:
    assert CHOICE.plan() != EARLIER
    assert CHOICE.kept(canonical_form(EARLIER)) == EARLIER
    assert CHOICE.kept(canonical_form(CHOICE.plan())) == CHOICE.plan()
    budget: Any = {"rounds": 1000, "epsilon": 0.5, "delta": 1e-6, "max_contributions": 2}
    another = AgnosticFinite(concepts=DecisionTrees(SCHEMA, 1), **budget)
    assert CHOICE.kept(canonical_form(another)) == another


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"epsilon": 0.25}, "epsilon must be what it was at the first start, 0.5, got 0.25"),
        ({"epsilon": 1.0}, "epsilon must be what it was at the first start, 0.5, got 1.0"),
        ({"rounds": 999}, "rounds must be what it was at the first start, 1000, got 999"),
        ({"rounds": None}, "rounds must be .* 1000, got None"),
        ({"max_contributions": 1}, "max_contributions must be .* 2, got 1"),
        (
            {"space": OTHER},
            r"schema must be [^U]*15[^U]*, got [^U]*16[^U]*; else",
        ),  # the field only
        ({"space": DecisionTrees(SCHEMA, 2)}, "class must be .*, got "),
        ({"space": Thresholds(9)}, r"class must be .*DecisionTrees.*, got Thresholds\(n=9\)"),
        (
            {"space": DecisionTrees(OTHER, 1)},
            r"class must be [^U]*15[^U]*, got [^U]*16[^U]*; else",
        ),
        ({"learner": "private-linear"}, "learner must be .* DisjointBatches, got PrivateLinear"),
    ],
)
def test_another_choice_is_refused_by_name(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(StoreError, match=told):
        replace(CHOICE, **changes).kept(canonical_form(EARLIER))


def test_a_learner_that_costs_more_than_is_asked_for_is_refused() -> None:
    """Nor does it help to write the numbers somewhere else in the form."""
    form = canonical_form(EARLIER).replace('"epsilon":0.5', '"epsilon":5.0')
    with pytest.raises(StoreError, match="epsilon must be"):
        CHOICE.kept(form)
    delta = replace(CHOICE, learner="private-linear").plan()
    with pytest.raises(StoreError, match="delta must be"):
        CHOICE.kept(canonical_form(replace(delta, delta=1e-3)))  # type: ignore[type-var]


def test_the_same_name_goes_on_however_it_is_built_today() -> None:
    named = replace(CHOICE, learner="disjoint-batches")
    assert named.kept(canonical_form(EARLIER)) == EARLIER
    forgotten = replace(CHOICE, learner="a name of old")
    assert forgotten.kept(canonical_form(EARLIER)) == EARLIER


def test_what_cannot_be_made_again_must_be_what_is_chosen_today() -> None:
    matrix = FiniteClass.from_class(Thresholds(99))
    choice = Choice(space=matrix, rounds=1000)
    assert choice.kept(canonical_form(choice.plan())) == choice.plan()
    wrapped = Restarting(learner=choice.plan(), restarts=1)
    with pytest.raises(StoreError, match=r"cannot be made again .*version of littlestone"):
        choice.kept(canonical_form(wrapped))
    later = canonical_form(EARLIER).replace('"version":2', '"version":3')
    with pytest.raises(StoreError, match="version 3 of DisjointBatches, and littlestone has"):
        CHOICE.kept(later)


@pytest.mark.parametrize(
    "budget", [{"delta": 2.0}, {"delta": -1.0}, {"delta": float("nan")}, {"epsilon": float("nan")}]
)
def test_a_budget_that_means_nothing_is_refused_by_learners_without_it_too(budget: Any) -> None:
    """Else a store could be made that nobody can go on with: ``kept`` compares the budget."""
    assert "delta" not in {field.name for field in fields(EARLIER)}
    with pytest.raises(ValueError, match=f"{next(iter(budget))} must"):
        Choice(space=SCHEMA, **budget)


def test_equal_numbers_go_on_however_they_are_written() -> None:
    once, again = (Schema.from_mapping({"a": {"grid": grid}}) for grid in ([0, 15], [0.0, 15.0]))
    kept = canonical_form(Choice(space=once, rounds=1000).plan())
    choice = Choice(space=again, rounds=1000)
    assert kept != canonical_form(choice.plan())
    assert canonical_form(choice.kept(kept)) == kept
