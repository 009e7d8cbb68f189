"""Read and write the options of ``learn`` in a TOML file; suggest the nearest name for a typo.

A key is an option without its dashes (``class = "thresholds:64"``), ``file`` is the source, and the
schema may be part of the file: ``[schema.delay]``, then ``grid = [0, 15]``.
"""

import difflib
import json
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

import typer

from littlestone.choose.request import NAMES, Request
from littlestone.cli.options import FormOptions
from littlestone.concepts.schema import toml_tables
from littlestone.errors import StoreError
from littlestone.learners.forms import canonical_form
from littlestone.learners.run import PrivateLearner, recipe_from_form
from littlestone.runs.journal.places import shown
from littlestone.runs.ranges import fields_in

INLINE: Final = "littlestone.schema"
"""Where the tables of a schema within the configuration are stored."""

_MEANING: Final = ("label", "positive", "at_least", "feature")
_WRITTEN: Final = frozenset(each.name for each in fields(FormOptions)) | {"identity"}
_NOT_KEPT: Final = ("config", "adopt", "complete", "help")


def names_of(ctx: typer.Context) -> dict[str, str]:
    """Return the key of each parameter of a command."""
    found = {}
    for parameter in ctx.command.params:
        name = parameter.name or ""
        long = [option for option in parameter.opts if option.startswith("--")]
        found[long[0].removeprefix("--") if long else "file"] = name
    return {key: name for key, name in found.items() if name not in _NOT_KEPT}


def loaded(ctx: typer.Context, path: Path | None) -> Path | None:
    """Make the values of a file the defaults of the command, before its options are parsed."""
    if path is None:
        return None
    use(ctx, toml_tables(path), of=str(path))
    return path


def use(ctx: typer.Context, declared: Mapping[str, Any], *, of: str) -> None:
    """Make declared values the defaults of a command; ``of`` names their source in messages."""
    known = names_of(ctx)
    defaults = {}
    for key, value in declared.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0)
            raise ValueError(f"{of} has no option {key!r}; the nearest is {near[0]!r}")
        if key == "schema" and isinstance(value, Mapping):
            ctx.meta[INLINE] = value
        elif isinstance(value, list | dict):
            raise ValueError(f"{key} in {of} must be one value, got {value!r}")
        else:
            defaults[known[key]] = value
    ctx.default_map = defaults


def declared_space(
    ctx: typer.Context, path: Path | None, concepts: str | None
) -> tuple[Mapping[str, Any] | None, str | None]:
    """Return the tables of the schema, or the class: from the command line, else the file."""
    inline: Mapping[str, Any] | None = ctx.meta.get(INLINE)
    here = [_source(ctx, name) == "COMMANDLINE" for name in ("schema", "concepts")]
    if here == [True, False]:
        concepts = None
    elif here == [False, True]:
        path = inline = None
    if path is None:
        return inline, concepts
    return toml_tables(path), concepts


def _source(ctx: typer.Context, name: str) -> str:
    """Return where an option comes from: COMMANDLINE, DEFAULT_MAP (a file) or DEFAULT."""
    source = ctx.get_parameter_source(name)
    return "DEFAULT" if source is None else source.name


def written(ctx: typer.Context, schema: Mapping[str, Any] | None) -> str:
    """Return the given options as such a file, including the schema."""
    lines = []
    for key, name in names_of(ctx).items():
        value = ctx.params.get(name)
        given = name in NAMES or _source(ctx, name) != "DEFAULT"
        if value is None or key in ("schema", "quiet") or not given:
            continue
        lines.append(f"{key} = {_value(shown(value) if key == 'store' else value)}")
    for name, table in (schema or {}).items():
        place = f"schema.{_text(name)}"
        several = isinstance(table, list)
        for each in table if several else [table]:
            lines += ["", written_table(f"[{place}]" if several else place, each).rstrip("\n")]
    return "\n".join(lines) + "\n"


def written_table(name: str, declared: Mapping[str, Any]) -> str:
    """Return one table of TOML; a name in brackets makes it one of several of that name."""
    lines = [f"{_text(key)} = {_value(value)}" for key, value in declared.items()]
    return "\n".join([f"[{name}]", *lines]) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return _text(str(value))


def _text(text: str) -> str:
    """Return a JSON string, which is also a TOML string except for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def given_options(ctx: typer.Context) -> dict[str, Any]:
    """Return the parts of a request that were given on the command line or in a file."""
    return {name: ctx.params[name] for name in NAMES if _source(ctx, name) != "DEFAULT"}


def stored_reading(ctx: typer.Context, text: str, store: str) -> dict[str, Any]:
    """Return how a store reads rows, by the options that it was created with.

    Which labels count as 1 is permanent. How a file is written, and which column has its ids, may
    change if it is said: without its ids the same file would be read a second time, by its lines.

    Raises:
        StoreError: The column of the label, or what counts as 1, differs.
    """
    if not text:
        return {}
    options, found = tomllib.loads(text), {}
    for key, name in names_of(ctx).items():
        before, is_said = options.get(key), _source(ctx, name) != "DEFAULT"
        if name in _MEANING:
            if is_said and ctx.params[name] != before:
                made = f"no --{key}" if before is None else f"--{key} {before}"
                raise StoreError(
                    f"{store} was created with {made}, not {ctx.params[name]}: one rule "
                    f"cannot learn two meanings of a label. Omit what differs, or use another "
                    f"store (and another budget)"
                )
            found[name] = before
        elif name in _WRITTEN and key in options and not is_said:
            found[name] = before
    return found


def stored_request(text: str) -> Request:
    """Return the request that a store was created with, from its options."""
    options = tomllib.loads(text)
    tables = options.get("schema")
    known = {key: options[key] for name in NAMES if (key := name.replace("_", "-")) in options}
    over = {"schema": None if tables is None else fields_in(tables), "class": options.get("class")}
    return Request.from_json({**known, **over})


def stored_learner(
    over: Any, given: Mapping[str, Any], store: Any
) -> Callable[[Mapping[str, str]], PrivateLearner]:
    """Return a function that finds the learner of a store by what the store says about itself.

    What is ``given`` must equal what the store was created with, and so must ``over`` (a schema or
    a class) unless it is None; everything else is taken from the store.
    """

    def chosen(about: Mapping[str, str]) -> PrivateLearner:
        if not tomllib.loads(about["options"]).keys() & {"schema", "class"}:
            # Created from Python: the request must give its recipe.
            if over is not None:
                wanted = _refusing(lambda: Request(over=over, **given))
                _refuse_unless_same(wanted, about["recipe"], store, ["another recipe"])
            elif given:
                raise StoreError(f"{store} was created from Python: omit --{min(given)}")
            return recipe_from_form(about["recipe"])
        made = stored_request(about["options"])
        recipe = made.stored_recipe(about["recipe"])
        now = made.over if over is None else over
        wanted = _refusing(lambda: replace(made, over=now, **given))
        if others := made.differences(wanted):
            differing = [_difference(name, made, wanted) for name in others]
            _refuse_unless_same(wanted, about["recipe"], store, differing)
        return recipe

    return chosen


def _refusing(make: Callable[[], Request]) -> Request:
    """Report a rejected request as such: the store is not damaged."""
    try:
        return make()
    except ValueError as refusal:
        raise StoreError(str(refusal)) from refusal


def _refuse_unless_same(wanted: Request, form: str, store: Any, differing: list[str]) -> None:
    """Accept a request that differs only in what its recipe does not depend on."""
    with suppress(ValueError):  # a request without a learner differs, too
        if canonical_form(wanted.recipe()) == form:
            return
    raise StoreError(
        f"{store} was created with {'; '.join(differing)}. Omit what differs to continue it, "
        f"or use another store (and another budget)"
    )


def _difference(name: str, made: Request, wanted: Request) -> str:
    before, now = getattr(made, name), getattr(wanted, name)
    if name != "space":
        option = f"--{name.replace('_', '-')}"
        return f"{f'no {option}' if before is None else f'{option} {before}'}, not {now}"
    fields, others = (getattr(one, "fields", ()) for one in (before, now))
    if fields and others:  # of two schemas, the fields that differ
        before = [one for one in fields if one not in others] or before
        now = [one for one in others if one not in fields] or now
    return f"{before!s:.300}, not {now!s:.300}"
