"""The commands ``littlestone classes`` and ``learners`` print the lists of the catalogue."""

import json

from rich.console import Console
from rich.table import Table

from littlestone.catalogue import ADVERSARIES, CLASSES, LEARNERS
from littlestone.cli.options import AsJson


def classes(as_json: AsJson = False) -> None:
    """Every concept class, with an example that can be pasted."""
    if as_json:
        rows = {name: {"example": e.example, "is": e.summary} for name, e in CLASSES.items()}
        print(json.dumps(rows))  # noqa: T201
        return
    table = Table("class", "write it as", "what it is")
    for name, entry in CLASSES.items():
        table.add_row(name, entry.example, entry.summary)
    Console().print(table)


def learners(as_json: AsJson = False) -> None:
    """Every learner and adversary that [b]littlestone play[/b] knows."""
    if as_json:
        rows = {name: {"private": e.private, "is": e.summary} for name, e in LEARNERS.items()}
        foes = {name: e.summary for name, e in ADVERSARIES.items()}
        print(json.dumps({"learners": rows, "adversaries": foes}))  # noqa: T201
        return
    table = Table("learner", "private", "what it is")
    for name, entry in LEARNERS.items():
        table.add_row(name, "yes" if entry.private else "no", entry.summary)
    console = Console()
    console.print(table)
    foes_table = Table("adversary", "what it does")
    for name, foe in ADVERSARIES.items():
        foes_table.add_row(name, foe.summary)
    console.print(foes_table)
