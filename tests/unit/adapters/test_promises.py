"""Around a private classifier: pipelines that learn are warned of, and all fits are counted."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from littlestone.adapters.shared import Fits, PromiseWarning
from littlestone.privacy.guarantee import NOT_PRIVATE

pytest.importorskip("river", reason="the extra 'integrations' is not installed")
pytest.importorskip("sklearn", reason="the extra 'integrations' is not installed")

from river import compose
from river import preprocessing as river_preprocessing
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer, StandardScaler

from littlestone.adapters import river, sklearn
from littlestone.adapters.river import PrivateClassifier
from littlestone.adapters.sklearn import PrivateClassifier as SklearnClassifier

ROWS = np.stack([np.arange(300) * 7 % 40 / 10 - 2, np.arange(300) % 3 - 1.0], axis=1)
LABELS = (ROWS[:, 0] >= 0.5).astype(int)

FIXED = [
    make_pipeline(Normalizer(), SklearnClassifier()),
    make_pipeline(FunctionTransformer(), "passthrough", SklearnClassifier()),
    make_pipeline(ColumnTransformer([("b", Binarizer(), [0])]), SklearnClassifier()),
    make_pipeline(SklearnClassifier()),
]
LEARNING = [
    (make_pipeline(StandardScaler(), SklearnClassifier()), ["standardscaler"]),
    (
        make_pipeline(ColumnTransformer([("s", StandardScaler(), [0])]), SklearnClassifier()),
        ["s"],
    ),
    (
        make_pipeline(
            FeatureUnion([("n", Normalizer()), ("s", StandardScaler())]), SklearnClassifier()
        ),
        ["s"],
    ),
    (
        make_pipeline(
            make_pipeline(Normalizer(), StandardScaler()),
            make_pipeline(Binarizer(), SklearnClassifier()),
        ),
        ["standardscaler"],
    ),
]


@pytest.mark.parametrize("model", FIXED, ids=range(len(FIXED)))
def test_fixed_maps_are_welcome(model: Any) -> None:
    assert sklearn.fitted_steps(model) == []
    model.fit(ROWS, LABELS)  # warnings are errors in these tests


@pytest.mark.parametrize(("model", "names"), LEARNING, ids=range(len(LEARNING)))
def test_a_fitted_step_is_warned_of(model: Any, names: list[str]) -> None:
    assert sklearn.fitted_steps(model) == names
    with pytest.warns(PromiseWarning, match=f"learns '{names[0]}'"):
        model.fit(ROWS, LABELS)


def test_a_pipeline_around_somebody_else_is_nobodys_business() -> None:
    class Around(StandardScaler):  # type: ignore[misc]
        def fit(self, X: Any, y: Any = None) -> Any:  # noqa: N803
            SklearnClassifier().fit(X, LABELS)
            return super().fit(X)

    scaled = make_pipeline(Around(), FunctionTransformer()).fit_transform(ROWS)
    assert scaled.shape == ROWS.shape


def river_pipeline(*steps: Any) -> Any:
    model = PrivateClassifier(concepts="keys", features=("a",), rounds=100)
    return compose.Pipeline(*steps, model)


def test_river_pipelines_are_warned_of_once() -> None:
    fixed = river_pipeline(compose.Select("a"), lambda x: x)
    assert river.fitted_steps(fixed) == []
    fixed.learn_one({"a": 1}, True)
    both = compose.Select("a") + river_preprocessing.StandardScaler()
    for step in (river_preprocessing.StandardScaler(), both):
        learning = river_pipeline(step)
        assert river.fitted_steps(learning) == ["StandardScaler"]
        with pytest.warns(PromiseWarning, match="learns 'StandardScaler'"):
            learning.learn_one({"a": 1}, True)
        learning.learn_one({"a": 1}, True)
    PrivateClassifier(concepts="keys", features=("a",), rounds=100).learn_one({"a": 1}, True)


def test_every_fit_of_a_search_is_counted() -> None:
    search = GridSearchCV(SklearnClassifier(delta=1e-7), {"epsilon": [0.5, 1.0]}, cv=3)
    search.fit(ROWS, LABELS)
    best = search.best_estimator_
    last = best.recipe_.guarantee().epsilon
    assert best.guarantee().epsilon == 3 * 0.5 + 3 * 1.0 + last
    assert "7 fits" in best.promise and "not covered" in best.promise
    assert best.freeze().promise == best.promise
    # Whoever was cloned knows as much, without having been fitted itself.
    assert search.estimator.guarantee() == best.guarantee()


def test_cross_validation_and_fitting_again_add_up() -> None:
    model = SklearnClassifier()
    cross_val_score(model, ROWS, LABELS, cv=3)
    assert model.guarantee().epsilon == 3.0
    model.fit(ROWS, LABELS)
    model.fit(ROWS, LABELS)
    assert model.guarantee().epsilon == 5.0
    assert SklearnClassifier().fit(ROWS, LABELS).guarantee().epsilon == 1.0


def test_a_run_goes_on_without_paying_again() -> None:
    model = SklearnClassifier(concepts="thresholds:64", rounds=500, setting="realizable")
    points = np.arange(100).reshape(-1, 1) % 64
    model.partial_fit(points, points[:, 0] >= 20).partial_fit(points, points[:, 0] >= 20)
    resumed = clone(model).resume(model.snapshot())
    assert resumed.guarantee().epsilon == 1.0 and resumed.promise == "ε = 1"


def test_copies_in_this_process_are_counted_and_others_are_unknown() -> None:
    model = SklearnClassifier()
    twins = (copy.copy(model), copy.deepcopy(model), clone(clone(model)))
    for twin in twins:
        twin.fit(ROWS, LABELS)
    assert model.guarantee().epsilon == 3.0
    away = pickle.loads(pickle.dumps(clone(model)))
    assert model.guarantee() == NOT_PRIVATE and "unknown" in model.promise
    assert away.fit(ROWS, LABELS).guarantee().epsilon == 4.0  # it remembers the fits before it


def test_a_search_in_other_processes_promises_nothing_it_cannot_count() -> None:
    search = GridSearchCV(SklearnClassifier(), {"epsilon": [0.5, 1.0]}, cv=2)
    fits = search.estimator._fits_so_far
    pickle.dumps(clone(search.estimator))  # as joblib does for its workers
    search.fit(ROWS, LABELS)
    assert len(fits) == 5 and search.best_estimator_.guarantee() == NOT_PRIVATE


def test_a_seeded_fit_beside_others_is_no_promise() -> None:
    """It published its rows, whatever the fits before and after it promise."""
    model = SklearnClassifier(random_state=3).fit(ROWS, LABELS)
    model.set_params(random_state=None).fit(ROWS, LABELS)
    assert model.run_.private and model.guarantee().epsilon == 2.0
    for promise in (model.promise, clone(model).promise, model.freeze().promise):
        assert promise == "NOT PRIVATE: the randomness was seeded"


def test_a_pickle_of_a_fitted_model_does_not_promise_more_than_the_model() -> None:
    model = SklearnClassifier(random_state=3).fit(ROWS, LABELS)
    twin = pickle.loads(pickle.dumps(model))
    assert twin.guarantee().epsilon == 1.0 and twin.promise.startswith("NOT PRIVATE")
    assert copy.deepcopy(twin).guarantee().epsilon == 1.0


def test_no_fits_are_no_promise() -> None:
    assert len(Fits()) == 0 and Fits().total().epsilon == 0
