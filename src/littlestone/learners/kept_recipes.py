"""Recipes made again from the form that was kept of them, so that they outlive every default.

What was kept may be damaged, or altered. So only classes that are named here, that an annotation
names or that saved runs may hold are made; each argument must fit its annotation, and the classes
refuse what they would refuse from anybody, budgets above the promise included. What comes out has
the very form that it was read from, or is refused.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any, Final, get_args, get_type_hints

import numpy as np

from littlestone.errors import SnapshotError
from littlestone.learners.known_types import VALUES
from littlestone.learners.recipe_forms import canonical_form, form_of
from littlestone.learners.run import PrivateLearner
from littlestone.type_checks import fits

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
    "SanitizedBatches": "learners.sanitized_batches.recipe",
    "SanitizedExperts": "learners.sanitized_experts.recipe",
    "ShrinkingDartboard": "experts.shrinking_dartboard",
    "SparseMajority": "online.sparse_majority.recipe",
}
"""Where the recipes are whose names no annotation has: learners, and what they are made of."""

_VALUES: Final[dict[str, type]] = {kind.__name__: kind for kind in VALUES}


def recipe_from_form(form: str, known: Sequence[Any] = ()) -> PrivateLearner:
    """The recipe whose ``canonical_form`` this is; SnapshotError if it cannot be made again.

    ``known`` are objects at hand that stand for what has their form, as large matrices do, of which
    a form has the digest only.

    >>> from littlestone.concepts.classes.thresholds import Thresholds
    >>> from littlestone.learners.disjoint_batches.recipe import DisjointBatches
    >>> recipe = DisjointBatches(concepts=Thresholds(8), epsilon=0.5)
    >>> recipe_from_form(canonical_form(recipe)) == recipe
    True
    """
    at_hand = [(form_of(value), value) for value in known]
    try:
        recipe = _made(json.loads(form), PrivateLearner, at_hand)
        whole = isinstance(recipe, PrivateLearner) and canonical_form(recipe) == form
    except SnapshotError:
        raise
    except (Exception, RecursionError) as problem:
        raise SnapshotError(f"this is not the form of a recipe: {problem!r}") from problem
    if not whole:
        raise SnapshotError("what this form describes has another form now")
    return recipe  # type: ignore[no-any-return]


def _made(form: Any, hint: Any, known: Sequence[tuple[Any, Any]]) -> Any:
    for told, value in known:
        if told == form and _text(told) == _text(form):  # 1 is equal to 1.0
            return value
    if isinstance(form, list):
        return tuple(_made(part, hint, known) for part in form)
    if not isinstance(form, dict):
        return form
    if "kind" in form:
        return _object(form, hint, known)
    if "fraction" in form:
        return Fraction(form["fraction"])
    if "entries" in form:
        return np.array(form["entries"], dtype=form["array"]).reshape(form["shape"])
    raise SnapshotError(f"nothing but its digest or its name was kept of {form!r}"[:200])


def _text(form: Any) -> str:
    return json.dumps(form, sort_keys=True)


def _object(form: Mapping[str, Any], hint: Any, known: Sequence[tuple[Any, Any]]) -> Any:
    name = form["kind"]
    kind = _class_of(name, hint)
    if form["version"] != (version := getattr(kind, "form_version", 1)):
        raise SnapshotError(
            f"this is version {form['version']} of {name}, and littlestone has version {version}"
        )
    hints = get_type_hints(kind.__init__, localns={name: kind})
    given = {part: _made(told, hints[part], known) for part, told in form["fields"].items()}
    for part, value in given.items():
        if not fits(value, hints[part]):
            raise SnapshotError(f"{part} of {name} cannot be {type(value)}")
    return kind(**given)


def _class_of(name: str, hint: Any) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"littlestone.{_PLACES[name]}"), name)
    kinds = _VALUES | {kind.__name__: kind for kind in _classes_in(hint)}
    if name not in kinds:
        raise SnapshotError(f"no class of the name {name!r} can be made again")
    return kinds[name]


def _classes_in(hint: Any) -> Iterator[type]:
    """Those that an annotation names, however deep."""
    if isinstance(hint, type) and not get_args(hint):
        yield hint
    for inner in get_args(hint):
        yield from _classes_in(inner)
