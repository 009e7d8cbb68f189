"""Finds what a document names: the one definition of an object, a test or a claim.

Documents name things, not places, so that a move leaves them true. A name is bare (`LazyForest`,
`test_a_second_challenge_is_refused`); where several modules define it, the last parts of the
module's dotted name come first (`histogram_bounds.paper_error_upper_bound`).
"""

import ast
import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
REFERENCE = ROOT / "tests" / "reference"
"""The paper's constructions that nobody would run, kept to be compared with what is run."""


class Definition(NamedTuple):
    """An object at the top of a module; no object stands for the module itself."""

    module: str
    name: str | None
    path: Path

    @property
    def full(self) -> str:
        return self.module if self.name is None else f"{self.module}.{self.name}"

    def answers_to(self, dotted: str) -> bool:
        return f".{self.full}".endswith(f".{dotted}")


Definitions = dict[str, list[Definition]]
"""By the last part of their names."""


def defined_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id


def definitions_below(folder: Path, root: Path) -> Iterator[Definition]:
    for path in sorted(folder.rglob("*.py")):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        yield Definition(module, None, path)
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            for name in defined_by(statement):
                yield Definition(module, name, path)


def by_last_part(definitions: Iterable[Definition]) -> Definitions:
    found: Definitions = {}
    for definition in definitions:
        found.setdefault(definition.full.rpartition(".")[2], []).append(definition)
    return found


@cache
def objects() -> Definitions:
    """Everything that a module of the package or a reference implementation defines."""
    below = (*definitions_below(SOURCE, SOURCE), *definitions_below(REFERENCE, ROOT))
    return by_last_part(found for found in below if found.name)


@cache
def tests() -> Definitions:
    """Every test function, and every file of tests."""
    return by_last_part(
        found
        for found in definitions_below(ROOT / "tests", ROOT)
        if (found.name or found.path.name).startswith("test_")
    )


def the_one(dotted: str, among: Definitions) -> Definition:
    alike = among.get(dotted.rpartition(".")[2], [])
    found = [definition for definition in alike if definition.answers_to(dotted)]
    places = ", ".join(definition.module for definition in found)
    assert found, f"nothing is called {dotted}"
    assert len(found) == 1, f"{dotted} is ambiguous, put a module before it: {places}"
    return found[0]


def the_object(dotted: str) -> Any:
    found = the_one(dotted, objects())
    assert found.name is not None
    return getattr(importlib.import_module(found.module), found.name)


def the_test(dotted: str) -> Definition:
    return the_one(dotted, tests())
