"""Which learner ``learn`` goes on with: that of the store, unless something else is asked for."""

import tomllib
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, Final

import typer

from littlestone.catalogue import class_from_spec
from littlestone.concepts.protocols import ConceptClass
from littlestone.concepts.schema import Schema
from littlestone.defaults import Choice
from littlestone.errors import StoreError
from littlestone.learners.recipe_forms import canonical_form
from littlestone.learners.run import PrivateLearner
from littlestone.service.promises.ranges import fields_in

_SPACE: Final = "space"
_OPEN: Final = ("learner", "setting")
"""For which ``auto`` asks for nothing in particular."""


def space_of(tables: Mapping[str, Any] | None, concepts: str | None) -> ConceptClass | Schema:
    """The schema, or the class, that the options declare."""
    if (tables is None) == (concepts is None):
        raise ValueError("exactly one of --schema and --class must be given")
    if tables is not None:
        return Schema.from_mapping(fields_in(tables))
    return class_from_spec(concepts or "")


def said(ctx: typer.Context) -> set[str]:
    """What the learner is chosen by, as far as it was said here or in a configuration."""
    known = {field.name for field in fields(Choice)} & ctx.params.keys()
    told = {name: ctx.get_parameter_source(name) for name in known}
    return {
        name
        for name, source in told.items()
        if source is not None
        and source.name != "DEFAULT"
        and not (name in _OPEN and ctx.params[name] == "auto")
    }


def made_with(text: str, space: ConceptClass | Schema | None = None) -> Choice:
    """What a store was asked for with, by the options in it."""
    options = tomllib.loads(text)
    names = {field.name: field.name.replace("_", "-") for field in fields(Choice)}
    given = {name: options[key] for name, key in names.items() if key in options}
    if space is None:
        space = space_of(options.get("schema"), options.get("class"))
    return Choice(**{**given, _SPACE: space})


def going_on(
    choice: Choice, told: Collection[str], store: Any
) -> Callable[[Mapping[str, str]], PrivateLearner]:
    """The learner for a store, by what it says of itself; of the choice counts what was ``told``.

    Whatever was not said is as the store was made, however defaults have changed since.
    """

    def chosen(about: Mapping[str, str]) -> PrivateLearner:
        if not about["options"]:  # made by somebody else, who has not said by what it was chosen
            try:
                return choice.plan()
            except ValueError as refusal:  # which says nothing of the store
                raise StoreError(str(refusal)) from refusal
        made = made_with(about["options"], choice.space)
        asked = replace(made, **{name: getattr(choice, name) for name in told})
        if asked == made:
            return made.kept(about["recipe"])
        with suppress(ValueError):  # what cannot be planned is another, too
            recipe = asked.plan()
            if canonical_form(recipe) == about["recipe"]:  # it does not depend on what differs
                return recipe
        others = [
            f"{_option(name, getattr(made, name))}, not {getattr(asked, name)}"
            for name in sorted(told)
            if getattr(asked, name) != getattr(made, name)
        ]
        raise StoreError(
            f"{store} was made with {'; '.join(others)}. Leave out what differs to go on as it was "
            f"made, or use another store (and another budget)"
        )

    return chosen


def _option(name: str, value: Any) -> str:
    option = f"--{name.replace('_', '-')}"
    return f"no {option}" if value is None else f"{option} {value}"
