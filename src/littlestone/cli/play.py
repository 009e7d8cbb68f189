"""The command ``littlestone play`` plays one game, or the same one many times."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from littlestone.catalogue import ADVERSARIES, LEARNERS, class_from_spec, lookup
from littlestone.cli.options import AsJson, ClassOption, Cluster, Engine, Jobs
from littlestone.cli.progress import round_bar
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
    if times == 1:
        with round_bar(rounds, f"{learner} against {adversary}", quiet=as_json) as progress:
            transcript = play(recipe, foe, progress=progress, **options)
        _show(names, transcript, recipe, plot=plot, as_json=as_json)
        return
    with round_bar(times, f"games of {learner} against {adversary}", quiet=as_json) as progress:
        sweep = repeat(recipe, foe, times=times, workers=workers, progress=progress, **options)
    about = {**names, "rounds": rounds, "seed": seed, "engine": workers.engine}
    _show_sweep({**about, "jobs": workers.jobs}, sweep, recipe, plot=plot, as_json=as_json)
    if sweep.failures:
        raise typer.Exit(FAILED)


def _title(names: dict[str, Any]) -> str:
    return f"{names['learner']} against {names['adversary']} on {names['class']}"


def _show(
    names: dict[str, Any], transcript: Transcript, recipe: Any, *, plot: Path | None, as_json: bool
) -> None:
    title = _title(names)
    if plot is not None:
        from littlestone.cli.pictures import cumulative_mistakes

        cumulative_mistakes({title: transcript}, plot)
    if as_json:
        print(json.dumps({**transcript.to_json(), **names}))  # noqa: T201
        return
    _print(title, describe(transcript, recipe))
    if plot is not None:
        Console().print(f"picture: {plot}")


def _show_sweep(
    about: dict[str, Any], sweep: Sweep, recipe: Any, *, plot: Path | None, as_json: bool
) -> None:
    if plot is not None and sweep.ended:
        from littlestone.cli.pictures import spread_of_mistakes

        spread_of_mistakes(_title(about), sweep.ended, plot)
    if as_json:
        print(json.dumps({**about, **sweep.to_json()}))  # noqa: T201
        return
    _print(f"{len(sweep.games)} games: {_title(about)}", describe_sweep(sweep, recipe))
    if plot is not None and sweep.ended:
        Console().print(f"picture: {plot}")


def _print(title: str, rows: dict[str, str]) -> None:
    table = Table("quantity", "value", title=title)
    for name, value in rows.items():
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
