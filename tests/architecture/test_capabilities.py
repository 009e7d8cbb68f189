"""Concept classes are known by what they offer: nothing outside of them asks which class it is."""

import ast
from importlib import import_module
from pathlib import Path

import littlestone
from littlestone.concepts import classes

SOURCE = Path(littlestone.__file__).parent
CLASSES = SOURCE / "concepts" / "classes"


def concept_classes() -> set[str]:
    """The classes that have concepts, of their own or inherited."""
    modules = (import_module(f"{classes.__name__}.{path.stem}") for path in CLASSES.glob("*.py"))
    return {
        name
        for module in modules
        for name, kind in vars(module).items()
        if isinstance(kind, type) and kind.__module__ == module.__name__
        if hasattr(kind, "concepts") and hasattr(kind, "version_space")
    }


def classes_asked_about(source: str, known: set[str]) -> list[str]:
    """The concept classes that ``isinstance`` or ``issubclass`` is asked about."""
    asks = "isinstance" in source or "issubclass" in source
    if not asks or not any(name in source for name in known):  # quicker than to parse it
        return []
    return [
        name.id
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ("isinstance", "issubclass")
        for name in ast.walk(call.args[1])
        if isinstance(name, ast.Name) and name.id in known
    ]


def test_no_module_asks_which_concept_class_it_has() -> None:
    known = concept_classes()
    assert {"Thresholds", "Stumps", "FiniteClass", "MarginHalfspaces"} <= known
    found = {
        str(path.relative_to(SOURCE)): asked
        for path in SOURCE.rglob("*.py")
        if path.parent != CLASSES and (asked := classes_asked_about(path.read_text(), known))
    }
    assert found == {}


def test_a_test_of_class_is_noticed() -> None:
    asked = "if isinstance(concepts, Points | SparseSets) or issubclass(kind, (Stumps, int)): pass"
    assert classes_asked_about(asked, concept_classes()) == ["Points", "SparseSets", "Stumps"]
