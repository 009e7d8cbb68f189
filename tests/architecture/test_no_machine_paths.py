"""Nothing in the project knows the machine that it was written on."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SKIPPED = {".git", ".venv", "dist", "build", "out", ".hypothesis", "__pycache__"}
FOLDERS = "work|home|root|Users|mnt|srv|opt"
# An absolute path into somebody's folders, the neighbour folder of the plan, or a package index.
FORBIDDEN = re.compile(
    rf"(?<![\w.~}}/-])/(?:{FOLDERS})/\w"
    r"|\.\./(?:shared|brief)\b"
    r"|\bfile://|\bextra-index-url|\bindex-url|--find-links"
)


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0 and listed.stdout:
        return [ROOT / name for name in listed.stdout.split("\0") if name]
    # A source archive has no history; every file in it counts.
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file() and not SKIPPED & set(path.relative_to(ROOT).parts)
    ]


def forbidden_in(text: str) -> list[str]:
    return [found.group() for found in FORBIDDEN.finditer(text)]


def test_the_check_notices_paths() -> None:
    folder = "home"
    assert forbidden_in(f"open('/{folder}/someone/data.csv')")
    assert forbidden_in("see ..".removesuffix("") + "/shared for more")
    assert forbidden_in("pip install --" + "extra-index" + "-url x")
    assert not forbidden_in("https://example.org/home/page and a/opt/b")


@pytest.mark.parametrize("path", tracked_files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_file_mentions_a_machine(path: Path) -> None:
    if path == Path(__file__) or not path.is_file():
        return
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:  # a picture
        return
    assert forbidden_in(text) == []
