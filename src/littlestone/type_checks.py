"""Whether a value that was read fits the annotation of the place that it goes to."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

_PLAIN = (NoneType, bool, int, float, str, bytes, tuple, list, dict, set, frozenset)
_MOST_REMEMBERED: Final = 1024

hints_of: Callable[[Any], dict[str, Any]] = lru_cache(maxsize=_MOST_REMEMBERED)(get_type_hints)
"""The annotations of a class, looked up once: callers do not change them."""


@lru_cache(maxsize=_MOST_REMEMBERED)
def _taken_apart(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(hint), get_args(hint)


def fits(value: Any, hint: Any) -> bool:
    """True unless ``value`` is surely wrong there.

    >>> fits((1, 2), tuple[int, ...]), fits((1, "2"), tuple[int, ...]), fits(True, int)
    (True, False, False)
    """
    if type(value) is hint:
        return True
    if hint is None:
        return value is None
    origin, inner = _taken_apart(hint)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is not None:
        return isinstance(value, origin) and _all_fit(value, origin, inner)
    if hint is Any or not isinstance(hint, type):
        return True  # type variables, names that mypy alone knows
    if hint in (int, float):
        return type(value) in (int, hint)
    if getattr(hint, "_is_protocol", False):
        return not isinstance(value, _PLAIN) and _offers(value, hint)
    return isinstance(value, hint)


def _all_fit(value: Any, origin: type, inner: tuple[Any, ...]) -> bool:
    if issubclass(origin, Mapping):
        key, content = inner if len(inner) == 2 else (*inner, int)  # a Counter
        return all(fits(k, key) and fits(v, content) for k, v in value.items())
    if issubclass(origin, tuple):
        if len(inner) == 2 and inner[1] is Ellipsis:
            return all(fits(part, inner[0]) for part in value)
        return len(value) == len(inner) and all(map(fits, value, inner))
    if issubclass(origin, list | AbstractSet):
        return all(fits(part, inner[0]) for part in value)
    return True


def _offers(value: Any, protocol: Any) -> bool:
    """Whether it has every member of the protocol, without asking it for any."""
    kind: Any = type(value)
    lacking = _lacking(kind, protocol)
    return not lacking or lacking <= getattr(value, "__dict__", {}).keys()


@lru_cache(maxsize=_MOST_REMEMBERED)
def _lacking(kind: Any, protocol: Any) -> frozenset[str]:
    """The members of the protocol that are no attributes of the class."""
    members = (name for name in dir(protocol) if not name.startswith("_"))
    return frozenset(name for name in members if not hasattr(kind, name))
