"""What the site adds by itself: CONTRIBUTING, documents in capitals, proofs beside the code."""

import itertools
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "littlestone"
DOCUMENTS = ("GUARANTEES.md", "STATEMENTS.md", "ERRATA.md")  # first; the others by name


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the two sections of the navigation that are left empty in mkdocs.yml."""
    for section in config.nav or []:
        if "Documents" in section:
            section["Documents"] = documents(Path(config.docs_dir))
        if "Proofs" in section:
            section["Proofs"] = [
                {folder: [{path.stem: uri(path)} for path in paths]}
                for folder, paths in itertools.groupby(proofs(), lambda path: path.parent.name)
            ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Show files from outside of ``docs`` as pages; they stay where they are."""
    for path in (ROOT / "CONTRIBUTING.md", *proofs()):
        files.append(File.generated(config, uri(path), abs_src_path=str(path)))
    return files


def documents(folder: Path) -> list[str]:
    """The documents in capitals, the most read ones first."""
    names = sorted(path.name for path in folder.glob("[A-Z]*.md"))
    return [*DOCUMENTS, *(name for name in names if name not in DOCUMENTS)]


def proofs() -> list[Path]:
    """The proofs beside the code, folder by folder."""
    return sorted(SOURCE.rglob("*.md"))


def uri(path: Path) -> str:
    """Where a page stands in the site."""
    if path.is_relative_to(SOURCE):
        return f"proofs/{path.relative_to(SOURCE).as_posix()}"
    return path.name
