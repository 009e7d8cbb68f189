"""A module says in one full sentence what it is, before anything else."""

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "littlestone"
# Shorter ones are titles.
FEWEST_WORDS = 4


def is_a_sentence(line: str) -> bool:
    return line[:1].isupper() and len(line.split()) >= FEWEST_WORDS and line.endswith(".")


def opening(text: str) -> str:
    """The first line that a module says of itself."""
    head = re.match(r'"""(?s:.*?)"""', text)  # quicker than to parse all of it
    said = ast.get_docstring(ast.parse(head.group() if head else "")) or ""
    return said.split("\n")[0]


def test_every_module_opens_with_a_sentence() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    assert texts
    wrong = [
        f"{path.relative_to(SOURCE)}: {opening(text)}"
        for path, text in texts.items()
        if text.strip() and not is_a_sentence(opening(text))
    ]
    assert wrong == []


def test_titles_fragments_and_silence_are_noticed() -> None:
    assert is_a_sentence(opening('"""A count is released with exact noise.\n\nMore."""'))
    for text in (
        "import os",
        '"""``littlestone audit``."""',
        '"""Private online learners."""',
        '"""[L88]: the optimal mistake bound is the dimension."""',
        '"""This one goes on and on and does not end\non its line."""',
    ):
        assert not is_a_sentence(opening(text)), text
