"""Registries fill themselves: an entry is listed where the thing it names is defined.

A learner, a concept class, an adversary, a claim, an audit or a control is listed in a module of
its own package, under a fixed attribute. ``discovered`` reads these lists once. Other distributions
add entries by an entry point whose group is the name of the package:

    [project.entry-points."littlestone.learners"]
    mine = "mine.learner"
"""

import difflib
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Protocol, TypeVar


class Named(Protocol):
    """An entry of a registry."""

    @property
    def name(self) -> str:
        """The name under which it is listed."""


Kind = TypeVar("Kind", bound=Named)
Value = TypeVar("Value")


def discovered(
    package: ModuleType, attribute: str, kind: type[Kind], *, packages_only: bool = False
) -> Mapping[str, Kind]:
    """Collect the entries of a package's modules and of entry points.

    Args:
        package: The package whose modules are imported; its name is the group of entry points.
        attribute: The name of the attribute that holds one entry, or a tuple of them.
        kind: The type of an entry.
        packages_only: Import only packages, not single modules, which may be large.

    Returns:
        The entries by name, in the order of their modules.

    Raises:
        ValueError: If two entries have the same name, or a listed object is not an entry.
    """
    found: dict[str, Kind] = {}
    for module in _modules(package, packages_only):
        listed = getattr(module, attribute, ())
        for entry in [listed] if isinstance(listed, kind) else listed:
            if not isinstance(entry, kind):
                raise ValueError(f"{module.__name__}.{attribute} must list {kind}s, got {entry!r}")
            if entry.name in found:
                raise ValueError(f"{module.__name__}: the name {entry.name!r} is taken; rename it")
            found[entry.name] = entry
    return found


def loaded(place: str) -> Any:
    """Import the object at ``package.module:Name.attribute``."""
    module, _, path = place.partition(":")
    found: Any = import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _modules(package: ModuleType, packages_only: bool) -> Iterator[ModuleType]:
    yield package
    yield from _inside(package, packages_only)
    for point in entry_points(group=package.__name__):
        yield import_module(point.module)


def _inside(package: ModuleType, packages_only: bool) -> Iterator[ModuleType]:
    for found in iter_modules(package.__path__, f"{package.__name__}."):
        if found.ispkg or not packages_only:
            yield (module := import_module(found.name))
            if found.ispkg and not packages_only:
                yield from _inside(module, packages_only)


def lookup(table: Mapping[str, Value], name: str, *, kind: str) -> Value:
    """Return the entry called ``name``.

    Raises:
        ValueError: If there is no such entry; the message lists all names.
    """
    if name in table:
        return table[name]
    near = difflib.get_close_matches(name, table, n=1)
    hint = f"; did you mean {near[0]!r}? There" if near else "; there"
    raise ValueError(f"unknown {kind} {name!r}{hint} are: {', '.join(sorted(table))}")
