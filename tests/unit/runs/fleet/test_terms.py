"""A fleet goes on with the learner it was made for, and notices what was altered."""

from dataclasses import replace
from typing import Any

import pytest

from littlestone.choose import request as requests
from littlestone.choose.auto import auto
from littlestone.choose.request import Request
from littlestone.errors import StoreError
from littlestone.runs.fleet.keyed import advance
from littlestone.runs.fleet.terms import Terms, recipe_of

REQUEST = Request(over={"delay": {"grid": [10, 20]}}, rounds=100, epsilon=9.0)
EVENTS = [({"delay": 7 * n % 30}, int((7 * n % 30 >= 10) != (n >= 30))) for n in range(70)]


def earlier_learner(concepts: Any, **terms: Any) -> Any:
    """What ``auto`` might have been."""
    today: Any = auto(concepts, **terms)
    return replace(today, first=2)


def made() -> Terms:
    """A fleet of an earlier default, as it is read again."""
    with pytest.MonkeyPatch.context() as then:
        then.setattr(requests, "auto", earlier_learner)
        recipe = REQUEST.recipe()
    terms = Terms.planned(recipe, fingerprint=b"", options=REQUEST.to_json())
    return Terms.from_json(terms.to_json())


def test_a_fleet_of_an_earlier_default_goes_on_byte_for_byte() -> None:
    terms = made()
    with pytest.MonkeyPatch.context() as then:
        then.setattr(requests, "auto", earlier_learner)
        recipe = REQUEST.recipe()
    assert recipe != REQUEST.recipe()
    xs, ys = [list(part) for part in zip(*EVENTS, strict=True)]
    state, _ = advance(recipe, bytes(32), "a", None, range(1, 31), xs[:30], ys[:30])
    for key, before, at in (("a", state, 30), ("b", None, 0)):  # one that has begun, one that not
        rest: Any = (range(at + 1, 71), xs[at:], ys[at:])
        after = advance(recipe_of(terms), bytes(32), key, before, *rest)
        assert after == advance(recipe, bytes(32), key, before, *rest)
        assert len(after[1]) > (before is None)


@pytest.mark.parametrize(
    ("before", "after"), [('"first":2', '"first":3'), ('"epsilon":9.0', '"epsilon":90.0')]
)
def test_a_recipe_that_was_altered_is_refused(before: str, after: str) -> None:
    terms = made()
    assert before in terms.recipe
    with pytest.raises(StoreError, match="does not match its hash"):
        recipe_of(replace(terms, recipe=terms.recipe.replace(before, after)))


@pytest.mark.parametrize("change", [{"max_keys": 2}, {"users": "customer"}, {"shards": 32}])
def test_other_terms_than_were_promised_for_are_refused(change: dict[str, Any]) -> None:
    """They are part of the promise; in another shard a key would begin again, with its noise."""
    with pytest.raises(StoreError, match="does not match its hash"):
        recipe_of(replace(made(), **change))


def test_a_fleet_made_from_python_goes_on_by_its_recipe() -> None:
    terms = Terms.planned(REQUEST.recipe(), fingerprint=b"")
    assert recipe_of(Terms.from_json(terms.to_json())) == REQUEST.recipe()


@pytest.mark.parametrize("options", ["[]", "null", "{}", "[" * 100_000])
def test_damaged_options_are_one_readable_error(options: str) -> None:
    with pytest.raises(StoreError, match="terms of this fleet are damaged"):
        recipe_of(replace(made(), options=options))


@pytest.mark.parametrize("text", ["{}", "[]", '{"fingerprint": 3}', "[" * 100_000])
def test_damaged_terms_are_one_readable_error(text: str) -> None:
    with pytest.raises(StoreError, match="terms of this fleet are damaged"):
        Terms.from_json(text)
