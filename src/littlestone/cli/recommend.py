"""Implement ``littlestone recommend``, which says which learner a request gets, and why."""

from dataclasses import replace
from typing import Annotated

import typer

from littlestone.choose.recommendation import Recommendation, recommend
from littlestone.cli.options import AsJson, RequestOptions, options_of
from littlestone.cli.output import Console, print_json, print_table


@options_of(RequestOptions, "options")
def run(
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
        advice = recommend(options.request())
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
