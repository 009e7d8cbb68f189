"""``littlestone recommend``."""

import json

from rich.console import Console
from rich.table import Table

from littlestone.catalogue import class_from_spec
from littlestone.recommendation import AdversaryKind, Recommendation, Setting, recommend


def run(
    spec: str,
    *,
    rounds: int,
    epsilon: float,
    delta: float,
    setting: Setting,
    adversary: AdversaryKind,
    as_json: bool,
) -> None:
    """Rank the learners for a class and a budget, with the reasons."""
    advice = recommend(
        class_from_spec(spec),
        rounds=rounds,
        epsilon=epsilon,
        delta=delta,
        setting=setting,
        adversary=adversary,
    )
    if as_json:
        print(json.dumps(_record(advice)))  # noqa: T201
        return
    table = Table("learner", "proved bound (95 %)", "expected", "why")
    for candidate in advice.candidates:
        table.add_row(
            candidate.name,
            f"{candidate.bound:,.0f}",
            f"{candidate.expected:,.0f}",
            candidate.reason,
        )
    console = Console()
    console.print(table)
    for name, why in advice.refused.items():
        console.print(f"[dim]{name} does not apply: {why}[/]", highlight=False)
    console.print(advice.explanation, highlight=False)


def _record(advice: Recommendation) -> dict[str, object]:
    return {
        "best": None if advice.best is None else advice.best.name,
        "useful": advice.useful,
        "explanation": advice.explanation,
        "candidates": [
            {
                "learner": candidate.name,
                "bound": candidate.bound,
                "predicted": candidate.predicted,
                "reason": candidate.reason,
            }
            for candidate in advice.candidates
        ],
        "refused": dict(advice.refused),
    }
