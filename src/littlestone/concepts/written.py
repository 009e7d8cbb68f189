"""Hypotheses whose JSON form says nothing but their kind and their fields."""

from collections.abc import Callable
from functools import cache
from numbers import Integral
from typing import Any, ClassVar, Final, Self

from littlestone import require
from littlestone.type_checks import fits, hints_of

_hints: Final[Callable[[Any], dict[str, Any]]] = cache(
    lambda kind: {name: hint for name, hint in hints_of(kind).items() if name != "kind"}
)
"""The fields of a class, with their annotations."""


@require.checked
class Written:
    """A frozen dataclass of whole numbers, None, tuples, and parts with a JSON form of their own.

    Tuples are written as lists. ``from_json`` reads back what ``to_json`` wrote, and refuses
    anything else with a ValueError that names the field.
    """

    __slots__ = ()

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        written = {name: _as_json(getattr(self, name)) for name in _hints(type(self))}
        return {"kind": self.kind, **written}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        return cls(**{name: _value(data, name, hint) for name, hint in _hints(cls).items()})


def _as_json(value: Any) -> Any:
    if value is None or type(value) is int:
        return value
    if isinstance(value, tuple):
        return list(map(_as_json, value))
    return int(value) if isinstance(value, Integral) else value.to_json()  # a label may be True


def _value(data: dict[str, Any], name: str, hint: Any) -> Any:
    if hasattr(hint, "from_json"):
        return hint.from_json(data.get(name))
    value = _in_tuples(data.get(name, ...))
    if not fits(value, hint):
        wanted = hint.__name__ if isinstance(hint, type) else str(hint).replace("tuple", "list")
        raise ValueError(f"{name} must be of the kind {wanted}, got {name}={data.get(name)!r}")
    return value


def _in_tuples(value: Any) -> Any:
    return tuple(map(_in_tuples, value)) if type(value) is list else value
