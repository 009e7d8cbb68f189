"""Load learners and classes from a user's file: ``mine.py:Mine``.

Only commands read such files. A service or a store takes names of the catalogue only: a remote
request must not choose which code runs.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from pathlib import Path
from typing import Any

from littlestone.choose.catalogue import LEARNERS, lookup
from littlestone.concepts.entry import online_class_from_spec
from littlestone.concepts.protocols import OnlineClass


def learner_named(name: str, concepts: OnlineClass, **budget: Any) -> Any:
    """Return the recipe of a learner of the catalogue, or of the class that ``mine.py:Mine`` names.

    A user's class gets those of ``concepts``, ``rounds``, ``epsilon`` and ``delta`` that its
    parameters name.
    """
    if not _is_outside(name):
        return lookup(LEARNERS, name, kind="learner").build(concepts, **budget)
    recipe, _ = _found(name)
    known = signature(recipe).parameters
    given = {key: value for key, value in {"concepts": concepts, **budget}.items() if key in known}
    return recipe(**given)


def class_named(spec: str) -> OnlineClass:
    """Return the class of a specification, as in ``thresholds:8`` or ``mine.py:Grid:8,3``.

    It may have any number of labels.
    """
    if not _is_outside(spec):
        return online_class_from_spec(spec)
    found, arguments = _found(spec)
    made: OnlineClass = found(*map(_read, arguments)) if callable(found) else found
    return made


def _is_outside(name: str) -> bool:
    return name.partition(":")[0].endswith(".py")


def _found(name: str) -> tuple[Any, list[str]]:
    """Return the object that a name in a file refers to, and the arguments after it."""
    place, _, rest = name.partition(":")
    attribute, _, given = rest.partition(":")
    path = Path(place).resolve()
    spec = spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise ValueError(f"there is no Python file {place!r}; write it as in mine.py:Mine")
    module = module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    found = getattr(module, attribute, None)
    if found is None:
        raise ValueError(f"{place} has no {attribute!r}; write it as in mine.py:Mine")
    return found, given.split(",") if given else []


def _read(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
