"""Options of ``learn`` in a TOML file: read, refused by the nearest name, and written back.

A key is an option without its dashes (``class = "thresholds:64"``), ``file`` is the source, and the
schema may stand in the file itself: ``[schema.delay]``, then ``grid = [0, 15]``.
"""

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import typer

from littlestone.choose.request import NAMES
from littlestone.cli.asking import toml

INLINE: Final = "littlestone.schema"
"""Where the tables of a schema are kept that stand in the configuration."""

_NOT_KEPT: Final = ("config", "adopt", "complete", "help")


def names_of(ctx: typer.Context) -> dict[str, str]:
    """The key of each parameter of a command."""
    found = {}
    for parameter in ctx.command.params:
        name = parameter.name or ""
        long = [option for option in parameter.opts if option.startswith("--")]
        found[long[0].removeprefix("--") if long else "file"] = name
    return {key: name for key, name in found.items() if name not in _NOT_KEPT}


def loaded(ctx: typer.Context, path: Path | None) -> Path | None:
    """Let what a file says be the defaults of the command, before its options are read."""
    if path is None:
        return None
    use(ctx, toml(path), of=str(path))
    return path


def use(ctx: typer.Context, declared: Mapping[str, Any], *, of: str) -> None:
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
    """The tables of the schema, or the class: as the command line says, else the configuration."""
    inline: Mapping[str, Any] | None = ctx.meta.get(INLINE)
    here = [_is_said_here(ctx, name) for name in ("schema", "concepts")]
    if here == [True, False]:
        concepts = None
    elif here == [False, True]:
        path = inline = None
    if path is None:
        return inline, concepts
    return toml(path), concepts


def _is_said_here(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def written(ctx: typer.Context, schema: Mapping[str, Any] | None) -> str:
    """The options that were given, as such a file; the schema stands in it."""
    lines = []
    for key, name in names_of(ctx).items():
        value = ctx.params.get(name)
        source = ctx.get_parameter_source(name)
        given = name in NAMES or (source is not None and source.name != "DEFAULT")
        if value is None or key == "schema" or not given:
            continue
        lines.append(f"{key} = {_value(value)}")
    for name, table in (schema or {}).items():
        place = f"schema.{_text(name)}"
        several = isinstance(table, list)
        for each in table if several else [table]:
            lines += ["", written_table(f"[{place}]" if several else place, each).rstrip("\n")]
    return "\n".join(lines) + "\n"


def written_table(name: str, declared: Mapping[str, Any]) -> str:
    """One table of TOML; with its name in brackets, one of several of that name."""
    lines = [f"{_text(key)} = {_value(value)}" for key, value in declared.items()]
    return "\n".join([f"[{name}]", *lines]) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return _text(str(value))


def _text(text: str) -> str:
    """A JSON string is one of TOML, apart from one letter."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
