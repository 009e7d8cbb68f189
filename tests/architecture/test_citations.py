"""Every [key, …] is an entry of docs/references.bib, and every file that a page names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEY = r"[A-Z][A-Za-z]*\d{2}[a-z]?"
CITATION = re.compile(rf"\[((?:{KEY}|P)(?:[,;][^\[\]]*)?)\](?!\()")
ENTRY = re.compile(r"^@\w+\{([^,\s]+),", re.MULTILINE)
NAMED = re.compile(r"`([\w./-]+\.(?:py|md))`")
FOLDERS = ("benchmarks", "docs", "examples", "proofs", "src", "tests")


def cited_keys(text: str) -> set[str]:
    """The keys of all citations; one pair of brackets may hold several."""
    return {
        word
        for citation in CITATION.findall(text)
        for word in re.findall(rf"\b(?:{KEY}|P)\b", citation)
    }


def readable_files() -> list[Path]:
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    files += (ROOT / "docs" / "reference").glob("*.md")
    code = [path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.py")]
    proofs = [path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.md")]
    # This file has citations that are there to be recognised.
    return [*files, *(p for p in code if p != Path(__file__)), *proofs]


def entries() -> list[str]:
    return ENTRY.findall((ROOT / "docs" / "references.bib").read_text(encoding="utf-8"))


def test_citations_are_recognised() -> None:
    text = "[DR14, Algorithm 1] and [BS16, CKS20]; not arrays[H12 or [SVT]; [P, Lemma update]"
    assert cited_keys(text) == {"DR14", "BS16", "CKS20", "P"}


def test_every_citation_resolves() -> None:
    known = set(entries())
    unknown = {
        str(path.relative_to(ROOT)): missing
        for path in readable_files()
        if (missing := cited_keys(path.read_text(encoding="utf-8")) - known)
    }
    assert not unknown


def test_no_entry_is_listed_twice() -> None:
    assert len(entries()) == len(set(entries())) > 0


def missing_files(text: str, known: str) -> set[str]:
    """The files that a page names and that do not exist; a page may name those that it makes."""
    return {
        name
        for name in NAMED.findall(text)
        if f"/{name}\n" not in known and name not in text.replace(f"`{name}`", "")
    }


def test_every_file_that_a_page_names_exists() -> None:
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")]
    paths += ROOT.glob("*.*")
    known = "".join(f"/{path.relative_to(ROOT).as_posix()}\n" for path in paths)
    pages = [path for path in paths if path.suffix == ".md"]
    assert len(pages) > 50
    missing = {page: missing_files(page.read_text(encoding="utf-8"), known) for page in pages}
    assert not {page: names for page, names in missing.items() if names}
    assert missing_files("`audit/gone.py` and `README.md`", known) == {"audit/gone.py"}
