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
from tests.public import public, rooms

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
    for room in rooms():
        listed = imports(Path(str(room.__file__)).with_suffix(".pyi"))
        # ``import X as X`` in a stub is a promise to type checkers; ``import X`` is for the stub.
        exported = [alias.name for alias in listed if alias.asname is not None]
        assert sorted(exported) == room.__all__ == sorted(set(exported)), room
        assert [a.name for a in listed if a.asname not in (None, a.name)] == [], room


def test_the_top_has_what_a_first_hour_needs_and_the_rooms_have_all() -> None:
    assert len(littlestone.__all__) <= 60
    assert littlestone.mechanisms.AboveThreshold is public()["AboveThreshold"]
    in_rooms = {name for room in rooms() if room is not littlestone for name in room.__all__}
    elsewhere = {"Client", "ServiceError", "Randomness", "keyed", "play", "secure", "seeded"}
    top = {
        name
        for name in littlestone.__all__
        if not isinstance(getattr(littlestone, name), ModuleType)
    }
    errors = {name for name in top if public()[name].__module__ == "littlestone.errors"}
    assert top - in_rooms == elsewhere | errors


def test_a_name_means_the_same_when_asked_for_again() -> None:
    # Importing a module sets an attribute of its name on its package and would hide ours.
    for room in rooms():
        for name in room.__all__:
            first = getattr(room, name)
            assert getattr(room, name) is first, name
            assert not (Path(str(room.__file__)).parent / f"{name}.py").exists(), name


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


def test_a_name_is_looked_up_once() -> None:
    for room in (littlestone, littlestone.audit):
        name = room.__all__[0]
        assert getattr(room, name) is vars(room)[name]


def test_what_public_fields_and_arguments_are_made_of_is_public() -> None:
    members = list(public().values())
    needed = set().union(*map(needed_for, members))
    assert needed - {member for member in members if inspect.isclass(member)} == set()


def test_every_refusal_is_public() -> None:
    defined = {
        name
        for path in FILE.parent.rglob("*.py")
        for name in re.findall(r"^ *class (\w*Error)\b", path.read_text(encoding="utf-8"), re.M)
    }
    assert "BudgetExceededError" in defined
    assert {name for name in defined if not name.startswith("_")} <= set(public())


def test_a_name_that_is_not_on_the_list_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        littlestone.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_star_imports_are_not_used() -> None:
    for path in FILE.parent.rglob("*.py"):
        assert not re.search(r"\bimport \*", path.read_text(encoding="utf-8")), path


def test_every_public_name_is_documented() -> None:
    for name, member in public().items():
        if callable(member):
            assert (member.__doc__ or "").strip(), name
