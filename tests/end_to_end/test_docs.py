"""The documentation, executed: every block of code, every command, every quoted table."""

import doctest
import json
import re
import runpy
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from docs.tools import gallery, inline_math, measure, practice, written
from tests.public import public
from typer.testing import CliRunner

from littlestone.cli.main import app
from littlestone.lab.every_claim import CLAIMS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
BLOCK = re.compile(
    r'^(?P<indent> *)```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n'
    r"(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# What cannot run here because it sets up the machine; anything else in such a block is an error.
SETTING_UP = {"git", "cd", "make", "pip", ".", "python"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    title: str | None
    body: str


def blocks_of(text: str) -> list[Block]:
    return [
        Block(found["language"], found["title"], textwrap.dedent(found["body"]))
        for found in BLOCK.finditer(text)
    ]


@dataclass(frozen=True)
class Command:
    """A command of a console block and what the page says that it prints."""

    line: str
    prints: str

    @property
    def status(self) -> int:
        found = re.search(r"# exit status (\d)$", self.line)
        return int(found[1]) if found else 0


def commands_of(body: str) -> Iterator[Command]:
    whole_lines = re.sub(r"\\\n\s*", "", body)
    for part in re.split(r"^\$ ", whole_lines, flags=re.MULTILINE)[1:]:
        line, _, prints = part.partition("\n")
        yield Command(line.strip(), prints)


class Reader:
    """Does what a page says, from its first block to its last, in one folder and one session."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def follow(self, block: Block) -> None:
        if block.title is not None:
            Path(block.title).write_text(block.body, encoding="utf-8")
        elif block.language == "python":
            exec(compile(block.body, self.name, "exec"), self.names)
        elif block.language == "pycon":
            self.talk(block.body)
        elif block.language == "console":
            for command in commands_of(block.body):
                self.run(command)
        elif block.language == "sh":
            assert {line.split()[0] for line in block.body.splitlines()} <= SETTING_UP
        else:
            assert block.language in ("", "text"), f"nothing runs {block.language!r} blocks"

    def talk(self, body: str) -> None:
        session = doctest.DocTestParser().get_doctest(body, self.names, self.name, None, 0)
        wrong: list[str] = []
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(session, out=wrong.append, clear_globs=False)
        self.names = session.globs
        assert not runner.failures, "".join(wrong)

    def run(self, command: Command) -> None:
        words = shlex.split(command.line, comments=True)
        given = None
        if words[0] == "cat" and words[2] == "|":
            given, words = Path(words[1]).read_text(encoding="utf-8"), words[3:]
        if words[0] == "python":
            runpy.run_path(words[1], run_name="__main__")
            return
        assert words[0] == "littlestone", f"nothing runs {command.line!r}"
        result = CliRunner().invoke(app, words[1:], input=given)
        assert result.exit_code == command.status, result.output + repr(result.exception)
        if command.prints.strip():
            same = doctest.OutputChecker().check_output(command.prints, result.output, FLAGS)
            assert same, f"{command.line}\nprints\n{result.output}\nand not\n{command.prints}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_everything_that_a_page_says_can_be_done(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(page.name)
    for block in blocks_of(page.read_text(encoding="utf-8")):
        reader.follow(block)


@pytest.mark.parametrize(
    ("language", "body"),
    [
        ("python", "assert 1 + 1 == 3"),
        ("pycon", ">>> 1 + 1\n3"),
        ("console", "$ littlestone dimension thresholds:16 --json\nsomething else"),
        ("console", "$ littlestone dimension thresholds:16  # exit status 1"),
        ("console", "$ rm -r everything"),
        ("sh", "littlestone demo"),
        ("ruby", "puts 2"),
    ],
)
def test_a_page_that_is_wrong_is_noticed(language: str, body: str) -> None:
    text = f"Words.\n\n```{language}\n{body}\n```\n"
    (block,) = blocks_of(text)
    with pytest.raises(AssertionError):
        Reader("wrong.md").follow(block)


def test_every_command_is_on_the_page_of_commands() -> None:
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    known = {
        command.name or getattr(command.callback, "__name__", "")
        for command in app.registered_commands
    }
    assert set(re.findall(r"^## ([\w-]+)$", page, re.MULTILINE)) == known


@pytest.mark.parametrize(
    "page",
    ["tutorial", "fleet", "reference/commands", "reference/serving", "reference/integrations"],
)
def test_the_page_of_each_door_links_to_the_choice_of_a_learner(page: str) -> None:
    assert "which-learner.md)" in (DOCS / f"{page}.md").read_text(encoding="utf-8")


def test_no_fence_is_overlooked() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fences = re.findall(r"^ *```", text, re.MULTILINE)
        assert len(fences) == 2 * len(blocks_of(text)), page


def names_on(text: str) -> dict[str, str]:
    """Each public name that a reference page documents, and its section."""
    parts = re.split(
        r"^::: littlestone\.(?!adapters)(?:[a-z_]+\.)*(\w+)$", text, flags=re.MULTILINE
    )
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_public_name_has_a_place_and_a_runnable_example() -> None:
    sections: dict[str, str] = {}
    for page in sorted((DOCS / "reference").glob("*.md")):
        found = names_on(page.read_text(encoding="utf-8"))
        assert not found.keys() & sections.keys(), page
        sections |= found
    assert set(sections) == set(public())
    for name, section in sections.items():
        written = (public()[name].__doc__ or "") + section
        assert re.search(rf">>> .*\b{name}\b", written, re.DOTALL), name


def test_the_tables_of_real_streams_are_the_kept_measurements() -> None:
    text = practice.PAGE.read_text(encoding="utf-8")
    kept = json.loads(practice.KEPT.read_text(encoding="utf-8"))
    assert written.with_tables(text, practice.tables(kept)) == text
    for name in practice.tables(kept):
        assert f"<!-- measured: {name} -->" in text


@cache
def sources() -> tuple[dict[str, str], dict[str, str]]:
    measured = json.loads(measure.MEASURED.read_text(encoding="utf-8"))
    return measure.tables(measured), measure.numbers(measured)


@pytest.mark.parametrize("page", written.pages(), ids=lambda path: path.name)
def test_quoted_tables_are_those_that_were_measured(page: Path) -> None:
    text, (tables, numbers) = page.read_text(encoding="utf-8"), sources()
    assert written.with_tables(text, tables) == text
    assert written.with_numbers(text, numbers) == text  # python -m docs.tools.measure --render


def test_a_number_that_disagrees_with_its_source_is_noticed() -> None:
    quoted = "made <!-- number: a -->762<!-- /number --> mistakes"
    assert written.with_numbers(quoted, {"a": "612"}) == quoted.replace("762", "612")
    with pytest.raises(KeyError):
        written.with_numbers(quoted, {})


def test_the_gallery_shows_every_claim() -> None:
    summaries = json.loads(gallery.SUMMARIES.read_text(encoding="utf-8"))
    # To bring it up to date: python docs/tools/gallery.py
    assert [entry["claim"] for entry in summaries] == list(CLAIMS)
    assert gallery.PAGE.read_text(encoding="utf-8") == gallery.page(summaries)
    shown = {picture["file"] for entry in summaries for picture in entry["pictures"]}
    assert shown == {path.name for path in gallery.PICTURES.iterdir()}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (
            "e^(−ατ)·x_{k+1} ≤ h_t(x_t)",
            "e<sup>−ατ</sup>·x<sub>k+1</sub> ≤ h<sub>t</sub>(x<sub>t</sub>)",
        ),
        ("P_{A^(k+1)}(N)", "P<sub>A<sup>k+1</sup></sub>(N)"),
        ("f^(i−k)(p) and f^j(1/n)", "f<sup>i−k</sup>(p) and f<sup>j</sup>(1/n)"),
        ("q^|z| = M_(r+1)", "q<sup>|z|</sup> = M<sub>r+1</sub>"),
        ("T^O(d), 2^−40, e^ε_AT", "T<sup>O(d)</sup>, 2<sup>−40</sup>, e<sup>ε<sub>AT</sub></sup>"),
        ("Π_{s≤t<k} N_0/M_s", "Π<sub>s≤t&lt;k</sub> N<sub>0</sub>/M<sub>s</sub>"),
        ("`x_t`, max_contributions, a.b_c", "`x_t`, max_contributions, a.b_c"),
        ("[a](x_t.md) <b id=x_t>", "[a](x_t.md) <b id=x_t>"),
        ("an open e^(group", "an open e^(group"),
        ("# A heading with x_t", "# A heading with x_t"),
    ],
)
def test_indices_and_exponents_of_the_text_are_typeset(written: str, shown: str) -> None:
    assert inline_math.typeset(written) == shown


def test_a_page_shows_the_docstring_that_a_method_inherits(tmp_path: Path) -> None:
    griffe = pytest.importorskip("griffe")
    from docs.tools.house_style import HouseStyle  # noqa: PLC0415

    package = tmp_path / "inherited"
    package.mkdir()
    (package / "__init__.py").write_text(
        "class Above:\n"
        "    def step(self): 'Take a step.'\n"
        "    def hidden(self): ...\n"
        "class Below(Above):\n"
        "    def step(self): ...\n"
        "    def hidden(self): ...\n",
        encoding="utf-8",
    )
    extensions = griffe.load_extensions(HouseStyle)
    below = griffe.load("inherited", search_paths=[tmp_path], extensions=extensions)["Below"]
    assert below["step"].docstring.value == "Take a step."
    assert below["hidden"].docstring is None
