"""The public API is a list: explicit, sorted, importable, and nothing besides."""

import ast
from pathlib import Path

import littlestone

FILE = Path(littlestone.__file__)


def imported_names(code: str) -> set[str]:
    """Names that the module imports at its top level, as they are called there."""
    return {
        alias.asname or alias.name
        for node in ast.parse(code).body
        if isinstance(node, ast.ImportFrom | ast.Import)
        for alias in node.names
    }


def test_the_list_is_sorted_and_without_repetition() -> None:
    assert littlestone.__all__
    assert list(littlestone.__all__) == sorted(set(littlestone.__all__))


def test_every_name_can_be_imported() -> None:
    assert [name for name in littlestone.__all__ if not hasattr(littlestone, name)] == []


def test_nothing_else_is_imported_at_the_top() -> None:
    imported = imported_names(FILE.read_text(encoding="utf-8"))
    public = {name for name in imported if not name.startswith("_")}
    assert public <= set(littlestone.__all__)


def test_star_imports_are_not_used() -> None:
    for path in FILE.parent.rglob("*.py"):
        assert "*" not in imported_names(path.read_text(encoding="utf-8")), path


def test_every_public_name_is_documented() -> None:
    for name in littlestone.__all__:
        member = getattr(littlestone, name)
        if callable(member):
            assert (member.__doc__ or "").strip(), name
