"""The README, executed: its sessions, and its commands as typed in an empty folder."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from tests.ports import reserved_port

README = Path(__file__).parents[2] / "README.md"
MOST_LINES = 150
NEEDED = ("awk", "curl", "bash")
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)


def test_the_readme_is_true() -> None:
    results = doctest.testfile(
        str(README), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8"
    )
    assert results.attempted > 5 and results.failed == 0


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


PATIENT_CURL = "curl -sSf --retry 30 --retry-connrefused"
AT_LAST = "trap 'kill $(jobs -p) 2> /dev/null || :' EXIT\n"


@pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason=f"needs {', '.join(NEEDED)}")
@pytest.mark.parametrize("commands", COMMANDS, ids=["a table", "a service"])
def test_the_commands_run_as_typed(commands: str, tmp_path: Path) -> None:
    with reserved_port() as port:
        done = run_in_a_shell(commands, port, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("CASE" in done.stdout) or ('"round":1' in done.stdout.replace(" ", "")), done.stdout


def run_in_a_shell(commands: str, port: int, folder: Path) -> "subprocess.CompletedProcess[str]":
    typed = commands.replace("localhost:8000", f"localhost:{port}")
    typed = typed.replace("littlestone serve", f"littlestone serve --port {port}")
    typed = AT_LAST + typed.replace("curl -s", PATIENT_CURL)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", typed],
        cwd=folder,
        env={**os.environ, "PATH": programs},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
