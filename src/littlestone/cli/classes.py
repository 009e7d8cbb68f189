"""Implement the commands about the catalogue: ``classes learners dimension recommend``."""

from dataclasses import replace
from typing import Annotated, cast

import typer

from littlestone.choose.catalogue import ADVERSARIES, CLASSES, LEARNERS
from littlestone.choose.recommendation import Recommendation, recommendation_for
from littlestone.cli.options import AsJson, ClassSpec, RequestOptions, options_of
from littlestone.cli.output import Console, print_json, print_table
from littlestone.cli.outside import class_named
from littlestone.concepts.finite_dimensions import shattered_tree
from littlestone.concepts.protocols import ConceptClass, OnlineClass
from littlestone.type_checks import fits


def classes(as_json: AsJson = False) -> None:
    """List every concept class, with an example to paste."""
    if as_json:
        print_json({name: {"example": e.example, "is": e.summary} for name, e in CLASSES.items()})
        return
    rows = ((name, entry.example, entry.summary) for name, entry in CLASSES.items())
    print_table(("class", "write it as", "what it is"), rows)


def learners(as_json: AsJson = False) -> None:
    """List every learner and adversary that [b]littlestone play[/b] knows."""
    foes = {name: foe.summary for name, foe in ADVERSARIES.items()}
    if as_json:
        found = {name: {"private": e.private, "is": e.summary} for name, e in LEARNERS.items()}
        print_json({"learners": found, "adversaries": foes})
        return
    rows = ((name, "yes" if e.private else "no", e.summary) for name, e in LEARNERS.items())
    print_table(("learner", "private", "what it is"), rows)
    print_table(("adversary", "what it does"), foes.items())


DIMENSIONS = {
    "Littlestone": "littlestone_dimension",
    "VC": "vc_dimension",
    "dual Littlestone": "dual_littlestone_dimension",
    "dual VC": "dual_vc_dimension",
}


def dimension(
    spec: ClassSpec,
    tree: Annotated[bool, typer.Option("--tree", help="Print a shattered tree.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the dimensions of a class; an unknown one is shown as unknown, with the reason.

    A class with more than two labels has a Littlestone dimension only.
    """
    concepts = class_named(spec)
    two = fits(concepts, ConceptClass)
    known = DIMENSIONS if two else {"Littlestone": DIMENSIONS["Littlestone"]}
    found = {name: _value(concepts, attribute) for name, attribute in known.items()}
    drawn = shattered_tree(cast("ConceptClass", concepts)).text() if tree else None
    if as_json:
        record = {"class": spec, "concepts": concepts.size, **found}
        print_json(record if drawn is None else {**record, "tree": drawn})
        return
    count = "infinitely many" if concepts.size is None else concepts.size
    rows = ((name, str(value)) for name, value in found.items())
    print_table(("dimension", "value"), rows, title=f"{spec}: {count} concepts")
    if drawn is not None:
        Console().print(drawn, markup=False, highlight=False)


def _value(concepts: OnlineClass, attribute: str) -> int | str:
    try:
        return int(getattr(concepts, attribute))
    except ValueError as unknown:
        return f"unknown: {unknown}"


@options_of(RequestOptions, "options")
def recommend(
    options: RequestOptions,
    spec: Annotated[
        str | None,
        typer.Argument(metavar="CLASS", help="A concept class, as in thresholds:16; or --schema."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the learner that auto chooses first, then the others and why some do not apply.

    The command reads no data and spends nothing.
    """
    options = options if spec is None else replace(options, concepts=spec)
    with Console(stderr=True, quiet=as_json).status("comparing learners"):
        advice = recommendation_for(options.request())
    if as_json:
        print_json(_record(advice))
        return
    rows = (
        (one.name, _number(one.bound), _number(one.expected), one.reason)
        for one in advice.candidates
    )
    print_table(("learner", "proved bound (95 %)", "on average", "why"), rows)
    console = Console()
    for name, why in advice.refused.items():
        console.print(f"[dim]{name} does not apply: {why}[/]", highlight=False)
    console.print(advice.explanation, highlight=False)


def _number(bound: float) -> str:
    return f"{bound:,.0f}" if bound < float("inf") else "–"


def _record(advice: Recommendation) -> dict[str, object]:
    return {
        "best": None if advice.best is None else advice.best.name,
        "useful": advice.useful,
        "explanation": advice.explanation,
        "candidates": [
            {
                "learner": one.name,
                "bound": one.bound if one.bound < float("inf") else None,
                "expected": one.expected if one.expected < float("inf") else None,
                "calibrated": one.calibrated,
                "reason": one.reason,
            }
            for one in advice.candidates
        ],
        "refused": dict(advice.refused),
    }
