"""Stores that ``auto`` has made go on as they were made, whatever ``auto`` has become since.

Nothing here writes them: each is what ``learn`` left behind in format 6, after the first 60 rows,
with the words below; beside it lies what it published by the end. Should a test fail, people who
changed nothing are locked out of their stores, or get other rules than they would have got.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from littlestone import defaults
from littlestone.cli.main import app
from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.learners.disjoint_batches.recipe import DisjointBatches
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.service.store import read_about

STORES = Path(__file__).parent / "stores"
FIELDS = {"delay": "grid = [10, 20, 30]", "hour": "grid = [6, 12, 18]",
          "carrier": 'values = ["UA", "AA"]', "far": "grid = [500]"}  # fmt: skip
SCHEMA = "\n".join(f"[{name}]\n{declared}\n" for name, declared in FIELDS.items())
THRESHOLDS = ("--class", "thresholds:40", "--feature", "delay", "--rounds", "200")
CASES = {
    "auto-records": ("--schema", "schema.toml", "--rounds", "200"),
    "auto-endless": ("--schema", "schema.toml", "--max-contributions", "2"),
    "auto-realizable": (*THRESHOLDS, "--setting", "realizable"),
    "auto-adaptive": (*THRESHOLDS, "--adversary", "adaptive"),
}
LEARNERS = ("DisjointBatches", "DisjointBatches", "PrivateWitnesses", "AgnosticFinite")
WORDS = ("--label", "late", "--epsilon", "20", "--group", "1", "--quiet")


def rows(count: int) -> Iterator[str]:
    yield "delay,hour,carrier,far,late"
    for x in range(count):
        delay = 11 * x % 40
        yield f"{delay},{5 * x % 24},{('UA', 'AA')[x % 2]},{100 * (x % 9)},{int(delay >= 23)}"


def learned(folder: Path, name: str, count: int, *more: str) -> bytes:
    """What is published by the end, by the command as it was first given."""
    (folder / "schema.toml").write_text(SCHEMA)
    (folder / "rows.csv").write_text("\n".join(rows(count)) + "\n")
    words = [*CASES[name], *WORDS, "--store", f"{name}.db", "--out", f"{name}.jsonl", *more]
    done = CliRunner().invoke(app, ["learn", "rows.csv", *words])
    assert done.exit_code == 0, done.exception
    return (folder / f"{name}.jsonl").read_bytes()


def later_learner(concepts: Any, **terms: Any) -> Any:
    """What nobody would have picked."""
    kind = DisjointBatches if terms["rounds"] is None else PrivateMajority
    return kind(concepts=concepts, rounds=terms["rounds"], epsilon=terms["epsilon"])


@pytest.mark.parametrize("default", ["now", "later"])
@pytest.mark.parametrize("name", CASES)
def test_a_store_that_auto_made_goes_on_byte_for_byte(
    name: str, default: str, folder_in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder_in_memory)
    if default == "later":
        monkeypatch.setattr(defaults, "default_learner", later_learner)
        monkeypatch.setattr(defaults, "class_over", lambda schema, **_: DecisionTrees(schema, 1))
    expected = (STORES / f"{name}.jsonl").read_bytes()
    shutil.copy(STORES / f"{name}.db", f"{name}.db")
    about = read_about(f"{name}.db")
    assert learned(folder_in_memory, name, 120, "--adopt") == expected
    assert read_about(f"{name}.db") | {"branch": ""} == about | {"branch": ""}


def test_each_store_has_the_learner_that_it_was_made_with() -> None:
    for name, kind in zip(CASES, LEARNERS, strict=True):
        assert f'"kind":"{kind}"' in read_about(STORES / f"{name}.db")["recipe"]
