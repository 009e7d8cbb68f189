"""Valid calls of everything public: constructors, functions, methods, and the methods of runs.

Methods are found by inspection, and their arguments by the names of their parameters, so a new
method is called without a change here; ``valid_values`` lists the rest.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache, partial
from itertools import islice
from types import FunctionType
from typing import Any, NamedTuple

from tests.conformance.test_refusals import subjects
from tests.conformance.valid_values import (
    FUNCTIONS,
    GIVEN,
    MADE,
    OF_METHODS,
    PLAIN,
    TABLE,
    VALUES,
)
from tests.public import public

import littlestone as ls

# Doors for callers who have checked what they hand over, as their documentation says.
TRUSTED = ("restored", "resumed", "switch")
TRUSTED_OF_RUNS = ("take",)


class Target(NamedTuple):
    """Something to call, and arguments it takes; both are made anew for each call."""

    name: str
    called: Callable[[], Callable[..., Any]]
    given: Callable[[], dict[str, Any]]
    constructs: bool = False


@cache
def makers() -> dict[str, Callable[[], Any]]:
    """How to make one value of each public class, by its name."""
    found: dict[str, Callable[[], Any]] = {
        type(value).__name__: partial(_same, value) for value in subjects()
    }
    found |= {type(make()).__name__: make for make in VALUES}
    return {name: found[name] for name in sorted(found) if name in public()}


@cache
def targets() -> tuple[Target, ...]:
    found = []
    for name, make in makers().items():
        given = GIVEN.get(name) or partial(_fields_of, make)
        found.append(Target(name, partial(public().__getitem__, name), given, constructs=True))
        found += _methods_of(name, make)
    for name, make in _runs_and_domains():
        found += _methods_of(name, make)
    for name, member in public().items():
        if inspect.isfunction(member):
            given = FUNCTIONS.get(name, lambda: {"concepts": TABLE})
            found.append(Target(name, partial(_same, member), given))
    return tuple(found)


def call(target: Target, given: dict[str, Any]) -> Any:
    """Call it with these arguments, by position or by name as its signature asks."""
    called = target.called()
    signature = inspect.signature(called)
    bound = inspect.BoundArguments(signature, {})
    bound.arguments |= {name: given[name] for name in signature.parameters if name in given}
    return called(*bound.args, **bound.kwargs)


def arguments_of(name: str, value: Any, method: Any) -> dict[str, Any]:
    """Valid arguments of a method: those that it cannot do without, and its randomness."""
    special = next((known for end, known in OF_METHODS.items() if name.endswith(end)), {})
    given = {}
    for each in inspect.signature(method).parameters.values():
        if each.name in special:
            given[each.name] = special[each.name]()
        elif each.default is each.empty or each.name == "rng":
            given[each.name] = _argument(value, each.name)
    return given


def _argument(value: Any, name: str) -> Any:
    domain = value if hasattr(value, "check_many") else getattr(value, "domain", None)
    points = [0, 1] if domain is None else list(islice(domain, 2))
    own: dict[str, Callable[[], Any]] = {
        "x": lambda: points[0],
        "xs": lambda: points,
        "points": lambda: points,
        "tally": lambda: {points[0]: (1, 2)},
    }
    if hasattr(value, "to_json"):
        own |= {"data": value.to_json, "other": lambda: value}
    if name == "snapshot":
        return value.start(rng=ls.seeded(1)).snapshot()
    if name == "state":
        start = value.start
        return start(**arguments_of(".start", value, start)).state()
    if (domain is not None and name in own) or (name in ("data", "other") and name in own):
        return own[name]()
    return MADE[name]() if name in MADE else PLAIN[name]


def _methods_of(name: str, make: Callable[[], Any]) -> Iterator[Target]:
    value = make()
    for attribute, member in inspect.getmembers_static(type(value)):
        if attribute in TRUSTED or attribute.startswith("_"):
            continue
        if isinstance(value, ls.PrivateRun) and attribute in TRUSTED_OF_RUNS:
            continue
        if isinstance(member, FunctionType | classmethod | staticmethod):
            yield Target(
                f"{name}.{attribute}",
                partial(_method, make, attribute),
                partial(_arguments, f"{name}.{attribute}", make, attribute),
            )


def _runs_and_domains() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The runs of what can be started, except for attacks, and the domains of concept classes."""
    for name, make in makers().items():
        value = make()
        if hasattr(value, "start") and not hasattr(value, "realizable") and name != "DurableRun":
            yield f"{name}.start()", partial(_run_of, name, make)
        if hasattr(value, "domain") and hasattr(value, "version_space"):
            yield f"{name}.domain", partial(_attribute, make, "domain")


def _run_of(name: str, make: Callable[[], Any], attribute: str = "") -> Any:
    """A run that has been asked or shown something, so that there is something to ask for."""
    value = make()
    run = value.start(**arguments_of(f"{name}.start", value, value.start))
    if name == "PrivatePrediction" and attribute == "observe":
        run.predict(1)
    for _ in range(8 if name == "IntervalSanitizer" else 0):
        run.observe(1)
    return run


def _fields_of(make: Callable[[], Any]) -> dict[str, Any]:
    value = make()
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value) if each.init}
    return dict(value._asdict()) if hasattr(value, "_asdict") else {}


def _arguments(name: str, make: Callable[[], Any], attribute: str) -> dict[str, Any]:
    value = make()
    return arguments_of(name, value, getattr(value, attribute))


def _method(make: Callable[[], Any], attribute: str) -> Any:
    made: Any = make
    fresh = made(attribute=attribute) if getattr(make, "func", None) is _run_of else make()
    return getattr(fresh, attribute)


def _attribute(make: Callable[[], Any], attribute: str) -> Any:
    return getattr(make(), attribute)


def _same(value: Any) -> Any:
    return value
