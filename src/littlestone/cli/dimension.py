"""The command ``littlestone dimension`` prints the dimensions of a class."""

from typing import Annotated

import typer
from rich.console import Console

from littlestone.choose.catalogue import class_from_spec
from littlestone.cli.options import AsJson, ClassSpec
from littlestone.cli.output import print_json, print_table
from littlestone.concepts.dimensions.mistake_trees import shattered_tree
from littlestone.concepts.protocols import ConceptClass

DIMENSIONS = {
    "Littlestone": "littlestone_dimension",
    "VC": "vc_dimension",
    "dual Littlestone": "dual_littlestone_dimension",
    "dual VC": "dual_vc_dimension",
}


def run(
    spec: ClassSpec,
    tree: Annotated[bool, typer.Option("--tree", help="Print a shattered tree.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the dimensions; a dimension nobody knows is said to be unknown, with the reason."""
    concepts = class_from_spec(spec)
    found = {name: _value(concepts, attribute) for name, attribute in DIMENSIONS.items()}
    drawn = shattered_tree(concepts).text() if tree else None
    if as_json:
        record = {"class": spec, "concepts": concepts.size, **found}
        print_json(record if drawn is None else {**record, "tree": drawn})
        return
    count = "infinitely many" if concepts.size is None else concepts.size
    rows = ((name, str(value)) for name, value in found.items())
    print_table(("dimension", "value"), rows, title=f"{spec}: {count} concepts")
    if drawn is not None:
        Console().print(drawn, markup=False, highlight=False)


def _value(concepts: ConceptClass, attribute: str) -> int | str:
    try:
        return int(getattr(concepts, attribute))
    except ValueError as unknown:
        return f"unknown: {unknown}"
