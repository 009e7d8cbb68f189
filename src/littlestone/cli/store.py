"""Implement the commands about what was published: ``status report predict export verify``."""

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from littlestone.adapters.frozen import FrozenClassifier
from littlestone.cli.check import refuse_misread
from littlestone.cli.config import stored_learner, stored_reading
from littlestone.cli.learn import page_of
from littlestone.cli.options import Feature, FormOptions, Source, options_of
from littlestone.concepts.hypotheses.decision_tree import DecisionTree
from littlestone.concepts.hypotheses.vote import domain_of
from littlestone.concepts.schema import LabelledSchema, Schema, label_values
from littlestone.errors import InUseError, StoreError
from littlestone.learners.run import PrivateLearner
from littlestone.runs.durable import DurableRun
from littlestone.runs.files import refuse_overlap, write_whole
from littlestone.runs.intake.readers import read_points
from littlestone.runs.journal.places import place_of, shown
from littlestone.runs.journal.protocol import reporting_damage
from littlestone.runs.journal.run_log import read_about, read_log, read_progress
from littlestone.runs.published import AlteredError, examine, is_store, recent_rules, steady_rule
from littlestone.runs.ranges import from_text, promise_with
from littlestone.runs.report import class_in_words

Store = Annotated[str, typer.Argument(metavar="STORE", help="The store of learn --store.")]
Rules = Annotated[str, typer.Argument(metavar="RULES", help="The file of learn --out, or a store.")]
Last = Annotated[
    bool, typer.Option("--last", help="Use the last rule, not the vote of recent ones.")
]


def status(
    store: Store,
    only_options: Annotated[
        bool, typer.Option("--toml", help="Print only the options, for learn --config.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a store to its owner: mistakes and rows are not protected.

    The ledger of a store that is in use is not read, because that would replay its run.
    """
    about = read_about(store)
    options = about["options"]
    if only_options and not options:
        raise StoreError(
            f"{shown(store)} has no options: it was created from Python, not by "
            f"littlestone learn; omit --toml"
        )
    if only_options:
        typer.echo(options, nl=False)
        return
    recipe = _recipe(store, about)
    with reporting_damage(shown(store)):
        ranges = from_text(about["ranges"]) if "ranges" in about else ()
    try:
        with reopened(store, about) as durable:
            newest, state = durable.newest.body, durable.run.status
            rounds, mistakes, ledger = durable.rounds, durable.mistakes, durable.run.ledger.text()
    except InUseError:
        (rounds, mistakes), newest = read_progress(store), read_log(store).releases[-1].body
        state, ledger = "in use", ""
    release = json.loads(newest)
    limit = "" if recipe.rounds is None else f" of at most {recipe.rounds:,}"
    shown_values = {
        "run": about["identity"],
        "made": f"{about['created']} by littlestone {about['version']}",
        "learner": f"{type(recipe).__name__}, {class_in_words(recipe.concepts)}",
        "promise": promise_with(recipe, about.get("users"), ranges),
        "rounds": f"{rounds:,}{limit}; {state}",
        "published": f"{release['release']:,} rules, the last after round {release['round']:,}",
        "rule": release["rule"],
        "mistakes": f"{mistakes:,} (yours to see, not published)",
    }
    if as_json:
        numbers = {"rounds": rounds, "mistakes": mistakes, "status": state}
        published = {"releases": release["release"], "round": release["round"]}
        typer.echo(json.dumps(shown_values | numbers | published | {"options": options}))
        return
    for name, said in shown_values.items():
        typer.echo(f"{name + ':':<11}{said}")
    made = ["# options", options] if options else []
    typer.echo("\n".join(["", *([ledger, ""] if ledger else []), *made]), nl=not made)


def report(
    store: Store,
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("report.html"),
) -> None:
    """Write the same page as learn --report, with the options of the store."""
    refuse_overlap({"out": out}, {}, store=place_of(store).file)
    with reopened(store, read_about(store)) as durable:
        write_whole(out, page_of(durable))
    typer.echo(f"report: {out}", err=True)


@contextmanager
def reopened(store: str, about: dict[str, str]) -> Iterator[DurableRun]:
    """Open the run of a store by the options that it was created with."""
    durable = DurableRun.resume(_recipe(store, about), store, users=about.get("users"))
    try:
        yield durable
    finally:
        durable.close()


def _recipe(store: str, about: dict[str, str]) -> PrivateLearner:
    with reporting_damage(shown(store)):
        return stored_learner(None, {}, shown(store))(about)


@options_of(FormOptions, "file")
def predict(
    ctx: typer.Context,
    file: FormOptions,
    rules: Rules,
    source: Source,
    feature: Feature = None,
    identity: Annotated[
        str | None,
        typer.Option("--id", help="A column to repeat; by default the number of the line."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A CSV file; printed by default.")] = None,
    last: Last = False,
    check: Annotated[
        int,
        typer.Option(
            metavar="ROWS",
            help="Over a schema: reject a file if most first rows do not fit; 0 checks none.",
        ),
    ] = 1000,
) -> None:
    """Predict with the steady rule: a vote of recent rules, by how long each was in force.

    The rule is printed on standard error. Labels are not read, and nothing is learned or spent.
    With a store in place of its published file, the options that learn got are the defaults here.

    Over a schema each row has a prediction: what is missing or unknown counts as in learning.
    Otherwise a row that does not fit has an empty prediction, and the exit status is 2.
    """
    releases = recent_rules(rules)
    release = releases[-1]
    rule = steady_rule(releases[-1:] if last else releases)
    refuse_overlap({"out": out}, {"the input": Path(source)}, store=place_of(rules).file)
    stored = stored_reading(ctx, read_about(rules)["options"], rules) if is_store(rules) else {}
    feature = stored.pop("feature", feature)
    reading = {name: value for name, value in stored.items() if hasattr(file, name)}
    form, domain = replace(file, **reading).form(), domain_of(rule)
    if isinstance(domain, Schema):
        refuse_misread(source, domain, form, check)
    points = read_points(
        source,
        domain,
        feature=feature,
        name_column=identity,
        standard_input=sys.stdin.buffer,
        form=form,
    )
    typer.echo(f"rule {release['release']} of run {release['run']}: {rule.describe()}", err=True)
    values, odd, empty = label_values(domain), Counter[str](), 0
    with nullcontext(sys.stdout) if out is None else out.open("w", newline="") as made:
        table = csv.writer(made, lineterminator="\n")
        table.writerow([identity or "line", "prediction"])
        for line, name, point, misfit in points:
            shown_values = "" if point is None else values[rule(point)]
            empty += point is None
            if misfit is not None:
                odd[f"{misfit.field!r} {misfit.reason}" if misfit.field else misfit.reason] += 1
            table.writerow([line if identity is None else name, shown_values])
    if odd:
        shown_values = "; ".join(f"{reason} in {rows:,}" for reason, rows in odd.most_common(5))
        typer.echo(
            f"{odd.total()} rows with something missing or unknown: {shown_values}", err=True
        )
    if empty:
        raise ValueError(
            f"{empty} rows do not fit and have no prediction: give the options that learn got "
            f"(--feature, --encoding, …), or drop these rows"
        )


def export(
    rules: Rules,
    sql: Annotated[bool, typer.Option("--sql", help="Write an SQL expression.")] = False,
    dialect: Annotated[
        Literal["postgresql", "duckdb", "sqlite"], typer.Option(help="The dialect of --sql.")
    ] = "postgresql",
    python: Annotated[
        bool, typer.Option("--python", help="Write a module that needs only Python.")
    ] = False,
    svg: Annotated[bool, typer.Option("--svg", help="Draw a decision tree.")] = False,
    text: Annotated[
        bool, typer.Option("--text", help="Write the rule in words, the default.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="A file; printed by default.")] = None,
    last: Last = False,
) -> None:
    """Export the steady rule, as predict uses it. It is public, so this spends nothing."""
    if sql + python + svg + text > 1:
        raise ValueError("choose one of --sql, --python, --svg and --text")
    releases = recent_rules(rules)
    rule: Any = steady_rule(releases[-1:] if last else releases)
    if svg and not isinstance(rule, DecisionTree):
        raise ValueError(f"only a decision tree has a picture, got {rule.describe()}; try --text")
    domain = domain_of(rule)
    if isinstance(domain, LabelledSchema) and (sql or python):  # with labels as they are declared
        rule = FrozenClassifier(rule, domain.labels)
    if sql:
        written = rule.to_sql(dialect)
    elif python:
        written = rule.to_python()
    else:
        written = rule.svg() if svg else rule.text()
    if out is None:
        typer.echo(written.rstrip("\n"))
        return
    refuse_overlap({"out": out}, {"the rules": Path(rules)}, store=place_of(rules).file)
    write_whole(out, written.rstrip("\n") + "\n")


def verify(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file of learn --out.")],
    store: Annotated[
        str | None, typer.Option(help="The store whose log must have the same bytes.")
    ] = None,
) -> None:
    """Check that each line names its run and number and continues the chain of hashes.

    The exit status is 1 if a line was altered, removed, added, or is unknown to the store.
    """
    try:
        found = examine(path, store, fleet=store is None)
    except AlteredError as fault:
        typer.echo(f"ALTERED: {fault}")
        raise typer.Exit(1) from None
    if found.runs > 1:
        typer.echo(f"{path}: the releases of {found.runs:,} runs are whole")
        return
    typer.echo(f"{path}: releases {found.first} to {found.last} of run {found.run} are whole")
    if found.first > 1:
        typer.echo(f"that release {found.first} follows the earlier ones cannot be seen from here")
    if found.torn:
        typer.echo("the last line is half-written; continuing the run repairs it")
    if store is not None:
        typer.echo(f"{shown(store)} has logged the same, and {found.missing} more")
    typer.echo(f"chain {found.chain.hex()}")
