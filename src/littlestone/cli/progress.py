"""Progress bars go to standard error, so that output can be piped."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def round_bar(
    total: int, label: str, *, quiet: bool = False
) -> Iterator[Callable[[int], None] | None]:
    """A bar over ``total`` rounds; gives a callback that takes the rounds done so far."""
    if quiet:
        yield None
        return
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(label, total=total)

        def advance(done: int) -> None:
            bar.update(task, completed=done)

        yield advance
