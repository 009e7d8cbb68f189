"""Extend the site: files of the root, proofs beside the code, and formulas as MathML."""

import itertools
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "littlestone"
OF_THE_ROOT = (
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "examples/paper_in_an_hour.py",
    "examples/rule_from_your_table.py",
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


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Typeset every formula between lines of ``$$``: browsers read MathML without a script."""
    return DISPLAY.sub(
        lambda found: f'<div class="formula">{convert(found[1], display="block")}</div>', markdown
    )


def proofs() -> list[Path]:
    """List the proofs beside the code, folder by folder."""
    return sorted(SOURCE.rglob("*.md"))


def uri(path: Path) -> str:
    """Return where a page stands in the site."""
    if path.is_relative_to(SOURCE):
        return f"proofs/{path.relative_to(SOURCE).as_posix()}"
    return path.relative_to(ROOT).as_posix()
