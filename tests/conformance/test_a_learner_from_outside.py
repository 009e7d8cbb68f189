"""The learner of docs/extending.md, installed as a package of its own, is known at every door."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
ENTRY_POINT = re.compile(
    r"```toml title=\"pyproject.toml\"\n\[project\.entry-points\.\"(.+)\"\]\n(.+)\n```"
)


def code() -> str:
    found = re.search(
        r"```python title=\"one_draw.py\"\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    return found.group(1)


def installed(folder: Path, text: str) -> dict[str, str]:
    """An environment in which a package with this module is installed as pip would install it."""
    found = ENTRY_POINT.search(PAGE.read_text("utf-8"))
    assert found is not None
    (folder / "one_draw.py").write_text(text, encoding="utf-8")
    about = folder / "one_draw-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: one-draw\nVersion: 1.0\n")
    group, line = found.groups()
    (about / "entry_points.txt").write_text(f"[{group}]\n{line.replace(chr(34), '')}\n")
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


def said(
    environment: dict[str, str], folder: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "littlestone", *words],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_learner_from_outside_is_listed_played_learned_with_and_resumed(tmp_path: Path) -> None:
    environment = installed(tmp_path, code())
    listed = json.loads(said(environment, tmp_path, "learners", "--json").stdout)
    assert listed["learners"]["one-draw"]["private"]
    assert "private-keys" in listed["learners"]
    request = ["--class", "thresholds:16", "--rounds", "2000", "--epsilon", "1"]
    words = ["play", *request, "--learner", "one-draw", "--adversary", "random", "--json"]
    played = said(environment, tmp_path, *words)
    assert played.returncode == 0 and json.loads(played.stdout)["rounds"] == 2000, played.stderr
    rows = [f"{x % 16},{int(x % 16 >= 5)}" for x in range(800)]
    for name, part in (("one.csv", rows[:450]), ("two.csv", rows[450:])):
        (tmp_path / name).write_text("\n".join(["x,y", *part, ""]))
        words = ["learn", name, *request, "--feature", "x", "--label", "y", "--learner", "one-draw"]
        learned = said(environment, tmp_path, *words, "--store", "run.db", "--out", "rules.jsonl")
        assert learned.returncode == 0, learned.stderr
    assert '"threshold"' in (tmp_path / "rules.jsonl").read_text().splitlines()[-1]
    status = said(environment, tmp_path, "status", "run.db")
    assert "rounds: 800 of at most 2,000" in " ".join(status.stdout.split()), status.stderr
    without = said(dict(os.environ), PAGE.parent, "learners", "--json")
    assert "one-draw" not in json.loads(without.stdout)["learners"]


@pytest.mark.parametrize(
    ("was", "becomes", "reason"),
    [
        ('name="one-draw"', 'name="private-keys"', "the name 'private-keys' is taken"),
        ("LEARNERS = (\n    LearnerEntry(", "LEARNERS = (\n    dict(", "must list"),
    ],
)
def test_an_entry_that_cannot_be_one_is_named(
    tmp_path: Path, was: str, becomes: str, reason: str
) -> None:
    assert was in code()
    found = said(installed(tmp_path, code().replace(was, becomes)), tmp_path, "learners")
    assert found.returncode != 0 and reason in found.stderr + found.stdout
