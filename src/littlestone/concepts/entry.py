"""A concept class is registered by an entry in the module that defines it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import littlestone.concepts.classes
from littlestone.concepts.protocols import ConceptClass, OnlineClass
from littlestone.registry import discovered, lookup
from littlestone.type_checks import require_fit


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassEntry:
    """How a concept class is written, as in ``thresholds:16``.

    Modules of ``littlestone.concepts.classes`` list their entries as ``CLASSES``.

    Args:
        name: The text before the colon.
        build: Builds the class from its arguments.
        example: A whole specification.
        summary: One line for lists.
        arguments: How each argument is read from text.
        required: How many of them must be given.
    """

    name: str
    build: Callable[..., OnlineClass]
    example: str
    summary: str
    arguments: tuple[Callable[[str], Any], ...] = (int,)
    required: int = 1


@cache
def every_class() -> Mapping[str, ClassEntry]:
    """Return the entry of every concept class by its name."""
    return discovered(littlestone.concepts.classes, "CLASSES", ClassEntry)


def class_from_spec(spec: str) -> ConceptClass:
    """Build a concept class from ``name:args``; ValueError if it has more than two labels.

    >>> class_from_spec("thresholds:16").littlestone_dimension
    4
    >>> class_from_spec("treshold:16")
    Traceback (most recent call last):
    ...
    ValueError: unknown class 'treshold'; did you mean 'thresholds'? There are: boxes, \
conjunctions, disjunctions, finite, halfspaces, intervals, keys, points, sparse-sets, stumps, \
thresholds, trees
    """
    found = online_class_from_spec(spec)
    require_fit("class", found, ConceptClass)
    return cast("ConceptClass", found)


def online_class_from_spec(spec: str) -> OnlineClass:
    """Build a class from ``name:args``, with any number of labels."""
    name, _, rest = spec.partition(":")
    entry = lookup(every_class(), name, kind="class")
    given = rest.split(",") if rest else []
    if not entry.required <= len(given) <= len(entry.arguments):
        raise ValueError(f"class {name!r} is written like {entry.example!r}, got {spec!r}")
    try:
        arguments = [read(text) for read, text in zip(entry.arguments, given, strict=False)]
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(
            f"class {name!r} is written like {entry.example!r}, got {spec!r}: {error}"
        ) from None
    return entry.build(*arguments)
