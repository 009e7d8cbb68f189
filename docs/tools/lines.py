"""Write the table "Where the lines of src are" into docs/ARCHITECTURE.md.

python -m docs.tools.lines
"""

import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "littlestone"
PAGE = ROOT / "docs" / "ARCHITECTURE.md"
KINDS = ("code", "words", "rest")


def kinds_of(text: str) -> Counter[str]:
    """Count lines of code, of docstrings and comments, and of imports and blank ones."""
    lines = text.splitlines()
    kinds = ["code" if line.strip() else "rest" for line in lines]
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            mark(kinds, node, "code" if node.value.value is ... else "words")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            mark(kinds, node, "rest")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and lines[token.start[0] - 1].lstrip().startswith("#"):
            kinds[token.start[0] - 1] = "words"
    return Counter(kinds)


def mark(kinds: list[str], node: ast.stmt, kind: str) -> None:
    for place in range(node.lineno - 1, node.end_lineno or node.lineno):
        kinds[place] = kind


def main() -> None:
    before, head, table = PAGE.read_text().partition("Where the lines of `src` are ")
    rows, gap, after = table.partition("\n\nProofs")
    rooms = re.findall(r"^\| `(\w+)/` \|", rows, re.MULTILINE)
    counted = {name: Counter[str]() for name in (*rooms, "others")}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0]
        counted[room if room in rooms else "others"].update(kinds_of(path.read_text()))
    counted["all"] = sum(counted.values(), Counter[str]())

    def row(found: re.Match[str]) -> str:
        name = found[2].strip("`/")
        numbers = counted.get(name, counted["others"])
        return f"{found[1].rstrip()} | " + " | ".join(f"{numbers[kind]:,}" for kind in KINDS) + " |"

    rows = re.sub(r"^(\| ([^|]+) \| [^|]*?) ?(?:\| [0-9,]+ ){3}\|$", row, rows, flags=re.MULTILINE)
    PAGE.write_text(before + head + rows + gap + after)


if __name__ == "__main__":
    main()
