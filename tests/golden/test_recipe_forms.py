"""Forms have every field, so that stores and snapshots belong to them and to no default."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.golden.recipes import FORMS, recipes

from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.intervals import Intervals
from littlestone.concepts.classes.sparse_sets import Points, SparseSets
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import SnapshotError, StoreError
from littlestone.learners.agnostic_finite.naive_recomposition import NaiveRecomposition
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.forms import canonical_form, from_form
from littlestone.learners.lazy_forest.fresh_copies import FreshCopies
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.learners.restarting import Restarting
from littlestone.learners.sanitized.recipe import SanitizedExperts
from littlestone.randomness import seeded
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event

KNOWN = json.loads(FORMS.read_text(encoding="utf-8"))


def test_forms_change_only_on_purpose_and_none_are_alike() -> None:
    """If this fails, stores of users do not open: raise ``form_version`` and run make golden."""
    forms = {name: canonical_form(recipe) for name, recipe in recipes().items()}
    assert list(KNOWN) == list(forms)
    assert not [name for name, form in forms.items() if json.loads(form) != KNOWN[name]]
    assert len(set(forms.values())) == len(forms)


MAJORITY: dict[str, Any] = {"concepts": Thresholds(7), "rounds": 100, "epsilon": 1.0}


def test_a_recipe_of_another_default_is_another_one(tmp_path: Path) -> None:
    """Even if nobody has said what the field shall be: the form has it."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Newer(PrivateMajority):
        patience: int = 3

    Newer.__name__ = "PrivateMajority"
    old = DurableRun.start(PrivateMajority(**MAJORITY), tmp_path / "store")
    old.take([Event("1", 3, 1), Event("2", 4, 0)])
    old.close()
    with pytest.raises(StoreError, match="another recipe"):
        DurableRun.resume(Newer(**MAJORITY), tmp_path / "store")
    run = PrivateMajority(**MAJORITY).start(rng=seeded(1))
    with pytest.raises(SnapshotError, match="another recipe"):
        Newer(**MAJORITY).restore(run.snapshot())


def test_a_plan_is_part_of_the_form() -> None:
    """So that a store goes on as it was planned, whatever would be planned for it later."""
    recipe = PrivateMajority(**MAJORITY)
    again = from_form(canonical_form(recipe), PrivateMajority)
    assert recipe.plan is None and again.plan == recipe.planned
    assert canonical_form(again) == canonical_form(recipe)


def test_another_version_is_another_form() -> None:
    @dataclass(frozen=True)
    class Recipe:
        rate: float = 0.5

    before = canonical_form(Recipe())
    Recipe.form_version = 2  # type: ignore[attr-defined]
    assert canonical_form(Recipe()) != before


def test_a_function_has_a_form_only_by_its_name() -> None:
    assert "canonical_form" in canonical_form(canonical_form)
    with pytest.raises(SnapshotError, match="not a module-level function"):
        canonical_form(lambda size, parts: None)


concepts = (
    st.integers(1, 6).map(Thresholds)
    | st.integers(1, 6).map(Points)
    | st.integers(1, 6).map(Intervals)
    | st.tuples(st.integers(1, 2), st.integers(2, 4)).map(lambda sizes: SparseSets(*sizes))
    | st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=4).map(
        lambda rows: FiniteClass(np.array(rows))
    )
)
budgets = st.fixed_dictionaries(
    {
        "concepts": concepts,
        "rounds": st.integers(2, 4),
        "epsilon": st.sampled_from([0.5, 1.0, 1.0000000000000002]),
        "delta": st.sampled_from([1e-3, 1e-6]),
        "max_contributions": st.integers(1, 2),
    }
)
kinds = st.sampled_from([AgnosticFinite, FreshCopies, NaiveRecomposition])
learners = st.builds(lambda kind, budget: kind(**budget), kinds, budgets)
drawn = learners | st.builds(
    lambda one, n: Restarting(learner=one, restarts=n), learners, st.integers(0, 1)
)


@given(drawn, drawn)
def test_forms_are_equal_exactly_for_equal_recipes(one: Any, other: Any) -> None:
    assert (canonical_form(one) == canonical_form(other)) == (one == other)


@given(kinds, budgets, st.sampled_from(["concepts", "rounds", "epsilon", "max_contributions"]))
def test_every_field_is_part_of_the_form(kind: Any, budget: dict[str, Any], field: str) -> None:
    recipe = kind(**budget)
    changes = {"concepts": Thresholds(50), "rounds": 9, "epsilon": 0.25, "max_contributions": 3}
    changed = kind(**{**budget, field: changes[field]})
    assert canonical_form(changed) != canonical_form(recipe)


def test_text_and_numbers_stay_apart() -> None:
    base = SanitizedExperts(concepts=Points(), rounds=50, epsilon=1.0, delta=1e-6)
    other = replace(base, sanitizer="histogram")
    assert canonical_form(base) != canonical_form(other)
    assert canonical_form((1, 1.0, True, "1", None)) == '[1,1.0,true,"1",null]'
