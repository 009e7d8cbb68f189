"""Rewrite the table of ``learn``'s options on the command page."""

import re
from pathlib import Path

from littlestone.cli.main import imported

PAGE = Path(__file__).parents[1] / "reference" / "commands.md"


def table() -> str:
    rows = [
        f"| `{parameter.opts[0]}` | {parameter.help} |"
        for parameter in imported("learn").params
        if parameter.opts[0].startswith("--") and parameter.name != "help"
    ]
    return "\n".join(["| option | what it says |", "|---|---|", *rows])


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(r"\| option \| what it says \|\n(\|.*\n)+", page)
    assert found is not None
    PAGE.write_text(page.replace(found.group(0), table() + "\n"), encoding="utf-8")
