"""The command line: ``littlestone COMMAND --help``.

A command is a function in a module of its own, whose signature is the command's. The module is
imported when the command is asked for, so that ``--help`` answers at once. Exit statuses: 0 done,
1 a violation or a refuted claim was found or a repeated game failed, 2 bad usage or a refusal, of
the operating system too, 3 a bug of this library, 128 + n a signal that ended ``learn``.
"""

import gc
import os
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from littlestone import __version__
from littlestone.errors import LittlestoneError

# Products of matrices are small here: threads that wait for one another take more than they bring.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

COMMANDS = {
    "dimension": ("dimension:run", "Littlestone, VC and dual dimensions of a concept class."),
    "classes": ("listing:classes", "List the concept classes, with an example of each."),
    "learners": ("listing:learners", "List the learners and the adversaries."),
    "play": ("play:run", "Let a learner play against an adversary, once or many times."),
    "demo": ("demo:run", "The main demonstration: private learners against adaptive adversaries."),
    "audit": (
        "audit:run",
        "Play the adaptive two-world game and try to refute a privacy claim (exit status 1).",
    ),
    "claims": ("claims:run", "Examine statements of the paper; exit status 1 if one is refuted."),
    "recommend": ("recommend:run", "Rank the learners for a class and a budget, and say why."),
    "bounds": ("bounds:run", "Every bound of the paper and of this library, as numbers."),
    "sanitize": (
        "sanitize:run",
        "Publish a private synthetic version of a column, good for every concept of a class.",
    ),
    "learn": (
        "stores.learn:run",
        "Learn from a stream of events and publish a private, updating rule.",
    ),
    "fleet": (
        "stores.fleet:app",
        "A learner for each key, by the million, or one blocklist, in PostgreSQL or on Spark.",
    ),
    "schema": ("stores.template:run", "Write a schema to fill in, from a file's header alone."),
    "serve": ("serve:run", "Durable runs behind HTTP: a service for writers and readers."),
    "arena": ("arena:run", "Play the adversary: fool a learner, or tell two worlds apart."),
    "budget": (
        "stores.budget:run",
        "Keep the book of a source of data: what all stores that read it promise together.",
    ),
    "status": ("stores.looking:status", "What a store promises, holds and was asked for."),
    "report": ("stores.looking:report", "Write the one-page HTML report of a store."),
    "predict": ("stores.predict:run", "Predict with a published rule; spends nothing."),
    "verify": ("stores.verify:run", "Check a file of published rules, alone or against its store."),
}
"""Where each command is, below this package, and what it does in one line."""

EXTRAS = {"serve": "serve", "fleet": "fleet"}
"""What has to be installed besides, for these commands."""


class OnDemand(TyperGroup):
    """Lists commands by their lines above; imports the one that is run or asked for help."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        return name, imported(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except OSError as problem:  # typer would make a broken pipe an exit status of 1
            if isinstance(problem, BrokenPipeError):  # nobody hears what is still to be flushed
                with suppress(OSError):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise LittlestoneError(told(problem)) from problem


def told(problem: OSError) -> str:
    """One line about what the operating system refused, and for which file."""
    what = problem.strerror or str(problem)
    return what if problem.filename is None else f"{what}: {str(problem.filename)!r}"


def imported(name: str) -> Any:
    """The command itself; its help is its line, and then what its function says."""
    place, line = COMMANDS[name]
    module, _, function = place.partition(":")
    try:
        run = getattr(import_module(f"littlestone.cli.{module}"), function)
    except ModuleNotFoundError as missing:
        if name not in EXTRAS or str(missing.name).partition(".")[0] == "littlestone":
            raise
        way_out = f"pip install 'littlestone[{EXTRAS[name]}]' brings it"
        raise LittlestoneError(f"{name} needs {missing.name}: {way_out}") from None
    gc.freeze()  # what was imported stays: no collection need look at it again, for 60 ms each time
    if isinstance(run, typer.Typer):  # with commands of its own
        return get_command(run)
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    alone.command(name, help=f"{line}\n\n{run.__doc__}")(run)
    return get_command(alone)


app = typer.Typer(
    name="littlestone",
    cls=OnDemand,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for _name, (_, _line) in COMMANDS.items():
    app.command(_name, help=_line)(lambda: None)


def tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"littlestone {__version__}")
        raise typer.Exit


@app.callback()
def littlestone(
    version: Annotated[
        bool,
        typer.Option("--version", callback=tell_version, is_eager=True, help="Say which it is."),
    ] = False,
) -> None:
    """Differentially private online learning against an adaptive adversary."""


def main() -> None:
    """Entry point: refusals become one line on standard error, never a traceback."""
    try:
        app()
    except (ValueError, LittlestoneError) as refusal:
        typer.echo(f"littlestone: {' '.join(str(refusal).split())}", err=True)
        sys.exit(2)
    except Exception:
        traceback.print_exc()
        typer.echo("littlestone: this is a bug; see SECURITY.md before you send data", err=True)
        sys.exit(3)


if __name__ == "__main__":
    main()
