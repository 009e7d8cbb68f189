"""What was kept of a recipe gives the recipe again, or is refused; nothing in between."""

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from tests.golden.recipes import BUDGET, CONCEPTS, recipes

from littlestone.choose.catalogue import LEARNERS
from littlestone.errors import SnapshotError
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner, recipe_from_form

FOREST = canonical_form(LEARNERS["lazy-forest"].build(CONCEPTS, **BUDGET))


@cache
def learned() -> dict[str, Any]:
    """Every kept recipe of a learner, by its name."""
    return {name: one for name, one in recipes().items() if isinstance(one, PrivateLearner)}


def test_every_recipe_is_made_again_from_its_form_alone() -> None:
    assert {name for name, entry in LEARNERS.items() if entry.private} <= learned().keys()
    for recipe in learned().values():
        again: Any = recipe_from_form(canonical_form(recipe))
        assert type(again) is type(recipe) and canonical_form(again) == canonical_form(recipe)
        assert again.guarantee() == recipe.guarantee()


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('"kind":"LazyForest","version":1', '"kind":"LazyForest","version":2', "this is version 2"),
        ('"kind":"LazyForest"', '"kind":"os.system"', "no known class is named"),
        ('"kind":"LazyForest"', '"kind":"Thresholds"', "its field 'base' is unknown"),
        ('"epsilon":1.0,', '"epsilon":-1.0,', "epsilon"),
        ('"epsilon":1.0,', '"epsilon":"1.0",', "cannot be"),
        ('"epsilon":1.0,', '"epsilon":0.5,', "budgets must stay within"),  # the noise is less
        ('"switching":[0.04', '"switching":[0.94', "budgets must stay within"),
        ('"rounds":1000', '"rounds":1000,"patience":3', "its field 'patience' is unknown"),
        ('"rounds":1000', '"patience":1000', "its field 'patience' is unknown"),
        ('"max_contributions":1,', "", "its field 'max_contributions' is missing"),
        ('{"fields"', ' {"fields"', "another form"),
        ("}", "", "not the form of a recipe"),
        (FOREST, "[1, 2]", "another form"),
        (FOREST, "[" * 100_000, "not the form of a recipe"),
    ],
)
def test_what_was_altered_is_refused(before: str, after: str, told: str) -> None:
    assert before in FOREST
    with pytest.raises(SnapshotError, match=told):
        recipe_from_form(FOREST.replace(before, after, 1))


def parts(form: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a form where something else could stand."""
    places = form.items() if isinstance(form, dict) else enumerate(form)
    for place, part in list(places):
        yield form, place
        if isinstance(part, dict | list):
            yield from parts(part)


@pytest.mark.parametrize("other", [None, True, 0, -1, 1e300, "x", [], {}, {"kind": "int"}])
def test_whatever_stands_in_a_form_it_is_that_recipe_or_refused(other: Any) -> None:
    for name in ("disjoint-batches", "private-majority", "rules", "agnostic-finite-oblivious"):
        form = json.loads(canonical_form(learned()[name]))
        for owner, place in list(parts(form)):
            before, owner[place] = owner[place], other
            text = json.dumps(form, sort_keys=True, separators=(",", ":"))
            with suppress(SnapshotError):
                assert canonical_form(recipe_from_form(text)) == text
            owner[place] = before
