"""Implement ``littlestone audit``, which plays audit games against a mechanism or a control."""

from pathlib import Path
from typing import Annotated

import typer

from littlestone.audit import matrix
from littlestone.audit.auditing import AuditReport, audit
from littlestone.audit.auditing import learner as audit_learner
from littlestone.audit.registry import AUDITS, CONTROLS
from littlestone.choose.catalogue import lookup
from littlestone.cli.options import AsJson, ClassOption
from littlestone.cli.output import Console, print_json, print_table, round_bar
from littlestone.cli.outside import class_named, learner_named
from littlestone.randomness import secure, seeded

VIOLATION = 1


def run(
    mechanism: Annotated[
        str | None, typer.Argument(help="What to audit; without it, print the list.")
    ] = None,
    broken: Annotated[
        str | None, typer.Option(help="Audit a broken mechanism, to see it caught.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="The claim to refute.")] = 1.0,
    delta: Annotated[float, typer.Option(help="The claim to refute.")] = 1e-6,
    runs: Annotated[int, typer.Option(help="The most games to play.")] = 200_000,
    learner: Annotated[
        str | None, typer.Option(help="Audit a private learner, or yours, as in mine.py:Mine.")
    ] = None,
    concepts: ClassOption = "thresholds:16",
    rounds: Annotated[int, typer.Option(help="The horizon of --learner.")] = 1000,
    seed: Annotated[int | None, typer.Option(help="Replay an audit.")] = None,
    write_matrix: Annotated[
        Path | None,
        typer.Option("--matrix", help="Run all audits and write the detection matrix here."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Audit one mechanism or one control, or write the whole detection matrix."""
    rng = secure() if seed is None else seeded(seed)
    if write_matrix is not None:
        _matrix(write_matrix)
        return
    if learner is not None:
        budget = {"rounds": rounds, "epsilon": epsilon, "delta": delta}
        recipe = learner_named(learner, class_named(concepts), **budget)
        with round_bar(runs, "auditing", quiet=as_json) as progress:
            report = audit_learner(recipe, runs=runs, rng=rng, progress=progress)
        note = "one example is replaced, at several moments; it may be too weak"
        _print_report(report, as_json, note)
        return
    if broken is not None:
        control = lookup(CONTROLS, broken, kind="broken mechanism")
        subject, adversary, note = control.subject, control.adversary, f"the bug: {control.bug}"
    elif mechanism is not None:
        entry = lookup(AUDITS, mechanism, kind="audit")
        subject, adversary, note = entry.subject(epsilon, delta), entry.adversary, entry.summary
    else:
        _list()
        return
    with round_bar(runs, "auditing", quiet=as_json) as progress:
        report = audit(
            subject, adversary, runs=runs, rng=rng, progress=lambda done, _: progress(done)
        )
    _print_report(report, as_json, note)


def _print_report(report: AuditReport, as_json: bool, note: str) -> None:
    if as_json:
        print_json(_record(report))
    else:
        Console().print(f"{report.subject}\n[dim]{note}[/]\n{report.verdict}", highlight=False)
    if report.violation:
        raise typer.Exit(VIOLATION)


def _record(report: AuditReport) -> dict[str, object]:
    return {
        "subject": report.subject,
        "adversary": report.adversary,
        "claimed_epsilon": report.claimed.epsilon,
        "delta": report.claimed.delta,
        "epsilon_lower_bound": report.epsilon_lower_bound,
        "failure_probability": report.failure_probability,
        "runs": report.runs,
        "seconds": round(report.seconds, 3),
        "violation": report.violation,
        "verdict": report.verdict,
    }


def _matrix(path: Path) -> None:
    console = Console()
    correct, broken = matrix.write(path, progress=lambda done: console.print(f"[dim]{done}[/]"))
    missed = [report for report in broken if not report.violation]
    weak = [row.name for row in correct if not row.reached]
    console.print(f"{path}: {len(broken) - len(missed)} of {len(broken)} controls caught")
    if weak:
        console.print(f"below their goal: {', '.join(weak)}")
    if missed or any(row.games.violation for row in correct):
        raise typer.Exit(VIOLATION)


def _list() -> None:
    audits = ((name, entry.summary) for name, entry in AUDITS.items())
    controls = ((f"--broken {name}", control.bug) for name, control in CONTROLS.items())
    print_table(("audit", "what it does"), (*audits, *controls))
