"""A classifier's snapshot goes on with the learner that was picked for it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from littlestone.adapters.river import PrivateClassifier
from littlestone.adapters.shared import _parted
from littlestone.adapters.sklearn import PrivateClassifier as SklearnClassifier
from littlestone.choose import request as requests
from littlestone.choose.auto import auto, class_over
from littlestone.concepts.schema import Schema
from littlestone.errors import SnapshotError

SCHEMA = Schema.from_mapping({"x0": {"grid": [10, 20]}})
ROWS = [[7 * n % 30] for n in range(100)]
LABELS = [int((x >= 10) != (n >= 40)) for n, [x] in enumerate(ROWS)]
TERMS: dict[str, Any] = {"concepts": SCHEMA, "rounds": 100, "epsilon": 20.0}
TODAY, CLASS = auto, class_over


class River:
    """Both classifiers as this file uses them."""

    def __init__(self, **changes: Any) -> None:
        self.model: Any = PrivateClassifier(**{**TERMS, "labels": (0, 1), "seed": 7, **changes})

    def learn(self, first: int, last: int) -> None:
        for [x], y in zip(ROWS[first:last], LABELS[first:last], strict=True):
            self.model.learn_one({"x0": x}, y)

    @property
    def run(self) -> Any:
        return self.model.run


class Sklearn:
    def __init__(self, **changes: Any) -> None:
        self.model: Any = SklearnClassifier(**{**TERMS, "random_state": 7, **changes})

    def learn(self, first: int, last: int) -> None:
        self.model.partial_fit(ROWS[first:last], LABELS[first:last])

    @property
    def run(self) -> Any:
        return self.model.run_


KINDS = [River, Sklearn]


def earlier(concepts: Any, **terms: Any) -> Any:
    """What might have been picked."""
    today: Any = TODAY(concepts, **terms)
    return replace(today, asking=False, first=8)


def earlier_class(schema: Any, **setting: Any) -> Any:
    today: Any = CLASS(schema, **setting)
    return type(today)(schema, 1)


def begun(kind: Callable[..., Any]) -> tuple[bytes, Any]:
    """A snapshot after 50 rounds, and the model that went on from it to the end."""
    with pytest.MonkeyPatch.context() as then:
        then.setattr(requests, "auto", earlier)
        then.setattr(requests, "class_over", earlier_class)
        one = kind()
        one.learn(0, 50)
        saved = one.model.snapshot()
        one.learn(50, 100)
    return saved, one


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_continued_by_a_clone_of_today(kind: Callable[..., Any]) -> None:
    saved, before = begun(kind)
    after = kind()
    after.model.resume(saved)
    assert after.run.recipe == before.run.recipe and after.run.recipe.first == 8
    assert after.run.rounds_played == 50 and after.run.hypothesis != before.run.hypothesis
    after.learn(50, 100)
    assert after.run.hypothesis == before.run.hypothesis
    assert after.run.snapshot() == before.run.snapshot()


@pytest.mark.parametrize("kind", KINDS)
def test_other_parameters_are_refused_by_name(kind: Callable[..., Any]) -> None:
    saved, _ = begun(kind)
    other = Schema.from_mapping({"x0": {"grid": [10, 21]}})
    for changes in ({"epsilon": 10.0}, {"rounds": 200}, {"concepts": other}):
        name = next(iter(changes))
        with pytest.raises(SnapshotError, match=f"another recipe: its {name}"):
            kind(**changes).model.resume(saved)


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_altered_or_has_no_form_is_no_way_around(kind: Callable[..., Any]) -> None:
    saved, before = begun(kind)
    for altered in (saved.replace(b'"first":8', b'"first":9'), saved[:40], saved[:25]):
        with pytest.raises(SnapshotError):
            kind().model.resume(altered)
    with pytest.raises(SnapshotError, match=r"what snapshot\(\) of a classifier returned"):
        kind().model.resume(before.run.snapshot())


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_length_takes_nothing_of_the_snapshot_into_a_message(
    kind: Callable[..., Any],
) -> None:
    """What is behind the form is secret: the state of the learner, and of its noise."""
    saved, _ = begun(kind)
    form, known, snapshot = _parted(saved)
    behind = len(snapshot) + len(form) + len(known)
    before, size = saved[: -behind - 16], len(form)
    for wrong in (0, size - 1, size + 1, size + 200, 2**63):
        damaged = before + wrong.to_bytes(8) + saved[len(before) + 8 :]
        with pytest.raises(SnapshotError, match="truncated or altered") as refused:
            kind().model.resume(damaged)
        assert "littlestone-snapshot" not in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_steady_rule_survives_a_snapshot(kind: Callable[..., Any]) -> None:
    """What was published before counts after it, as if nothing had happened."""
    saved, before = begun(kind)
    after = kind()
    after.model.resume(saved)
    after.learn(50, 100)
    known, again = before.model._releases.to_json(), after.model._releases.to_json()
    assert known == again and len(known) > 1
    assert after.model.freeze() == before.model.freeze()
    assert before.model.freeze(last=True).rule == before.run.hypothesis
