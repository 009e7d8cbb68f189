"""Implement ``littlestone claims``, which examines statements of the paper."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from littlestone.choose.catalogue import lookup
from littlestone.cli.options import AsJson, Cluster, Engine, Jobs
from littlestone.cli.output import Console, print_json, print_table, round_bar
from littlestone.game.sweeps import Workers
from littlestone.lab.claim import Claim, Outcome, Verdict, examine
from littlestone.lab.every_claim import CLAIMS, examine_all

REFUTED = 1
STEPS = 1000
COLOURS = {Verdict.CONFIRMED: "green", Verdict.NOT_REFUTED: "cyan", Verdict.REFUTED: "red"}


def run(
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
    """Print a verdict, the numbers in a sentence, and the seed that repeats them."""
    chosen = [lookup(CLAIMS, name, kind="claim") for name in names or []] or list(CLAIMS.values())
    first = int.from_bytes(os.urandom(4), "big") if seed is None else seed
    workers = Workers(jobs=jobs, engine=engine, cluster=cluster)
    if workers.in_this_process:
        seeds = range(first, first + len(chosen))
        outcomes = [
            _one(claim, own, full, as_json) for claim, own in zip(chosen, seeds, strict=True)
        ]
    else:
        with round_bar(len(chosen), "claims", quiet=as_json) as bar:
            outcomes = examine_all(chosen, seed=first, full=full, workers=workers, progress=bar)
    records = [outcome.to_json() for outcome in outcomes]
    if as_json:
        print_json(records)
    else:
        headings = ("claim", "verdict", "measured", "seed", "seconds")
        print_table(headings, map(_row, outcomes))
    if out is not None:
        from littlestone.lab.figures import write

        page = write(outcomes, out)
        (out / "claims.json").write_text(json.dumps(records, indent=1), encoding="utf-8")
        Console(stderr=True).print(f"page: {page}")
    if any(outcome.finding.verdict is Verdict.REFUTED for outcome in outcomes):
        raise typer.Exit(REFUTED)


def _one(claim: Claim, seed: int, full: bool, quiet: bool) -> Outcome:
    with round_bar(STEPS, claim.name, quiet=quiet) as bar:
        return examine(claim, seed=seed, full=full, progress=lambda part: bar(int(part * STEPS)))


def _row(outcome: Outcome) -> tuple[str | Text, ...]:
    verdict, summary = outcome.finding.verdict, outcome.finding.summary
    coloured = Text(str(verdict), style=COLOURS.get(verdict, "yellow"))
    return outcome.claim.name, coloured, summary, str(outcome.seed), f"{outcome.seconds:.1f}"
