"""What needs no lock runs where there is none, and what needs one says so."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import PATIENCE

WITHOUT_LOCKS = "import sys; sys.modules['fcntl'] = None; "


def run(code: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_LOCKS + code, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)


EACH = """
from littlestone.cli.main import main
for words in sys.argv[1:]:
    sys.argv = ["littlestone", *words.split()]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            sys.exit(f"status {ended.code}: {words}")
"""
MEMORY = """
import littlestone as ls
run = ls.PrivateKeys(rounds=1000, epsilon=1.0, delta=1e-6).start()
run.observe("spam", 1)
for name in ls.__all__:
    getattr(ls, name)
"""


def test_learning_in_memory_and_every_command_without_a_store_need_no_lock(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("x,y\n" + "1,0\n8,1\n" * 30)
    (tmp_path / "schema.toml").write_text("x.range = [0, 10]\n")
    done = run(
        MEMORY + EACH,
        tmp_path,
        "--help",
        "play --class thresholds:16 --rounds 50",
        "bounds mechanisms",
        "check events.csv --schema schema.toml --label y",
        "schema events.csv",
        "learn --help",
    )
    assert done.returncode == 0, done.stderr


LEARN = "learn events.csv --schema schema.toml --label y --store a.db"


@pytest.mark.parametrize(
    "words", [[LEARN], ["budget init a.book --epsilon 1", f"{LEARN} --book a.book"]]
)
def test_what_would_be_unsafe_without_a_lock_is_refused(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("x,y\n" + "1,0\n8,1\n" * 30)
    (tmp_path / "schema.toml").write_text("x.range = [0, 10]\n")
    done = run(EACH, tmp_path, *words)
    assert "status 2: " in done.stderr and "file locks of Linux or macOS" in done.stderr
    assert not (tmp_path / "a.db").exists()
