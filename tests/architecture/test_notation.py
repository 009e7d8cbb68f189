"""Every name that docs/NOTATION.md translates a symbol to is a name of the object it points at."""

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

TABLE = Path(__file__).parents[2] / "docs" / "NOTATION.md"
ROWS = re.findall(
    r"^\|.*\| `(\w+)` \| `([\w.]+):(\w+)` \|$", TABLE.read_text(encoding="utf-8"), re.MULTILINE
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


@pytest.mark.parametrize(("name", "module", "owner"), ROWS, ids=lambda part: part)
def test_the_name_exists(name: str, module: str, owner: str) -> None:
    assert name in names_of(getattr(importlib.import_module(module), owner), owner)


def test_a_name_that_does_not_exist_is_noticed() -> None:
    module = importlib.import_module("littlestone.mechanisms.count_above_threshold")
    names = names_of(module.CountAboveThreshold, "CountAboveThreshold")
    assert "epsilon" in names and "eps" not in names
