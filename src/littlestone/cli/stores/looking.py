"""The commands ``status`` and ``report`` open a store with the options that it holds."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from littlestone.cli.stores.choosing import going_on
from littlestone.cli.stores.learn import page_of
from littlestone.errors import InUseError, StoreError
from littlestone.learners.run import PrivateLearner
from littlestone.service.durable import DurableRun
from littlestone.service.outputs import refuse_overlap, write_whole
from littlestone.service.promises.ranges import from_text, promise_with
from littlestone.service.store import read_about, read_log, read_progress
from littlestone.service.store_file import finding_damage

StorePath = Annotated[Path, typer.Argument(metavar="STORE", help="What learn --store has made.")]


def status(
    store: StorePath,
    only_options: Annotated[
        bool, typer.Option("--toml", help="Only the options, as learn --config takes them.")
    ] = False,
) -> None:
    """For its owner: mistakes and rows are not protected. The ledger of a store that is in use is
    not read: that would be to play its run a second time.
    """
    about = read_about(store)
    options = about["options"]
    if only_options and not options:
        raise StoreError(f"{store} does not hold its options: it was not made by littlestone learn")
    if only_options:
        typer.echo(options, nl=False)
        return
    recipe = _recipe(store, about)
    with finding_damage(store):
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
    for name, said in {
        "run": about["identity"],
        "made": f"{about['created']} by littlestone {about['version']}",
        "learner": f"{type(recipe).__name__} for {recipe.concepts}",
        "promise": promise_with(recipe, about.get("users"), ranges),
        "rounds": f"{rounds:,}{limit}; {state}",
        "published": f"{release['release']:,} rules, the last after round {release['round']:,}",
        "rule": release["rule"],
        "mistakes": f"{mistakes:,} (yours to see, not published)",
    }.items():
        typer.echo(f"{name + ':':<11}{said}")
    shown = ["# options", options] if options else []
    typer.echo("\n".join(["", *([ledger, ""] if ledger else []), *shown]), nl=not shown)


def report(
    store: StorePath,
    out: Annotated[Path, typer.Option(help="Where the page goes.")] = Path("report.html"),
) -> None:
    """As learn --report does, without repeating its options."""
    refuse_overlap({"out": out}, {}, store=store)
    with reopened(store, read_about(store)) as durable:
        write_whole(out, page_of(durable))
    typer.echo(f"report: {out}", err=True)


@contextmanager
def reopened(path: Path, about: dict[str, str]) -> Iterator[DurableRun]:
    """The run of a store, by the options that it was made with."""
    durable = DurableRun.resume(_recipe(path, about), path, users=about.get("users"))
    try:
        yield durable
    finally:
        durable.close()


def _recipe(path: Path, about: dict[str, str]) -> PrivateLearner:
    with finding_damage(path):
        return going_on(None, {}, path)(about)
