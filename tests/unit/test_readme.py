"""The README, executed: its sessions, and its commands as typed in an empty folder."""

import doctest
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason=f"needs {', '.join(NEEDED)}")
@pytest.mark.parametrize("commands", COMMANDS, ids=["a table", "a service"])
def test_the_commands_run_as_typed(commands: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    typed = commands.replace("localhost:8000", f"localhost:{port}")
    typed = typed.replace("littlestone serve", f"littlestone serve --port {port}")
    folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [
            "bash",
            "-euo",
            "pipefail",
            "-c",
            typed.replace("curl -s", "curl -sSf --retry 30 --retry-connrefused"),
        ],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("CASE" in done.stdout) or ('"round":1' in done.stdout.replace(" ", "")), done.stdout
