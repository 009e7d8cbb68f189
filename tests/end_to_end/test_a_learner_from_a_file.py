"""The template of docs/extending.md is played and audited from its file; a leak is caught."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from littlestone.choose.request import Request

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
Command = Callable[..., tuple[int, str, str]]
GRID = """
import littlestone as ls


def Grid(n: int = 8):
    return ls.Thresholds(n)


SMALL = ls.Thresholds(4)
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = re.search(r"```python title=\"mine.py\"\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None and len(re.findall(r"^.*\S.*$", found.group(1), re.MULTILINE)) <= 36
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(found.group(1), encoding="utf-8")
    Path("grid.py").write_text(GRID, encoding="utf-8")
    # One character less of noise: the draw takes the smallest count.
    leak = (
        found.group(1)
        .replace(
            "self._pool[draw(self.mistakes, rng=self._rng)[0]]",
            "self._pool[self.mistakes.index(min(self.mistakes))]",
        )
        .replace("% 100", "% 1")
    )
    assert leak != found.group(1)
    Path("leak.py").write_text(leak, encoding="utf-8")
    return Path("mine.py")


@pytest.mark.parametrize("concepts", ["grid.py:Grid", "grid.py:Grid:16", "grid.py:SMALL"])
def test_it_is_played_on_a_class_of_ones_own(mine: Path, command: Command, concepts: str) -> None:
    words = ["--learner", f"{mine}:Mine", "--class", concepts, "--adversary", "random"]
    status, said, _ = command("play", *words, "--rounds", "400", "--seed", "1", "--json")
    assert status == 0 and json.loads(said)["rounds"] == 400
    assert json.loads(said)["mistakes"] < 200


def test_the_template_is_not_refuted_and_a_leak_is(mine: Path, command: Command) -> None:
    request = ["--class", "thresholds:4", "--rounds", "200", "--runs", "8000", "--json"]
    status, said, _ = command("audit", "--learner", f"{mine}:Mine", *request)
    assert status == 0 and not json.loads(said)["violation"]
    status, said, _ = command("audit", "--learner", "leak.py:Mine", *request)
    found = json.loads(said)
    assert status == 1 and found["violation"] and found["epsilon_lower_bound"] > 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--learner", "none.py:Mine"), "there is no Python file"),
        (("--learner", "mine.py:Yours"), "has no 'Yours'"),
        (("--class", "none.py:Grid"), "there is no Python file"),
        (("--learner", "privat-majority"), "did you mean 'private-majority'"),
    ],
)
def test_what_is_not_there_is_named(
    mine: Path, command: Command, words: tuple[str, str], told: str
) -> None:
    status, _, said = command("play", *words)
    assert status == 2 and told in said


def test_a_service_takes_no_file(mine: Path) -> None:
    with pytest.raises(ValueError, match="unknown"):
        Request.from_json({"class": "grid.py:Grid", "schema": None, "rounds": 10}).recipe()
    with pytest.raises(ValueError, match="unknown"):
        Request.from_json(
            {"class": "thresholds:4", "schema": None, "rounds": 10, "learner": "mine.py:Mine"}
        ).recipe()
