"""The commands ``littlestone classes`` and ``learners`` print the lists of the catalogue."""

from littlestone.choose.catalogue import ADVERSARIES, CLASSES, LEARNERS
from littlestone.cli.options import AsJson
from littlestone.cli.output import print_json, print_table


def classes(as_json: AsJson = False) -> None:
    """Every concept class, with an example that can be pasted."""
    if as_json:
        print_json({name: {"example": e.example, "is": e.summary} for name, e in CLASSES.items()})
        return
    rows = ((name, entry.example, entry.summary) for name, entry in CLASSES.items())
    print_table(("class", "write it as", "what it is"), rows)


def learners(as_json: AsJson = False) -> None:
    """Every learner and adversary that [b]littlestone play[/b] knows."""
    foes = {name: foe.summary for name, foe in ADVERSARIES.items()}
    if as_json:
        found = {name: {"private": e.private, "is": e.summary} for name, e in LEARNERS.items()}
        print_json({"learners": found, "adversaries": foes})
        return
    rows = ((name, "yes" if e.private else "no", e.summary) for name, e in LEARNERS.items())
    print_table(("learner", "private", "what it is"), rows)
    print_table(("adversary", "what it does"), foes.items())
