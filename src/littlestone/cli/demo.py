"""The command ``littlestone demo`` plays private learners against adaptive adversaries."""

from itertools import count
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from littlestone.choose.catalogue import ADVERSARIES, LEARNERS, class_from_spec
from littlestone.cli.options import Delta, Epsilon, Seed
from littlestone.cli.output import round_bar
from littlestone.cli.pictures import cumulative_mistakes
from littlestone.concepts.protocols import ConceptClass
from littlestone.game.play import play
from littlestone.game.transcript import Transcript
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import secure, seeded
from littlestone.theory.floors import points_floor

GAMES = (
    ("points", "lazy-forest"),
    ("points", "standard-optimal"),
    ("thresholds:6", "lazy-forest"),
    ("thresholds:1024", "private-majority"),
    ("thresholds:1048575", "private-majority"),
    ("thresholds:1024", "standard-optimal"),
    ("points:1024", "private-majority"),
)
FOES = ("mistake-forcing", "spread-mistakes", "frequent-killer")


def run(
    rounds: Annotated[int, typer.Option(help="Rounds of each game.")] = 1_000_000,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    plot: Annotated[Path, typer.Option(help="Write the picture here.")] = Path("out/demo.png"),
    seed: Seed = None,
) -> None:
    """Prints one table of mistakes, beside what no learner can do better, and draws them."""
    rng = secure() if seed is None else seeded(seed)
    table = Table(title=f"mistakes in {rounds:,} rounds against adaptive adversaries")
    table.add_column("class,\nlearner", no_wrap=True)
    for heading in (*FOES, "at-least", "guarantee"):
        table.add_column(heading.replace("-", "\n"), justify="right")
    games: dict[str, Transcript] = {}
    bounds: dict[str, float | None] = {}
    played = count(1)
    with round_bar(len(GAMES) * len(FOES), "playing") as progress:
        for (spec, name), stream in zip(GAMES, rng.spawn(len(GAMES)), strict=True):
            concepts = class_from_spec(spec)
            learner = LEARNERS[name].build(concepts, rounds=rounds, epsilon=epsilon, delta=delta)
            cells = []
            for foe, parties in zip(FOES, stream.spawn(len(FOES)), strict=True):
                adversary = ADVERSARIES[foe].build(concepts)
                transcript = play(learner, adversary, rounds=rounds, rng=parties)
                if foe == FOES[0]:
                    games[f"{name} on {spec}"] = transcript
                    bounds[f"{name} on {spec}"] = _bound(learner, rounds)
                cells.append(f"{transcript.mistakes:,}")
                if progress is not None:
                    progress(next(played))
            private = LEARNERS[name].private
            floor = _floor(spec, concepts, private, rounds, epsilon, delta)
            promise = str(learner.guarantee()) if private else "not private"
            table.add_row(f"{spec}\n[dim]{name}[/]", *cells, floor, promise)
    console = Console()
    console.print(table)
    if seed is not None:
        console.print("NOT PRIVATE: this run was seeded")
    plot.parent.mkdir(parents=True, exist_ok=True)
    title = (
        f"Mistakes against the adaptive adversary {FOES[0]}\nprivate learners: ε = {epsilon:g}, "
        f"δ = {delta:g} at most; dashed: bounds that hold with probability 95 %"
    )
    cumulative_mistakes(games, plot, title=title, bounds=bounds)
    console.print(f"picture: {plot}")


def _bound(learner: Any, rounds: int) -> float | None:
    """With probability 95 %, unless it says nothing."""
    if not isinstance(learner, PrivateLearner):
        return None
    bound = learner.mistake_bound(failure_probability=0.05)
    return bound if bound < rounds else None


def _floor(
    spec: str, concepts: ConceptClass, private: bool, rounds: int, epsilon: float, delta: float
) -> str:
    """What no learner of the kind can do better than, as far as we know."""
    if private and spec == "points":
        return f"{points_floor(rounds=rounds, epsilon=epsilon, delta=delta):.1f}"
    return str(concepts.littlestone_dimension)
