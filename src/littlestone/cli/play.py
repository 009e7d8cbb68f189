"""``littlestone play``."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from littlestone.catalogue import ADVERSARIES, LEARNERS, class_from_spec, lookup
from littlestone.cli.progress import round_bar
from littlestone.game.play import play
from littlestone.game.transcript import Transcript
from littlestone.randomness import secure, seeded


def run(
    *,
    learner: str,
    adversary: str,
    concepts: str,
    rounds: int,
    epsilon: float,
    delta: float,
    seed: int | None,
    peek: bool,
    even_oblivious_only: bool,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Play one game and show it as a table, a JSON object, and a picture if wanted."""
    space = class_from_spec(concepts)
    entry = lookup(LEARNERS, learner, kind="learner")
    recipe = entry.build(space, rounds=rounds, epsilon=epsilon, delta=delta)
    foe = lookup(ADVERSARIES, adversary, kind="adversary").build(space)
    rng = secure() if seed is None else seeded(seed)
    with round_bar(rounds, f"{learner} against {adversary}", quiet=as_json) as progress:
        transcript = play(
            recipe,
            foe,
            rounds=rounds,
            rng=rng,
            peek=peek,
            even_if_oblivious_only=even_oblivious_only,
            progress=progress,
        )
    title = f"{learner} against {adversary} on {concepts}"
    if plot is not None:
        from littlestone.cli.pictures import cumulative_mistakes

        cumulative_mistakes({title: transcript}, plot)
    if as_json:
        record = {"learner": learner, "adversary": adversary, "class": concepts}
        print(json.dumps({**record, **transcript.to_json()}))  # noqa: T201
        return
    _print(title, transcript, recipe)
    if plot is not None:
        Console().print(f"picture: {plot}")


def _print(title: str, transcript: Transcript, recipe: Any) -> None:
    table = Table("quantity", "value", title=title)
    for name, value in describe(transcript, recipe).items():
        table.add_row(name, value)
    Console().print(table)


def describe(transcript: Transcript, recipe: Any) -> dict[str, str]:
    """The numbers of one game in words."""
    rows = {
        "rounds": f"{transcript.rounds:,}",
        "mistakes": f"{transcript.mistakes:,}",
        "regret": "unknown" if transcript.regret is None else f"{transcript.regret:,}",
        "switches": f"{transcript.switches:,}",
        "seconds": f"{transcript.seconds:.2f}",
    }
    if not hasattr(recipe, "guarantee"):
        return {**rows, "privacy": "none: the learner is deterministic"}
    promise = recipe.guarantee()
    stamp = "" if transcript.private else " (NOT PRIVATE: this run was seeded)"
    return {
        **rows,
        "privacy": f"epsilon = {promise.epsilon:g}, delta = {promise.delta:g}{stamp}",
    }
