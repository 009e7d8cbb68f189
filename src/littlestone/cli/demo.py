"""``littlestone demo``: every learner against the adversaries that fit it, in one table."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from littlestone.catalogue import ADVERSARIES, LEARNERS, class_from_spec
from littlestone.cli.progress import round_bar
from littlestone.game.play import play
from littlestone.game.transcript import Transcript
from littlestone.randomness import secure, seeded

GAMES = (
    ("thresholds:1024", "standard-optimal"),
    ("thresholds:1024", "halving"),
    ("points", "standard-optimal"),
    ("intervals:64", "standard-optimal"),
)
FOES = ("mistake-forcing", "spread-mistakes", "random")


def run(*, rounds: int, plot: Path | None, seed: int | None) -> None:
    """Play all games with a progress bar, then print the table."""
    rng = secure() if seed is None else seeded(seed)
    table = Table("class", "learner", *FOES, title=f"mistakes in {rounds:,} rounds")
    games: dict[str, Transcript] = {}
    played = 0
    with round_bar(rounds * len(GAMES) * len(FOES), "playing") as progress:
        for (spec, name), stream in zip(GAMES, rng.spawn(len(GAMES)), strict=True):
            concepts = class_from_spec(spec)
            learner = LEARNERS[name].build(concepts, rounds=rounds)
            cells = []
            for foe, parties in zip(FOES, stream.spawn(len(FOES)), strict=True):
                adversary = ADVERSARIES[foe].build(concepts)
                transcript = play(learner, adversary, rounds=rounds, rng=parties)
                games[f"{name} on {spec} against {foe}"] = transcript
                cells.append(f"{transcript.mistakes:,}")
                played += rounds
                if progress is not None:
                    progress(played)
            table.add_row(spec, name, *cells)
    console = Console()
    console.print(table)
    if plot is not None:
        from littlestone.cli.pictures import cumulative_mistakes

        cumulative_mistakes(games, plot)
        console.print(f"picture: {plot}")
