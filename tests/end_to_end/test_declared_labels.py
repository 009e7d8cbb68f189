"""Labels that a schema declares: read, learned, verified, predicted and exported by name."""

import csv
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_declared_labels_are_learned_verified_and_predicted_by_name(command: Command) -> None:
    Path("schema.toml").write_text(
        "delay = { grid = [10, 20, 30] }\nlabel = { values = ['early', 'late', 'lost'] }\n"
    )
    truth = [("early", "late", "lost")[x % 3] for x in range(600)]
    rows = [f"{(5, 15, 35)[x % 3]},{label}" for x, label in enumerate(truth)]
    rows[7], rows[401] = "15,stolen", "35,"
    Path("labels.csv").write_text("\n".join(["delay,kind", *rows]))
    words = ("labels.csv", "--schema", "schema.toml", "--label", "kind", "--store", "k.db",
             "--out", "k.jsonl", "--epsilon", "4", "--complete")  # fmt: skip
    status, _, said = command("learn", *words)
    assert status == 0 and "600 events taken (2 with stand-ins)" in said
    assert "'kind' is not one of the declared labels, got 'stolen'" in said
    assert command("learn", *words)[2].count("0 events taken") == 1  # and the store is continued
    assert command("verify", "k.jsonl", "--store", "k.db")[0] == 0
    status, told, _ = command("predict", "k.jsonl", "labels.csv")
    found = [row[1] for row in csv.reader(told.splitlines())][1:]
    assert status == 0 and found == truth
    rule = json.loads(Path("k.jsonl").read_text().splitlines()[-1])["rule"]
    assert all(f"'{label}'" in rule for label in ("early", "late", "lost"))
    status, query, _ = command("export", "k.jsonl", "--sql", "--dialect", "sqlite")
    with sqlite3.connect(":memory:") as database:
        said = database.execute(f"SELECT {query} FROM (SELECT 15 AS delay)").fetchone()
    assert status == 0 and said == ("late",)
    written: dict[str, Any] = {}
    exec(command("export", "k.jsonl", "--python")[1], written)
    assert written["predict"]({"delay": 35}) == "lost"
