"""The command ``littlestone recommend`` ranks the learners that apply."""

from typing import Annotated

import typer
from rich.console import Console

from littlestone.catalogue import class_from_spec
from littlestone.cli.options import AsJson, ClassSpec, Delta, Epsilon
from littlestone.cli.output import print_json, print_table
from littlestone.recommendation import Recommendation, recommend


def run(
    concepts: ClassSpec,
    rounds: Annotated[int, typer.Option(help="The horizon.")],
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    setting: Annotated[
        str, typer.Option(help="realizable (some concept always fits) or agnostic.")
    ] = "realizable",
    adversary: Annotated[str, typer.Option(help="adaptive or oblivious.")] = "adaptive",
    as_json: AsJson = False,
) -> None:
    """Those that do not apply are named, too. It reads no data and spends nothing."""
    advice = recommend(
        class_from_spec(concepts),
        rounds=rounds,
        epsilon=epsilon,
        delta=delta,
        setting=setting,  # type: ignore[arg-type]
        adversary=adversary,  # type: ignore[arg-type]
    )
    if as_json:
        print_json(_record(advice))
        return
    rows = ((c.name, f"{c.bound:,.0f}", f"{c.expected:,.0f}", c.reason) for c in advice.candidates)
    print_table(("learner", "proved bound (95 %)", "on average", "why"), rows)
    console = Console()
    for name, why in advice.refused.items():
        console.print(f"[dim]{name} does not apply: {why}[/]", highlight=False)
    console.print(advice.explanation, highlight=False)


def _record(advice: Recommendation) -> dict[str, object]:
    return {
        "best": None if advice.best is None else advice.best.name,
        "useful": advice.useful,
        "explanation": advice.explanation,
        "candidates": [
            {"learner": candidate.name}
            | {
                key: getattr(candidate, key)
                for key in ("bound", "expected", "calibrated", "reason")
            }
            for candidate in advice.candidates
        ],
        "refused": dict(advice.refused),
    }
