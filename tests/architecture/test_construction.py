"""Everything public is made in one way, the one that CONTRIBUTING.md describes."""

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.public import public

import littlestone

# What a recipe promises or plans with: nobody should have to count positions to read these.
BY_NAME = {"budgets", "delta", "epsilon", "failure_probability", "plan", "rate", "rounds"}
PROBLEM = {"concepts", "delta", "epsilon", "learner", "rounds"}
# A rule by which numbers are chosen that the caller does not know.
RULES = {"calibrated", "largest", "paper", "planned", "proved", "rounded_up"}
# What a run does, of the one kind of run that no recipe starts: it has a file.
RUNS = {"DurableRun": {"resume", "start"}}
# These answer a question, and randomness has the names under which everybody looks for it.
ANSWERS = {
    *("compare", "keyed", "learner", "play", "play_predictions", "privacy_curve", "recommend"),
    *("secure", "seeded"),
}

# Its rounds are those of a sanitizer's game on one dataset, not a horizon.
DATASETS = littlestone.learners.sanitizers.RealizableSanitizer


def that(accept: Callable[[Any], bool]) -> dict[str, Any]:
    """The public members of a kind."""
    return {name: member for name, member in public().items() if accept(member)}


def made(member: Any) -> bool:
    """Whether it is a class of values: neither an interface nor an error."""
    return (
        inspect.isclass(member)
        and not getattr(member, "_is_protocol", False)
        and not issubclass(member, Exception)
    )


def fields(kind: Any) -> set[str]:
    listed = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    return {field.name for field in listed if field.init}


def class_methods(kind: type) -> Iterator[tuple[str, list[inspect.Parameter]]]:
    for name, member in inspect.getmembers_static(kind):
        if isinstance(member, classmethod | staticmethod) and not name.startswith("_"):
            yield name, list(inspect.signature(getattr(kind, name)).parameters.values())


def required(kind: type) -> set[str]:
    parameters = inspect.signature(kind).parameters.values()
    return {each.name for each in parameters if each.default is each.empty}


def named_only(parameters: Iterable[inspect.Parameter]) -> bool:
    return all(
        each.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
        for each in parameters
    )


def other_ways(kind: type) -> list[str]:
    """The class methods that are neither ``from_`` something given first nor a rule."""
    return [
        f"{kind.__name__}.{name}"
        for name, parameters in class_methods(kind)
        if not (name.startswith("from_") and parameters and not named_only(parameters[:1]))
        and not (name in RULES and named_only(parameters))
        and name not in RUNS.get(kind.__name__, ())
    ]


def positional_promises(kind: type) -> set[str]:
    """The arguments of a constructor that belong behind their names and are not."""
    parameters = inspect.signature(kind).parameters.values()
    return {each.name for each in parameters if not named_only([each])} & BY_NAME


def parts_of(hint: Any) -> list[Any]:
    """A type and all that it is made of."""
    inner = hint if isinstance(hint, list) else typing.get_args(hint)
    return [hint, *(part for each in inner for part in parts_of(each))]


def hidden_constructors(functions: dict[str, Any], kinds: dict[str, Any]) -> list[str]:
    """The functions that make a public value out of nothing of its kind."""
    found = []
    for name, function in functions.items():
        hints = typing.get_type_hints(function)
        result = hints.pop("return")
        needed = [part for hint in hints.values() for part in parts_of(hint)]
        if result in kinds.values() and result not in needed and name not in ANSWERS:
            found.append(name)
    return found


def test_what_a_promise_is_made_of_is_given_by_name() -> None:
    found = {name: positional_promises(kind) for name, kind in that(made).items()}
    assert {name: names for name, names in found.items() if names} == {}


def test_every_other_way_says_from_what_or_by_which_rule() -> None:
    assert [way for kind in that(made).values() for way in other_ways(kind)] == []


def test_a_learner_asks_for_the_problem_alone_or_names_its_rules() -> None:
    learners = [
        kind
        for kind in that(made).values()
        if issubclass(kind, littlestone.PrivateLearner) and not inspect.isabstract(kind)
    ]
    assert littlestone.LazyForest in learners and littlestone.learners.Restarting in learners
    for kind in learners:
        rules = RULES & {name for name, _ in class_methods(kind)}
        assert required(kind) <= PROBLEM or len(rules) > 1, kind
    assert required(littlestone.LazyForest) - PROBLEM == {"base", "plan"}


def test_no_function_is_a_constructor_in_disguise() -> None:
    assert hidden_constructors(that(inspect.isfunction), that(made)) == []


def test_every_learner_with_a_horizon_has_one_way_to_another() -> None:
    learners = [kind for kind in that(made).values() if {"concepts", "rounds"} <= fields(kind)]
    assert (
        littlestone.LazyForest in learners
        and littlestone.learners.online.ProperAgnostic in learners
    )
    assert [kind for kind in learners if not hasattr(kind, "for_rounds")] == [DATASETS]


class Wrong:
    """Made in all the ways that are not ours."""

    def __init__(self, epsilon: float = 1.0) -> None:
        self.epsilon = epsilon

    @classmethod
    def of(cls, x: float) -> "Wrong":
        return cls(x)

    @classmethod
    def planned(cls, x: float) -> "Wrong":
        return cls(x)

    @classmethod
    def from_x(cls, *, x: float) -> "Wrong":
        return cls(x)

    @classmethod
    def proved(cls, *, x: float) -> "Wrong":
        return cls(x)  # as it should be

    @classmethod
    def from_y(cls, y: float, *, x: float) -> "Wrong":
        return cls(x + y)  # this too


def wrongly_made(x: float) -> Wrong:
    return Wrong(x)


def combined(left: Wrong, right: Wrong) -> Wrong:
    return Wrong(left.epsilon + right.epsilon)


def test_the_checks_notice_what_they_look_for() -> None:
    assert other_ways(Wrong) == ["Wrong.from_x", "Wrong.of", "Wrong.planned"]
    assert positional_promises(Wrong) == {"epsilon"}
    functions = {"wrongly_made": wrongly_made, "combined": combined}
    assert hidden_constructors(functions, {"Wrong": Wrong}) == ["wrongly_made"]
