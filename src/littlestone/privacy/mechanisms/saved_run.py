"""Save and restore what remembers nothing but its dataclass fields: engines, parts of them, runs.

An engine or a part is made first and then loaded. A mechanism's run draws noise when it is made, so
a saved one is made by ``resumed`` instead.
"""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any, Final, Protocol, Self, runtime_checkable

from littlestone.errors import SnapshotError
from littlestone.randomness import Randomness
from littlestone.randomness.noise_owner import NoiseOwner
from littlestone.type_checks import fits, hints_of, is_a


@runtime_checkable
class Part(Protocol):
    """A part of an engine that saves and loads its own state."""

    def state(self) -> Any:
        """Return what the part remembers."""

    def load(self, state: Any, /) -> None:
        """Restore what ``state`` returned."""


def fields_of(part: Any) -> tuple[Any, ...]:
    """Return what ``part`` and its parts remember, except randomness; it holds secrets."""
    if isinstance(part, NoiseOwner):
        part._require_usable()
    values = [getattr(part, name) for name, _ in _hinted_fields(type(part))]
    for place, value in enumerate(values):
        if _is_part(kind := type(value)):
            values[place] = value.state()
        elif _is_made_like_an_engine(kind):
            values[place] = fields_of(value)
    return tuple(values)


def load_fields(part: Any, state: tuple[Any, ...]) -> None:
    """Restore what ``fields_of`` returned, and continue there."""
    for (name, hint), value in zip(_hinted_fields(type(part)), state, strict=True):
        inner: Any = getattr(part, name, None)
        if inner is not None and _is_part(type(inner)):
            inner.load(value)
        elif inner is not None and _is_made_like_an_engine(type(inner)):
            load_fields(inner, value)
        elif type(value) is hint or fits(value, hint):
            setattr(part, name, value)
        else:
            raise SnapshotError(f"{name} of an engine cannot be {type(value).__name__}")
    if hasattr(part, "loaded"):
        part.loaded()


class SavedRun(NoiseOwner):
    """A dataclass whose fields are the whole state of the run.

    A field that is itself a run belongs to the recipe's method of the same name.
    """

    __slots__ = ("_recipe", "_rng")

    _recipe: Any
    _rng: Randomness

    @property
    def _over(self) -> bool:
        """Whether the run holds no more noise that could be used twice."""
        return False

    def _belongs_to(self) -> dict[str, Any]:
        """Return the recipe and kind that a state must match."""
        return {}

    def _loaded(self) -> None:
        """Derive from the fields what is not one of them."""

    def state(self) -> dict[str, Any]:
        """Return the secret state that ``restore`` of the recipe continues, once only.

        It holds noise that is drawn but not used yet. Disclosing it, or continuing it twice, voids
        the guarantee.
        """
        names = (place.lstrip("_") for place, _ in _hinted_fields(type(self)))
        return {**self._belongs_to(), **dict(zip(names, self.remembered(), strict=True))}

    def remembered(self) -> tuple[Any, ...]:
        """Return the values of ``state`` alone, for a caller that saves the recipe beside them."""
        if self._barred and not self._over:
            self._refuse()
        values = [getattr(self, place) for place, _ in _hinted_fields(type(self))]
        return tuple([_saved(value) if type(value) not in _PLAIN else value for value in values])

    @classmethod
    def restored(cls, recipe: Any, state: dict[str, Any], rng: Randomness) -> Self:
        """Return a run of ``recipe`` that continues from ``state``."""
        if not is_a(state, dict):
            raise SnapshotError(f"this is not the state of a {cls.__name__}")
        try:
            values = tuple(_saved(state[place.lstrip("_")]) for place, _ in _hinted_fields(cls))
            run = cls.resumed(recipe, values, rng)
        except (KeyError, TypeError) as problem:
            raise SnapshotError(f"this is not the state of a {cls.__name__}") from problem
        if state != run.state():
            raise SnapshotError(f"this state belongs to a {cls.__name__} of another recipe")
        return run

    @classmethod
    def resumed(cls, recipe: Any, values: tuple[Any, ...], rng: Randomness) -> Self:
        """Return a run of ``recipe`` that continues from the values of ``remembered``."""
        run = cls.__new__(cls)  # __init__ would draw new noise
        run._recipe, run._rng = recipe, rng
        for (place, kind), value in zip(_hinted_fields(cls), values, strict=True):
            if isinstance(kind, type) and issubclass(kind, SavedRun):
                value = kind.restored(getattr(recipe, place.lstrip("_"))(), value, rng)
            if not fits(value, kind):
                name = place.lstrip("_")
                raise SnapshotError(f"{name} of a {cls.__name__} cannot be {value!r}")
            setattr(run, place, value)
        run._loaded()
        return run


_PLAIN: Final = frozenset((int, bool, type(None)))  # what needs no copy


def _saved(value: Any) -> Any:
    """Return a copy that the run will not change."""
    if isinstance(value, SavedRun):
        return value.state()
    return value.copy() if isinstance(value, dict | list) else value


def _made_like_an_engine(kind: Any) -> bool:
    """Return whether it is a mutable dataclass that is constructed without its fields."""
    if issubclass(kind, SavedRun):  # its recipe constructs and restores it with all fields
        return False
    parameters = getattr(kind, "__dataclass_params__", None)
    return parameters is not None and not (parameters.init or parameters.frozen)


_is_part: Final[Callable[[Any], bool]] = cache(lambda kind: issubclass(kind, Part))
_is_made_like_an_engine: Final[Callable[[Any], bool]] = cache(_made_like_an_engine)
_hinted_fields: Final[Callable[[Any], list[tuple[str, Any]]]] = cache(
    lambda kind: [(field.name, hints_of(kind)[field.name]) for field in fields(kind)]
)
"""The whole state of an object of a class: its attributes and their types."""
