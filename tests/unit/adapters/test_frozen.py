"""A frozen classifier predicts what was published, travels everywhere and holds no secret."""

import copy
import gc
import io
import json
import pickle
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from littlestone.adapters.frozen import FrozenClassifier
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.support import FiniteSupport
from littlestone.concepts.schema import Schema
from littlestone.learners.engine import Engine
from littlestone.privacy.ledger import Ledger
from littlestone.randomness import Randomness
from littlestone.randomness.noise_owner import NoiseOwner

pytest.importorskip("river", reason="the extra 'integrations' is not installed")
pytest.importorskip("sklearn", reason="the extra 'integrations' is not installed")

import joblib

from littlestone.adapters.river import PrivateClassifier
from littlestone.adapters.sklearn import PrivateClassifier as SklearnClassifier

SCHEMA = Schema.from_mapping({"delay": {"grid": [0, 15, 30]}, "carrier": {"values": ["UA", "AA"]}})
STRANGE = {"delay": "late", "carrier": "XX"}
SECRET = "the only report of Mallory"


def rows(count: int) -> list[dict[str, Any]]:
    return [{"delay": 7 * i % 40, "carrier": ("UA", "AA")[i % 2]} for i in range(count)]


def by_records(**changes: Any) -> PrivateClassifier:
    model = PrivateClassifier(
        **{"concepts": SCHEMA, "rounds": 800, "labels": ("no", "yes"), **changes}
    )
    for row in rows(800):
        model.learn_one(row, "yes" if row["delay"] >= 15 else "no")
    return model


def by_keys(**changes: Any) -> PrivateClassifier:
    model = PrivateClassifier(concepts="keys", features=("sender",), rounds=800, **changes)
    model.learn_one({"sender": SECRET}, True)
    for i in range(600):
        model.learn_one({"sender": f"s{i % 5}"}, i % 5 < 2)
    return model


def executed(frozen: FrozenClassifier) -> Any:
    names: dict[str, Any] = {}
    exec(frozen.to_python(), names)
    return names["predict"]


def everywhere(frozen: FrozenClassifier) -> Iterator[FrozenClassifier]:
    """Wherever it may have been."""
    yield copy.copy(frozen)
    yield copy.deepcopy(frozen)
    yield pickle.loads(pickle.dumps(frozen))
    yield FrozenClassifier.from_json(json.loads(json.dumps(frozen.to_json())))
    file = io.BytesIO()
    joblib.dump(frozen, file)
    file.seek(0)
    yield joblib.load(file)


@pytest.mark.parametrize("stand_ins", [None, {"delay": 20, "carrier": "AA"}])
def test_it_predicts_what_the_classifier_predicts(stand_ins: Any) -> None:
    model = by_records(stand_ins=stand_ins)
    records = rows(40) + ([STRANGE, {}, {"delay": 3}] if stand_ins else [])
    frozen = model.freeze()
    wanted = [model.predict_one(row) for row in records]
    assert [executed(frozen)(row) for row in records] == wanted
    for twin in (frozen, *everywhere(frozen)):
        assert twin == frozen and twin.promise == "ε = 1"
        assert [twin.predict_one(row) for row in records] == wanted
        assert twin.predict(records).tolist() == wanted
        assert twin.predict_proba_one(records[3]) == model.predict_proba_one(records[3])
        assert twin.predict_proba(records)[:, 1].tolist() == [float(w == "yes") for w in wanted]


def test_dates_are_predicted_from_their_column() -> None:
    """With stand-ins, too: here, in a table, and as Python source."""
    schema = Schema.from_mapping({"left": {"date": ["hour", "weekday"]}, "x": {"grid": [0]}})
    rule = DecisionTree(schema, ((0, 5, 12), 1, 0))
    for stand_ins in (None, {"left.hour": 3, "left.weekday": "Friday", "x": -1}):
        frozen = FrozenClassifier(rule, (0, 1), stand_ins=stand_ins)
        records: list[Any] = [{"left": f"2013-01-01 {hour:02}:15", "x": 1} for hour in (4, 5, 13)]
        records += [] if stand_ins is None else [{}, {"left": "x", "x": 0}]
        wanted = [0, 1, 0, 0, 0][: len(records)]
        assert frozen.columns == ("left", "x")
        assert [frozen.predict_one(record) for record in records] == wanted
        assert frozen.predict([[each["left"], each["x"]] for each in records[:3]]).tolist() == [
            0, 1, 0,
        ]  # fmt: skip
        assert [executed(frozen)(record) for record in records] == wanted


def test_keys_are_predicted_too() -> None:
    model = by_keys(stand_ins={"sender": "s0"}, seed=3)
    frozen = model.freeze()
    senders: list[Any] = ["s0", "s1", "s4", SECRET, 7, []]
    records: list[dict[str, Any]] = [*({"sender": key} for key in senders), {}]
    wanted = [model.predict_one(row) for row in records]
    assert wanted == [True, True, False, False, False, True, True]
    for twin in everywhere(frozen):
        assert [twin.predict_one(row) for row in records] == wanted
    assert [executed(frozen)(row) for row in records] == wanted


def test_a_table_in_the_order_of_the_columns_or_by_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    table = np.array([[row["delay"], row["carrier"]] for row in rows(900)], dtype=object)
    labels = (table[:, 0] >= 15).astype(int)
    model = SklearnClassifier(concepts=SCHEMA).fit(table, labels)
    frozen = model.freeze()
    assert frozen.columns == ("delay", "carrier") and frozen.classes_.tolist() == [0, 1]
    frame = pandas.DataFrame(table, columns=["delay", "carrier"])[["carrier", "delay"]]
    for given in (table, table.tolist(), frame):
        assert frozen.predict(given).tolist() == model.predict(table).tolist()
    assert np.array_equal(frozen.predict_proba(table), model.predict_proba(table))
    with pytest.raises(ValueError, match="columns delay, carrier"):
        frozen.predict([[3]])
    with pytest.raises(ValueError, match="column 'delay' is missing"):
        frozen.predict(frame[["carrier"]])


def test_one_column_of_keys_or_numbers() -> None:
    keys = np.array([[f"s{i % 5}"] for i in range(900)], dtype=object)
    model = SklearnClassifier(concepts="keys").fit(keys, np.arange(900) % 5 < 2)
    assert model.freeze().features == ("x0",)
    assert model.freeze().predict(keys).tolist() == model.predict(keys).tolist()
    assert executed(model.freeze())({"x0": "s0"}) == 1
    points = np.arange(900).reshape(-1, 1) % 64
    steps = SklearnClassifier(concepts="thresholds:64", setting="realizable")
    steps.fit(points, points[:, 0] >= 20)
    assert steps.freeze().predict(points).tolist() == steps.predict(points).tolist()
    assert executed(steps.freeze())({"x0": 63}) == 1


def test_no_text_becomes_code() -> None:
    """Whoever is listed has chosen the key; a comment could declare how to read what follows it."""
    for text in (
        "coding: utf-7 +ACc-+AAo-[1/0]#",
        "coding=unicode_escape \\n1/0#",
        "a\0b",
        "\r1/0",
        "'\n",
    ):
        rule = FiniteSupport(frozenset([text]))
        frozen = FrozenClassifier(rule, (text, f"{text}!"), features=(text,), promise=text)
        names: dict[str, Any] = {}
        exec(compile(frozen.to_python().encode(), "rule", "exec"), names)
        assert names["predict"]({text: text}) == f"{text}!"


def test_stand_ins_may_be_numbers_of_numpy() -> None:
    frozen = by_records(stand_ins={"delay": np.int64(20), "carrier": np.str_("AA")}).freeze()
    assert executed(frozen)({}) == frozen.predict_one({})
    assert FrozenClassifier.from_json(json.loads(json.dumps(frozen.to_json()))) == frozen


def test_a_seeded_one_is_stamped() -> None:
    assert by_records(seed=3).freeze().promise == "NOT PRIVATE: seed=3"
    table = np.array([[0.1], [0.9]] * 50)
    seeded = SklearnClassifier(random_state=3).fit(table, table[:, 0] > 0.5)
    assert seeded.freeze().promise == "NOT PRIVATE: random_state=3"


def test_it_cannot_be_changed() -> None:
    frozen = by_records(stand_ins={"delay": 20, "carrier": "AA"}).freeze()
    with pytest.raises(AttributeError):
        frozen.rule = None  # type: ignore[misc,assignment]
    with pytest.raises(TypeError):
        frozen.stand_ins["delay"] = 0  # type: ignore[index]


@pytest.mark.parametrize("bad", [None, [], {}, {"rule": 3}])
def test_other_json_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="frozen classifier"):
        FrozenClassifier.from_json(bad)


def test_labels_that_cannot_be_written_are_refused_by_name() -> None:
    frozen = FrozenClassifier(FiniteSupport.on(1), (b"no", b"yes"), features=("x",))
    assert pickle.loads(pickle.dumps(frozen)).predict_one({"x": 1}) == b"yes"
    for write in (frozen.to_json, frozen.to_python):
        with pytest.raises(ValueError, match="labels must be plain values"):
            write()


def reachable(start: Any) -> Iterator[Any]:
    """Every object that can be got at through attributes and containers, code left out."""
    seen, waiting = set(), [start]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, type | types.ModuleType | types.FunctionType):
            continue
        seen.add(id(thing))
        yield thing
        waiting += gc.get_referents(thing)


def secrets_in(model: Any) -> list[Any]:
    return [
        thing
        for thing in reachable(model)
        if isinstance(thing, Engine | NoiseOwner | Ledger | Randomness)
        or (isinstance(thing, str) and thing == SECRET)  # an array would compare each part
    ]


@pytest.mark.parametrize("make", [by_keys, by_records], ids=lambda make: make.__name__)
def test_nothing_secret_can_be_reached_or_is_written(make: Any) -> None:
    model = make()
    frozen = model.freeze()
    assert secrets_in(model), "the walk finds secrets where they are"
    assert not secrets_in(frozen)
    for written in (pickle.dumps(frozen), json.dumps(frozen.to_json()), frozen.to_python()):
        assert SECRET not in (written if isinstance(written, str) else written.decode("latin1"))


def test_bytes_depend_on_the_rule_alone() -> None:
    # A set remembers the order in which it grew; what is frozen does not.
    keys = [f"key{i}" for i in range(50)]
    grown = [FiniteSupport(frozenset(order)) for order in (keys, keys[::-1])]
    bytes_of = {pickle.dumps(FrozenClassifier(rule, (0, 1), features=("x",))) for rule in grown}
    assert len(bytes_of) == 1


def test_every_data_frame_is_a_table() -> None:
    arrow = pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    pandas = pytest.importorskip("pandas")
    rule = DecisionTree(SCHEMA, ((0, 2, 3), 1, 0))
    frozen = FrozenClassifier(rule, ("on time", "late"))
    columns = {"carrier": ["UA", "AA"], "delay": [20, 3]}
    said = frozen.predict([{"carrier": "UA", "delay": 20}, {"carrier": "AA", "delay": 3}]).tolist()
    assert frozen.predict(pandas.DataFrame(columns)).tolist() == said
    assert frozen.predict(arrow.table(columns)).tolist() == said
