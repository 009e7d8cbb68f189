"""Canonical forms: a recipe or concept class as JSON, from which it can be made again.

A form has a kind, a version and *all* fields of the class, including defaults and planned values.
So a stored form means the same recipe whatever the defaults and planners become. A change of a
class's fields, or of their meaning, raises ``form_version`` of the class; a form with other fields
or another version is rejected.

A form that is read may be damaged or altered. So only classes are made that are listed as recipes,
named by an annotation or registered for saved runs; each argument must fit its annotation, the
classes check their arguments as usual, and the result must have exactly the form it was read from.
"""

import base64
import dataclasses
import hashlib
import inspect
import json
import sys
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache, wraps
from operator import attrgetter
from types import FunctionType
from typing import Any, Final, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from littlestone.errors import SnapshotError
from littlestone.learners.entry import recipe_places
from littlestone.registry import loaded
from littlestone.type_checks import fits

T = TypeVar("T")

_MOST_ENTRIES: Final = 256  # of an array that is written in full; larger ones are compressed
_MOST_BYTES: Final = 1 << 28  # of an array that is read
_MOST_REMEMBERED: Final = 64

VALUES: Final[dict[str, type]] = {}
"""The values that a recipe may hold; ``codec.register`` adds them."""


def cached_by_identity(text_of: Callable[[Any], str]) -> Callable[[Any], str]:
    """Cache a text function of immutable objects; the last few answers are kept.

    The key is identity: equal recipes may have different forms (1 and 1.0), and not all have a
    hash.
    """
    cache: OrderedDict[int, tuple[Any, str]] = OrderedDict()

    @wraps(text_of)
    def cached(value: Any) -> str:
        known = cache.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        # The cache holds the value, so that no other object gets its id.
        cache[id(value)] = value, text = value, text_of(value)
        if len(cache) > _MOST_REMEMBERED:
            cache.popitem(last=False)
        return text

    return cached


@cached_by_identity
def canonical_form(value: Any) -> str:
    """Return one line of JSON, equal exactly for recipes that behave alike.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> canonical_form(Thresholds(8))
    '{"fields":{"n":8},"kind":"Thresholds","version":1}'
    """
    form = form_of(value)
    # A recipe that plans for itself is written with its plan. Only the outermost one: a wrapper
    # plans the recipe inside again.
    if getattr(value, "plan", value) is None and hasattr(value, "planned"):
        form["fields"]["plan"] = form_of(value.planned)
    return json.dumps(form, sort_keys=True, separators=(",", ":"), allow_nan=False)


@cached_by_identity
def form_digest(value: Any) -> str:
    """Return a short digest of the form."""
    return hashlib.sha256(canonical_form(value).encode()).hexdigest()[:32]


def form_of(value: Any) -> Any:
    """Return the form as plain JSON values."""
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
    fields = {name: form_of(part) for name, part in parts_of(value).items()}
    version = getattr(value, "form_version", 1)
    return {"kind": type(value).__name__, "version": version, "fields": fields}


def parts_of(value: Any) -> dict[str, Any]:
    """Return the constructor arguments of ``value`` that are attributes, by name."""
    kind: Any = type(value)
    return dict(zip(_arguments(kind), part_reader(kind)(value), strict=True))


@cache
def part_reader(kind: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that reads the constructor arguments of an object, in order."""
    names = _arguments(kind)
    read: Any = attrgetter(*names) if names else None
    if len(names) > 1:
        return read  # type: ignore[no-any-return]
    return lambda value: (read(value),) if names else ()


@cache
def _arguments(kind: Any) -> tuple[str, ...]:
    """Return a class's arguments, without fields that follow from others (``compare=False``)."""
    derived: set[str] = set()
    if dataclasses.is_dataclass(kind):
        derived = {field.name for field in dataclasses.fields(kind) if not field.compare}
    elif kind.__init__ is object.__init__:
        raise SnapshotError(f"a {kind.__name__} has no canonical form, so it cannot be saved")
    return tuple(name for name in inspect.signature(kind).parameters if name not in derived)


def _array(array: NDArray[Any]) -> dict[str, Any]:
    form: dict[str, Any] = {"array": array.dtype.str, "shape": list(array.shape)}
    if array.size <= _MOST_ENTRIES:
        return {**form, "entries": array.ravel().tolist()}
    packed = zlib.compress(np.ascontiguousarray(array).tobytes(), level=9)
    return {**form, "zlib": base64.b85encode(packed).decode("ascii")}


def _function(function: FunctionType) -> str:
    """Return the function's dotted name, if importing that name gives this function."""
    name = f"{function.__module__}.{function.__qualname__}"
    found = getattr(sys.modules.get(function.__module__), function.__qualname__, None)
    if found is not function:
        raise SnapshotError(
            f"{name} is not a module-level function, so no saved run can name it; pass one "
            f"that is, or an object whose fields say what it does"
        )
    return name


def _text(form: Any) -> str:
    return json.dumps(form, sort_keys=True)


def from_form(form: str, kind: type[T]) -> T:
    """Return the recipe, a ``kind``, with this ``canonical_form``.

    Raises:
        SnapshotError: If the form is damaged, of another version, or cannot be made again.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.learners.disjoint_batches.recipe import DisjointBatches
    >>> recipe = DisjointBatches(concepts=Thresholds(8), epsilon=0.5)
    >>> from_form(canonical_form(recipe), DisjointBatches) == recipe
    True
    """
    try:
        recipe = _made(json.loads(form), kind)
        whole = canonical_form(recipe) == form
    except SnapshotError:
        raise
    except (Exception, RecursionError) as problem:
        raise SnapshotError(f"this is not the form of a recipe: {problem!r:.500}") from problem
    if not isinstance(recipe, kind) or not whole:
        raise SnapshotError("this form is damaged: the recipe it describes has another form")
    return recipe


def _made(form: Any, hint: Any) -> Any:
    if isinstance(form, list):
        return tuple(_made(part, hint) for part in form)
    if not isinstance(form, dict):
        return form
    if "kind" in form:
        return _object(form, hint)
    if "fraction" in form:
        return Fraction(form["fraction"])
    if "array" in form:
        return _array_from(form)
    raise SnapshotError(f"{form!r:.200} cannot be restored: the form holds only its name")


def _array_from(form: Mapping[str, Any]) -> NDArray[Any]:
    kind = np.dtype(form["array"])
    if "entries" in form:
        return np.array(form["entries"], dtype=kind).reshape(form["shape"])
    reader = zlib.decompressobj()
    content = reader.decompress(base64.b85decode(form["zlib"]), _MOST_BYTES)
    return np.frombuffer(content, dtype=kind).reshape(form["shape"])


def _object(form: Mapping[str, Any], hint: Any) -> Any:
    name, fields = form["kind"], form["fields"]
    kind = _class_of(name, hint)
    if form["version"] != (version := getattr(kind, "form_version", 1)):
        raise SnapshotError(
            f"this is version {form['version']!r:.40} of {name}, and this littlestone has version "
            f"{version}. Use the version of littlestone that wrote it"
        )
    for wrong in sorted(set(_arguments(kind)) ^ set(fields)):
        what = "unknown" if wrong in fields else "missing"
        raise SnapshotError(f"this form of {name} is damaged: its field {wrong!r:.80} is {what}")
    hints = get_type_hints(kind.__init__, localns={name: kind})
    given = {part: _made(value, hints[part]) for part, value in fields.items()}
    for part, value in given.items():
        if not fits(value, hints[part]):
            raise SnapshotError(f"{part} of {name} cannot be {type(value)}")
    return kind(**given)


def _class_of(name: Any, hint: Any) -> Any:
    if name in recipe_places():
        return loaded(recipe_places()[name])
    known = VALUES | {kind.__name__: kind for kind in _classes_in(hint)}
    if name not in known:
        raise SnapshotError(f"no known class is named {name!r:.80}")
    return known[name]


def _classes_in(hint: Any) -> Iterator[type]:
    """Yield the classes that an annotation names, at any depth."""
    if isinstance(hint, type) and not get_args(hint):
        yield hint
    for inner in get_args(hint):
        yield from _classes_in(inner)
