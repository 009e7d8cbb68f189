"""The command ``littlestone verify`` checks a file of published rules."""

from pathlib import Path
from typing import Annotated

import typer

from littlestone.service.published import AlteredError, examine


def run(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="What learn --out has written.")],
    store: Annotated[
        Path | None, typer.Option(help="The store that should have logged the same bytes.")
    ] = None,
) -> None:
    """Each line names its run and number and is tied to all before it by a hash.

    Exit status 1 if a line was altered, removed, added, or is unknown to the store.
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
        typer.echo("the last line is half-written; the run mends it when it is continued")
    if store is not None:
        typer.echo(f"{store} has logged the same, and {found.missing} more")
    typer.echo(f"chain {found.chain.hex()}")
