"""Every public name, at the top and in the rooms, by itself: a name has one meaning."""

from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import littlestone


def rooms(package: ModuleType = littlestone) -> Iterator[ModuleType]:
    """A package with public names, and those that it names."""
    yield package
    for name in package.__all__:
        if isinstance(member := getattr(package, name), ModuleType):
            yield from rooms(member)


@cache
def public() -> dict[str, Any]:
    """Name → what it means; rooms aside."""
    found: dict[str, Any] = {}
    for room in rooms():
        for name in room.__all__:
            member = getattr(room, name)
            if not isinstance(member, ModuleType):
                assert found.setdefault(name, member) is member, f"{name} has two meanings"
    return found
