"""The River adapter: River's own checks, pipelines, declared records and labels, no copies."""

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from littlestone.adapters.records import FillingReader
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.schema import Schema
from littlestone.errors import HorizonExceededError, SnapshotError
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.private_keys.recipe import PrivateKeys
from littlestone.learners.private_majority.recipe import PrivateMajority

pytest.importorskip("river", reason="the extra 'integrations' is not installed")

from river import checks, compose, datasets, evaluate, metrics

from littlestone.adapters.river import PrivateClassifier

SCHEMA = Schema.from_mapping({"delay": {"grid": [0, 15, 30]}, "carrier": {"values": ["UA", "AA"]}})
OK_LATE_CANCELLED = Schema.from_mapping(
    {"delay": {"grid": [0, 15, 30]}, "label": {"values": ["ok", "late", "cancelled"]}}
)
UNIT = list(PrivateClassifier._unit_test_params())
KEYS = {
    "concepts": "keys",
    "rounds": 10_000,
    "features": ("age_of_domain",),
    "stand_ins": {"age_of_domain": -1},
}


def classifier(**changes: Any) -> PrivateClassifier:
    return PrivateClassifier(**{"concepts": SCHEMA, "rounds": 1000, **changes})


def late(count: int) -> list[tuple[dict[str, Any], bool]]:
    """Examples that one rule fits."""
    rows: Iterator[dict[str, Any]] = (
        {"delay": 7 * i % 40, "carrier": ("UA", "AA")[i % 2]} for i in range(count)
    )
    return [(row, row["delay"] >= 15) for row in rows]


@pytest.mark.parametrize(
    ("params", "seed"),
    [
        pytest.param(UNIT[0], 7, marks=pytest.mark.slow),
        pytest.param(UNIT[1], None, marks=pytest.mark.slow),
        (KEYS, None),
    ],
    ids=lambda value: value.get("setting", "keys") if isinstance(value, dict) else str(value),
)
def test_it_passes_the_checks_of_river(params: dict[str, Any], seed: int | None) -> None:
    model = PrivateClassifier(**{**params, "seed": seed})
    checks.check_estimator(model)
    # Nothing is left out for a seeded model; without a seed, only what would copy secrets.
    skipped = {"check_pickling", "check_no_state_aliasing_with_input"}
    assert model._unit_test_skips() == (set() if seed is not None else skipped)


SEGMENTS: dict[str, Any] = {
    "concepts": Schema.from_mapping(
        {
            name: {"range": [0, 150]}
            for name in ("intensity-mean", "hue-mean", "region-centroid-row")
        }
    ),
    "labels": (False, True, "brickface", "sky", "foliage", "cement", "window", "path", "grass"),
    "stand_ins": dict.fromkeys(("intensity-mean", "hue-mean", "region-centroid-row"), 0),
}


@pytest.mark.slow
def test_more_than_two_labels_pass_the_checks_of_river() -> None:
    # River feeds its Phishing to all, and ImageSegments to those that are multiclass.
    model = PrivateClassifier(**SEGMENTS)
    assert model._multiclass
    checks.check_estimator(model)


def test_several_labels_are_learned_and_predicted_as_declared() -> None:
    model = PrivateClassifier(concepts=OK_LATE_CANCELLED, seed=1)
    said = {0: "ok", 20: "late", 40: "cancelled"}
    for number in range(3000):
        delay = (0, 20, 40)[number % 3]
        model.learn_one({"delay": delay}, said[delay])
    for delay, label in said.items():
        assert model.predict_one({"delay": delay}) == label
        assert model.predict_proba_one({"delay": delay}) == {
            each: float(each == label) for each in said.values()
        }
    frozen = model.freeze()
    assert [frozen.predict_one({"delay": delay}) for delay in said] == list(said.values())
    assert frozen.predict_proba([[20]]).tolist() == [[0, 1, 0]]
    assert type(frozen).from_json(frozen.to_json()) == frozen
    written: dict[str, Any] = {}
    exec(frozen.to_python(), written)
    assert [written["predict"]({"delay": delay}) for delay in said] == list(said.values())
    with pytest.raises(ValueError, match="'ok' or 'late' or 'cancelled', as declared"):
        model.learn_one({"delay": 0}, "lost")


def test_labels_that_are_no_names_get_some() -> None:
    assert classifier(labels=(0.5, None, "x")).hypothesis.describe() == "'0.5'"
    assert classifier(labels=("None", None, "x")).hypothesis.describe() == "0"


def test_the_checks_that_are_left_out_fail_only_because_secrets_are_not_copied() -> None:
    model = PrivateClassifier(**{**UNIT[0], "seed": None})
    left_out = [c for c in checks.yield_checks(model) if c.__name__ in model._unit_test_skips()]
    assert left_out
    for check in left_out:
        with pytest.raises(TypeError, match=r"snapshot\(\)"):
            check(model.clone())


def test_it_learns_in_a_pipeline_under_progressive_validation() -> None:
    schema = Schema.from_mapping({"https": {"grid": [0.25, 0.75]}, "age": {"grid": [0.25, 0.75]}})
    model = compose.Select("https", "age_of_domain") | compose.Renamer({"age_of_domain": "age"})
    model |= classifier(concepts=schema, rounds=1250, seed=7)
    score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert 0.5 < score.get() < 1
    assert model["PrivateClassifier"].run.rounds_played == 1250


def test_the_practical_learner_is_close_to_the_best_rule() -> None:
    model = PrivateClassifier(**{**UNIT[0], "rounds": 1250, "stand_ins": None})
    score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    # The best rule is right on 88.5 %, the more frequent label on 56 %.
    assert score.get() > 0.75


@pytest.mark.parametrize(
    ("setting", "kind"), [("agnostic", DisjointBatches), ("realizable", PrivateMajority)]
)
def test_the_setting_decides_the_learner(setting: Any, kind: type) -> None:
    model = classifier(setting=setting)
    assert isinstance(model.run.recipe, kind)
    promise = model.guarantee()
    assert promise.epsilon <= 1.0 and promise.delta <= 1e-6
    assert "NOT PRIVATE" not in model.ledger.explain()


def test_a_seeded_classifier_is_stamped_not_private() -> None:
    assert "NOT PRIVATE" in classifier(seed=1).ledger.explain()


def test_a_learner_of_ones_own() -> None:
    recipe = PrivateMajority(concepts=Thresholds(64), rounds=500, epsilon=0.5)
    model = PrivateClassifier(recipe, features=("minute",), labels=("no", "yes"), seed=3)
    for i in range(500):
        model.learn_one({"minute": i % 64, "other": None}, "yes" if i % 64 >= 20 else "no")
    assert model.run.recipe is recipe
    assert model.predict_one({"minute": 63}) == "yes"
    assert set(model.predict_proba_one({"minute": 63})) == {"no", "yes"}


def test_keys_are_listed_and_unlisted() -> None:
    model = classifier(concepts="keys", features=("sender",), seed=3)
    for i in range(500):
        model.learn_one({"sender": f"s{i % 5}", "text": "?"}, i % 5 == 0)
    assert isinstance(model.run.recipe, PrivateKeys)
    assert model.hypothesis.describe() == "1 on 's0', 0 elsewhere"
    assert model.predict_proba_one({"sender": "s0"}) == {False: 0.0, True: 1.0}
    for _ in range(200):
        model.learn_one({"sender": "s0"}, False)
    assert model.predict_one({"sender": "s0"}) is False


@pytest.mark.parametrize("labels", [(False, True), (0, 1), ("good", "bad"), (-1, 1), (5.0, None)])
def test_both_labels_are_declared_and_always_present(labels: tuple[Any, Any]) -> None:
    model = classifier(labels=labels, seed=3)
    assert model.predict_one({"delay": 3, "carrier": "UA"}) in labels
    for row, is_late in late(400):
        model.learn_one(row, labels[is_late])
    chances = model.predict_proba_one({"delay": 30, "carrier": "UA"})
    assert chances == {labels[0]: 0.0, labels[1]: 1.0}


def test_numpy_labels_are_welcome() -> None:
    model = classifier(seed=3)
    for label in (np.bool_(True), np.int64(0), 1, 0.0):
        model.learn_one({"delay": 3, "carrier": "UA"}, label)
    assert model.run.rounds_played == 4


@pytest.mark.parametrize("label", [2, "True", None, float("nan"), [1]])
def test_an_undeclared_label_is_refused_and_changes_nothing(label: Any) -> None:
    model = classifier()
    with pytest.raises(ValueError, match="label must be False or True, as declared"):
        model.learn_one({"delay": 3, "carrier": "UA"}, label)
    assert model.run.rounds_played == 0


@pytest.mark.parametrize(
    "record",
    [
        {"delay": 3},
        {"delay": 3, "carrier": "XX"},
        {"delay": "3", "carrier": "UA"},
        {"delay": float("nan"), "carrier": "UA"},
        {"delay": None, "carrier": "UA"},
        {},
    ],
)
def test_a_record_that_does_not_fit_is_refused_or_filled_as_declared(record: Any) -> None:
    refusing, filling = classifier(), classifier(stand_ins={"delay": 0, "carrier": "AA"})
    for use in (lambda: refusing.learn_one(record, True), lambda: refusing.predict_one(record)):
        with pytest.raises(ValueError, match=r"field '(delay|carrier)'"):
            use()
    assert refusing.run.rounds_played == 0
    filling.learn_one(record, True)
    filling.predict_one(record)
    assert filling.run.rounds_played == 1


class Raising:
    """A record, a value or a label whose every method raises."""

    def _raise(self, *_: Any) -> Any:
        raise RuntimeError

    __eq__ = __hash__ = __contains__ = __getitem__ = __iter__ = __repr__ = _raise


def test_what_a_record_or_a_label_raises_is_a_misfit() -> None:
    refusing, filling = classifier(), classifier(stand_ins={"delay": 0, "carrier": "AA"})
    features = classifier(concepts="thresholds:8", features=("x",))
    records: list[Any] = [Raising(), {"delay": Raising(), "carrier": "UA"}]
    for bad in records:
        for model in (refusing, features):
            with pytest.raises(ValueError, match="must be"):
                model.learn_one(bad, True)
        filling.learn_one(bad, True)
    with pytest.raises(ValueError, match="label must be"):
        filling.learn_one({"delay": 20, "carrier": "UA"}, Raising())
    assert [model.run.rounds_played for model in (refusing, features, filling)] == [0, 0, 2]


def test_a_date_is_read_where_stand_ins_are_declared() -> None:
    """Each part of it; a date that is missing counts as the stand-ins of its parts."""
    schema = Schema.from_mapping({"left": {"date": ["hour", "weekday"]}, "x": {"grid": [0]}})
    stand_ins = {"left.hour": 3, "left.weekday": "Friday", "x": -1}
    reader = FillingReader(schema, stand_ins)
    record = {"left": "2013-01-01 05:15", "x": 1}
    assert reader(record) == schema.check(record) == (5, 1, 1)
    for odd in ({}, {"left": None}, {"left": "x", "x": "y"}, {"left.hour": 3}):
        assert reader(odd) == (3, 4, 0)


def test_a_filled_record_is_the_example_that_was_declared() -> None:
    whole, partial = (
        classifier(seed=3, stand_ins={"delay": 20, "carrier": "AA"}) for _ in range(2)
    )
    for row, is_late in late(300):
        whole.learn_one({"delay": 20, "carrier": row["carrier"]}, is_late)
        partial.learn_one({"delay": None, "carrier": row["carrier"]}, is_late)
    assert whole.hypothesis == partial.hypothesis
    assert whole.run.rounds_played == partial.run.rounds_played == 300
    assert whole.ledger.spent() == partial.ledger.spent()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"concepts": None}, "exactly one of learner .* and concepts"),
        ({"rounds": None, "setting": "realizable"}, "rounds must be declared"),
        ({"setting": "hard"}, "setting must be"),
        ({"labels": (1, 1)}, "different values"),
        ({"labels": (1, True)}, "different values"),
        ({"labels": (0,)}, "two or more different values"),
        ({"labels": (0, 1, 2), "setting": "realizable"}, "at most 2 labels for"),
        ({"labels": (0, 1, 2), "concepts": "thresholds:8", "features": ("x",)}, "be a schema"),
        ({"labels": ("a", "b"), "concepts": OK_LATE_CANCELLED}, "must be those of the schema"),
        ({"labels": (0, float("nan"))}, "different values"),
        ({"features": ("delay",)}, "already names"),
        ({"stand_ins": {"delay": 0}}, "stand_ins must give"),
        ({"stand_ins": {"delay": 0, "carrier": "XX"}}, "carrier"),
        ({"concepts": "thresholds:64"}, "features must name"),
        ({"concepts": "treshold:64"}, "did you mean"),
        ({"epsilon": 0.0}, "epsilon"),
    ],
)
def test_bad_declarations_are_refused_at_once(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        classifier(**changes)


def test_a_learner_must_stay_within_the_budget() -> None:
    recipe = PrivateMajority(concepts=Thresholds(64), rounds=500, epsilon=2.0)
    with pytest.raises(ValueError, match=r"more than epsilon=1\.0"):
        PrivateClassifier(recipe, features=("minute",))
    with pytest.raises(ValueError, match="rounds must be omitted"):
        PrivateClassifier(recipe, features=("minute",), epsilon=2.0, rounds=500)
    PrivateClassifier(recipe, features=("minute",), epsilon=2.0)


def test_several_features_make_one_point() -> None:
    model = classifier(concepts="conjunctions:2", features=("a", "b"), setting="realizable")
    model.learn_one({"a": 1, "b": False}, True)
    with pytest.raises(ValueError, match="x must be a record with 'a', 'b'"):
        model.learn_one({"a": 1}, True)
    assert model.run.rounds_played == 1


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_secrets_are_not_copied(copied: Any) -> None:
    fresh = classifier()
    copied(fresh)  # nothing was drawn yet
    fresh.predict_one({"delay": 3, "carrier": "UA"})
    with pytest.raises(TypeError, match=r"snapshot\(\)"):
        copied(fresh)
    with pytest.raises(TypeError, match=r"snapshot\(\)"):
        copied(fresh.run)
    if copied is not copy.copy:  # which would share the classifier, not copy it
        with pytest.raises(TypeError, match=r"snapshot\(\)"):
            copied(compose.Select("delay", "carrier") | fresh)


def test_a_clone_is_fresh_and_may_be_made_at_any_time() -> None:
    model = classifier()
    model.learn_one({"delay": 3, "carrier": "UA"}, True)
    clone = model.clone()
    assert clone.run is not model.run and clone.run.rounds_played == 0
    with pytest.raises(TypeError, match=r"snapshot\(\)"):
        model.clone(include_attributes=True)


def test_a_copy_of_a_seeded_classifier_goes_on_identically() -> None:
    model = classifier(seed=3)
    examples = late(600)
    for row, is_late in examples[:100]:
        model.learn_one(row, is_late)
    twin = pickle.loads(pickle.dumps(model))
    for row, is_late in examples[100:]:
        assert twin.hypothesis == model.hypothesis
        model.learn_one(row, is_late)
        twin.learn_one(row, is_late)


def test_a_snapshot_is_continued_once() -> None:
    model = classifier()
    for row, is_late in late(50):
        model.learn_one(row, is_late)
    saved = model.snapshot()
    successor = model.clone()
    successor.resume(saved)
    assert successor.hypothesis == model.hypothesis and successor.run.rounds_played == 50
    with pytest.raises(SnapshotError, match="continued elsewhere"):
        model.learn_one({"delay": 3, "carrier": "UA"}, True)
    with pytest.raises(ValueError, match="already begun to learn"):
        successor.resume(saved)
    with pytest.raises(SnapshotError, match="already continued"):
        model.clone().resume(saved)


def test_the_horizon_ends_learning_and_not_predicting() -> None:
    model = classifier(rounds=5)
    for row, is_late in late(5):
        model.learn_one(row, is_late)
    with pytest.raises(HorizonExceededError):
        model.learn_one({"delay": 3, "carrier": "UA"}, True)
    assert model.predict_one({"delay": 3, "carrier": "UA"}) in (False, True)


def test_a_deeper_pool_of_rules() -> None:
    model = classifier(concepts=Stumps(SCHEMA, depth=2), seed=3, rounds=4000)
    for row, _ in late(4000):
        model.learn_one(row, row["delay"] >= 15 and row["carrier"] == "UA")
    assert model.hypothesis.describe() == "delay >= 15 and carrier == 'UA'"


@pytest.mark.parametrize("record", [np.int8(3), np.array([1, 2]), None, 3, "p", [1]])
def test_what_is_no_record_is_refused_or_stood_in_for(record: Any) -> None:
    parameters: dict[str, Any] = {"concepts": "thresholds:64", "features": ["p"], "rounds": 10}
    model = PrivateClassifier(**parameters, seed=7)
    with pytest.raises(ValueError, match="must be a record with 'p'"):
        model.learn_one(record, True)
    filled = PrivateClassifier(**parameters, seed=7, stand_ins={"p": 3})
    filled.learn_one(record, True)
    assert filled.run.rounds_played == 1
