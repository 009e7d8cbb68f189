"""Concept classes are known by what they offer: nothing outside of them asks which class it is."""

import ast
from pathlib import Path

import littlestone

SOURCE = Path(littlestone.__file__).parent
CLASSES = SOURCE / "concepts" / "classes"


def concept_classes() -> set[str]:
    """The classes that have concepts."""
    return {
        node.name
        for path in CLASSES.glob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
        and {"concepts", "version_space"}
        <= {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    }


def classes_asked_about(source: str, known: set[str]) -> list[str]:
    """The concept classes that ``isinstance`` or ``issubclass`` is asked about."""
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
