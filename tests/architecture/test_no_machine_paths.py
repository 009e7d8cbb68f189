"""Nothing in the project knows the machine that it was written on."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
SKIPPED = {".git", ".venv", "dist", "build", "out", ".hypothesis", "__pycache__"}
FOLDERS = "work|home|root|Users|mnt|srv|opt"
# An absolute path into somebody's folders, the neighbour folder of the plan, or a package index.
# Each begins with what a search is quick to find, and looks back only then.
FORBIDDEN = [
    re.compile(pattern)
    for pattern in (
        rf"/(?<![\w.~}}/-]/)(?:{FOLDERS})/\w",
        r"\.\./(?:shared|brief)\b",
        r"file://(?<!\wfile://)",
        r"index-url(?<!\windex-url)",
        r"--find-links",
    )
]


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
    return [found.group() for pattern in FORBIDDEN for found in pattern.finditer(text)]


def test_the_check_notices_paths() -> None:
    folder = "home"
    assert forbidden_in(f"open('/{folder}/someone/data.csv')")
    assert forbidden_in("see ..".removesuffix("") + "/shared for more")
    assert forbidden_in("pip install --" + "extra-index" + "-url x")
    assert not forbidden_in("https://example.org/home/page and a/opt/b")


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:  # a picture
        return ""


def test_no_file_mentions_a_machine() -> None:
    files = [path for path in tracked_files() if path != Path(__file__) and path.is_file()]
    assert len(files) > 100
    mentions = {str(path): found for path in files if (found := forbidden_in(text_of(path)))}
    assert not mentions
