"""How commands print: one JSON object, or one table."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def print_json(record: Any) -> None:
    print(json.dumps(record))  # noqa: T201


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None
) -> None:
    table = Table(*headings, title=title)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
