"""The command line: ``littlestone COMMAND --help``.

A command imports what it needs when it runs, so that ``--help`` answers at once. Exit statuses:
0 done, 1 a violation or a refuted claim was found or a repeated game failed, 2 bad usage.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="littlestone",
    help="Differentially private online learning against an adaptive adversary.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

ClassSpec = Annotated[
    str, typer.Argument(metavar="CLASS", help="A concept class, as in thresholds:16 or points.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Jobs = Annotated[int, typer.Option(help="How many run at once; results do not depend on it.")]
Engine = Annotated[
    str, typer.Option(help="Where they run: loky (processes on this machine), dask or ray.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="An existing dask or ray cluster, all of which is used; else a small one is started.",
    ),
]


@app.command()
def dimension(
    concepts: ClassSpec,
    tree: Annotated[bool, typer.Option("--tree", help="Print a shattered tree.")] = False,
    as_json: AsJson = False,
) -> None:
    """Littlestone, VC and dual dimensions of a concept class."""
    from littlestone.cli import dimension as command

    command.run(concepts, tree=tree, as_json=as_json)


@app.command()
def classes(as_json: AsJson = False) -> None:
    """List the concept classes, with an example of each."""
    from littlestone.cli import listing

    listing.classes(as_json=as_json)


@app.command()
def learners(as_json: AsJson = False) -> None:
    """List the learners and the adversaries."""
    from littlestone.cli import listing

    listing.learners(as_json=as_json)


@app.command()
def play(
    learner: Annotated[str, typer.Option(help="A learner of the catalogue.")] = "standard-optimal",
    adversary: Annotated[str, typer.Option(help="An adversary.")] = "mistake-forcing",
    concepts: Annotated[str, typer.Option("--class", help="A concept class.")] = "thresholds:16",
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
    """Let a learner play against an adversary, once or many times."""
    from littlestone.cli import play as command
    from littlestone.game.workers import Workers

    command.run(
        learner=learner,
        adversary=adversary,
        concepts=concepts,
        rounds=rounds,
        epsilon=epsilon,
        delta=delta,
        seed=seed,
        peek=peek,
        even_oblivious_only=even_oblivious,
        times=times,
        workers=Workers(jobs=jobs, engine=engine, cluster=cluster),
        plot=plot,
        as_json=as_json,
    )


@app.command()
def demo(
    rounds: Annotated[int, typer.Option(help="Rounds of each game.")] = 1_000_000,
    epsilon: Annotated[float, typer.Option(help="Privacy parameter.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Privacy parameter.")] = 1e-6,
    plot: Annotated[Path, typer.Option(help="Write the picture here.")] = Path("out/demo.png"),
    seed: Annotated[int | None, typer.Option(help="Replay; not private then.")] = None,
) -> None:
    """The main demonstration: private learners against adaptive adversaries, in one table."""
    from littlestone.cli import demo as command

    command.run(rounds=rounds, epsilon=epsilon, delta=delta, plot=plot, seed=seed)


@app.command()
def audit(
    mechanism: Annotated[
        str | None, typer.Argument(help="What to audit; without it, the list is printed.")
    ] = None,
    broken: Annotated[
        str | None, typer.Option(help="Audit a broken mechanism, to see it caught.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="The claim to refute.")] = 1.0,
    delta: Annotated[float, typer.Option(help="The claim to refute.")] = 1e-6,
    runs: Annotated[int, typer.Option(help="At most this many games.")] = 200_000,
    seed: Annotated[int | None, typer.Option(help="Replay an audit.")] = None,
    matrix: Annotated[
        Path | None, typer.Option(help="Run all audits and write the detection matrix here.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play the adaptive two-world game and try to refute a privacy claim (exit status 1)."""
    from littlestone.cli import audit as command

    command.run(
        mechanism,
        broken=broken,
        epsilon=epsilon,
        delta=delta,
        runs=runs,
        seed=seed,
        write_matrix=matrix,
        as_json=as_json,
    )


@app.command()
def claims(
    names: Annotated[list[str] | None, typer.Argument(help="Which claims; all by default.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Full sizes instead of quick ones.")] = False,
    seed: Annotated[int | None, typer.Option(help="Repeat a run.")] = None,
    jobs: Jobs = 1,
    engine: Engine = "loky",
    cluster: Cluster = None,
    out: Annotated[
        Path | None, typer.Option(help="Write pictures, JSON and one HTML page into this folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Examine statements of the paper; exit status 1 if one is refuted."""
    from littlestone.cli import claims as command
    from littlestone.game.workers import Workers

    workers = Workers(jobs=jobs, engine=engine, cluster=cluster)
    command.run(names or [], full=full, seed=seed, workers=workers, out=out, as_json=as_json)


@app.command()
def recommend(
    concepts: ClassSpec,
    rounds: Annotated[int, typer.Option(help="The horizon.")],
    epsilon: Annotated[float, typer.Option(help="Privacy parameter.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Privacy parameter.")] = 1e-6,
    setting: Annotated[
        str, typer.Option(help="realizable (some concept always fits) or agnostic.")
    ] = "realizable",
    adversary: Annotated[str, typer.Option(help="adaptive or oblivious.")] = "adaptive",
    as_json: AsJson = False,
) -> None:
    """Rank the learners for a class and a budget, and say why."""
    from littlestone.cli import recommend as command

    command.run(
        concepts,
        rounds=rounds,
        epsilon=epsilon,
        delta=delta,
        setting=setting,  # type: ignore[arg-type]
        adversary=adversary,  # type: ignore[arg-type]
        as_json=as_json,
    )


@app.command()
def sanitize(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV file.")],
    concepts: Annotated[str, typer.Option("--class", help="A concept class.")],
    out: Annotated[Path, typer.Option(help="Write the synthetic column here.")],
    epsilon: Annotated[float, typer.Option(help="Privacy parameter.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Privacy parameter.")] = 1e-6,
    column: Annotated[str | None, typer.Option(help="The column with the points.")] = None,
    label: Annotated[str | None, typer.Option(help="The column with the labels, if any.")] = None,
    error: Annotated[
        float, typer.Option(help="Refuse if a larger error has to be expected.")
    ] = 0.1,
    failure_probability: Annotated[float, typer.Option(help="Of the stated error.")] = 0.05,
    size: Annotated[int | None, typer.Option(help="How many synthetic rows.")] = None,
    method: Annotated[str, typer.Option(help="auto or generic.")] = "auto",
    seed: Annotated[int | None, typer.Option(help="Replay; not private then.")] = None,
    as_json: AsJson = False,
) -> None:
    """Publish a private synthetic version of a column, good for every concept of a class."""
    from littlestone.cli import sanitize as command

    command.run(
        path,
        concepts=concepts,
        epsilon=epsilon,
        delta=delta,
        out=out,
        column=column,
        label=label,
        error=error,
        failure_probability=failure_probability,
        size=size,
        method=method,
        seed=seed,
        as_json=as_json,
    )


@app.command()
def learn(
    source: Annotated[str, typer.Argument(metavar="FILE", help="CSV, JSONL, Parquet, or - .")],
    concepts: Annotated[str, typer.Option("--class", help="As in stumps:schema.toml.")],
    label: Annotated[str, typer.Option(help="The column with the label, 0 or 1.")],
    rounds: Annotated[int, typer.Option(help="At most this many events will be taken.")],
    store: Annotated[Path, typer.Option(help="The durable state; created or continued.")],
    epsilon: Annotated[float, typer.Option(help="Privacy parameter.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Privacy parameter.")] = 1e-7,
    learner: Annotated[
        str, typer.Option(help="A private learner, or auto for the recommended one.")
    ] = "auto",
    setting: Annotated[
        str, typer.Option(help="For auto: realizable, agnostic, or auto (which assumes nothing).")
    ] = "auto",
    feature: Annotated[
        str | None, typer.Option(help="The column with the point, for classes without a schema.")
    ] = None,
    identity: Annotated[
        str | None, typer.Option("--id", help="The column with the event's id; else the line.")
    ] = None,
    max_contributions: Annotated[int, typer.Option(help="Events of one user, at most.")] = 1,
    out: Annotated[
        Path | None, typer.Option(help="Append the published rules here instead of printing.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a one-page HTML report.")] = None,
    group: Annotated[
        int, typer.Option(help="Events in one commit; 1 for the shortest delay.")
    ] = 1000,
    bad_rows: Annotated[
        str, typer.Option(help="What to do with rows that do not fit: reject or stop.")
    ] = "reject",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Learn from a stream of events and publish a private, updating rule."""
    from littlestone.cli import learn as command
    from littlestone.service.events import Columns

    if bad_rows not in ("reject", "stop"):
        raise ValueError(f"bad-rows must be 'reject' or 'stop', got bad-rows={bad_rows!r}")
    command.run(
        source,
        concepts=concepts,
        columns=Columns(label=label, feature=feature, identity=identity),
        learner=learner,
        setting=setting,
        epsilon=epsilon,
        delta=delta,
        rounds=rounds,
        max_contributions=max_contributions,
        store=store,
        out=out,
        report_path=report,
        group=group,
        policy="stop" if bad_rows == "stop" else "reject",
        quiet=quiet,
    )


def main() -> None:
    """Entry point: refusals become one line on standard error, never a traceback."""
    from littlestone.errors import LittlestoneError

    try:
        app()
    except (ValueError, LittlestoneError) as refusal:
        typer.echo(f"littlestone: {refusal}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
