"""What the site adds by itself: the documents in capitals, and the proofs that lie beside the code."""

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
            section["Proofs"] = [{path.stem: uri(path)} for path in proofs()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Show the proofs as pages; they stay where they are."""
    for path in proofs():
        files.append(File.generated(config, uri(path), abs_src_path=str(path)))
    return files


def documents(folder: Path) -> list[str]:
    """The documents in capitals, the most read ones first."""
    names = sorted(path.name for path in folder.glob("[A-Z]*.md"))
    return [*DOCUMENTS, *(name for name in names if name not in DOCUMENTS)]


def proofs() -> list[Path]:
    """The proofs beside the code, folder by folder."""
    return sorted(SOURCE.rglob("*.md"))


def uri(proof: Path) -> str:
    return f"proofs/{proof.relative_to(SOURCE).as_posix()}"
