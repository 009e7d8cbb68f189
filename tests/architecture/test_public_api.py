"""The public API is a list: explicit, importable, and nothing besides."""

import ast
from pathlib import Path
from types import ModuleType

import pytest

import littlestone

FILE = Path(littlestone.__file__)


def imports(path: Path) -> list[ast.alias]:
    """What a file imports from littlestone."""
    return [
        alias
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("littlestone")
        for alias in node.names
    ]


def test_every_name_is_listed_once_and_in_the_form_that_exports_it() -> None:
    listed = imports(FILE.with_suffix(".pyi"))
    assert sorted(alias.name for alias in listed) == littlestone.__all__
    # ``import X as X`` in a stub is a promise to type checkers; ``import X`` is for the stub alone.
    assert [alias.name for alias in listed if alias.asname != alias.name] == []


def test_every_name_can_be_imported() -> None:
    assert [name for name in littlestone.__all__ if not hasattr(littlestone, name)] == []


def test_a_name_means_the_same_when_asked_for_again() -> None:
    # Importing a subpackage sets an attribute of that name on the package and would hide ours.
    for name in littlestone.__all__:
        first = getattr(littlestone, name)
        assert getattr(littlestone, name) is first, name
        assert not isinstance(first, ModuleType), name


def test_a_name_that_is_not_on_the_list_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        littlestone.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_star_imports_are_not_used() -> None:
    for path in FILE.parent.rglob("*.py"):
        assert "*" not in {alias.name for alias in imports(path)}, path


def test_every_public_name_is_documented() -> None:
    for name in littlestone.__all__:
        member = getattr(littlestone, name)
        if callable(member):
            assert (member.__doc__ or "").strip(), name
