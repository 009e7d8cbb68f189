"""No module of the library is there for its tests alone: somebody can reach it.

A module has a user if another module imports it, if it defines a public name, if a registry finds
an entry in it, or if a page of the reference shows it. What only tests need stands in
tests/reference.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from tests.public import public

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
# Read by people: the paper's algorithms as printed.
WAITING = {"littlestone.learners.lazy_forest.reference"}
COMMANDS = "littlestone.cli."
ENTRIES = {
    "littlestone.audit.controls": "CONTROLS",
    "littlestone.audit.subjects": "AUDITS",
    "littlestone.lab.claims": "CLAIMS",
    "littlestone.lab.private_teachers": "AUDITS",
}


def modules() -> dict[str, Path]:
    return {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts): path
        for path in SOURCE.rglob("*.py")
        if path.stem not in ("__init__", "__main__")
    }


def imported_by(path: Path) -> Iterator[str]:
    """Every dotted name that a file imports, the module's and the object's."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def has_an_entry(name: str) -> bool:
    attribute = ENTRIES.get(name.rpartition(".")[0])
    return attribute is not None and hasattr(import_module(name), attribute)


@cache
def used() -> set[str]:
    used = {name for name in modules() if has_an_entry(name)}
    used |= {name for path in SOURCE.rglob("*.py") for name in imported_by(path)}
    used |= {getattr(member, "__module__", "") for member in public().values()}
    for page in (ROOT / "docs" / "reference").glob("*.md"):
        shown = re.findall(r"littlestone[\w.]+", page.read_text(encoding="utf-8"))
        used |= {name for full in shown for name in (full, full.rpartition(".")[0])}
    return used


def unused(among: Iterable[str] = ()) -> set[str]:
    return {
        name for name in among or modules() if name not in used() and not name.startswith(COMMANDS)
    }


def test_every_module_has_a_user() -> None:
    assert unused() <= WAITING


def test_a_module_without_a_user_is_noticed() -> None:
    assert "littlestone.game.play" not in unused()
    with_one_more = {**modules(), "littlestone.learners.sanitizers.unwired": ROOT / "nowhere.py"}
    assert unused(with_one_more) - unused() == {"littlestone.learners.sanitizers.unwired"}
