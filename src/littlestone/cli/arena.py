"""The command ``littlestone arena`` lets a person, or a program, play the adversary."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from littlestone.arena.players import matches, player_from
from littlestone.arena.telling import Telling
from littlestone.cli.options import Seed
from littlestone.cli.output import round_bar
from littlestone.randomness import secure, seeded

VIOLATION = 1


def run(
    port: Annotated[int, typer.Option(help="The port, on this machine.", min=0, max=65535)] = 8000,
    player: Annotated[
        Path | None,
        typer.Option(help="A Python file with play(world): tell two worlds apart, without a page."),
    ] = None,
    learner: Annotated[str, typer.Option(help="For --player: keys, forest or majority.")] = "keys",
    wanted: Annotated[
        str, typer.Option(help="For --player: correct, broken, or coin.")
    ] = "correct",
    games: Annotated[int, typer.Option(help="For --player: at most this many.")] = 2_000,
    seed: Seed = None,
) -> None:
    """Without --player: pages for people, at loopback only; `littlestone serve` has them, too.

    The file of --player runs in this process, as any program of yours does; exit status 1 says
    that it has refuted the claim.
    """
    if player is not None:
        _match(player, learner, wanted, games, seed)
        return
    # The extra `serve` is needed for pages only.
    from littlestone.serve.arena.arena_app import arena_application
    from littlestone.serve.server import listening

    service = listening(arena_application(), host="127.0.0.1", port=port)
    typer.echo(f"http://127.0.0.1:{service.port}/arena  (Ctrl-C stops)")
    service.run()


def _match(path: Path, learner: str, wanted: str, games: int, seed: int | None) -> None:
    telling = Telling(learner, wanted, rng=secure() if seed is None else seeded(seed))
    play, about = player_from(path), telling.about()
    with round_bar(games, "playing") as progress:
        for score in matches(telling, play, games):
            if progress is not None:
                progress(score["games"])
    score = telling.score()
    Console().print(
        f"{about['title']}\n{score['right']} guesses right, {score['wrong']} wrong in "
        f"{score['games']} games: epsilon is at least {score['bound']:.3f} at delta = "
        f"{about['delta']:g} (claimed {about['epsilon']:g}; wrong with probability at most "
        f"{about['failure']:g})\n{'VIOLATION' if score['refuted'] else 'no violation found'}. "
        f"{telling.reveal()}",
        highlight=False,
    )
    if score["refuted"]:
        raise typer.Exit(VIOLATION)
