"""The public API is a list: explicit, importable, and nothing besides."""

import ast
import dataclasses
import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import littlestone

FILE = Path(littlestone.__file__)


def imports(path: Path) -> list[ast.alias]:
    """What a file imports from littlestone, at its top."""
    return [
        alias
        for node in ast.parse(path.read_text(encoding="utf-8")).body
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


def classes_in(hint: Any) -> Iterator[type]:
    """The classes that a type hint is made of."""
    if inspect.isclass(typing.get_origin(hint) or hint):
        yield typing.get_origin(hint) or hint
    for part in typing.get_args(hint):
        yield from classes_in(part)


def needed_for(member: Any) -> set[type]:
    """Our classes that fields of a value, or arguments of a function, are made of."""
    if dataclasses.is_dataclass(member):
        known = [field for field in dataclasses.fields(member) if field.init]
        names = {field.name for field in known if not field.name.startswith("_")}
    elif inspect.isfunction(member):
        names = set(inspect.signature(member).parameters)
    else:
        return set()
    hints = typing.get_type_hints(member)
    found = {kind for name in names & hints.keys() for kind in classes_in(hints[name])}
    return {
        kind
        for kind in found
        if kind.__module__.startswith("littlestone") and not kind.__name__.startswith("_")
    }


def test_what_public_fields_and_arguments_are_made_of_is_public() -> None:
    members = [getattr(littlestone, name) for name in littlestone.__all__]
    needed = set().union(*map(needed_for, members))
    assert needed - {member for member in members if inspect.isclass(member)} == set()


def test_every_refusal_is_public() -> None:
    defined = {
        name
        for path in FILE.parent.rglob("*.py")
        for name in re.findall(r"^ *class (\w*Error)\b", path.read_text(encoding="utf-8"), re.M)
    }
    assert "BudgetExceededError" in defined
    assert {name for name in defined if not name.startswith("_")} <= set(littlestone.__all__)


def test_a_name_that_is_not_on_the_list_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        littlestone.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_star_imports_are_not_used() -> None:
    for path in FILE.parent.rglob("*.py"):
        assert not re.search(r"\bimport \*", path.read_text(encoding="utf-8")), path


def test_every_public_name_is_documented() -> None:
    for name in littlestone.__all__:
        member = getattr(littlestone, name)
        if callable(member):
            assert (member.__doc__ or "").strip(), name
