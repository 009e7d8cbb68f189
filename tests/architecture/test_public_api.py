"""The public API is a list: explicit, sorted, importable, and nothing besides."""

import ast
from pathlib import Path
from types import ModuleType

import pytest

import littlestone

FILE = Path(littlestone.__file__)


def names_from_the_library(code: str) -> set[str]:
    """What the module imports from littlestone, whether at once or for type checkers only."""
    return {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("littlestone")
        for alias in node.names
    }


def order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, as ruff sorts them."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_the_list_is_sorted_and_without_repetition() -> None:
    assert littlestone.__all__
    assert list(littlestone.__all__) == sorted(set(littlestone.__all__), key=order)


def test_every_name_can_be_imported() -> None:
    assert [name for name in littlestone.__all__ if not hasattr(littlestone, name)] == []


def test_type_checkers_see_the_same_list() -> None:
    seen = names_from_the_library(FILE.read_text(encoding="utf-8"))
    assert seen == {name for name in littlestone.__all__ if not name.startswith("__")}


def test_a_name_means_the_same_when_asked_for_again() -> None:
    # Importing a subpackage sets an attribute of that name on the package and would hide ours.
    for name in littlestone.__all__:
        first = getattr(littlestone, name)
        assert getattr(littlestone, name) is first, name
        assert not isinstance(first, ModuleType), name


def test_a_name_that_is_not_on_the_list_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        littlestone.no_such_name  # noqa: B018


def test_star_imports_are_not_used() -> None:
    for path in FILE.parent.rglob("*.py"):
        assert "*" not in names_from_the_library(path.read_text(encoding="utf-8")), path


def test_every_public_name_is_documented() -> None:
    for name in littlestone.__all__:
        member = getattr(littlestone, name)
        if callable(member):
            assert (member.__doc__ or "").strip(), name
