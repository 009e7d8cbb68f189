"""Canonical forms: what a recipe or a concept class is, as JSON that outlives the code.

A form has a kind, a version and the fields that differ from their defaults. Saved runs and stores
belong to a form, so a new field with a default orphans none of them. Whoever gives an existing
field another meaning or another default raises ``form_version`` of its class.
"""

import dataclasses
import hashlib
import inspect
import json
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import wraps
from types import FunctionType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from littlestone.errors import SnapshotError

_MOST_ENTRIES: Final = 256  # of an array that is written out; larger ones by their digest
_MOST_REMEMBERED: Final = 64
_REQUIRED: Final = object()

_known_defaults: dict[type, dict[str, Any]] = {}


def remembered(tell: Callable[[Any], str]) -> Callable[[Any], str]:
    """``tell`` for objects that never change, the last few of which are told once.

    By identity: equal recipes may have different forms (1 and 1.0), and not all have a hash.
    """
    told: OrderedDict[int, tuple[Any, str]] = OrderedDict()

    @wraps(tell)
    def telling(value: Any) -> str:
        known = told.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        told[id(value)] = value, text = value, tell(value)  # kept, so that its id stays its own
        if len(told) > _MOST_REMEMBERED:
            told.popitem(last=False)
        return text

    return telling


@remembered
def canonical_form(value: Any) -> str:
    """One line of JSON; equal for recipes that behave alike, different for all others.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> canonical_form(Thresholds(8))
    '{"fields":{"n":8},"kind":"Thresholds","version":1}'
    """
    return json.dumps(form_of(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


@remembered
def form_digest(value: Any) -> str:
    """What stands for the form where there is little room."""
    return hashlib.sha256(canonical_form(value).encode()).hexdigest()[:32]


def form_of(value: Any) -> Any:
    """The form as plain JSON values."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, tuple | list):
        return [form_of(part) for part in value]
    if isinstance(value, frozenset | set):
        return {"set": sorted(map(form_of, value), key=_text)}
    if isinstance(value, Mapping):
        return {"map": sorted(([form_of(k), form_of(v)] for k, v in value.items()), key=_text)}
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, FunctionType):
        return {"function": _function(value)}
    kind, version = type(value).__name__, getattr(value, "form_version", 1)
    fields = {
        name: form_of(part)
        for name, part in parts_of(value).items()
        if not _is(part, _defaults(type(value))[name])
    }
    return {"kind": kind, "version": version, "fields": fields}


def parts_of(value: Any) -> dict[str, Any]:
    """What ``value`` was made of: the arguments of its class that are attributes, by name."""
    return {name: getattr(value, name) for name in _defaults(type(value))}


def _defaults(kind: type) -> dict[str, Any]:
    """The arguments of a class and their defaults."""
    if kind not in _known_defaults:
        _known_defaults[kind] = _signature(kind)
    return _known_defaults[kind]


def _signature(kind: Any) -> dict[str, Any]:
    """Fields that take no part in comparisons are derived from the others."""
    derived: set[str] = set()
    factories: dict[str, Any] = {}
    if dataclasses.is_dataclass(kind):
        fields = dataclasses.fields(kind)
        derived = {field.name for field in fields if not field.compare}
        factories = {
            field.name: field.default_factory()
            for field in fields
            if field.default_factory is not dataclasses.MISSING
        }
    elif kind.__init__ is object.__init__:
        raise SnapshotError(f"a {kind.__name__} has no canonical form, so nothing can be saved")
    parameters = inspect.signature(kind).parameters.values()
    return {
        p.name: factories.get(p.name, _REQUIRED if p.default is p.empty else p.default)
        for p in parameters
        if p.name not in derived
    }


def _is(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _array(array: NDArray[Any]) -> dict[str, Any]:
    form: dict[str, Any] = {"array": array.dtype.str, "shape": list(array.shape)}
    if array.size <= _MOST_ENTRIES:
        return {**form, "entries": array.ravel().tolist()}
    return {**form, "sha256": hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()}


def _function(function: FunctionType) -> str:
    """Its name, if whoever imports its module finds it there."""
    name = f"{function.__module__}.{function.__qualname__}"
    found = getattr(sys.modules.get(function.__module__), function.__qualname__, None)
    if found is not function:
        raise SnapshotError(
            f"{name} is not a function of a module, so that no saved run could name it; "
            f"give one that is, or an object whose fields say what it does"
        )
    return name


def _text(form: Any) -> str:
    return json.dumps(form, sort_keys=True)
