"""Docstrings of this house as Markdown: promises as a list, examples as sessions."""

import re
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
