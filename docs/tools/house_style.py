"""Docstrings of this house as Markdown: promises as a list, examples as sessions."""

import re
from collections.abc import Iterator
from typing import Any

import griffe

# "Privacy:" and, deeper, "Releases:   what it releases" with continued lines deeper still.
TITLE = re.compile(r"^(?P<title>[A-Z][\w ]*):$")
LINE = re.compile(r"^ {4}(?P<name>[A-Z]\w*):\s+(?P<text>.*)$")


class HouseStyle(griffe.Extension):
    """Rewrites each docstring before it is rendered."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Show a method without a docstring with that of the base that documents it."""
        for module in _modules(pkg):
            for kind in module.classes.values():
                for method in [*kind.functions.values(), *kind.attributes.values()]:
                    if method.docstring is None and not kind.is_alias:
                        method.docstring = _documented_above(kind, method.name)


def _modules(module: griffe.Module) -> Iterator[griffe.Module]:
    yield module
    for inner in module.modules.values():
        if not inner.is_alias:
            yield from _modules(inner)


def _documented_above(kind: griffe.Class, name: str) -> griffe.Docstring | None:
    for base in kind.resolved_bases:
        if not isinstance(base, griffe.Class):
            continue
        found = base.members.get(name)
        docstring = None if found is None else found.docstring
        docstring = docstring or _documented_above(base, name)
        if docstring is not None:
            return docstring
    return None


def as_markdown(docstring: str) -> str:
    """The docstring with lists and fences that Markdown understands."""
    paragraphs = re.split(r"\n\s*\n", docstring)
    return "\n\n".join(_paragraph(paragraph) for paragraph in paragraphs)


def _paragraph(paragraph: str) -> str:
    lines = paragraph.splitlines()
    if lines[0].startswith(">>> "):
        return "\n".join(["```pycon", *lines, "```"])
    if TITLE.match(lines[0]) and all(line.startswith("    ") for line in lines[1:]):
        return _promise(lines)
    return paragraph


def _promise(lines: list[str]) -> str:
    written = [f"**{lines[0].removesuffix(':')}**", ""]
    for line in lines[1:]:
        named = LINE.match(line)
        if named:
            written.append(f"- *{named['name']}:* {named['text']}")
        else:
            written.append(f"  {line.strip()}")
    return "\n".join(written)
