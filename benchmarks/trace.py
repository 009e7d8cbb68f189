"""How much code one event passes through: functions, files and changes of room, by tracing it.

Each door is warmed up, then one further event is traced from where it enters to where its answer
is ready. Counted are distinct functions (comprehensions and lambdas are parts of theirs) and files
of the library, and how often a call is in another room (the first folder below ``littlestone``)
than the call before it.
"""

import importlib.util
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import littlestone
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.form import Form
from littlestone.runs.intake.readers import Columns, read_blocks, singly
from littlestone.runs.learning import Publisher, learn

Row = tuple[str, str, str, bool | None]
HOME = str(Path(littlestone.__file__).parent) + os.sep
RECIPE = PrivateMajority(concepts=Thresholds(64), rounds=10_000, epsilon=8.0)
WARM = 200
SHOWN = "SHOW" in os.environ


class Trace:
    """The calls of the library while it is on, in their order, of the threads that it is on in."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        function = frame.f_code.co_qualname
        if event == "call" and name.startswith(HOME) and not function.endswith(">"):
            self.calls.append((name.removeprefix(HOME), function))

    @contextmanager
    def on(self) -> Iterator[None]:
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)

    def counts(self) -> tuple[int, int, int]:
        rooms = [file.split(os.sep)[0] for file, _ in self.calls]
        changes = sum(one != other for one, other in pairwise(rooms))
        return len(set(self.calls)), len({file for file, _ in self.calls}), changes


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield _row("littlestone learn, a row of a CSV file", _learn(Path(folder)), (35, 12, None))
        yield _row("an event over HTTP", _http(Path(folder)), (50, 15, 8))
        if importlib.util.find_spec("psycopg") is not None:
            yield from _fleet(Path(folder))


def _row(what: str, trace: Trace, most: tuple[int, int, int | None]) -> Row:
    found = trace.counts()
    if SHOWN:
        print(what, *(f"  {file} {name}" for file, name in trace.calls), sep="\n")
    reached = all(limit is None or count <= limit for count, limit in zip(found, most, strict=True))
    asked = f"<= {most[0]} / {most[1]}" + ("" if most[2] is None else f" / {most[2]}")
    return f"{what}: functions / files / rooms", "{} / {} / {}".format(*found), asked, reached


def _learn(folder: Path) -> Trace:
    source = folder / "events.csv"
    rows = [f"e{n},{37 * n % 64},{int(37 * n % 64 >= 23)}" for n in range(WARM + 3)]
    source.write_text("\n".join(["id,x,y", *rows]) + "\n")
    run = DurableRun.start(RECIPE, folder / "learn.db")
    columns = Columns(label="y", feature="x", identity="id")
    items = read_blocks(
        str(source), RECIPE.concepts, columns, standard_input=sys.stdin.buffer, form=Form()
    )
    events = iter(singly(items))
    trace = Trace()

    def watched() -> Iterator[Any]:
        for number in range(WARM + 3):
            if number == WARM:
                sys.setprofile(trace)
            item = next(events)
            yield item
            if number == WARM:
                sys.setprofile(None)

    with open(os.devnull, "wb") as nowhere:
        learn(run, watched(), Publisher(nowhere), group=1)
    run.close()
    return trace


def _http(folder: Path) -> Trace:
    from tests.unit.http.served import serving  # noqa: PLC0415 (a server in a thread)

    trace, idle = Trace(), Trace()
    watching = [idle]
    # A hook is for threads that begin later: those of the server, and never the client's.
    threading.setprofile(lambda *call: watching[0](*call))
    try:
        with serving(folder / "served") as served:
            client = served.client()  # which keeps its connection
            client.create("run", concepts="thresholds:64", rounds=10_000, epsilon=8.0)
            for number in range(WARM + 1):
                if number == WARM:
                    watching[0] = trace
                x = 37 * number % 64
                receipt = client.send("run", x, int(x >= 23), id=f"e{number}")
                watching[0] = idle
                assert receipt["round"] == number + 1
    finally:
        threading.setprofile(None)
    return trace


def _fleet(folder: Path) -> Iterator[Row]:
    from tests.fleets import Fleet  # noqa: PLC0415 (it needs psycopg)
    from tests.server import binaries, running  # noqa: PLC0415

    if binaries() is None:
        return
    with tempfile.TemporaryDirectory(prefix="fleet") as home:
        os.chmod(home, 0o755)
        with running(Path(home)) as server:
            fleet = Fleet(server, folder, recipe=RECIPE)
            yield _row("an event of a fleet", _fleet_event(fleet), (50, 12, None))


def _fleet_event(fleet: Any) -> Trace:
    from littlestone.runs.fleet import database  # noqa: PLC0415 (it needs psycopg)

    trace = Trace()
    with database.connect(fleet.server.dsn) as connection:
        worker = fleet.worker(connection)
        for number in range(1, WARM + 1):
            with trace.on() if number == WARM else nullcontext():
                database.put(connection, fleet.recipe, ["shop"], [number], [number % 64], [0])
                assert worker.work() == 1
        worker.mark.close()
    return trace
