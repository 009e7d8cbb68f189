"""A bound says which side it is on, and where it comes from."""

import ast
from pathlib import Path

import pytest

THEORY = Path(__file__).parents[2] / "src" / "littlestone" / "theory"
SIDES = ("_upper_bound", "_lower_bound", "_floor", "_order", "_plan")
HELPERS = {"outwards.py"}
MODULES = sorted(p for p in THEORY.glob("*.py") if p.name not in {"__init__.py", *HELPERS})


def public_functions(code: str) -> list[ast.FunctionDef]:
    return [
        node
        for node in ast.parse(code).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]


def test_there_are_bounds() -> None:
    assert len(MODULES) > 10


@pytest.mark.parametrize("module", MODULES, ids=lambda p: p.stem)
def test_every_bound_names_its_side(module: Path) -> None:
    names = [f.name for f in public_functions(module.read_text(encoding="utf-8"))]
    assert names
    assert [name for name in names if not name.endswith(SIDES)] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda p: p.stem)
def test_every_bound_states_its_formula_or_source(module: Path) -> None:
    for function in public_functions(module.read_text(encoding="utf-8")):
        docstring = ast.get_docstring(function) or ""
        assert len(docstring) > 40, function.name


@pytest.mark.parametrize("module", MODULES, ids=lambda p: p.stem)
def test_no_constant_is_rounded_to_nearest(module: Path) -> None:
    # Rounding outwards is upwards/downwards/ceil/floor; round() belongs to doctests only.
    tree = ast.parse(module.read_text(encoding="utf-8"))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    names = {c.func.id for c in calls if isinstance(c.func, ast.Name)}
    assert "round" not in names
