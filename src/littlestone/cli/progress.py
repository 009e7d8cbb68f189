"""Show the progress of ``learn``: a table on a terminal, whole lines elsewhere."""

import json
import time
from contextlib import AbstractContextManager
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.lines import Position
from littlestone.runs.learning import Tally

SECONDS_BETWEEN_LINES: Final = 10.0


class Progress(AbstractContextManager["Progress"]):
    """Show progress to the owner: none of it is published."""

    def __init__(self, console: Console, durable: DurableRun, position: Position) -> None:
        self._console, self._durable, self._position = console, durable, position
        self._before = durable.rounds
        self._started = self._printed = time.monotonic()
        self._live = Live(console=console, refresh_per_second=4) if console.is_terminal else None

    def __enter__(self) -> "Progress":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, tally: Tally) -> None:
        """Update the table, or print a line from time to time."""
        if self._live is not None:
            self._live.update(self._table(tally))
        elif time.monotonic() - self._printed >= SECONDS_BETWEEN_LINES:
            self._printed = time.monotonic()
            self._console.print(f"round {self._durable.rounds:,}, {self._pace()}{self._left()}")

    def _pace(self) -> str:
        seconds = max(time.monotonic() - self._started, 1e-9)
        return f"{(self._durable.rounds - self._before) / seconds:,.0f} a second"

    def _left(self) -> str:
        """Return how much of a file is read, and the estimated time left."""
        fraction = self._position.fraction
        if not fraction:
            return ""
        seconds = (time.monotonic() - self._started) * (1 - fraction) / fraction
        minutes, rest = divmod(round(seconds), 60)
        return f", {fraction:.0%} read, about {f'{minutes} min ' if minutes else ''}{rest} s left"

    def _table(self, tally: Tally) -> Table:
        durable = self._durable
        table = Table.grid(padding=(0, 2))
        rule = json.loads(durable.newest.body)["rule"]
        table.add_row("round", f"{durable.rounds:,}", f"{self._pace()}{self._left()}")
        table.add_row("published", Text(rule[:100]))  # no markup: rules quote declared values
        table.add_row("mistakes", f"{durable.mistakes:,}", "(yours to see, not published)")
        table.add_row("rejected rows", f"{tally.rejected:,}", "(not published)")
        table.add_row("paid by an example", str(durable.run.ledger.spent()))
        return table
