"""Implement the commands that play games: ``play``, ``demo`` and ``arena``."""

from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from littlestone.choose.catalogue import ADVERSARIES, LEARNERS, class_from_spec, lookup
from littlestone.cli.options import AsJson, ClassOption, Cluster, Delta, Engine, Epsilon, Jobs, Seed
from littlestone.cli.output import Console, print_json, print_table, round_bar
from littlestone.cli.outside import class_named, learner_named
from littlestone.concepts.protocols import ConceptClass
from littlestone.game.play import play
from littlestone.game.sweeps import Summary, Sweep, Workers, repeat
from littlestone.game.transcript import Transcript
from littlestone.lab.class_floors import ClassFloor, mistakes_floor
from littlestone.learners.run import PrivateLearner
from littlestone.randomness import secure, seeded

FAILED = 1  # a game failed, or a claim was refuted
SHOWN_FAILURES = 5
GAMES = (
    ("points", "lazy-forest"),
    ("points", "standard-optimal"),
    ("thresholds:6", "lazy-forest"),
    ("thresholds:1024", "private-majority"),
    ("thresholds:1048575", "private-majority"),
    ("thresholds:1024", "standard-optimal"),
    ("points:1024", "private-majority"),
)
STORY, PRIVATE, OPEN = "thresholds:1024", "private-majority", "standard-optimal"
FOES = ("mistake-forcing", "spread-mistakes", "frequent-killer")


def run(
    learner: Annotated[
        str, typer.Option(help="A learner of the catalogue, or yours, as in mine.py:Mine.")
    ] = "standard-optimal",
    adversary: Annotated[str, typer.Option(help="An adversary.")] = "mistake-forcing",
    concepts: ClassOption = "thresholds:16",
    rounds: Annotated[int, typer.Option(help="How many rounds.")] = 10_000,
    epsilon: Annotated[float, typer.Option(help="Privacy parameter of private learners.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Privacy parameter of private learners.")] = 1e-6,
    seed: Seed = None,
    peek: Annotated[
        bool, typer.Option("--peek", help="Show the adversary h_t: stronger than the paper.")
    ] = False,
    even_oblivious: Annotated[
        bool,
        typer.Option(
            "--even-oblivious-only",
            help="Allow an adaptive adversary against learners that promise nothing against it.",
        ),
    ] = False,
    times: Annotated[
        int,
        typer.Option(
            "--repeat",
            help="Play this many independent games; prints means, standard errors and quantiles. "
            "If a game fails, it is listed and the exit status is 1.",
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
    """Print the result; several games are summarized by means, errors and quantiles."""
    space = class_named(concepts)
    workers = Workers(jobs=jobs, engine=engine, cluster=cluster)
    recipe = learner_named(learner, space, rounds=rounds, epsilon=epsilon, delta=delta)
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
    """Describe the numbers of one game in words."""
    rows = {
        "rounds": f"{transcript.rounds:,}",
        "mistakes": f"{transcript.mistakes:,}",
        "regret": "unknown" if transcript.regret is None else f"{transcript.regret:,}",
        "switches": f"{transcript.switches:,}",
        "seconds": f"{transcript.seconds:.2f}",
    }
    return {**rows, "privacy": _privacy(recipe, private=transcript.private)}


def describe_sweep(sweep: Sweep, recipe: Any) -> dict[str, str]:
    """Describe the numbers of many games in words; failed games are named, not dropped."""
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


def demo(
    rounds: Annotated[int, typer.Option(help="Rounds of each game.")] = 1_000_000,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    plot: Annotated[
        Path | None, typer.Option(help="Write the picture here; by default to out/demo.png.")
    ] = None,
    seed: Seed = None,
) -> None:
    """Print one table of mistakes, beside what no learner can beat, and draw them.

    In each round the learner publishes its rule, and then the adversary, who knows it, answers. In
    this order no learner with the promise makes fewer mistakes than "at least" on average, against
    the adversaries wait, burst-and-wait and wait-down-tree.
    """
    drawn = plot is not None or find_spec("matplotlib") is not None
    if drawn:
        from littlestone.cli.pictures import one_story  # it needs the extra `plot`

    rng = secure() if seed is None else seeded(seed)
    table = Table(
        title=f"mistakes in {rounds:,} rounds against adaptive adversaries\n"
        "order of a round: publish, then answer"
    )
    table.add_column("class,\nlearner", no_wrap=True)
    for heading in (*FOES, "at-least", "guarantee"):
        table.add_column(heading.replace("-", "\n"), justify="right")
    games: dict[tuple[str, str], Transcript] = {}
    played = count(1)
    with round_bar(len(GAMES) * len(FOES), "playing") as progress:
        for (spec, name), stream in zip(GAMES, rng.spawn(len(GAMES)), strict=True):
            concepts = class_from_spec(spec)
            learner = LEARNERS[name].build(concepts, rounds=rounds, epsilon=epsilon, delta=delta)
            cells = []
            for foe, parties in zip(FOES, stream.spawn(len(FOES)), strict=True):
                adversary = ADVERSARIES[foe].build(concepts)
                transcript = play(learner, adversary, rounds=rounds, rng=parties, peek=True)
                if foe == FOES[0]:
                    games[spec, name] = transcript
                cells.append(f"{transcript.mistakes:,}")
                progress(next(played))
            private = LEARNERS[name].private
            floor = _floor(learner, concepts, rounds)
            if (spec, name) == (STORY, PRIVATE):
                bound, least = _bound(learner, rounds), _least(learner, concepts, rounds)
            promise = str(learner.guarantee()) if private else "not private"
            table.add_row(f"{spec}\n[dim]{name}[/]", *cells, floor, promise)
    console = Console()
    console.print(table)
    if seed is not None:
        console.print("NOT PRIVATE: this run was seeded")
    if not drawn:
        typer.echo("no picture: it needs matplotlib, pip install 'littlestone[plot]'")
        return
    plot = plot or Path("out/demo.png")
    plot.parent.mkdir(parents=True, exist_ok=True)
    title = f"{STORY} against the adaptive adversary {FOES[0]}, ε = {epsilon:g}"
    floor_at = None if least is None else least.mistakes
    mine, open_ = games[STORY, PRIVATE], games[STORY, OPEN]
    one_story(mine, open_, plot, title=title, bound=bound, floor=floor_at)
    console.print(f"picture: {plot}")


def _bound(learner: Any, rounds: int) -> float | None:
    """Return the bound that holds with probability 95 %; None if it is vacuous."""
    if not isinstance(learner, PrivateLearner):
        return None
    bound = learner.mistake_bound(failure_probability=0.05)
    return bound if bound < rounds else None


def _floor(learner: Any, concepts: ConceptClass, rounds: int) -> str:
    """Return what no learner with this promise can beat in this order of a round."""
    if not isinstance(learner, PrivateLearner):
        return str(concepts.littlestone_dimension)
    floor = _least(learner, concepts, rounds)
    return "–" if floor is None else floor.text


def _least(learner: PrivateLearner, concepts: ConceptClass, rounds: int) -> ClassFloor | None:
    promised = learner.guarantee()
    return mistakes_floor(concepts, rounds=rounds, epsilon=promised.epsilon, delta=promised.delta)


def arena(
    port: Annotated[int, typer.Option(help="The port, on this machine.", min=0, max=65535)] = 8000,
    player: Annotated[
        Path | None,
        typer.Option(help="A Python file with play(world): tell two worlds apart, without a page."),
    ] = None,
    learner: Annotated[str, typer.Option(help="For --player: keys, forest or majority.")] = "keys",
    wanted: Annotated[
        str, typer.Option(help="For --player: correct, broken, or coin.")
    ] = "correct",
    games: Annotated[int, typer.Option(help="For --player: the most games.")] = 2_000,
    seed: Seed = None,
) -> None:
    """Without --player, serve pages on loopback only; `littlestone serve` has them, too.

    The file of --player runs in this process, like any program of yours; exit status 1 means that
    it has refuted the claim.
    """
    if player is not None:
        _match(player, learner, wanted, games, seed)
        return
    # Only pages need the extra `serve`.
    from littlestone.http.arena import arena_application
    from littlestone.http.server import server

    service = server(arena_application(), port=port)
    typer.echo(f"http://127.0.0.1:{service.port}/arena  (Ctrl-C stops)")
    service.run()


def _match(path: Path, learner: str, wanted: str, games: int, seed: int | None) -> None:
    from littlestone.lab.arena.telling import Telling, matches, player_from

    telling = Telling(learner, wanted, rng=secure() if seed is None else seeded(seed))
    play, about = player_from(path), telling.about()
    with round_bar(games, "playing") as progress:
        for score in matches(telling, play, games):
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
        raise typer.Exit(FAILED)
