"""One promise, in one unit: whatever is printed about privacy is said per user."""

import html
import re
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.battery import TAKES
from typer.testing import CliRunner

from littlestone.adapters.river import PrivateClassifier
from littlestone.choose.catalogue import LEARNERS
from littlestone.cli.main import app
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.restarting import Restarting
from littlestone.learners.unknown_horizon import UnknownHorizon
from littlestone.privacy.composition import user_level
from littlestone.randomness import seeded

BUDGET: dict[str, Any] = {"rounds": 100, "epsilon": 0.25, "delta": 1e-9}
USERS = 4


def learn(folder: Path, *arguments: str) -> tuple[str, str]:
    """What the command prints, and its report."""
    events = folder / "events.csv"
    rows = "".join(f"{x % 7},{int(x % 7 > 3)},{x % 9}\n" for x in range(60))
    events.write_text(f"x,y,who\n{rows}")
    page = folder / "report.html"
    fixed = ["--class", "thresholds:7", "--feature", "x", "--label", "y", "--rounds", "100"]
    files = ["--store", str(folder / "store"), "--report", str(page), "--out", str(folder / "out")]
    result = CliRunner().invoke(app, ["learn", str(events), *fixed, *files, *arguments])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split()), " ".join(page.read_text(encoding="utf-8").split())


@pytest.mark.parametrize(("users", "epsilon"), [("4", "1"), ("1", "0.25")])
def test_the_command_and_its_report_state_one_promise(
    tmp_path: Path, users: str, epsilon: str
) -> None:
    arguments = ("--epsilon", "0.25", "--max-contributions", users, "--learner", "private-majority")
    printed, page = learn(tmp_path, *arguments)
    promises = re.findall(r"(?:Promised:|private with) ε = ([\d.]*\d)", f"{printed} {page}")
    assert promises == [epsilon] * 3  # printed, in the report, in the report's ledger
    assert re.findall(r"ε = ([\d.]*\d)[^;]*; store", printed) == [epsilon]
    assert re.findall(r"paid more than ε = ([\d.]*\d)", f"{printed} {page}") == ["0.25"] * 2


PROMISES = {
    "counted": (("--user", "who"), "ε = 1 to each 'who', of whose events at most 4 are read"),
    "vouched for": ((), "ε = 1 to a user with at most 4 examples (vouched for, not enforced)"),
}


@pytest.mark.parametrize("name", PROMISES)
def test_it_says_everywhere_whether_it_is_enforced(tmp_path: Path, name: str) -> None:
    given, promise = PROMISES[name]
    fixed = ("--epsilon", "0.25", "--max-contributions", "4", "--learner", "private-majority")
    printed, page = learn(tmp_path, *fixed, *given)
    page = html.unescape(page)
    assert f"{promise}; store" in printed and f"Promised: {promise};" in printed
    assert f"private with {promise}," in page and f"Promised: {promise};" in page
    with sqlite3.connect(tmp_path / "store") as connection:
        ((stored,),) = connection.execute("SELECT value FROM about WHERE name = 'promise'")
    connection.close()
    assert stored == promise
    assert ("(24 not read: their users reached --max-contributions)" in printed) == (
        name == "counted"
    )


@pytest.mark.parametrize("few", ["0", "-3"])
def test_fewer_events_than_one_are_refused(tmp_path: Path, few: str) -> None:
    events = tmp_path / "events.csv"
    events.write_text("x,y\n1,1\n")
    store = str(tmp_path / "store")
    words = ["--class", "thresholds:7", "--feature", "x", "--label", "y", "--rounds", "100"]
    result = CliRunner().invoke(
        app, ["learn", str(events), *words, "--store", store, "--max-contributions", few]
    )
    assert isinstance(result.exception, ValueError)
    assert f"max_contributions={few}" in str(result.exception)
    assert not Path(store).exists()


@pytest.mark.parametrize("name", [name for name, entry in LEARNERS.items() if entry.private])
def test_ledgers_count_per_example_and_promises_are_per_user(name: str) -> None:
    one = LEARNERS[name].build(TAKES.get(name, Thresholds(3)), **BUDGET)
    many = replace(one, max_contributions=USERS)
    rho = one.concentrated
    assert many.guarantee() == user_level(
        one.guarantee(), max_contributions=USERS, concentrated=rho
    )
    for recipe in (many, Restarting(learner=many), UnknownHorizon(learner=many)):
        run = recipe.start(rng=seeded(1))
        assert run.ledger.budget.within(many.budget)
        told = f"Promised: {recipe.guarantee()} to a user with at most {USERS} examples;"
        assert run.ledger.explain().startswith(told)
        run.observe(1, 1)
        assert recipe.restore(run.snapshot()).ledger.explain().startswith(told)


def test_integrations_state_it_too() -> None:
    one = LEARNERS["private-majority"].build(Thresholds(3), **BUDGET)
    many = replace(one, max_contributions=USERS)
    model = PrivateClassifier(many, epsilon=1.0, features=["x"])
    assert model.guarantee().epsilon == 1.0
    assert f"Promised: {model.guarantee()} to a user" in model.ledger.explain()
