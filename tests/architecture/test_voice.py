"""One voice: no banned words or names, and a docstring on everything public, in every room.

The glossary of docs/NOTATION.md says which word to use.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "littlestone"
GLOSSARY = ROOT / "docs" / "NOTATION.md"
ROOMS = sorted(path for path in SOURCE.iterdir() if path.suffix == ".py" or path.is_dir())
ROOMS = [path for path in ROOMS if path.name != "__pycache__"]
FEWEST_FILES, FEWEST_PUBLIC = 380, 2_500
BANNED = (
    "whoever",
    "whomever",
    "anybody",
    "somebody",
    "everybody",
    "anew",
    "lately",
    "goes on",
    "go on",
    "now and then",
    "for ever",
    "in vain",
    "of old",
    "since format",
    "heard of",
    "clock strikes",
)
PHRASES = re.compile(rf"\b({'|'.join(BANNED)})\b", re.IGNORECASE)
# The six lines stay word for word: Coq quotes them.
PROMISE = re.compile(r" *(Releases|Neighbours|Adversary|Guarantee|Assumes|Proof|Checked): +(.*)")
# Participles that leave open what was told, asked or kept.
BANNED_NAMES = (
    "anew",
    "asked",
    "bell",
    "complain",
    "desk",
    "finding_damage",
    "kept",
    "mend",
    "standing",
    "testify",
    "told",
    "unread",
)
# A comment, or a string with its quotes; ten times as fast as to read every token.
SAID = re.compile(
    r"""\#[^\n]*|(?P<quote>\"{3}|'{3}|"|')(?:\\.|(?!(?P=quote)).)*(?P=quote)""", re.DOTALL
)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def files(room: Path) -> list[Path]:
    return sorted(room.rglob("*.py")) if room.is_dir() else [room]


def banned_in(text: str) -> list[str]:
    """The banned phrases of a text, however its lines are broken."""
    return [found.group().lower() for found in PHRASES.finditer(re.sub(r"\s+", " ", text))]


def prose(source: str) -> str:
    """Comments, docstrings and messages (strings of several words) without the promises."""
    said = (found.group() for found in SAID.finditer(source))
    said = (text for text in said if text.startswith("#") or " " in text)
    return "\n".join(
        line for text in said for line in without_promises(text).replace("# ", "").splitlines()
    )


def without_promises(text: str) -> str:
    lines, indent = [], None
    for line in text.splitlines():
        found = PROMISE.match(line)
        if found:
            indent = found.start(2)
        elif indent is None or not line.startswith(" " * indent):
            indent = None
            lines.append(line)
    return "\n".join(lines)


def undocumented(tree: ast.Module) -> list[str]:
    """Public classes, functions and methods without a docstring.

    Overloads need none, nor does a method that a base class documents: ``help`` shows it.
    """
    owners = {**classes(), **classes_of(tree)}
    return [
        name
        for name, node in definitions(tree.body)
        if not ast.get_docstring(node)
        and "overload" not in map(ast.unparse, node.decorator_list)
        and not documented_above(*name.rpartition(".")[::2], owners)
    ]


class Documented(NamedTuple):
    """The methods that a class documents, and its bases."""

    methods: frozenset[str]
    bases: tuple[str, ...]


def classes_of(tree: ast.Module) -> dict[str, Documented]:
    return {
        node.name: Documented(
            frozenset(
                method.name
                for method in ast.walk(node)
                if isinstance(method, ast.FunctionDef) and ast.get_docstring(method)
            ),
            tuple(ast.unparse(base).partition("[")[0] for base in node.bases),
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }


@cache
def classes() -> dict[str, Documented]:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py"))
    return {name: found for tree in trees for name, found in classes_of(tree).items()}


def documented_above(owner: str, method: str, owners: dict[str, Documented]) -> bool:
    """Whether a base of the class documents the method."""
    bases = owners[owner].bases if owner in owners else ()
    return any(
        base in owners
        and (method in owners[base].methods or documented_above(base, method, owners))
        for base in bases
    )


def definitions(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, Definition]]:
    for node in body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield owner + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from definitions(node.body, f"{node.name}.")


def banned_names(tree: ast.Module) -> list[str]:
    """Names of functions, classes, parameters, variables and attributes that say too little."""
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                name = node.name
            case ast.arg():
                name = node.arg
            case ast.Name(ctx=ast.Store()):
                name = node.id
            case ast.Attribute(ctx=ast.Store()):
                name = node.attr
            case _:
                continue
        if name.strip("_") in BANNED_NAMES:
            found.append(f"{node.lineno}: {name}")
    return found


@pytest.mark.parametrize("room", ROOMS, ids=lambda path: path.name)
def test_no_banned_word_stands_in_a_room(room: Path) -> None:
    found = {path.name: banned_in(prose(path.read_text(encoding="utf-8"))) for path in files(room)}
    assert not {name: words for name, words in found.items() if words}


class Looked(NamedTuple):
    """What one look at a file finds."""

    banned: list[str]
    undocumented: list[str]
    public: int


@cache
def look(path: Path) -> Looked:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return Looked(banned_names(tree), undocumented(tree), len(list(definitions(tree.body))))


@pytest.mark.parametrize("room", ROOMS, ids=lambda path: path.name)
def test_no_banned_name_stands_in_a_room(room: Path) -> None:
    found = {path.name: look(path).banned for path in files(room)}
    assert not {name: words for name, words in found.items() if words}


def test_only_the_glossary_has_banned_words() -> None:
    folders = (ROOT / "docs", SOURCE, ROOT / "proofs", ROOT / "paper")
    pages = [*ROOT.glob("*.md"), *(page for folder in folders for page in folder.rglob("*.md"))]
    assert len(pages) > 80
    assert [page for page in pages if banned_in(page.read_text(encoding="utf-8"))] == [GLOSSARY]


@pytest.mark.parametrize("room", ROOMS, ids=lambda path: path.name)
def test_everything_public_of_a_room_has_a_docstring(room: Path) -> None:
    found = {path.name: look(path).undocumented for path in files(room)}
    assert not {name: names for name, names in found.items() if names}


def test_every_file_and_every_public_name_is_looked_at() -> None:
    paths = [path for room in ROOMS for path in files(room)]
    assert sorted(paths) == sorted(SOURCE.rglob("*.py"))
    public = sum(look(path).public for path in paths)
    assert len(paths) > FEWEST_FILES
    assert public > FEWEST_PUBLIC


def test_banned_words_and_names_and_missing_docstrings_are_noticed() -> None:
    assert banned_in("for whoever\nasks, as of\n    old") == ["whoever", "of old"]
    assert banned_in("the caller asks; it continues") == []
    text = '''
class Kept:
    """Say it.

    Privacy:
        Releases:   the expert, and when it was
                    drawn anew
        Assumes:    nothing

    Then it goes
    on.
    """

    def told(self) -> None: ...  # by somebody
    def _hidden(self) -> None:
        raise ValueError("it was drawn anew")

def said() -> None:
    """Say it."""
    anew = {"anew": 1}
'''
    assert banned_in(prose(text)) == ["goes on", "somebody", "anew"]
    tree = ast.parse(text)
    assert undocumented(tree) == ["Kept.told"]
    below = """
class Below(Engine):
    def step(self) -> None: ...
    def unheard(self) -> None: ...
"""
    assert undocumented(ast.parse(below)) == ["Below", "Below.unheard"]
    assert [found.partition(": ")[2] for found in banned_names(tree)] == ["told", "anew"]
    tree = ast.parse("self._kept = asked = 1; unread.x = told")
    assert banned_names(tree) == ["1: _kept", "1: asked"]
    assert banned_names(ast.parse("def testify(mend): standing.x = 1")) == ["1: testify", "1: mend"]


def test_the_glossary_names_every_banned_word() -> None:
    words = GLOSSARY.read_text(encoding="utf-8").partition("## Words")[2]
    assert [word for word in BANNED if f"*{word}*" not in words] == []
    assert len(re.findall(r"\*\*[\w ]+\*\*", words)) > 30
