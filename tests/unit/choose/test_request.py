"""A request is one value: it has one JSON form, one set of refusals and one learner."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from littlestone.choose.recommendation import recommend
from littlestone.choose.request import NAMES, Request
from littlestone.concepts.classes.finite import FiniteClass
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.schema import Schema
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import recipe_from_form

DECLARED: dict[str, Any] = {
    "delay": {"grid": [0, 15]},
    "left": {"date": ["hour"], "missing": "own value"},
}
OVER: list[Any] = [
    "thresholds:64",
    "keys",
    "points",
    Thresholds(64),
    FiniteClass.from_class(Thresholds(99)),
    DECLARED,
    Schema.from_mapping(DECLARED),
]


@pytest.mark.parametrize("over", OVER, ids=str)
def test_it_is_read_back_from_its_json(over: Any) -> None:
    more: dict[str, Any] = {"rounds": 10, "user": "who", "max_contributions": 3, "epsilon": 0.1}
    for changes in ({}, more):
        request = Request(over=over, **changes)
        again = Request.from_json(request.to_json())
        assert again == request and again.differences(request) == []
        assert again.to_json() == request.to_json()


def test_words_and_objects_are_the_same_request() -> None:
    assert Request(over="thresholds:64") == Request(over=Thresholds(64))
    assert Request(over=DECLARED) == Request(over=Schema.from_mapping(DECLARED))


@pytest.mark.parametrize("over", ["thresholds:64", "keys", DECLARED], ids=str)
@pytest.mark.parametrize("setting", ["agnostic", "realizable"])
def test_recommend_shows_the_learner_that_is_taken(over: Any, setting: str) -> None:
    request = Request(over=over, rounds=10_000, setting=setting)
    advice = recommend(request)
    assert advice.best is not None and advice.best.recipe == request.recipe()
    assert advice.best.name in advice.explanation


def test_the_recipe_is_kept_whole_with_its_plan() -> None:
    """So that nothing but the form is needed to go on, whatever is chosen later."""
    for over in OVER:
        for setting in ("agnostic", "realizable"):
            recipe = Request(over=over, rounds=1000, setting=setting).recipe()
            again = recipe_from_form(canonical_form(recipe))
            assert canonical_form(again) == canonical_form(recipe)
            assert again.guarantee() == recipe.guarantee()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"epsilon": 0}, "epsilon must be a finite number above 0, got epsilon=0"),
        ({"epsilon": float("nan")}, "epsilon must be"),
        ({"epsilon": 10**400}, "epsilon must"),
        ({"epsilon": "1"}, "epsilon must be a finite number above 0, got epsilon='1'"),
        ({"delta": 2.0}, "delta must"),
        ({"delta": -1.0}, "delta must"),
        ({"rounds": 0}, "rounds must"),
        ({"rounds": 1.5}, "rounds must"),
        ({"rounds": True}, "rounds must"),
        ({"max_contributions": 0}, "max_contributions must"),
        ({"user": ""}, "user must be a name"),
        ({"setting": "private"}, "setting must be 'agnostic' or 'realizable', got"),
        ({"adversary": "kind"}, "adversary must be 'oblivious' or 'adaptive', got"),
        ({"learner": "nobody"}, "unknown learner 'nobody'"),
        ({"learner": "halving"}, "learner must be private to publish anything"),
        ({"learner": "private-majority"}, "rounds must be declared for private-majority"),
        ({"over": 3}, "over must be a schema, a concept class"),
        ({"over": "treshold:3"}, "did you mean 'thresholds'"),
        ({"over": {"a": 3}}, "field 'a' must declare"),
    ],
)
def test_what_means_nothing_is_refused_by_name(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Request(**{"over": "thresholds:64", **changes})


def test_json_is_refused_by_the_nearest_name() -> None:
    with pytest.raises(ValueError, match="has no 'epsilom'; the nearest is 'epsilon'"):
        Request.from_json({"class": "keys", "epsilom": 1})
    for words in ({}, {"class": "keys", "schema": DECLARED}):
        with pytest.raises(ValueError, match="exactly one of schema and class must be given"):
            Request.from_json(words)
    with pytest.raises(ValueError, match="must not name a file of the server"):
        Request.from_json({"class": "finite:matrix.csv"}, files=False)


def test_numbers_become_plain_ones() -> None:
    numbers: dict[str, Any] = {"rounds": np.uint8(200), "epsilon": np.float32(0.5)}
    request = Request(over="thresholds:64", **numbers)
    assert type(request.rounds) is int and type(request.epsilon) is float


def test_differences_are_named() -> None:
    request = Request(over="thresholds:64", rounds=10)
    changes: dict[str, Any] = {"rounds": 11, "epsilon": 2.0, "over": "thresholds:65"}
    assert request.differences(replace(request, **changes)) == ["space", "rounds", "epsilon"]
    assert set(NAMES) < set(request.to_json())


def test_a_schema_whose_trees_cannot_be_listed_says_what_can_be_done() -> None:
    over = {"a": {"grid": [1, 2]}}
    request = Request(over=over, rounds=1000, adversary="adaptive")
    trees = request.concepts
    assert (trees.size or 0) > 1 << 16
    with pytest.raises(ValueError, match=r"adversary must be 'oblivious'.*or setting 'realizable'"):
        request.recipe()
    with pytest.raises(ValueError, match=r"too many to list.*DisjointBatches.*Stumps"):
        list(trees.concepts())
    ways_out: tuple[Any, ...] = ({"adversary": "oblivious"}, {"setting": "realizable"})
    for way_out in ways_out:
        replace(request, **way_out).recipe().start()
