"""Print every benchmark beside its target: ``python -m benchmarks [name …]``.

Each module of this folder has ``measure()``, which yields rows (what, measured, target, reached);
``reached`` is None where there is nothing to reach. Rates are compared within one run only.
"""

import importlib
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

MARKS = {True: "[green]yes[/]", False: "[red]no[/]", None: ""}


def main(wanted: list[str]) -> int:
    """Run the wanted modules (all by default); the exit status counts the missed targets."""
    console = Console()
    here = Path(__file__).parent
    names = sorted(path.stem for path in here.glob("*.py") if not path.stem.startswith("_"))
    unknown = [name for name in wanted if name not in names]
    if unknown:
        console.print(f"no benchmark called {unknown[0]!r}; there are: {', '.join(names)}")
        return 2
    missed = 0
    for name in wanted or names:
        table = Table("what", "measured", "target", "reached", title=name, title_justify="left")
        for what, measured, target, reached in importlib.import_module(
            f"benchmarks.{name}"
        ).measure():
            console.print(f"[dim]{name}: {what}: {measured}[/]")
            table.add_row(what, measured, target, MARKS[reached])
            missed += reached is False
        console.print(table)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
