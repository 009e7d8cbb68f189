"""``littlestone classes``, and the other lists of the catalogue."""

import json

from rich.console import Console
from rich.table import Table

from littlestone.catalogue import CLASSES


def classes(*, as_json: bool) -> None:
    """Every concept class, with an example that can be pasted."""
    if as_json:
        rows = {name: {"example": e.example, "is": e.summary} for name, e in CLASSES.items()}
        print(json.dumps(rows))  # noqa: T201
        return
    table = Table("class", "write it as", "what it is")
    for name, entry in CLASSES.items():
        table.add_row(name, entry.example, entry.summary)
    Console().print(table)
