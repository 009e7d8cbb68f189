"""Run the command line: ``littlestone COMMAND --help``.

A command is a function in its own module, whose signature is that of the command. The module is
imported when the command is used, so that ``--help`` is fast. Exit statuses: 0 success; 1 a
violation or a refuted claim was found, or a repeated game failed; 2 bad usage or a rejected
request, also by the operating system; 3 a bug of this library; 141 nobody reads the output;
128 + n a signal that ended ``learn``.
"""

import gc
import os
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

from littlestone import __version__
from littlestone.errors import LittlestoneError, missing_extra

# Matrix products are small here: threads that wait for each other cost more than they save.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if not os.environ.get("COLUMNS", "1").strip("0"):  # with no width, tables and errors are empty
    del os.environ["COLUMNS"]

_PIPE_CLOSED: Final = 141  # the status that a shell reports for a process ended by a closed pipe


class Command(NamedTuple):
    """The function of a command below this package, its summary, an example and its group."""

    place: str
    line: str
    example: str
    panel: str


_USE = {
    "check": (
        "check:run",
        "Look at a file before anything is spent: what does not fit, and what to add.",
        "check events.csv --schema schema.toml --label late",
    ),
    "learn": (
        "learn:run",
        "Learn from a stream of events and publish a private, updating rule.",
        "learn events.csv --schema schema.toml --label late --store run.db --out rules.jsonl",
    ),
    "predict": (
        "store:predict",
        "Predict with a published rule; spends nothing.",
        "predict rules.jsonl events.csv --out predictions.csv",
    ),
    "export": (
        "store:export",
        "Write a published rule as SQL, Python, a picture or text.",
        "export rules.jsonl --sql",
    ),
    "report": (
        "store:report",
        "Write the one-page HTML report of a store.",
        "report run.db --out report.html",
    ),
    "status": (
        "store:status",
        "Show what a store promises and holds, and its options.",
        "status run.db",
    ),
    "verify": (
        "store:verify",
        "Check a file of published rules, alone or against its store.",
        "verify rules.jsonl --store run.db",
    ),
    "budget": (
        "budget:run",
        "Keep the book of a source of data: what all stores that read it promise together.",
        "budget init book.db --epsilon 3 --delta 1e-5",
    ),
    "serve": (
        "serve:run",
        "Serve durable runs over HTTP to writers and readers.",
        "serve --store runs --port 8000",
    ),
    "fleet": (
        "fleet:app",
        "Run a learner for each of millions of keys, or one blocklist, on PostgreSQL or Spark.",
        "fleet --help",
    ),
    "schema": (
        "schema:run",
        "Write a schema to fill in, from the names of a file's columns.",
        "schema events.csv --without late",
    ),
}
_PLAY = {
    "demo": (
        "play:demo",
        "Show private learners against adaptive adversaries.",
        "demo --rounds 500",
    ),
    "arena": (
        "play:arena",
        "Play the adversary: fool a learner, or tell two worlds apart.",
        "arena",
    ),
    "play": (
        "play:run",
        "Let a learner play against an adversary, once or many times.",
        "play --class thresholds:64 --rounds 2000",
    ),
    "recommend": (
        "classes:recommend",
        "Rank the learners for a class and a budget, and say why.",
        "recommend thresholds:64 --rounds 10000",
    ),
    "bounds": (
        "bounds:run",
        "Print every bound of the paper and of this library, as numbers.",
        "bounds mechanisms",
    ),
    "dimension": (
        "classes:dimension",
        "Print the Littlestone, VC and dual dimensions of a concept class.",
        "dimension thresholds:16",
    ),
    "optimum": (
        "optimum:run",
        "Compute the best private learner of a tiny game, with a certificate.",
        "optimum thresholds:2 --rounds 2",
    ),
    "claims": (
        "claims:run",
        "Examine statements of the paper; exit status 1 if one is refuted.",
        "claims littlestone-mistakes",
    ),
    "classes": ("classes:classes", "List the concept classes, with an example of each.", "classes"),
    "learners": ("classes:learners", "List the learners and the adversaries.", "learners"),
}
_AUDIT = {
    "audit": (
        "audit:run",
        "Play the adaptive two-world game and try to refute a privacy claim (exit status 1).",
        "audit noisy-losses --runs 2000",
    ),
    "sanitize": (
        "sanitize:run",
        "Publish a private synthetic version of a column, good for every concept of a class.",
        "sanitize events.csv --class thresholds:64 --column delay --out synthetic.csv",
    ),
}
COMMANDS = {
    name: Command(*said, panel)
    for panel, commands in {"Use": _USE, "Play and compare": _PLAY, "Audit": _AUDIT}.items()
    for name, said in commands.items()
}
"""The commands, in the order of ``--help``."""

_PUBLISHING = {"learn", "fleet", "serve"}
"""Commands that fail if their output is closed."""


class OnDemand(TyperGroup):
    """List commands by their summaries; import the one that is used."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the command that is used."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, imported(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; report errors of the operating system in one line."""
        try:
            return super().invoke(ctx)
        except OSError as problem:  # typer would turn a broken pipe into an exit status of 1
            if isinstance(problem, BrokenPipeError):
                _stop_writing()
                if ctx.invoked_subcommand not in _PUBLISHING:  # for example, head has read enough
                    raise typer.Exit(_PIPE_CLOSED) from None
            raise LittlestoneError(problem_line(problem)) from problem


def _stop_writing() -> None:
    """Discard what is still buffered: its reader is gone."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def problem_line(problem: OSError) -> str:
    """Return one line about what the operating system rejected, and for which file."""
    what = problem.strerror or str(problem)
    return what if problem.filename is None else f"{what}: {str(problem.filename)!r}"


def imported(name: str) -> Any:
    """Import a command; its help is its summary and the docstring of its function."""
    place, line, example, _ = COMMANDS[name]
    module, _, function = place.partition(":")
    try:
        run = getattr(import_module(f"littlestone.cli.{module}"), function)
    except ModuleNotFoundError as problem:
        needed = missing_extra(problem, name)
        if needed is None:
            raise
        if "--help" not in sys.argv:
            raise needed from None
        typer.echo(f"{line}\n\n{needed}; docs/reference/commands.md has its options.")
        raise typer.Exit from None
    gc.freeze()  # imported objects stay: this saves the garbage collector 60 ms per collection
    if isinstance(run, typer.Typer):  # a group with its own commands
        return get_command(run)
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    text = f"{line}\n\n{cleandoc(run.__doc__)}\n\nExample: littlestone {example}"
    alone.command(name, help=text)(run)
    return get_command(alone)


app = typer.Typer(
    name="littlestone",
    cls=OnDemand,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for _name, _command in COMMANDS.items():
    app.command(_name, help=_command.line, rich_help_panel=_command.panel)(lambda: None)


def print_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        typer.echo(f"littlestone {__version__}")
        raise typer.Exit


@app.callback()
def littlestone(
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Differentially private online learning against an adaptive adversary."""


def _open_standard_streams() -> None:
    """Open the standard streams that are closed, so that no store is opened under their number.

    Nothing can be read from them or printed to them; messages are dropped.
    """
    for name, mode in (("stdin", os.O_WRONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            opened = os.fdopen(os.open(os.devnull, mode), "r" if name == "stdin" else "w")
            setattr(sys, name, opened)


def _report(message: str) -> None:
    """Print a message on standard error, if anyone reads it."""
    with suppress(OSError):
        typer.echo(f"littlestone: {message}", err=True)


def _flush() -> None:
    """Flush the output while a pipe or a file that fails causes no traceback."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _stop_writing()


def main() -> None:
    """Run the command line: print errors as one line on standard error, without a traceback."""
    _open_standard_streams()
    gc.set_threshold(50_000, 20, 20)  # few of the things that rows leave behind are in cycles
    try:
        try:
            app()
        finally:
            _flush()
    except (ValueError, LittlestoneError) as refusal:
        _report(" ".join(str(refusal).split()))
        sys.exit(2)
    except OSError as problem:  # before a command has begun
        _report(problem_line(problem))
        sys.exit(2)
    except Exception as problem:
        if (needed := missing_extra(problem, "this")) is not None:
            _report(str(needed))
            sys.exit(2)
        traceback.print_exc()
        _report("this is a bug; see SECURITY.md before you send data")
        sys.exit(3)


if __name__ == "__main__":
    main()
