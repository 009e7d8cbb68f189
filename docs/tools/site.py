"""Extend the site: files of the root, proofs beside the code, and typeset formulas."""

import itertools
import re
import sys
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # hooks are loaded by path
from docs.tools.inline_math import typeset  # noqa: E402

SOURCE = ROOT / "src" / "littlestone"
OF_THE_ROOT = (
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "examples/paper_in_an_hour.py",
    "examples/rule_from_your_table.py",
)
MATHEMATICAL = (
    "theory/",
    "proofs/",
    "ERRATA",
    "GUARANTEES",
    "NOTATION",
    "STATEMENTS",
    "SANITIZERS",
)
DISPLAY = re.compile(r"^\$\$\n(.+?)\n\$\$$", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the section *Proofs*, which is empty in mkdocs.yml."""
    for section in _sections(config.nav or []):
        if "Proofs" in section:
            section["Proofs"] = [
                {folder: [{path.stem: uri(path)} for path in paths]}
                for folder, paths in itertools.groupby(proofs(), lambda path: path.parent.name)
            ]
    return config


def _sections(nav: list[Any]) -> Any:
    for entry in nav:
        if isinstance(entry, dict):
            yield entry
            for inner in entry.values():
                yield from _sections(inner if isinstance(inner, list) else [])


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Show files from outside of ``docs`` as pages; they stay where they are."""
    for path in (*(ROOT / name for name in OF_THE_ROOT), *proofs()):
        files.append(File.generated(config, uri(path), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Typeset formulas between lines of ``$$`` and, on pages with mathematics, in the text."""
    where = page.file.src_uri
    if where in OF_THE_ROOT:
        return markdown.replace("](docs/", "](")
    text = DISPLAY.sub(lambda found: formula(found[1], where), markdown)
    return typeset(text) if where.startswith(MATHEMATICAL) else text


def formula(latex: str, where: str) -> str:
    """Return a display formula as MathML, which browsers read without a script.

    Raises:
        PluginError: If a command or an environment is unknown to the converter.
    """
    made: str = convert(latex, display="block")
    if "\\" in made or ">&<" in made:
        raise PluginError(f"{where}: this formula cannot be typeset: {latex}")
    return f'<div class="formula">{made}</div>'


def proofs() -> list[Path]:
    """List the proofs beside the code, folder by folder."""
    return sorted(SOURCE.rglob("*.md"))


def uri(path: Path) -> str:
    """Return where a page stands in the site."""
    if path.is_relative_to(SOURCE):
        return f"proofs/{path.relative_to(SOURCE).as_posix()}"
    return path.relative_to(ROOT).as_posix()
