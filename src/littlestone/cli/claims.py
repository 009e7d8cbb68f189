"""``littlestone claims``."""

import json
import os
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from littlestone.catalogue import lookup
from littlestone.claims.core import Claim, Outcome, Verdict, examine
from littlestone.claims.examining import examine_all
from littlestone.claims.registry import CLAIMS
from littlestone.cli.progress import round_bar
from littlestone.game.workers import Workers

REFUTED = 1
STEPS = 1000
COLOURS = {Verdict.CONFIRMED: "green", Verdict.NOT_REFUTED: "cyan", Verdict.REFUTED: "red"}


def run(
    names: list[str],
    *,
    full: bool,
    seed: int | None,
    workers: Workers,
    out: Path | None,
    as_json: bool,
) -> None:
    """Examine the named claims (all by default), print the verdicts, write the page."""
    chosen = [lookup(CLAIMS, name, kind="claim") for name in names] or list(CLAIMS.values())
    first = int.from_bytes(os.urandom(4), "big") if seed is None else seed
    if workers.in_this_process:
        seeds = range(first, first + len(chosen))
        outcomes = [
            _one(claim, own, full, as_json) for claim, own in zip(chosen, seeds, strict=True)
        ]
    else:
        with round_bar(len(chosen), "claims", quiet=as_json) as bar:
            outcomes = examine_all(chosen, seed=first, full=full, workers=workers, progress=bar)
    if as_json:
        print(json.dumps([outcome.to_json() for outcome in outcomes]))  # noqa: T201
    else:
        _print(outcomes)
    if out is not None:
        from littlestone.claims.figures import write

        page = write(outcomes, out)
        (out / "claims.json").write_text(
            json.dumps([outcome.to_json() for outcome in outcomes], indent=1), encoding="utf-8"
        )
        Console(stderr=True).print(f"page: {page}")
    if any(outcome.finding.verdict is Verdict.REFUTED for outcome in outcomes):
        raise typer.Exit(REFUTED)


def _one(claim: Claim, seed: int, full: bool, quiet: bool) -> Outcome:
    with round_bar(STEPS, claim.name, quiet=quiet) as bar:
        return examine(
            claim,
            seed=seed,
            full=full,
            progress=None if bar is None else lambda part: bar(int(part * STEPS)),
        )


def _print(outcomes: list[Outcome]) -> None:
    table = Table("claim", "verdict", "measured", "seed", "seconds")
    for outcome in outcomes:
        verdict = outcome.finding.verdict
        colour = COLOURS.get(verdict, "yellow")
        table.add_row(
            outcome.claim.name,
            f"[{colour}]{verdict}[/]",
            outcome.finding.summary,
            str(outcome.seed),
            f"{outcome.seconds:.1f}",
        )
    Console().print(table)
