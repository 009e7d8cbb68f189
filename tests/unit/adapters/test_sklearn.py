"""The scikit-learn adapter: its checks, pipelines, declared columns and classes, no copies."""

import copy
import pickle
from array import array
from collections import deque
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.schema import Schema
from littlestone.errors import SnapshotError
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_majority.recipe import PrivateMajority

pytest.importorskip("sklearn", reason="the extra 'integrations' is not installed")

from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import (
    check_classifier_data_not_an_array,
    check_estimator,
    check_estimators_dtypes,
    check_fit2d_1feature,
    check_fit_score_takes_y,
)

from littlestone.adapters import sklearn as adapter
from littlestone.adapters.sklearn import (
    EXPECTED_FAILED_CHECKS,
    PrivateClassifier,
)

SCHEMA = Schema.from_mapping({"delay": {"grid": [0, 15, 30]}, "carrier": {"values": ["UA", "AA"]}})


def table(count: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two columns, the first of which decides."""
    rows = np.stack([np.arange(count) * 7 % 40 / 10 - 2, np.arange(count) % 3 - 1.0], axis=1)
    return rows, (rows[:, 0] >= 0.5).astype(np.int64)


def flights(count: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    rows = np.array([[7 * i % 40, ("UA", "AA")[i % 2]] for i in range(count)], dtype=object)
    return rows, (rows[:, 0] >= 15).astype(np.int64)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("random_state", [None, 7])
def test_it_passes_the_checks_of_scikit_learn(random_state: int | None) -> None:
    outcomes = check_estimator(
        PrivateClassifier(random_state=random_state),
        expected_failed_checks=EXPECTED_FAILED_CHECKS,
        on_skip=None,
    )
    assert sum(outcome["status"] == "passed" for outcome in outcomes) >= 40
    skipped = {o["check_name"] for o in outcomes if o["status"] == "skipped"}
    assert skipped <= {"check_pipeline_consistency", "check_array_api_input"}


OF_SEVERAL = {
    **EXPECTED_FAILED_CHECKS,
    "check_classifiers_train": "all declared classes have a column, of rows with two classes, too",
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_more_than_two_classes_pass_the_checks_of_scikit_learn() -> None:
    outcomes = check_estimator(
        PrivateClassifier(classes=(0, 1, 2), random_state=7),
        expected_failed_checks=OF_SEVERAL,
        on_skip=None,
    )
    assert sum(outcome["status"] == "passed" for outcome in outcomes) >= 40


def test_several_classes_are_learned_and_predicted_as_declared() -> None:
    rows, _ = table(3000)
    names = np.array(["low", "middle", "high"])
    truth = names[(rows[:, 0] > -0.5).astype(int) + (rows[:, 0] > 0.5)]
    model = PrivateClassifier(classes=names.tolist(), random_state=7).fit(rows, truth)
    assert model.classes_.tolist() == ["low", "middle", "high"]
    assert (model.predict(rows) == truth).mean() > 0.9
    chances = model.predict_proba(rows)
    assert chances.shape == (3000, 3)
    assert (names[chances.argmax(axis=1)] == model.predict(rows)).all()
    with pytest.raises(ValueError, match="'low' or 'middle' or 'high', as declared"):
        model.partial_fit(rows[:1], ["none"])
    fresh = PrivateClassifier(random_state=7)
    fresh.partial_fit(rows, truth, classes=["middle", "low", "high"])
    assert fresh.classes_.tolist() == ["high", "low", "middle"]


OF_KEYS = {
    **EXPECTED_FAILED_CHECKS,
    "check_estimators_nan_inf": "infinity is a key like any other",
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_keys_pass_the_checks_as_far_as_they_apply() -> None:
    outcomes = check_estimator(
        PrivateClassifier(concepts="keys"), expected_failed_checks=OF_KEYS, on_skip=None
    )
    assert sum(outcome["status"] == "passed" for outcome in outcomes) >= 40


def test_one_column_of_keys() -> None:
    keys = np.array([[f"sender {i % 9}"] for i in range(900)], dtype=object)
    model = PrivateClassifier(concepts="keys", rounds=2000, random_state=7)
    model.fit(keys, (np.arange(900) % 9 < 2).astype(int))
    assert isinstance(model.recipe_, PrivateKeys)
    assert model.hypothesis.describe() == "1 on 'sender 0', 'sender 1', 0 elsewhere"
    assert model.predict_proba([["sender 0"], ["nobody"]]).tolist() == [[0, 1], [1, 0]]
    # Complaints unlist.
    model.partial_fit(keys[::9], np.zeros(100))
    assert model.predict([["sender 0"], ["sender 1"]]).tolist() == [0, 1]


def test_chances_are_certain() -> None:
    rows, labels = table(300)
    model = PrivateClassifier(classes=("no", "yes"), random_state=7)
    model.fit(rows, np.array(["no", "yes"])[labels])
    chances = model.predict_proba(rows)
    assert set(np.unique(chances)) <= {0.0, 1.0} and (chances.sum(axis=1) == 1).all()
    assert model.classes_[chances.argmax(axis=1)].tolist() == model.predict(rows).tolist()


@pytest.mark.parametrize(
    "check",
    [
        check_classifier_data_not_an_array,
        check_estimators_dtypes,
        check_fit2d_1feature,
        check_fit_score_takes_y,
    ],
    ids=lambda check: check.__name__,
)
def test_expected_failures_pass_once_their_labels_and_rounds_are_declared(check: Any) -> None:
    name, labels = "PrivateClassifier", (0, 1)
    assert check.__name__ in EXPECTED_FAILED_CHECKS
    if check is not check_fit_score_takes_y:
        labels = (1, 2)
    check(name, PrivateClassifier(classes=labels, rounds=1000))
    with pytest.raises((ValueError, AssertionError)):
        check(name, PrivateClassifier())


def test_it_learns_in_a_pipeline() -> None:
    rows, labels = table(2000)
    halve = FunctionTransformer(lambda columns: columns / 2)  # fixed, so that nothing leaks
    model = make_pipeline(halve, PrivateClassifier(random_state=7))
    model.fit(rows, labels)
    assert model.score(rows, labels) > 0.8
    assert "x0 >= " in model[-1].hypothesis.describe()


def test_columns_of_text_follow_the_declared_schema() -> None:
    rows, labels = flights(2000)
    model = PrivateClassifier(concepts=SCHEMA, random_state=7).fit(rows, labels)
    assert "delay >= 15" in model.hypothesis.describe()  # delays below 0 never came
    assert model.predict([[20, "UA"], [3, "AA"]]).tolist() == [1, 0]


def test_a_data_frame_must_have_the_declared_columns() -> None:
    pandas = pytest.importorskip("pandas")
    rows, labels = flights(200)
    frame = pandas.DataFrame({"delay": rows[:, 0].astype(int), "carrier": rows[:, 1]})
    model = PrivateClassifier(concepts=SCHEMA).fit(frame, labels)
    model.predict(frame)
    turned = frame[["carrier", "delay"]]
    assert model.predict(turned).tolist() == model.predict(frame).tolist()
    with pytest.raises(ValueError, match="columns must be those of the schema"):
        renamed = frame.rename(columns={"delay": "minutes"})
        PrivateClassifier(concepts=SCHEMA).fit(renamed, labels)
    chosen = ColumnTransformer([("number", "passthrough", ["delay"])])
    make_pipeline(chosen, PrivateClassifier(grid=(0, 15, 30))).fit(frame, labels)


def test_partial_fit_goes_on_where_it_stopped() -> None:
    rows, labels = table(900)
    whole = PrivateClassifier(rounds=900, random_state=7).fit(rows, labels)
    parts = PrivateClassifier(rounds=900, random_state=7)
    for start in range(0, 900, 300):
        part = slice(start, start + 300)
        parts.partial_fit(rows[part], labels[part], classes=[0, 1])
    assert parts.hypothesis == whole.hypothesis
    assert parts.run_.rounds_played == whole.run_.rounds_played == 900


def test_fit_begins_anew() -> None:
    rows, labels = table(300)
    model = PrivateClassifier().fit(rows, labels)
    first = model.run_
    assert model.fit(rows, labels).run_ is not first
    assert model.run_.rounds_played == 300


@pytest.mark.parametrize(
    ("setting", "kind"), [("agnostic", DisjointBatches), ("realizable", PrivateMajority)]
)
def test_the_setting_decides_the_learner(setting: Any, kind: type) -> None:
    model = PrivateClassifier(setting=setting, epsilon=0.5).fit(*table(300))
    assert isinstance(model.recipe_, kind)
    assert model.guarantee().epsilon <= 0.5
    assert "NOT PRIVATE" not in model.ledger.explain()


def test_a_learner_of_ones_own() -> None:
    recipe = PrivateMajority(concepts=Thresholds(64), rounds=500, epsilon=0.5)
    points = np.arange(500).reshape(-1, 1) % 64
    model = PrivateClassifier(recipe, classes=("no", "yes"), random_state=3)
    model.fit(points, np.where(points[:, 0] >= 20, "yes", "no"))
    assert model.predict([[63], [0]]).tolist() == ["yes", "no"]
    with pytest.raises(ValueError, match="rounds must be omitted"):
        PrivateClassifier(recipe, rounds=3).fit(points, points[:, 0] >= 20)


@pytest.mark.parametrize("classes", [(0, 1), (False, True), ("good", "bad"), (-1, 1), (2.0, 1.0)])
def test_classes_are_declared_in_the_order_negative_positive(classes: Any) -> None:
    rows, labels = table(900)
    named = np.array(classes)[labels]
    model = PrivateClassifier(classes=classes, random_state=7).fit(rows, named)
    assert model.classes_.tolist() == list(classes)
    assert np.mean(model.predict(rows) == named) > 0.8


def test_undeclared_classes_are_refused_before_anything_is_learned() -> None:
    rows, labels = table(100)
    model = PrivateClassifier(rounds=1000).fit(rows, labels)
    with pytest.raises(ValueError, match="label must be 0 or 1, as declared"):
        model.partial_fit(rows, labels + 1)
    with pytest.raises(ValueError, match="classes were declared"):
        model.partial_fit(rows, labels, classes=[1, 2])
    with pytest.raises(ValueError, match="two or more different values"):
        PrivateClassifier().partial_fit(rows, labels, classes=[0])
    assert model.run_.rounds_played == 100


def test_too_many_rows_are_refused_before_anything_is_learned() -> None:
    rows, labels = table(100)
    model = PrivateClassifier(rounds=150).fit(rows, labels)
    with pytest.raises(ValueError, match="100 rows are more than the 50 rounds left of 150"):
        model.partial_fit(rows, labels)
    assert model.run_.rounds_played == 100


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[3, "XX"]], "carrier"),
        ([["3", "UA"]], "delay"),
        ([[3, None]], "carrier"),
        ([[3, "UA", 1]], "3 features"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows: Any, message: str) -> None:
    model = PrivateClassifier(concepts=SCHEMA)
    with pytest.raises(ValueError, match=message):
        model.fit(np.array(rows, dtype=object), [1])
    assert not hasattr(model, "run_")


@pytest.mark.parametrize(
    "row", [range(1, 2), array("d", [1]), pd.Series([1]), deque([1]), {1: 1}.values()]
)
def test_what_holds_one_row_does_not_decide_how_others_are_read(row: Any) -> None:
    """numpy brings all rows to one type once one of them is neither a list nor an array."""
    model = PrivateClassifier(grid=(2**53 + 1,), random_state=1)
    with pytest.raises(ValueError, match="must be a number, got True"):
        model.fit([[True]] * 5 + [row], [0, 1] * 3)
    with patch.object(adapter, "_learn") as learn:
        model.fit([[2**53 + 1], [2**53], [0.5], row], [0, 1] * 2)
    assert learn.call_args.args[1].tolist() == [[1], [0], [0], [0]]


def test_nothing_is_told_before_fitting() -> None:
    for ask in ("guarantee", "snapshot"):
        with pytest.raises(NotFittedError):
            getattr(PrivateClassifier(), ask)()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_secrets_are_not_copied(copied: Any) -> None:
    model = PrivateClassifier()
    copied(model)  # nothing was drawn yet
    model.fit(*table(50))
    with pytest.raises(TypeError, match=r"snapshot\(\)"):
        copied(model)
    assert not hasattr(clone(model), "run_")


def test_a_copy_of_a_seeded_estimator_goes_on_identically() -> None:
    rows, labels = table(900)
    model = PrivateClassifier(rounds=900, random_state=7).fit(rows[:300], labels[:300])
    twin = pickle.loads(pickle.dumps(model))
    for estimator in (model, twin):
        estimator.partial_fit(rows[300:], labels[300:])
    assert twin.hypothesis == model.hypothesis


def test_a_snapshot_is_continued_once() -> None:
    rows, labels = flights(200)
    model = PrivateClassifier(concepts=SCHEMA, rounds=500).fit(rows, labels)
    saved = model.snapshot()
    successor = clone(model).resume(saved)
    assert successor.predict(rows).tolist() == model.predict(rows).tolist()
    successor.partial_fit(rows, labels)
    with pytest.raises(SnapshotError, match="continued elsewhere"):
        model.partial_fit(rows, labels)
    with pytest.raises(ValueError, match="already begun to learn"):
        successor.resume(saved)
    with pytest.raises(SnapshotError, match="already continued"):
        clone(model).resume(saved)


def test_cross_validation_starts_a_run_for_each_fold() -> None:
    rows, labels = table(900)
    scores = cross_val_score(PrivateClassifier(random_state=7), rows, labels, cv=3)
    assert len(scores) == 3 and min(scores) > 0.6


def test_a_generator_is_no_seed() -> None:
    with pytest.raises(ValueError, match="seed must be a whole number"):
        PrivateClassifier(random_state=cast(int, "now")).fit(*table(50))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb"])
def test_a_frame_with_dates_is_learned_over_the_schema_that_it_states(kind: str) -> None:
    """All parts of a date are in one column; columns are matched by name, beside others."""
    hours = np.arange(600)
    table = {
        "unused": ["x"] * 600,
        "left": (np.datetime64("2026-01-01T00:30") + hours.astype("m8[h]")).astype("M8[us]"),
        "delay": hours * 7 % 60,
    }
    frame: Any = pd.DataFrame(table)
    if kind != "pandas":
        arrow = pytest.importorskip("pyarrow").Table.from_pandas(frame)
        frame = arrow
        if kind != "pyarrow":
            library = pytest.importorskip(kind)
            frame = library.from_arrow(arrow)
    schema = Schema.from_frame(frame, {"delay": (0, 60), "left": ["hour", "weekday"]})
    model = PrivateClassifier(concepts=schema, random_state=3, epsilon=50.0)
    late = (hours % 24 >= 12).astype(int)
    assert model.fit(frame, late).n_features_in_ == 2
    assert (model.predict(frame) == late).mean() > 0.9
    frozen = model.freeze()
    assert frozen.columns == ("delay", "left")


@pytest.mark.parametrize("unit", ["ns", "us", "h"])
@pytest.mark.parametrize("held", [np.asarray, np.ma.asarray])
def test_an_array_of_times_is_read_whatever_its_unit(unit: str, held: Any) -> None:
    """Python takes nanoseconds for whole numbers."""
    hours = np.arange(600)
    times = (np.datetime64("2026-01-01T00") + hours.astype("m8[h]")).astype(f"M8[{unit}]")[:, None]
    times = held(times)
    late = (hours % 24 >= 12).astype(int)
    schema = Schema.from_mapping({"left": {"date": ["hour"]}})
    model = PrivateClassifier(concepts=schema, random_state=3, epsilon=50.0).fit(times, late)
    assert (model.predict(times) == late).mean() > 0.9
    assert (model.freeze().predict(times) == model.predict(times)).all()


def test_a_refused_fit_leaves_the_classifier_as_it_was() -> None:
    rows, labels = table(200)
    model = PrivateClassifier(random_state=7).fit(rows, labels)
    before = model.predict(rows).tolist()
    wider = np.ones((3, 4))
    with pytest.raises(ValueError, match="label must be 0 or 1"):
        model.fit(wider, [0, 1, 7])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(pd.DataFrame(wider, columns=list("abcd")), [0, 1])
    assert model.n_features_in_ == 2 and not hasattr(model, "feature_names_in_")
    assert model.predict(rows).tolist() == before


@pytest.mark.parametrize(
    "classes", [(0, "a"), (1, "1"), (0.5, 2**60 + 1), (-1, 2**63), ("a\0", "a"), ((1, 2), (3, 4))]
)
def test_classes_of_several_types_stay_as_declared(classes: tuple[Any, Any]) -> None:
    rows, _ = table(2)
    model = PrivateClassifier(classes=classes, rounds=10, random_state=7)
    model.partial_fit(rows, list(classes)).partial_fit(rows, list(classes))
    assert [*model.classes_] == [*classes] == [*model.freeze().classes_]
    for said in (*model.predict(rows), *model.freeze(last=True).predict(rows)):
        assert any(type(said) is type(each) and said == each for each in classes)


@pytest.mark.parametrize("classes", [[None, 1], [{}, 1], [1, "a"]])
def test_classes_without_an_order_are_no_type_error(classes: list[Any]) -> None:
    rows, _ = table(2)
    with pytest.raises(ValueError, match="must be"):
        PrivateClassifier(rounds=10, random_state=7).partial_fit(rows, [0, 7], classes=classes)


def test_what_is_behind_a_mask_is_missing() -> None:
    """scikit-learn takes off a mask, and reads what was meant to be missing."""
    schema = Schema.from_mapping({"n": {"grid": [0], "missing": "own value"}})
    rows: Any = np.ma.array([[1], [-1], [1]] * 200, mask=[[False], [False], [True]] * 200)
    labels = [0, 0, 1] * 200
    model = PrivateClassifier(concepts=schema, random_state=3, epsilon=50.0).fit(rows, labels)
    assert model.predict([[1], [-1], [None]]).tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match="label must be"):
        model.fit(rows, np.ma.array(labels, mask=rows.mask[:, 0]))
