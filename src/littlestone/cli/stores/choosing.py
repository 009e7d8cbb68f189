"""Which learner ``learn`` goes on with: that of the store, unless something else is asked for."""

import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import typer

from littlestone.choose.request import NAMES, Request
from littlestone.errors import StoreError
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner, recipe_from_form
from littlestone.service.promises.ranges import fields_in


def said(ctx: typer.Context) -> dict[str, Any]:
    """The parts of a request that were given on the command line or in a configuration."""
    sources = {name: ctx.get_parameter_source(name) for name in NAMES}
    given = [name for name, found in sources.items() if found and found.name != "DEFAULT"]
    return {name: ctx.params[name] for name in given}


def made_with(text: str) -> Request:
    """The request that a store was made with, by the options in it."""
    options = tomllib.loads(text)
    tables = options.get("schema")
    known = {key: options[key] for name in NAMES if (key := name.replace("_", "-")) in options}
    over = {"schema": None if tables is None else fields_in(tables), "class": options.get("class")}
    return Request.from_json({**known, **over})


def going_on(
    over: Any, told: Mapping[str, Any], store: Any
) -> Callable[[Mapping[str, str]], PrivateLearner]:
    """Return how the learner of a store is found, by what the store says of itself.

    What was ``told`` must be as the store was made, and so must be ``over`` (a schema or a class)
    unless it is None; everything else is as it was.
    """

    def chosen(about: Mapping[str, str]) -> PrivateLearner:
        if not about["options"]:  # made from Python: whatever is asked for must give its recipe
            if over is not None:
                asked = _refusing(lambda: Request(over=over, **told))
                _refuse_unless_same(asked, about["recipe"], store, ["another recipe"])
            elif told:
                raise StoreError(f"{store} was made from Python: leave out --{min(told)}")
            return recipe_from_form(about["recipe"])
        made = made_with(about["options"])
        recipe = made.kept(about["recipe"])
        now = made.over if over is None else over
        asked = _refusing(lambda: replace(made, over=now, **told))
        if others := made.differences(asked):
            differing = [_difference(name, made, asked) for name in others]
            _refuse_unless_same(asked, about["recipe"], store, differing)
        return recipe

    return chosen


def _refusing(make: Callable[[], Request]) -> Request:
    """A request that is refused says nothing of the store, which is not damaged then."""
    try:
        return make()
    except ValueError as refusal:
        raise StoreError(str(refusal)) from refusal


def _refuse_unless_same(asked: Request, form: str, store: Any, differing: list[str]) -> None:
    """A request may differ in what its recipe does not depend on."""
    with suppress(ValueError):  # a request that nothing answers is another one, too
        if canonical_form(asked.recipe()) == form:
            return
    raise StoreError(
        f"{store} was made with {'; '.join(differing)}. Leave out what differs to go on as it was "
        f"made, or use another store (and another budget)"
    )


def _difference(name: str, made: Request, asked: Request) -> str:
    before, now = getattr(made, name), getattr(asked, name)
    if name != "space":
        option = f"--{name.replace('_', '-')}"
        return f"{f'no {option}' if before is None else f'{option} {before}'}, not {now}"
    fields, others = (getattr(one, "fields", ()) for one in (before, now))
    if fields and others:  # of two schemas, the fields that differ
        before = [one for one in fields if one not in others] or before
        now = [one for one in others if one not in fields] or now
    return f"{before!s:.300}, not {now!s:.300}"
