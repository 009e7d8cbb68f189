"""Print results: one JSON object or one table; progress bars go to standard error."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich import console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text


class Console(console.Console):
    """A console that leaves a closed pipe to the command line, which knows what it means."""

    def on_broken_pipe(self) -> None:
        """Raise the error that is being handled, in place of exiting with status 1."""
        raise


def print_json(record: Any) -> None:
    """Print one JSON object."""
    print(json.dumps(record))  # noqa: T201


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str | Text]], *, title: str | None = None
) -> None:
    """Print a table."""
    table = Table(*headings, title=title)
    for row in rows:
        table.add_row(*row)
    Console(markup=False).print(table)  # data and declarations are never markup


@contextmanager
def round_bar(total: int, label: str, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a bar over ``total`` rounds; yield a callback that takes the rounds done so far."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    shown: Any = {"console": Console(stderr=True), "transient": True, "disable": quiet}
    with Progress(*columns, TimeRemainingColumn(), **shown) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)
