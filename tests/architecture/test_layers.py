"""docs/ARCHITECTURE.md draws the layers that the import contract holds the code to."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "littlestone"
Layers = list[set[str]]


def contract() -> Layers:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (c["layers"] for c in settings["tool"]["importlinter"]["contracts"])
    return [set(re.findall(r"littlestone\.(\w+)", layer)) for layer in layers]


def drawn(text: str) -> Layers:
    picture = re.search(r"^## Layers\s+```\n(.*?)```", text, re.MULTILINE | re.DOTALL)
    assert picture is not None
    return [set(re.findall(r"\w+", line)) for line in picture.group(1).splitlines()]


def test_the_picture_is_the_contract() -> None:
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert drawn(text) == contract()
    assert drawn(text.replace("\nlearners\n", "\n")) != contract()


def test_every_part_of_the_library_has_its_layer() -> None:
    parts = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    parts |= {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert parts == set().union(*contract())
