"""The command ``littlestone optimum``."""

import json

import pytest
from typer.testing import CliRunner

from littlestone.cli.main import app


def printed(*words: str) -> str:
    found = CliRunner().invoke(app, ["optimum", *words], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return str(found.output)


def test_it_prints_value_floors_and_learners() -> None:
    some = ("--learner", "agnostic-finite", "--learner", "private-keys")
    text = printed("thresholds:1", "--rounds", "2", "--delta", "0.01", *some)
    wanted = ("best private learner", "floors: coin tree", "agnostic-finite", "certified")
    for word in (*wanted, "not known of private-keys"):
        assert word in text


def test_the_table_is_the_learner() -> None:
    record = json.loads(
        printed("points:1", "--rounds", "3", "--silence", "--table", "--no-learners", "--json")
    )
    assert record["low"] <= record["high"] < record["low"] + 1e-6
    assert record["learners"] == {}
    assert record["table"][0]["history"] == []
    assert all(sum(row["law"].values()) == pytest.approx(1.0) for row in record["table"])
    assert "history" in printed("points:1", "--rounds", "2", "--table", "--no-learners")


def test_large_classes_are_refused() -> None:
    for spec in ("thresholds:16", f"thresholds:{2**63 - 1}"):  # not listed before
        with pytest.raises(ValueError, match="at most 8"):
            printed(spec)
