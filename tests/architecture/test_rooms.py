"""Tests mirror code."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "littlestone"
UNIT = ROOT / "tests" / "unit"


def folders(root: Path) -> set[str]:
    return {
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_dir() and any(path.rglob("*.py"))
    }


def test_unit_tests_mirror_the_code() -> None:
    assert folders(UNIT) <= folders(SOURCE)
    assert "architecture" in folders(ROOT / "tests") - folders(SOURCE)


def test_the_house_stays_small() -> None:
    """At most as many modules and folders as were asked for; pyproject.toml lists the layers."""
    inside = [path for path in SOURCE.rglob("*") if path.name != "__pycache__"]
    assert len([path for path in inside if path.suffix == ".py"]) <= 420
    assert len([SOURCE, *(path for path in inside if path.is_dir())]) <= 45


def test_one_name_stands_for_one_thing() -> None:
    """The nouns of a request and of a journal are defined once each."""
    nouns = ("Request", "Asked", "Setting", "Journal", "Entry", "Row", "Event", "Release")
    defined = re.compile(rf"^(?:class |type )?({'|'.join(nouns)})(?: = |\(|:$)", re.MULTILINE)
    found = Counter(
        name for path in SOURCE.rglob("*.py") for name in defined.findall(path.read_text())
    )
    assert set(found.values()) == {1} and {"Request", "Journal", "Entry", "Row"} <= set(found)
