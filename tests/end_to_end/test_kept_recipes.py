"""What a store was made with is what it goes on with, whatever the defaults have become since."""

import csv
import json
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from littlestone.choose import request as requests
from littlestone.choose.auto import auto, class_over
from littlestone.choose.request import Request
from littlestone.concepts.schema import Schema
from littlestone.learners.run import recipe_from_form
from littlestone.runs.durable import DurableRun
from littlestone.runs.journal.records import about_seal

Command = Callable[..., tuple[int, str, str]]
TODAY, CLASS = auto, class_over
SCHEMA = '[delay]\ngrid = [10, 20, 30]\n\n[carrier]\nvalues = ["UA", "AA"]\n'
LEARN = ("--schema", "schema.toml", "--label", "late", "--id", "flight", "--quiet")
TERMS = ("--rounds", "400", "--epsilon", "8")
PLACES = ("--store", "run.db", "--out", "rules.jsonl")


@contextmanager
def earlier_defaults() -> Iterator[None]:
    """What ``auto`` might have been: another class over the schema, other fields, no plan."""

    def learner(concepts: Any, **terms: Any) -> Any:
        today: Any = TODAY(concepts, **terms)
        return replace(today, asking=False, first=8)

    def over(schema: Any, *, setting: str = "agnostic") -> Any:
        today: Any = CLASS(schema, setting=setting)
        return type(today)(schema, 1)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(requests, "auto", learner)
        patched.setattr(requests, "class_over", over)
        yield


@pytest.fixture(autouse=True)
def folder(folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder_in_memory)
    Path("schema.toml").write_text(SCHEMA)
    for name, rows in {"first.csv": range(200), "whole.csv": range(400)}.items():
        with open(name, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["flight", "delay", "carrier", "late"])
            for x in rows:  # what was late before round 120 is in time after it
                late = (7 * x % 40 >= 20) != (x >= 120)
                table.writerow([f"F{x}", 7 * x % 40, ("UA", "AA")[x % 2], int(late)])


def contents() -> dict[str, bytes]:
    """All that is published or counted; the log beside a store changes by looking at it."""
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.suffix != ".db-wal"}


def recipe_in(store: str) -> Any:
    with closing(sqlite3.connect(store)) as db:
        return json.loads(db.execute("SELECT value FROM about WHERE name = 'recipe'").fetchone()[0])


def begun(command: Command) -> None:
    with earlier_defaults():
        assert command("learn", "first.csv", *LEARN, *TERMS, *PLACES)[0] == 0
    fields = recipe_in("run.db")["fields"]
    assert fields["concepts"]["fields"]["depth"] == fields["first"] // 8 == 1


def test_a_store_of_an_earlier_default_goes_on_byte_for_byte(
    command: Command, tmp_path: Path
) -> None:
    begun(command)
    twin = Path(shutil.copytree(Path(), tmp_path / "twin"))
    then = ("--store", str(twin / "run.db"), "--out", str(twin / "rules.jsonl"), "--adopt")
    with earlier_defaults():
        assert command("learn", "whole.csv", *LEARN, *TERMS, *then)[0] == 0
    before, kept = Path("rules.jsonl").read_bytes(), recipe_in("run.db")
    assert command("learn", "whole.csv", *LEARN, *TERMS, *PLACES)[0] == 0
    now = Path("rules.jsonl").read_bytes()
    assert now == (twin / "rules.jsonl").read_bytes()
    assert now.startswith(before) and now.count(b"\n") > before.count(b"\n") > 1
    assert recipe_in("run.db") == kept
    assert "DisjointBatches" in command("status", "run.db")[1]
    assert command("report", "run.db")[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        (),  # whatever is not said is as it was
        ("--learner", "auto", "--setting", "agnostic"),
        ("--adversary", "oblivious", "--max-contributions", "1", "--delta", "1e-6"),
        ("--epsilon", "8.0", "--setting", "agnostic"),
    ],
)
def test_whoever_asks_for_nothing_else_goes_on(command: Command, words: tuple[str, ...]) -> None:
    begun(command)
    status, _, said = command("learn", "whole.csv", *LEARN[:-1], *PLACES, *words)
    assert status == 0 and "ε = 8; store run.db, round 200" in said
    assert "200 events taken, 200 seen before" in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--epsilon", "2"), "run.db was created with --epsilon 8.0, not 2.0. Omit what differs"),
        (("--epsilon", "9", "--rounds", "500"), "--rounds 400, not 500; --epsilon 8.0, not 9.0"),
        (("--learner", "disjoint-batches"), "--learner auto, not disjoint-batches"),
        (("--learner", "linear"), "--learner auto, not linear"),
        (("--learner", "nobody"), "unknown learner 'nobody'"),
        (("--setting", "realizable"), "--setting agnostic, not realizable"),
        (("--adversary", "adaptive"), "--adversary oblivious, not adaptive"),
        (("--max-contributions", "2"), "--max-contributions 1, not 2"),
        (("--schema", "other.toml"), "was created with [Numeric(name='delay', grid=(10, 20, 30)"),
    ],
)
def test_whoever_asks_for_something_else_is_refused_and_nothing_changes(
    command: Command, words: tuple[str, ...], told: str
) -> None:
    Path("other.toml").write_text(SCHEMA.replace("30", "31"))
    begun(command)
    before = contents()
    status, out, said = command("learn", "whole.csv", *LEARN, *PLACES, *words)
    assert status == 2 and told in said and out == ""
    assert "damaged" not in said
    assert contents() == before
    assert command("learn", "whole.csv", *LEARN, *PLACES)[0] == 0


def test_a_store_without_a_horizon_gets_none_later(command: Command) -> None:
    assert command("learn", "first.csv", *LEARN, *PLACES)[0] == 0
    status, _, said = command("learn", "whole.csv", *LEARN, *PLACES, "--rounds", "900")
    assert status == 2 and "run.db was created with no --rounds, not 900" in said


def test_what_the_recipe_does_not_depend_on_may_be_said_otherwise(command: Command) -> None:
    """As it always could: this learner has no delta, and auto gives it by that name."""
    assert command("learn", "first.csv", *LEARN, *TERMS, *PLACES)[0] == 0
    assert command("learn", "whole.csv", *LEARN, *PLACES, "--delta", "1e-3")[0] == 0


def altered(before: str, after: str, *, sealed: bool = True, what: str = "recipe") -> None:
    """The recipe in the store, as somebody would who has read how stores are sealed."""
    with closing(sqlite3.connect("run.db", isolation_level=None)) as db:
        query = "SELECT name, value FROM about WHERE name NOT IN ('key', 'branch')"
        about = dict(db.execute(query))
        assert before in about[what]
        about[what] = about[what].replace(before, after)
        about["seal"] = about_seal(about) if sealed else about["seal"]
        for name in (what, "seal"):
            db.execute("UPDATE about SET value = ? WHERE name = ?", (about[name], name))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            '"epsilon":8.0',
            '"epsilon":80.0',
            "is damaged: its recipe has epsilon 80.0, and the request 8.0",
        ),
        ('"epsilon":8.0', '"epsilon":"8.0"', "epsilon of DisjointBatches cannot be"),
        ('"DisjointBatches","version":3', '"DisjointBatches","version":4', "this is version 4"),
        ('"DisjointBatches"', '"Popen"', "no known class is named"),
        ('"first":8', '"first":9', "does not match its hash"),
        ('"first":8', '"first":8,"haste":2.0', "its field 'haste' is unknown"),
    ],
)
def test_a_recipe_that_was_altered_is_refused(
    command: Command, before: str, after: str, told: str
) -> None:
    begun(command)
    published = Path("rules.jsonl").read_bytes()
    altered(before, after, sealed=False)
    status, _, said = command("learn", "whole.csv", *LEARN, *PLACES)
    assert status == 2 and "do not match their hash" in said
    altered(after, after, sealed=True)
    status, _, said = command("learn", "whole.csv", *LEARN, *PLACES)
    assert status == 2 and told in said
    assert Path("rules.jsonl").read_bytes() == published


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('learner = "auto"', "learner = 3"),
        ('learner = "auto"', "learner = {of = 1}"),
        ('learner = "auto"', f"learner = {'[' * 50_000}"),
        ('learner = "auto"', 'learner = "auto'),
    ],
)
def test_options_that_were_altered_are_damage_and_no_bug(
    command: Command, before: str, after: str
) -> None:
    begun(command)
    altered(before, after, what="options")
    asked = [("learn", "whole.csv", *LEARN, *PLACES), ("status", "run.db"), ("report", "run.db")]
    for words in asked:
        status, _, said = command(*words)
        assert status == 2 and "run.db is damaged" in said


def test_a_promise_that_is_written_otherwise_is_refused(command: Command) -> None:
    """Even with a new hash: every event is chained to the first lines."""
    begun(command)
    told = "promise:   ε = 8\n"
    assert told in command("status", "run.db")[1]
    altered("ε = 8", "ε = 0.1", what="promise")
    status, _, said = command("status", "run.db")
    assert status == 2 and "does not match its hash" in said
    altered("ε = 0.1", "ε = 8", what="promise")
    used = DurableRun.resume(lambda about: recipe_from_form(about["recipe"]), "run.db")
    with closing(used):
        said = command("status", "run.db")[1]
        assert told in said and "; in use" in said


def test_the_book_has_one_entry_whatever_the_default(command: Command) -> None:
    book = ("--book", "book.db")
    assert command("budget", "init", "book.db", "--epsilon", "8")[0] == 0
    with earlier_defaults():
        assert command("learn", "first.csv", *LEARN, *TERMS, *PLACES, *book)[0] == 0
    entered = command("budget", "show", "book.db")[1]
    assert command("learn", "whole.csv", *LEARN, *PLACES, *book)[0] == 0
    assert command("budget", "show", "book.db")[1] == entered


def test_a_pipe_need_not_say_again_what_the_store_knows(command: Command) -> None:
    words = ("--class", "thresholds:40", "--feature", "delay", "--label", "late", "--quiet")
    asked = ("--rounds", "900", "--id", "flight", *PLACES)
    assert command("learn", "first.csv", *words, *asked, "--adversary", "adaptive")[0] == 0
    before = recipe_in("run.db")
    assert before["kind"] == "AgnosticFinite"
    with open("whole.csv", encoding="utf-8") as pipe, pytest.MonkeyPatch.context() as shell:
        shell.setattr(sys, "stdin", pipe)
        assert command("learn", "-", *words, "--id", "flight", *PLACES)[0] == 0
    assert recipe_in("run.db") == before
    assert "rounds:    400 of at most 900" in command("status", "run.db")[1]


def test_a_store_that_does_not_say_by_what_it_was_chosen_is_asked_for_whole(
    command: Command,
) -> None:
    recipe = Request(over=Schema.from_toml("schema.toml"), rounds=400, epsilon=8.0).recipe()
    DurableRun.start(recipe, "run.db").close()
    for words, told in {
        ("--epsilon", "8"): "was created with another recipe",  # rounds are not said
        ("--learner", "nobody"): "unknown learner 'nobody'",
    }.items():
        status, _, said = command("learn", "first.csv", *LEARN, *PLACES, *words)
        assert status == 2 and told in said and "damaged" not in said
    assert command("learn", "first.csv", *LEARN, *TERMS, *PLACES)[0] == 0
