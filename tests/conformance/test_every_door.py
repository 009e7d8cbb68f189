"""The same requests at every door: one learner, one promise, one error text.

A door takes the words of a request (plain JSON) and gives the form of the recipe that it would
run and what it promises, or the text with which it refuses.
"""

import itertools
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.unit.http.served import Served, serving

from littlestone.adapters.river import PrivateClassifier
from littlestone.adapters.shared import learner_for
from littlestone.adapters.sklearn import PrivateClassifier as SklearnClassifier
from littlestone.choose.recommendation import recommend
from littlestone.choose.request import NAMES, Request
from littlestone.cli.main import main
from littlestone.http.client import ServiceError
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import seeded
from littlestone.runs.fleet import database
from littlestone.runs.fleet.terms import Terms
from littlestone.runs.journal.run_log import read_about

Words = dict[str, Any]
Answer = tuple[str, str]
"""The form and the promise; or "refused" and why."""
Door = Callable[[Words], Answer]

OVER: list[Words] = [
    {"class": "thresholds:64"},
    {"class": "intervals:16"},
    {"class": "points"},
    {"class": "keys"},
    {"class": "conjunctions:4"},
    {"schema": {"delay": {"grid": [0, 15]}}},
    {"schema": {f"f{i}": {"grid": [0, 1, 2, 3, 4]} for i in range(6)}},
    {"schema": {"delay": {"grid": [0, 15]}, "label": {"values": ["ok", "late", "cancelled"]}}},
    {"schema": {"delay": {"grid": [0, 15]}, "label": {"grid": [0, 1]}}},
    {"class": "treshold:64"},
    {"class": "thresholds"},
    {"schema": {"delay": {"grid": []}}},
]
TERMS: list[Words] = [
    {},
    {"rounds": 10_000},
    {"rounds": 10_000, "adversary": "adaptive"},
    {"rounds": 10_000, "setting": "realizable"},
    {"rounds": 10_000, "setting": "realizable", "adversary": "adaptive", "delta": 1e-7},
    {"rounds": 10_000, "setting": "realizable", "epsilon": 0.5, "max_contributions": 3},
    {"rounds": 1_000, "learner": "private-majority"},
    {"rounds": 1_000, "learner": "agnostic-finite", "epsilon": 2.0},
    {"learner": "private-majority"},
    {"learner": "disjoint-batches", "epsilon": 0.25},
    {"rounds": 1_000, "learner": "linear", "delta": 1e-5},
    {"rounds": 10_000, "learner": "nobody"},
    {"rounds": 10_000, "learner": "halving"},
    {"rounds": 0},
    {"rounds": 10_000, "epsilon": 0.0},
    {"rounds": 10_000, "epsilon": -1.0},
    {"rounds": 10_000, "delta": 2.0},
    {"rounds": 10_000, "max_contributions": 0},
    {"rounds": 10_000, "setting": "private"},
    {"rounds": 10_000, "adversary": "kind"},
]
REQUESTS = [{**over, **terms} for over, terms in itertools.product(OVER, TERMS)]
# A seventh has everything that is asked over, and every term; `make slow` asks all of them.
sizes = pytest.mark.parametrize(
    "requests",
    [
        pytest.param(REQUESTS[::7], id="some"),
        pytest.param(REQUESTS, id="all", marks=pytest.mark.slow),
    ],
)


def asked(words: Words) -> Answer:
    """By the value itself, to which every door is compared."""
    return _asked(json.dumps(words))


@cache
def _asked(text: str) -> Answer:
    try:
        return _answer(Request.from_json(json.loads(text)).recipe())
    except ValueError as refusal:
        return "refused", str(refusal)


def _answer(recipe: PrivateLearner) -> Answer:
    """Of a learner that was tried: some classes are found to be too large only when it starts."""
    recipe.start(rng=seeded(1))
    return canonical_form(recipe), recipe.promise


def _over(words: Words) -> Any:
    return words.get("class") or words.get("schema")


def river(words: Words) -> Answer:
    parameters = {name: words[name] for name in NAMES if name in words}
    try:
        features = None if "schema" in words else ("x",)
        model = PrivateClassifier(concepts=_over(words), features=features, **parameters)
        return _answer(model._recipe)
    except ValueError as refusal:
        return "refused", str(refusal)


def scikit_learn(words: Words) -> Answer:
    parameters = {name: words[name] for name in NAMES if name in words}
    try:
        model = SklearnClassifier(concepts=_over(words), **parameters)
        return _answer(learner_for(model, model.concepts, model.rounds))
    except ValueError as refusal:
        return "refused", str(refusal)


def advice(words: Words) -> Answer:
    try:
        request = Request.from_json(words)
        found = recommend(request)
        if found.best is None or "auto" in found.refused:
            return "refused", found.refused["auto"]
        most = request.max_contributions
        return _answer(replace(found.best.recipe, max_contributions=most))
    except ValueError as refusal:
        return "refused", str(refusal)


class Shell:
    """Commands in an empty folder, each with a store of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys
        self._number = 0
        Path("none.csv").write_text("x,delay,f0,f1,f2,f3,f4,f5,y\n")

    def run(self, *words: str) -> str:
        """What was refused, or nothing."""
        self._monkeypatch.setattr(sys, "argv", ["littlestone", *words])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        said = " ".join(self._capsys.readouterr().err.split())
        assert end.value.code in (0, 2), said
        return "" if end.value.code == 0 else said.removeprefix("littlestone: ")

    def learn(self, words: Words) -> Answer:
        return self._learned(_options(words))

    def configured(self, words: Words) -> Answer:
        Path("run.toml").write_text(_toml(words))
        return self._learned(["--config", "run.toml"])

    def _learned(self, options: list[str]) -> Answer:
        self._number += 1
        store = f"{self._number}.db"
        usual = ["none.csv", "--label", "y", "--feature", "x", "--quiet", "--store", store]
        refused = self.run("learn", *usual, "--out", f"{store}.jsonl", *options)
        if refused:
            assert not Path(store).exists()
            return "refused", refused
        about = read_about(store)
        return about["recipe"], about["promise"].replace(" (vouched for, not enforced)", "")

    def fleet(self, words: Words) -> Answer:
        made: list[Any] = []

        def create(dsn: str, recipe: Any, **terms: Any) -> Terms:
            made.append(recipe)
            return Terms.planned(recipe, **terms)

        self._monkeypatch.setattr(database, "create", create)
        self._number += 1
        where = ("--dsn", "nowhere", "--secret", f"{self._number}.secret")
        refused = self.run("fleet", "init", *where, *_options(words))
        if refused:
            return "refused", refused
        try:
            return _answer(made[0])
        except ValueError as refusal:
            return "refused", str(refusal)


def _options(words: Words) -> list[str]:
    options = []
    for name, value in words.items():
        if name == "schema":
            Path("schema.toml").write_text(_tables(value, ""))
            value = "schema.toml"
        options += [f"--{name.replace('_', '-')}", str(value)]
    return options


def _tables(schema: Words, before: str) -> str:
    return "".join(
        f"[{before}{name}]\n{kind} = {json.dumps(said)}\n"
        for name, part in schema.items()
        for kind, said in part.items()
    )


def _toml(words: Words) -> str:
    plain = {name: value for name, value in words.items() if name != "schema"}
    lines = [f"{name.replace('_', '-')} = {json.dumps(value)}\n" for name, value in plain.items()]
    return "".join(lines) + _tables(words.get("schema", {}), "schema.")


def differences(door: Door, requests: list[Words]) -> Iterator[tuple[Words, Answer, Answer]]:
    """The requests that the door answers otherwise."""
    for words in requests:
        expected, found = asked(words), door(words)
        if found != expected:
            yield words, expected, found


@sizes
def test_there_are_many_requests_with_answers_of_every_kind(requests: list[Words]) -> None:
    answers = [asked(words) for words in requests]
    kinds = {json.loads(form)["kind"] for form, _ in answers if form != "refused"}
    assert len(REQUESTS) == 240 and len(kinds) >= (6 if requests == REQUESTS else 5)
    assert all(any(over.items() <= words.items() for words in requests) for over in OVER)
    assert all(any(terms.items() <= words.items() for words in requests) for terms in TERMS)
    assert 1 / 4 < sum(form == "refused" for form, _ in answers) / len(requests) < 5 / 6


@sizes
@pytest.mark.parametrize("door", [river, scikit_learn, advice])
def test_a_door_of_python_gives_the_same_answers(door: Door, requests: list[Words]) -> None:
    assert list(differences(door, requests)) == []


@sizes
@pytest.mark.parametrize("door", ["learn", "configured", "fleet"])
def test_a_door_of_the_shell_gives_the_same_answers(
    door: str,
    requests: list[Words],
    folder_in_memory: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    monkeypatch.chdir(folder_in_memory)
    shell = Shell(monkeypatch, capsys)
    assert list(differences(getattr(shell, door), requests)) == []


@sizes
def test_the_service_gives_the_same_answers(requests: list[Words], folder_in_memory: Path) -> None:
    with serving(folder_in_memory / "runs") as served:
        assert list(differences(lambda words: _created(served, words), requests)) == []


def _created(served: Served, words: Words) -> Answer:
    folder = served.service.runs.folder
    name = f"run{len(list(folder.iterdir()))}"
    try:
        told = served.client().create(name, **words)
    except ServiceError as refusal:
        return "refused", str(refusal).removesuffix(" (status 422)")
    known = json.loads((folder / name / "run.json").read_text())
    return known["recipe"], told["promise"].replace(" (vouched for, not enforced)", "")


def test_a_door_with_a_default_of_its_own_is_noticed() -> None:
    def broken(words: Words) -> Answer:
        return asked({"delta": 1e-7, **words})

    assert list(differences(broken, REQUESTS[::7])) != []
