"""The command ``littlestone play`` plays one game, or the same one many times."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from littlestone.choose.catalogue import ADVERSARIES, LEARNERS, class_from_spec, lookup
from littlestone.cli.options import AsJson, ClassOption, Cluster, Engine, Jobs
from littlestone.cli.output import print_json, print_table, round_bar
from littlestone.game.play import play
from littlestone.game.sweeps import Summary, Sweep, repeat
from littlestone.game.transcript import Transcript
from littlestone.game.workers import Workers
from littlestone.randomness import secure, seeded

FAILED = 1
SHOWN_FAILURES = 5


def run(
    learner: Annotated[str, typer.Option(help="A learner of the catalogue.")] = "standard-optimal",
    adversary: Annotated[str, typer.Option(help="An adversary.")] = "mistake-forcing",
    concepts: ClassOption = "thresholds:16",
    rounds: Annotated[int, typer.Option(help="How many rounds.")] = 10_000,
    epsilon: Annotated[float, typer.Option(help="Privacy parameter of private learners.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Privacy parameter of private learners.")] = 1e-6,
    seed: Annotated[int | None, typer.Option(help="Replay a run; it is then not private.")] = None,
    peek: Annotated[
        bool, typer.Option("--peek", help="Show the adversary h_t: stronger than the paper.")
    ] = False,
    even_oblivious: Annotated[
        bool,
        typer.Option(
            "--even-oblivious-only",
            help="Let an adaptive adversary play learners that promise nothing against it.",
        ),
    ] = False,
    times: Annotated[
        int,
        typer.Option(
            "--repeat",
            help="Play so many independent games; prints means, standard errors and quantiles. "
            "Games that fail are listed, and the exit status is 1.",
        ),
    ] = 1,
    jobs: Jobs = 1,
    engine: Engine = "loky",
    cluster: Cluster = None,
    plot: Annotated[
        Path | None, typer.Option(help="Write the cumulative mistakes as a picture.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prints what came of it; many games are summed up by means, errors and quantiles."""
    space = class_from_spec(concepts)
    workers = Workers(jobs=jobs, engine=engine, cluster=cluster)
    entry = lookup(LEARNERS, learner, kind="learner")
    recipe = entry.build(space, rounds=rounds, epsilon=epsilon, delta=delta)
    foe = lookup(ADVERSARIES, adversary, kind="adversary").build(space)
    rng = secure() if seed is None else seeded(seed)
    names = {"learner": learner, "adversary": adversary, "class": concepts}
    options: dict[str, Any] = {
        "rounds": rounds,
        "rng": rng,
        "peek": peek,
        "even_if_oblivious_only": even_oblivious,
    }
    title = f"{learner} against {adversary}"
    if times == 1:
        with round_bar(rounds, title, quiet=as_json) as progress:
            transcript = play(recipe, foe, progress=progress, **options)
        record, rows = {**transcript.to_json(), **names}, describe(transcript, recipe)
        games: tuple[Transcript, ...] = (transcript,)
    else:
        with round_bar(times, f"games of {title}", quiet=as_json) as progress:
            sweep = repeat(recipe, foe, times=times, workers=workers, progress=progress, **options)
        about = {"rounds": rounds, "seed": seed, "engine": workers.engine, "jobs": workers.jobs}
        record, rows = {**names, **about, **sweep.to_json()}, describe_sweep(sweep, recipe)
        games = sweep.ended
    title += f" on {concepts}"
    drawn = plot if games else None
    if drawn is not None:
        from littlestone.cli.pictures import draw_mistakes

        draw_mistakes(title, games, drawn)
    if as_json:
        print_json(record)
    else:
        several = "" if times == 1 else f"{times} games: "
        print_table(("quantity", "value"), rows.items(), title=several + title)
        if drawn is not None:
            Console().print(f"picture: {drawn}")
    if len(games) < times:
        raise typer.Exit(FAILED)


def describe(transcript: Transcript, recipe: Any) -> dict[str, str]:
    """The numbers of one game in words."""
    rows = {
        "rounds": f"{transcript.rounds:,}",
        "mistakes": f"{transcript.mistakes:,}",
        "regret": "unknown" if transcript.regret is None else f"{transcript.regret:,}",
        "switches": f"{transcript.switches:,}",
        "seconds": f"{transcript.seconds:.2f}",
    }
    return {**rows, "privacy": _privacy(recipe, private=transcript.private)}


def describe_sweep(sweep: Sweep, recipe: Any) -> dict[str, str]:
    """The numbers of many games in words; games that failed are named, not dropped."""
    rows = {"games that ended": f"{len(sweep.ended):,} of {len(sweep.games):,}"}
    for quantity in ("mistakes", "regret", "switches"):
        found = sweep.summary(quantity)
        rows[quantity] = "unknown" if found is None else _spread(found)
    rows["seconds"] = f"{sweep.seconds:.2f}"
    for failure in sweep.failures[:SHOWN_FAILURES]:
        rows[f"game {failure.game} failed"] = failure.error
    private = bool(sweep.ended) and all(game.private for game in sweep.ended)
    return {**rows, "privacy": f"each game: {_privacy(recipe, private=private)}"}


def _spread(found: Summary) -> str:
    error = "" if found.standard_error is None else f" ± {found.standard_error:,.2g}"
    low, middle, high = (found.quantiles[share] for share in (0.05, 0.5, 0.95))
    return f"mean {found.mean:,.4g}{error}, median {middle:,}, 5–95 % {low:,}–{high:,}"


def _privacy(recipe: Any, *, private: bool) -> str:
    if not hasattr(recipe, "guarantee"):
        return "none: the learner is deterministic"
    promise = recipe.guarantee()
    stamp = "" if private else " (NOT PRIVATE: this run was seeded)"
    return f"epsilon = {promise.epsilon:g}, delta = {promise.delta:g}{stamp}"
