"""Whether a value that was read fits the annotation of the place that it goes to."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

_PLAIN = (NoneType, bool, int, float, str, bytes, tuple, list, dict, set, frozenset)
_MOST_REMEMBERED: Final = 1024
_Test = Callable[[Any], bool]

hints_of: Callable[[Any], dict[str, Any]] = lru_cache(maxsize=_MOST_REMEMBERED)(get_type_hints)
"""The annotations of a class, looked up once: callers do not change them."""


def fits(value: Any, hint: Any) -> bool:
    """True unless ``value`` is surely wrong there.

    >>> fits((1, 2), tuple[int, ...]), fits((1, "2"), tuple[int, ...]), fits(True, int)
    (True, False, False)
    """
    return type(value) is hint or _test_for(hint)(value)


@lru_cache(maxsize=_MOST_REMEMBERED)
def _test_for(hint: Any) -> _Test:
    """The annotation taken apart once: saved runs ask for the same few again and again."""
    if hint is None:
        return lambda value: value is None
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        tests = [_test_for(one) for one in inner]
        return lambda value: any(test(value) for test in tests)
    if origin is Literal:
        return lambda value: value in inner
    if origin is not None:
        within = _test_within(origin, inner)
        return lambda value: isinstance(value, origin) and within(value)
    if hint is Any or not isinstance(hint, type):
        return lambda value: True  # type variables, names that mypy alone knows
    if hint in (int, float):
        return lambda value: type(value) in (int, hint)
    if getattr(hint, "_is_protocol", False):
        return lambda value: not isinstance(value, _PLAIN) and _offers(value, hint)
    return lambda value: isinstance(value, hint)


def _test_within(origin: type, inner: tuple[Any, ...]) -> _Test:
    if not issubclass(origin, Mapping | tuple | list | AbstractSet):
        return lambda value: True
    tests = [_test_for(one) for one in inner if one is not Ellipsis]
    if issubclass(origin, Mapping):
        key, content = tests if len(tests) == 2 else (*tests, _test_for(int))  # a Counter
        return lambda value: all(key(k) and content(v) for k, v in value.items())
    if issubclass(origin, tuple) and inner[1:] != (Ellipsis,):
        return lambda value: (
            len(value) == len(tests)
            and all(test(part) for test, part in zip(tests, value, strict=True))
        )
    return lambda value: all(map(tests[0], value))


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
