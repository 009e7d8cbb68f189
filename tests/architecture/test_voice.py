"""One voice: no banned words, and a docstring on every public function of the rooms that are done.

The glossary of docs/NOTATION.md says which word to use. ``CLEAN`` grows as rooms are rewritten.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "littlestone"
GLOSSARY = ROOT / "docs" / "NOTATION.md"
CLEAN = (
    "adapters",
    "audit",
    "choose",
    "cli",
    "concepts",
    "game",
    "http",
    "lab",
    "learners",
    "privacy",
    "randomness",
    "runs",
    "theory",
    "__init__.py",
    "__main__.py",
    "errors.py",
    "exports.py",
    "lazy.py",
    "locks.py",
    "registry.py",
    "require.py",
    "type_checks.py",
)
BANNED = (
    "whoever",
    "whomever",
    "anybody",
    "of old",
    "since format",
    "heard of",
    "clock strikes",
)
PHRASES = re.compile(rf"\b({'|'.join(BANNED)})\b", re.IGNORECASE)


def files(entry: str) -> list[Path]:
    path = SOURCE / entry
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def banned_in(text: str) -> list[str]:
    """The banned phrases of a text, however its lines are broken."""
    return [found.group().lower() for found in PHRASES.finditer(re.sub(r"\s+", " ", text))]


def undocumented(text: str) -> list[str]:
    """Public classes, functions and methods without a docstring; overloads need none."""
    return [
        name
        for name, node in definitions(ast.parse(text).body)
        if not ast.get_docstring(node) and "overload" not in map(ast.unparse, node.decorator_list)
    ]


def definitions(
    body: list[ast.stmt], owner: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if not node.name.startswith("_"):
            yield owner + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from definitions(node.body, f"{node.name}.")


@pytest.mark.parametrize("entry", CLEAN)
def test_no_banned_word_stands_in_a_clean_room(entry: str) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in files(entry)}
    assert texts
    found = {path.name: banned_in(text) for path, text in texts.items()}
    assert not {name: words for name, words in found.items() if words}


def test_only_the_glossary_has_banned_words() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert len(pages) > 20
    assert [page for page in pages if banned_in(page.read_text(encoding="utf-8"))] == [GLOSSARY]


@pytest.mark.parametrize("entry", CLEAN)
def test_every_public_function_of_a_clean_room_has_a_docstring(entry: str) -> None:
    found = {path.name: undocumented(path.read_text(encoding="utf-8")) for path in files(entry)}
    assert not {name: names for name, names in found.items() if names}


def test_banned_words_and_missing_docstrings_are_noticed() -> None:
    assert banned_in("for whoever\nasks, as of\n    old") == ["whoever", "of old"]
    assert banned_in("the caller asks; it continues") == []
    text = '''
class Kept:
    """Say it."""

    def told(self) -> None: ...
    def _hidden(self) -> None: ...

def said() -> None:
    """Say it."""
'''
    assert undocumented(text) == ["Kept.told"]


def test_the_glossary_names_every_banned_word() -> None:
    words = GLOSSARY.read_text(encoding="utf-8").partition("## Words")[2]
    assert [word for word in BANNED if f"*{word}*" not in words] == []
    assert len(re.findall(r"\*\*[\w ]+\*\*", words)) > 30
