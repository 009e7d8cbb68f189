"""Canonical forms: what a recipe or a concept class is, as JSON from which it is made again.

A form has a kind, a version and *all* fields of the class, those that were left to their defaults
and those that were planned included. So a stored form means the same recipe whatever the defaults
and planners have become. A change of a class's fields, or of what one of them means, raises
``form_version`` of the class; a form with other fields or another version is refused.

A form that is read may be damaged or altered. So only classes that are named here, that an
annotation names or that saved runs may hold are made; each argument must fit its annotation, the
classes check their arguments as always, and the result must have the very form it was read from.
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
from importlib import import_module
from types import FunctionType
from typing import Any, Final, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from littlestone.errors import SnapshotError
from littlestone.type_checks import fits

T = TypeVar("T")

_MOST_ENTRIES: Final = 256  # of an array that is written out; larger ones are compressed
_MOST_BYTES: Final = 1 << 28  # of an array that is read
_MOST_REMEMBERED: Final = 64

_PLACES: Final[Mapping[str, str]] = {
    "AgnosticFinite": "learners.agnostic_finite.recipe",
    "DisjointBatches": "learners.disjoint_batches.recipe",
    "EagerForest": "learners.golowich_livni.eager_forest",
    "ExponentialWeights": "experts.exponential_weights",
    "FreshCopies": "learners.golowich_livni.fresh_copies",
    "Halving": "online.halving",
    "LazyForest": "learners.lazy_forest.recipe",
    "NaiveRecomposition": "learners.naive_recomposition",
    "PrivateKeys": "learners.private_keys.recipe",
    "PrivateLinear": "learners.private_linear.recipe",
    "PrivateMajority": "learners.private_majority.recipe",
    "PrivateWitnesses": "learners.private_witnesses.recipe",
    "Restarting": "learners.wrappers.restarting",
    "SanitizedBatches": "learners.sanitized_batches.recipe",
    "SanitizedExperts": "learners.sanitized_experts.recipe",
    "ShrinkingDartboard": "experts.shrinking_dartboard",
    "SparseMajority": "online.sparse_majority.recipe",
    "TreeSanitizer": "sanitizers.specialised.tree_sanitizer",
    "UnknownHorizon": "learners.wrappers.unknown_horizon",
}
"""Where the recipes are whose names no annotation has: learners, and what they are made of."""

VALUES: Final[dict[str, type]] = {}
"""The values that a recipe may hold; ``codec.register`` adds them."""


def remembered(tell: Callable[[Any], str]) -> Callable[[Any], str]:
    """``tell`` for objects that never change; the last few answers are remembered.

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
    form = form_of(value)
    # A recipe that plans for itself is written with its plan. Only the outermost: a wrapper asks
    # the recipe inside for new plans.
    if getattr(value, "plan", value) is None and hasattr(value, "planned"):
        form["fields"]["plan"] = form_of(value.planned)
    return json.dumps(form, sort_keys=True, separators=(",", ":"), allow_nan=False)


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
    fields = {name: form_of(part) for name, part in parts_of(value).items()}
    version = getattr(value, "form_version", 1)
    return {"kind": type(value).__name__, "version": version, "fields": fields}


def parts_of(value: Any) -> dict[str, Any]:
    """What ``value`` was made of: the arguments of its class that are attributes, by name."""
    kind: Any = type(value)
    return {name: getattr(value, name) for name in _arguments(kind)}


@cache
def _arguments(kind: Any) -> tuple[str, ...]:
    """The arguments of a class. Fields that take no part in comparisons follow from the others."""
    derived: set[str] = set()
    if dataclasses.is_dataclass(kind):
        derived = {field.name for field in dataclasses.fields(kind) if not field.compare}
    elif kind.__init__ is object.__init__:
        raise SnapshotError(f"a {kind.__name__} has no canonical form, so nothing can be saved")
    return tuple(name for name in inspect.signature(kind).parameters if name not in derived)


def _array(array: NDArray[Any]) -> dict[str, Any]:
    form: dict[str, Any] = {"array": array.dtype.str, "shape": list(array.shape)}
    if array.size <= _MOST_ENTRIES:
        return {**form, "entries": array.ravel().tolist()}
    packed = zlib.compress(np.ascontiguousarray(array).tobytes(), level=9)
    return {**form, "zlib": base64.b85encode(packed).decode("ascii")}


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


def from_form(form: str, kind: type[T]) -> T:
    """Make the recipe, a ``kind``, whose ``canonical_form`` this is.

    Raises:
        SnapshotError: The form is damaged, of another version, or holds what cannot be made again.

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
        raise SnapshotError("this form is damaged: the recipe that it describes has another form")
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
    raise SnapshotError(f"{form!r:.200} cannot be made again: only its name is known")


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
            f"{version}. Go on with the version of littlestone that wrote it"
        )
    for odd in sorted(set(_arguments(kind)) ^ set(fields)):
        what = "unknown" if odd in fields else "missing"
        raise SnapshotError(f"this form of {name} is damaged: its field {odd!r:.80} is {what}")
    hints = get_type_hints(kind.__init__, localns={name: kind})
    given = {part: _made(told, hints[part]) for part, told in fields.items()}
    for part, value in given.items():
        if not fits(value, hints[part]):
            raise SnapshotError(f"{part} of {name} cannot be {type(value)}")
    return kind(**given)


def _class_of(name: Any, hint: Any) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"littlestone.{_PLACES[name]}"), name)
    known = VALUES | {kind.__name__: kind for kind in _classes_in(hint)}
    if name not in known:
        raise SnapshotError(f"no class of the name {name!r:.80} can be made again")
    return known[name]


def _classes_in(hint: Any) -> Iterator[type]:
    """Those that an annotation names, however deep."""
    if isinstance(hint, type) and not get_args(hint):
        yield hint
    for inner in get_args(hint):
        yield from _classes_in(inner)
