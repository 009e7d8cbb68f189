"""Check whether a value fits an annotation, and bring numbers into plain form."""

import operator
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Rational, Real
from types import NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

import numpy as np

_BUILT_IN = (NoneType, bool, int, float, str, bytes, tuple, list, dict, set, frozenset)
_WITH_CONTENT = (Mapping, tuple, list, AbstractSet, np.ndarray)
_NUMBERS_IN: Final = {np.bool_: "b", np.integer: "biu", np.floating: "biuf"}
"""The dtype kinds that fit an array of each number type."""
UNIONS: Final = (Union, UnionType)
_MOST_REMEMBERED: Final = 1024
_Test = Callable[[Any], bool]
_Kind = TypeVar("_Kind")

PLAIN: Final = frozenset({int, float, bool, str, NoneType})
_NUMBERS: Final = (int, float, Fraction)
_IN_WORDS: Final = {
    int: "a whole number",
    float: "a number",
    Fraction: "a fraction",
    bool: "True or False",
    str: "a string",
    bytes: "bytes",
    NoneType: "None",
}
_SECRET: Final = frozenset({"key", "secret", "snapshot", "state", "token"})
"""Arguments that messages describe only by their type."""

hints_of: Callable[[Any], dict[str, Any]] = lru_cache(maxsize=_MOST_REMEMBERED)(get_type_hints)
"""The annotations of a class, cached; callers must not change them."""


@overload
def is_a(value: Any, kind: type[_Kind]) -> TypeGuard[_Kind]: ...


@overload
def is_a(value: Any, kind: Any) -> bool: ...


def is_a(value: Any, kind: Any) -> bool:
    """Return whether the type of ``value`` is of this kind, whatever its ``__class__`` says.

    A proxy passes for another type in ``isinstance``, and raises there once its object is gone.
    """
    return issubclass(type(value), kind)


def fits(value: Any, hint: Any) -> bool:
    """Return False if ``value`` certainly does not fit the annotation.

    >>> fits((1, 2), tuple[int, ...]), fits((1, "2"), tuple[int, ...]), fits(True, int)
    (True, False, False)
    """
    return type(value) is hint or _test_for(hint)(value)


@lru_cache(maxsize=_MOST_REMEMBERED)
def _test_for(hint: Any) -> _Test:
    """Return the test for an annotation; cached, since saved runs repeat the same few."""
    if hint is None:
        return lambda value: value is None
    origin, inner = get_origin(hint), get_args(hint)
    if origin in UNIONS:
        tests = [_test_for(one) for one in inner]
        return lambda value: any(test(value) for test in tests)
    if origin is Literal:
        return lambda value: type(value) in _BUILT_IN and value in inner
    if origin is not None:
        within = _test_within(origin, inner)
        return lambda value: is_a(value, origin) and _iterates(value) and within(value)
    if isinstance(hint, TypeVar) and (hint.__constraints__ or hint.__bound__):
        return _test_for(Union[hint.__constraints__ or hint.__bound__])  # noqa: UP007
    if hint is Any or not isinstance(hint, type):
        return lambda value: True  # names that only mypy knows
    if hint in (int, float):
        return lambda value: type(value) in (int, hint)
    if getattr(hint, "_is_protocol", False):
        return lambda value: not is_a(value, _BUILT_IN) and _offers(value, hint)
    return lambda value: is_a(value, hint)


@lru_cache(maxsize=_MOST_REMEMBERED)
def always_fits(kind: Any, hint: Any) -> bool:
    """Return whether every value of exactly this type fits, whatever it holds.

    >>> always_fits(int, int | None), always_fits(tuple, tuple[int, ...]), always_fits(bool, int)
    (True, False, False)
    """
    origin = get_origin(hint)
    if origin in UNIONS:
        return any(always_fits(kind, one) for one in get_args(hint))
    if origin is np.ndarray and _array_kinds(get_args(hint)) is None:
        return issubclass(kind, np.ndarray)
    if isinstance(origin, type):
        return issubclass(kind, origin) and not issubclass(origin, _WITH_CONTENT)
    if not isinstance(hint, type) or hint is Any:
        return hint is Any
    if hint in (int, float):
        return kind in (int, hint)
    if getattr(hint, "_is_protocol", False):
        return not issubclass(kind, _BUILT_IN) and not _lacking(kind, hint)
    return issubclass(kind, hint)


def _iterates(value: Any) -> bool:
    """Return False for a value that claims to be iterable and is not."""
    if is_a(value, _BUILT_IN) or not is_a(value, Iterable):
        return True
    try:
        iter(value)
    except Exception:  # raised by the value itself
        return False
    return True


def _array_kinds(inner: tuple[Any, ...]) -> str | None:
    """Return the dtype kinds that fit an annotated array.

    None if any may.
    """
    number = next(iter(get_args(inner[1])), None)
    known = [kind for kind in _NUMBERS_IN if isinstance(number, type) and issubclass(number, kind)]
    return _NUMBERS_IN[known[0]] if known else None


def _test_within(origin: type, inner: tuple[Any, ...]) -> _Test:
    if not issubclass(origin, _WITH_CONTENT):
        return lambda value: True
    if issubclass(origin, np.ndarray):
        kinds = _array_kinds(inner)
        return lambda value: kinds is None or value.dtype.kind in kinds
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
    """Return whether the value's class has every member of the protocol."""
    kind: Any = type(value)
    lacking = _lacking(kind, protocol)
    if not lacking or is_a(value, type):  # a class has what its values have, and is none of them
        return not lacking
    return lacking <= getattr(value, "__dict__", {}).keys()


@lru_cache(maxsize=_MOST_REMEMBERED)
def _lacking(kind: Any, protocol: Any) -> frozenset[str]:
    """Return the members of the protocol that the class lacks."""
    members = (name for name in dir(protocol) if not name.startswith("_"))
    return frozenset(name for name in members if not hasattr(kind, name))


def require_fit(name: str, value: Any, hint: Any) -> None:
    """Raise a ValueError unless the value fits; any real number fits a float."""
    if fits(value, hint) or (type(value) in _NUMBERS and _may_be(type(value), hint)):
        return
    got = f"a {type(value).__name__}" if name in _SECRET else f"{name}={shown(value)}"
    raise ValueError(f"{name} must be {_wanted(hint)}, got {got}{_what_lacks(value, hint)}")


def _what_lacks(value: Any, hint: Any) -> str:
    """Describe the members that a value lacks for a protocol, and why if its class says so."""
    wanted = [one for one in (hint, *get_args(hint)) if getattr(one, "_is_protocol", False)]
    if not wanted or is_a(value, _BUILT_IN):
        return ""
    kind: Any = type(value)
    own = getattr(value, "__dict__", {}).keys()
    lacking = min((_lacking(kind, one) - own for one in wanted), key=len)
    why = getattr(kind, "_why_lacking", "")
    return f", which lacks {', '.join(sorted(lacking))}{why and f': {why}'}"


def _may_be(kind: type, hint: Any) -> bool:
    """Return whether a number of this type fits the annotation."""
    wanted = {one for one in (hint, *get_args(hint)) if one in _NUMBERS}
    return float in wanted or (Fraction in wanted and kind is int)


@lru_cache(maxsize=512)
def _wanted(hint: Any) -> str:
    """Describe a type in words."""
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if get_origin(hint) in UNIONS:
        return " or ".join(_wanted(part) for part in get_args(hint))
    name = getattr(hint, "__name__", str(hint)).replace("littlestone.", "")
    return _IN_WORDS.get(hint, f"of the kind {name}")


def shown(value: Any, *, most: int = 300) -> str:
    """Return the ``repr`` of a value for a message, shortened to ``most`` characters."""
    try:
        text = repr(value)
    except Exception:  # any error of the value's own repr; the caller reports the value
        return f"something of the type {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}…"


def plain_number(value: Any) -> Any:
    """Return a number as an int, a float or a Fraction of ints, and text as a str.

    Anything else is returned as it is.

    >>> import numpy as np
    >>> plain_number(np.int8(100)) + 100, plain_number(np.float32(0.5))
    (200, 0.5)
    """
    if type(value) in PLAIN:
        return value
    if is_a(value, np.bool_):
        return bool(value)
    if is_a(value, str):
        return str.__str__(value)  # ignores a subclass's own __str__
    if is_a(value, Integral):
        return operator.index(value)
    if is_a(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if is_a(value, float):
        return float.__float__(value)
    return float(value) if is_a(value, Real) else value
