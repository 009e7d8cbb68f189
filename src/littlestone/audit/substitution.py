"""Put something else in an attribute's place: for as long as a block lasts, or in one recipe."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, TypeVar

Recipe = TypeVar("Recipe")


@contextmanager
def replaced(owner: Any, **substitutes: Any) -> Iterator[None]:
    """Within it, the named attributes of a class or module are the substitutes.

    >>> import math
    >>> with replaced(math, tau=1.0):
    ...     math.tau
    1.0
    >>> math.tau > 6
    True
    """
    originals = {name: vars(owner)[name] for name in substitutes}
    try:
        for name, substitute in substitutes.items():
            setattr(owner, name, substitute)
        yield
    finally:
        for name, original in originals.items():
            setattr(owner, name, original)


def altered(recipe: Recipe, **methods: Callable[..., Any]) -> Recipe:
    """The same recipe with other methods: wrong ones, for a control."""
    kind: Any = type(recipe)
    given = {known.name: getattr(recipe, known.name) for known in fields(kind) if known.init}
    made: Recipe = type(kind.__name__, (kind,), {"__slots__": (), **methods})(**given)
    return made


def with_engine(recipe: Recipe, engine: Callable[..., Any]) -> Recipe:
    """The same recipe with another engine."""
    return altered(recipe, engine=lambda recipe, rng: engine(recipe, rng))
