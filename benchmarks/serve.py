"""The service under load, beside bare SQLite on the same disk in the same run.

The clients are one process of their own that speaks HTTP by hand, so that what is measured is the
service; it shares two cores with them.
"""

import asyncio
import hashlib
import json
import os
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from littlestone.http.client import Client
from littlestone.http.service import Role, Tokens
from littlestone.runs.intake.users import CountedUsers
from littlestone.runs.journal.run_log import read_progress

Row = tuple[str, str, str, bool | None]
CONCEPTS = {"concepts": "thresholds:1024", "rounds": 10**7, "epsilon": 1.0, "setting": "realizable"}


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        alone, grouped = _bare(Path(folder) / "bare.db")
        yield "bare SQLite, a commit for each event", f"{alone:,.0f} events/s", "", None
        yield "bare SQLite, groups of 64", f"{grouped:,.0f} events/s", "", None
        with _service(Path(folder) / "runs") as (url, token, process):
            with Client(url, token) as client:
                client.create("load", **CONCEPTS)
            for clients, size, seconds in ((64, 1, 8.0), (1, 1, 4.0), (8, 100, 6.0)):
                yield from _rows(url, token, process, clients, size, seconds)
            yield _readers(url, token, 500)
        yield _recovery(Path(folder) / "runs", "load")
        with _service(Path(folder) / "counting") as (url, token, process):
            with Client(url, token) as client:
                client.create("load", **CONCEPTS)
                client.create("counted", **CONCEPTS, user="user")
            yield _counting(url, token, process)
        yield _bytes_of_a_user(1_000_000)
        yield _recovery(Path(folder) / "counting", "counted")


def _rows(
    url: str, token: str, process: Any, clients: int, size: int, seconds: float
) -> Iterator[Row]:
    """Events in a second; beside it the service's own processor time, whatever else is running."""
    before = _processor_seconds(process.pid)
    rate, slow = _load(url, token, "load", clients, size, seconds)
    each = 1e6 * (_processor_seconds(process.pid) - before) / (rate * seconds)
    what = f"{clients} clients × {size} event{'s' * (size > 1)}"
    least = {(64, 1): 5_000, (8, 100): 50_000}.get((clients, size))
    if least is None:
        yield what, f"{rate:,.0f} events/s ({each:.0f} µs of CPU each)", "", None
    else:
        told = f"{rate:,.0f} events/s ({each:.0f} µs of CPU each)"
        yield what, told, f">= {least:,}", rate >= least
    most = {(64, 1): 40.0, (1, 1): 1.5}.get((clients, size))
    if most is not None:
        yield f"{what}: 99th percentile", f"{slow:.2f} ms", f"<= {most:g} ms", slow <= most


def _counting(url: str, token: str, process: Any) -> Row:
    """The same load with users and without, in turns; nearly every event is of another user.

    Compared is the service's own processor time for an event: the clients take turns with it.
    """
    costs: dict[str, list[float]] = {"load": [], "counted": []}
    rates: dict[str, list[float]] = {"load": [], "counted": []}
    for run in ("load", "counted") * 5:
        before = _processor_seconds(process.pid)
        rate, _ = _load(url, token, run, 8, 100, 3.0)
        costs[run].append((_processor_seconds(process.pid) - before) / (3.0 * rate))
        rates[run].append(rate)
    plain, counted = (1e6 * statistics.median(costs[run]) for run in ("load", "counted"))
    told = f"{counted / plain:.2f}x: {counted:.1f} µs beside {plain:.1f} µs"
    told += f" ({max(rates['counted']):,.0f} events/s beside {max(rates['load']):,.0f})"
    return "8 clients × 100 events, users counted", told, "<= 1.3x", counted <= 1.3 * plain


def _processor_seconds(process: int) -> float:
    """What the operating system has charged a process, in user and in system mode."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _bytes_of_a_user(users: int) -> Row:
    """What is held in memory after so many users came, each with one event."""
    counted, secret = CountedUsers(most=1), os.urandom(32)
    names = (b"%d" % number for number in range(users))
    digests = (hashlib.blake2b(name, key=secret, digest_size=16).digest() for name in names)
    assert sum(map(counted.add, digests)) == 0
    parts = ("tags", "rests", "counts", "starts")
    layers = (counted._young, counted._old)
    held = sum(getattr(layer, part).nbytes for layer in layers for part in parts)
    held += sys.getsizeof(counted._recent) + sum(map(sys.getsizeof, counted._recent))
    each = held / users
    return f"memory for each of {users:,} users", f"{each:.1f} bytes", "<= 16 bytes", each <= 16


@contextmanager
def _service(folder: Path) -> Iterator[tuple[str, str, Any]]:
    """A service in a process of its own, ready; its address and its owner's token."""
    tokens, made = Tokens.fresh()
    file = folder.parent / f"tokens-{os.getpid()}-{time.monotonic_ns()}"
    tokens.save(file)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "littlestone.cli.main", "serve", "--store", str(folder)]
    process = subprocess.Popen([*command, "--port", str(port), "--token-file", str(file)])
    url = f"http://127.0.0.1:{port}"
    try:
        with Client(url, patience=60) as client:
            client._json("GET", "/health")
        yield url, made[Role.OWNER], process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _bare(path: Path) -> tuple[float, float]:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE events (id TEXT PRIMARY KEY, body TEXT)")
    rates = []
    for size in (1, 64):
        done, started = 0, time.perf_counter()
        while time.perf_counter() - started < 2.0:
            db.execute("BEGIN IMMEDIATE")
            rows = [(f"{size}-{done + place}", "[17,1]") for place in range(size)]
            db.executemany("INSERT INTO events VALUES (?, ?)", rows)
            db.execute("COMMIT")
            done += size
        rates.append(done / (time.perf_counter() - started))
    db.close()
    return rates[0], rates[1]


def _load(
    url: str, token: str, run: str, clients: int, size: int, seconds: float
) -> tuple[float, float]:
    """Events a second, and the 99th percentile of a request in milliseconds."""
    words = [url, run, str(clients), str(size), str(seconds)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.serve", *words],
        env=os.environ | {"TOKEN": token},
        capture_output=True,
        check=True,
    )
    found = json.loads(done.stdout)
    return found["rate"], found["slow"]


async def _clients(url: str, run: str, clients: int, size: int, seconds: float) -> None:
    host, _, port = url.removeprefix("http://").partition(":")
    head = f"POST /runs/{run}/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer "
    head += f"{os.environ['TOKEN']}\r\nContent-Type: application/json\r\nContent-Length: "
    times: list[float] = []
    until = time.perf_counter() + seconds

    async def one(number: int) -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        sent = 0
        while time.perf_counter() < until:
            names = [f"{os.getpid()}-{number}-{sent + place}" for place in range(size)]
            users = [f',"user":"{name}"' if run == "counted" else "" for name in names]
            events = [
                f'{{"id":"{name}","x":{(sent * 7) % 1024},"y":1{user}}}'
                for name, user in zip(names, users, strict=True)
            ]
            body = events[0] if size == 1 else f'{{"events":[{",".join(events)}]}}'
            started = time.perf_counter()
            writer.write(f"{head}{len(body)}\r\n\r\n{body}".encode())
            answer = await reader.readuntil(b"\r\n\r\n")
            length = answer.lower().partition(b"content-length: ")[2].partition(b"\r")[0]
            await reader.readexactly(int(length))
            times.append(time.perf_counter() - started)
            assert answer.startswith(b"HTTP/1.1 200"), answer
            sent += size
        writer.close()

    started = time.perf_counter()
    await asyncio.gather(*map(one, range(clients)))
    rate = size * len(times) / (time.perf_counter() - started)
    times.sort()
    print(json.dumps({"rate": rate, "slow": 1000 * times[int(0.99 * (len(times) - 1))]}))


def _readers(url: str, token: str, readers: int) -> Row:
    """How many event streams get the newest release after something was published."""

    async def all_of_them() -> float:
        host, _, port = url.removeprefix("http://").partition(":")
        request = f"GET /runs/keys/releases HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer "
        request += f"{token}\r\nAccept: text/event-stream\r\n\r\n"
        ready = asyncio.Semaphore(0)

        async def one() -> None:
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(request.encode())
            await reader.readuntil(b"id: 1\n")
            ready.release()
            await reader.readuntil(b"id: 2\n")
            writer.close()

        tasks = [asyncio.create_task(one()) for _ in range(readers)]
        for _ in range(readers):
            await ready.acquire()
        started = time.perf_counter()
        with Client(url, token) as client:
            await asyncio.to_thread(client.send_many, "keys", [("k", 1)] * 100)
        await asyncio.gather(*tasks)
        return time.perf_counter() - started

    with Client(url, token) as client:
        client.create("keys", concepts="keys", rounds=10**6, epsilon=1.0, delta=1e-6)
    took = asyncio.run(all_of_them())
    return f"{readers} event streams hear of a release", f"all, in {took:.2f} s", "all", True


def _recovery(folder: Path, run: str) -> Row:
    """From the start of a process that was killed until all of its runs answer."""
    with _service(folder) as (url, token, process):
        _load(url, token, run, 64, 1, 4.0)
        process.kill()
        process.wait()
    rounds, _ = read_progress(folder / run / "store")
    # The interpreter's own start is not recovery: what follows it is.
    script = (
        "import time, asyncio; from pathlib import Path\n"
        "from littlestone.http.hosted import Runs\n"
        "async def go():\n"
        f"    runs = Runs(Path({str(folder)!r})); runs.open_all()\n"
        "    for run in runs.hosted.values(): await run.thread.ready()\n"
        "    print(time.perf_counter() - started); await runs.close()\n"
        "started = time.perf_counter(); asyncio.run(go())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    seconds = float(done.stdout)
    what = f"recovery after a kill, {rounds:,} rounds"
    if run == "counted":  # and nearly as many users, who are counted again from the log
        return f"{what}, users counted", f"{seconds:.2f} s", "", None
    return what, f"{seconds:.2f} s", "<= 1 s", seconds <= 1.0


if __name__ == "__main__":
    address, name, *sizes = sys.argv[1:]
    asyncio.run(_clients(address, name, int(sizes[0]), int(sizes[1]), float(sizes[2])))
