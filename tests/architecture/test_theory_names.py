"""A bound says which side it is on, and where it comes from."""

import ast
from collections.abc import Iterator
from pathlib import Path

THEORY = Path(__file__).parents[2] / "src" / "littlestone" / "theory"
SIDES = ("_upper_bound", "_lower_bound", "_order", "_plan")
HELPERS = {"outwards.py", "tails.py"}
NO_BOUNDS = THEORY / "optimum"  # computes the value of a game, from both sides
MODULES = sorted(
    path
    for path in THEORY.rglob("*.py")
    if path.name not in {"__init__.py", *HELPERS} and NO_BOUNDS not in path.parents
)


def public_functions(code: str) -> list[ast.FunctionDef]:
    return [
        node
        for node in ast.parse(code).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]


def bounds() -> Iterator[tuple[str, ast.FunctionDef]]:
    for module in MODULES:
        functions = public_functions(module.read_text(encoding="utf-8"))
        assert functions, module
        yield from ((f"{module.stem}.{function.name}", function) for function in functions)


def calls_round(code: str) -> bool:
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    return "round" in {call.func.id for call in calls if isinstance(call.func, ast.Name)}


def test_there_are_bounds() -> None:
    assert len(MODULES) > 10


def test_every_bound_names_its_side() -> None:
    assert not [name for name, _ in bounds() if not name.endswith(SIDES)]


def test_every_bound_states_its_formula_or_source() -> None:
    assert not [name for name, function in bounds() if len(ast.get_docstring(function) or "") <= 40]


def test_no_constant_is_rounded_to_nearest() -> None:
    # Rounding outwards is upwards/downwards/ceil/floor; round() belongs to doctests only.
    assert calls_round("x = round(2.5)") and not calls_round("x = y.round()")
    assert not [path.stem for path in MODULES if calls_round(path.read_text(encoding="utf-8"))]
