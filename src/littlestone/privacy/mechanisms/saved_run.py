"""Save and restore mechanism runs whose dataclass fields are their whole state."""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any, Final, Self

from littlestone.errors import SnapshotError
from littlestone.randomness import Randomness
from littlestone.randomness.noise_owner import NoiseOwner
from littlestone.type_checks import fits, hints_of, is_a


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
        names = (name for name, _ in _places(type(self)))
        return {**self._belongs_to(), **dict(zip(names, self.remembered(), strict=True))}

    def remembered(self) -> tuple[Any, ...]:
        """Return the values of ``state`` alone, for a caller that saves the recipe beside them."""
        if self._barred and not self._over:
            self._refuse()
        values = [getattr(self, place) for _, place in _places(type(self))]
        return tuple([_saved(value) if type(value) not in _PLAIN else value for value in values])

    @classmethod
    def restored(cls, recipe: Any, state: dict[str, Any], rng: Randomness) -> Self:
        """Return a run of ``recipe`` that continues from ``state``."""
        if not is_a(state, dict):
            raise SnapshotError(f"this is not the state of a {cls.__name__}")
        try:
            values = tuple(_saved(state[name]) for name, _ in _places(cls))
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
        hints = hints_of(cls)
        for (name, place), value in zip(_places(cls), values, strict=True):
            kind = hints[place]
            if isinstance(kind, type) and issubclass(kind, SavedRun):
                value = kind.restored(getattr(recipe, name)(), value, rng)
            if not fits(value, kind):
                raise SnapshotError(f"{name} of a {cls.__name__} cannot be {value!r}")
            setattr(run, place, value)
        run._loaded()
        return run


_places: Final[Callable[[Any], list[tuple[str, str]]]] = cache(
    lambda kind: [(field.name.lstrip("_"), field.name) for field in fields(kind)]
)
"""The whole state of a run of a class: the name in a saved state, and the attribute."""


_PLAIN: Final = frozenset((int, bool, type(None)))  # what needs no copy


def _saved(value: Any) -> Any:
    """Return a copy that the run will not change."""
    if isinstance(value, SavedRun):
        return value.state()
    return value.copy() if isinstance(value, dict | list) else value
