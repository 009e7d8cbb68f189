"""Progress is whole lines where there is no terminal, and tells how much of a file is left."""

import gzip
import io
from pathlib import Path

import pytest
from rich.console import Console

from littlestone.cli import progress
from littlestone.cli.progress import Progress
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.intake.form import Form
from littlestone.runs.intake.lines import Position
from littlestone.runs.intake.sources import rows
from littlestone.runs.learning import Tally

RECIPE = PrivateMajority(concepts=Thresholds(8), rounds=100, epsilon=1.0)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_how_much_of_a_file_was_read(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"rows{ending}"
    content = "x\n" + "".join(f"{row}\n" for row in range(100_000))
    path.write_bytes(gzip.compress(content.encode()) if ending.endswith("gz") else content.encode())
    position = Position()
    assert position.fraction is None
    found = rows(str(path), ["x"], Form(), io.BytesIO(), position)
    seen: list[float | None] = []
    for line, _ in found:
        if line % 10_000 == 1:
            seen.append(position.fraction)
    assert all(one is not None for one in seen)
    assert seen == sorted(seen, key=lambda one: one or 0) and 0.3 < (seen[4] or 0) < 0.8
    assert position.fraction == 1.0


@pytest.mark.parametrize("terminal", [False, True])
def test_lines_are_whole_where_there_is_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    said = io.StringIO()
    console = Console(file=said, force_terminal=terminal, width=200, markup=False, highlight=False)
    path = tmp_path / "rows.csv"
    path.write_text("x\n1\n2\n")
    position = Position()
    run = DurableRun.start(RECIPE, tmp_path / "run.db")
    with Progress(console, run, position) as shown, path.open("rb") as file:
        position.follow(file)
        file.read(3)
        run.take([Event("a", 3, 1)])
        shown.show(Tally())
    console.print("the end")
    run.close()
    text = said.getvalue()
    assert "50% read, about 0 s left" in text and text.endswith("the end\n")
    if not terminal:
        assert "\x1b" not in text and len(text.splitlines()) == 2
