"""Every name that docs/NOTATION.md translates a symbol to is a name of the object it points at."""

import inspect
import re
from typing import Any

import pytest
from tests.architecture.definitions import ROOT, the_object

TABLE = ROOT / "docs" / "NOTATION.md"
ROWS = re.findall(
    r"^\|.*\| `(\w+)` \| `([\w.]+)` \|$", TABLE.read_text(encoding="utf-8"), re.MULTILINE
)


def parameters(function: Any) -> set[str]:
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return set()


def names_of(owner: Any, called: str) -> set[str]:
    """The object's own name, its attributes and fields, its parameters and its methods'."""
    names = {called, *dir(owner), *getattr(owner, "__annotations__", ()), *parameters(owner)}
    if inspect.isclass(owner):
        for _, method in inspect.getmembers(owner, callable):
            names |= parameters(method)
    return names


def test_every_line_of_the_table_is_read() -> None:
    lines = [
        line
        for line in TABLE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and not line.startswith("| symbol")
    ]
    assert len(ROWS) == len(lines) > 40


def untranslated(rows: list[tuple[str, str]]) -> list[str]:
    return [
        f"{owner} has no {name}"
        for name, owner in rows
        if name not in names_of(the_object(owner), owner.rpartition(".")[2])
    ]


def test_every_name_exists() -> None:
    assert not untranslated(ROWS)


def test_a_name_that_does_not_exist_is_noticed() -> None:
    assert not untranslated([("epsilon", "CountAboveThreshold")])
    assert untranslated([("eps", "CountAboveThreshold")])
    with pytest.raises(AssertionError, match="nothing is called NotAnObject"):
        untranslated([("epsilon", "NotAnObject")])
