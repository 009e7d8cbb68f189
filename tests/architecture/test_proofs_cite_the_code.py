"""A proof beside a module argues with the lines that the module tags, and with no others."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "src" / "littlestone", ROOT / "tests" / "reference")
PROOFS = sorted(path for folder in FOLDERS for path in folder.rglob("*.md"))
TAGS = re.compile(r"\((L\d+(?:\s*[,–-]\s*L\d+)*)\)")


def cited_lines(text: str) -> set[int]:
    """The numbers of (L3), (L5, L8) and (L1–L4); of "(L1)–(L4)" only the two that are tagged."""
    lines: set[int] = set()
    for group in TAGS.findall(text):
        for part in group.split(","):
            ends = [int(number) for number in re.findall(r"\d+", part)]
            lines.update(range(ends[0], ends[-1] + 1))
    return lines


def test_tags_are_recognised() -> None:
    text = "(L1), (L5, L8), (L10–L12), (L2)–(L4), L99, (Lemma 3)"
    assert cited_lines(text) == {1, 2, 4, 5, 8, 10, 11, 12}


def test_there_are_proofs() -> None:
    assert PROOFS


def test_proofs_and_code_cite_the_same_lines() -> None:
    apart = {}
    for proof in PROOFS:
        module = proof.with_suffix(".py")
        assert module.exists(), f"{proof} lies beside no module"
        code, text = (cited_lines(path.read_text(encoding="utf-8")) for path in (module, proof))
        if code != text:
            apart[proof.name] = f"only one side has {sorted(code ^ text)}"
    assert not apart
