"""The learner of docs/extending.md, installed as a package of its own, is known at every door."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from littlestone.choose.catalogue import LEARNERS

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


# One interpreter for several commands, whose outputs are on pages of their own.
COMMANDS = """
import json, sys
from littlestone.cli.main import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["littlestone", *words]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    print("\\f", flush=True)
"""


def pages(environment: dict[str, str], folder: Path, *commands: list[str]) -> list[str]:
    """What the commands print, if all of them end well."""
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(commands)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\f")


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
    rows = [f"{x % 16},{int(x % 16 >= 5)}" for x in range(800)]
    for name, part in (("one.csv", rows[:450]), ("two.csv", rows[450:])):
        (tmp_path / name).write_text("\n".join(["x,y", *part, ""]))
    request = ["--class", "thresholds:16", "--rounds", "2000", "--epsilon", "1"]
    request += ["--learner", "one-draw"]
    learn = ["learn", *request, "--feature", "x", "--label", "y", "--store", "run.db"]
    learn += ["--out", "rules.jsonl"]
    listed, played, *_ = pages(
        environment,
        tmp_path,
        ["learners", "--json"],
        ["play", *request, "--adversary", "random", "--json"],
        [*learn, "one.csv"],
    )
    learners = json.loads(listed)["learners"]
    assert learners["one-draw"]["private"] and "private-keys" in learners
    assert json.loads(played)["rounds"] == 2000
    # By another process.
    _, status, _ = pages(environment, tmp_path, [*learn, "two.csv"], ["status", "run.db"])
    assert '"threshold"' in (tmp_path / "rules.jsonl").read_text().splitlines()[-1]
    assert "rounds: 800 of at most 2,000" in " ".join(status.split())
    assert "one-draw" not in LEARNERS  # of this process, where it is not installed


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
