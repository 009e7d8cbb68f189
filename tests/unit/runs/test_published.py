"""A published file is continued by its own run only, can be checked, and bears witness."""

import io
import json
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import product
from pathlib import Path

import pytest
from tests.patience import PATIENCE
from typer.testing import CliRunner

from littlestone.cli.main import app
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.errors import RollbackError, StoreError
from littlestone.learners.private_majority.recipe import PrivateMajority
from littlestone.runs.durable import DurableRun
from littlestone.runs.intake.event import Event
from littlestone.runs.learning import Publisher, learn
from littlestone.runs.published import (
    AlteredError,
    examine,
    heartbeat_line,
    parsed,
    recent_rules,
)

RECIPE = PrivateMajority(concepts=Thresholds(64), rounds=10_000, epsilon=2.0)
STREAM = [Event(f"e{i}", 37 * i % 64, int(37 * i % 64 >= 23)) for i in range(900)]


def work(folder: Path, count: int, out: Path | None = None) -> None:
    """Learn from the first events of the stream and publish."""
    store = folder / "run.db"
    opened = DurableRun.resume if store.exists() else DurableRun.start
    # Closed also if there is no publisher: Python 3.13 warns of connections that are not.
    with (
        closing(opened(RECIPE, store)) as run,
        closing(Publisher(folder / "rules.jsonl" if out is None else out)) as publisher,
    ):
        learn(run, STREAM[:count], publisher, group=50)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    work(folder, 900)
    assert (folder / "rules.jsonl").read_bytes().count(b"\n") >= 3
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A store with its mark and what it has published."""
    for path in made.iterdir():
        shutil.copy2(path, tmp_path)
    DurableRun.resume(RECIPE, tmp_path / "run.db", adopt=True).close()
    return tmp_path


def test_every_line_bears_run_number_and_chain(folder: Path) -> None:
    records = [json.loads(line) for line in (folder / "rules.jsonl").read_bytes().splitlines()]
    assert [record["release"] for record in records] == list(range(1, len(records) + 1))
    assert len({record["run"] for record in records}) == 1
    assert len({record["chain"] for record in records}) == len(records)
    assert all(len(record["chain"]) == 64 for record in records)


def test_a_whole_file_is_found_whole(folder: Path) -> None:
    found = examine(folder / "rules.jsonl")
    assert (found.first, found.missing, found.torn) == (1, 0, False)
    assert examine(folder / "rules.jsonl", folder / "run.db") == found
    DurableRun.resume(RECIPE, folder / "run.db").close()  # looking is not continuing


def changed_rule(lines: list[bytes]) -> None:
    lines[1] = lines[1].replace(b'"rule": "', b'"rule": "not ')


def changed_chain(lines: list[bytes]) -> None:
    lines[-1] = lines[-1].replace(b'"chain": "', b'"chain": "0')[:-3] + b'"}\n'


def removed_line(lines: list[bytes]) -> None:
    del lines[1]


def repeated_line(lines: list[bytes]) -> None:
    lines.insert(1, lines[1])


def swapped_lines(lines: list[bytes]) -> None:
    lines[0], lines[1] = lines[1], lines[0]


def another_run(lines: list[bytes]) -> None:
    record = json.loads(lines[-1])
    lines[-1] = lines[-1].replace(record["run"].encode(), b"0" * 32)


def foreign_line(lines: list[bytes]) -> None:
    lines.insert(1, b'{"release": 2}\n')


def renumbered(lines: list[bytes]) -> None:
    lines[1] = lines[1].replace(b'"release": 2,', b'"release": 3,')


CHANGES = [
    changed_rule,
    changed_chain,
    removed_line,
    repeated_line,
    swapped_lines,
    another_run,
    foreign_line,
    renumbered,
]


@pytest.mark.parametrize("change", CHANGES)
def test_an_altered_file_is_noticed_without_the_store(
    folder: Path, change: Callable[[list[bytes]], None]
) -> None:
    path = folder / "rules.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    change(lines)
    path.write_bytes(b"".join(lines))
    with pytest.raises(AlteredError, match=r"line \d+ of"):
        examine(path)


def several_runs(folder: Path) -> list[bytes]:
    """The lines of two runs, mixed, as a fleet publishes them."""
    other = folder / "other"
    other.mkdir()
    work(other, 500)
    both = [(path / "rules.jsonl").read_bytes().splitlines(True) for path in (folder, other)]
    mixed = [line for pair in zip(*both, strict=False) for line in pair]
    mixed += max(both, key=len)[min(map(len, both)) :]
    (folder / "fleet.jsonl").write_bytes(b"".join(mixed))
    return mixed


def test_the_runs_of_a_fleet_may_be_mixed_in_one_file(folder: Path) -> None:
    lines, path = several_runs(folder), folder / "fleet.jsonl"
    found = examine(path, fleet=True)
    assert found.runs == 2 and examine(folder / "rules.jsonl", fleet=True).runs == 1
    with pytest.raises(AlteredError, match="is of run"):
        examine(path)
    said = CliRunner().invoke(app, ["verify", str(path)])
    assert said.exit_code == 0 and "the releases of 2 runs are whole" in said.output
    # Within a run every line counts, wherever the others are.
    for place in range(len(lines)):
        last = {json.loads(line)["run"]: at for at, line in enumerate(lines)}
        if place not in last.values():
            path.write_bytes(b"".join(lines[:place] + lines[place + 1 :]))
            with pytest.raises(AlteredError):
                examine(path, fleet=True)
    path.write_bytes(b"".join(lines[::-1]))
    with pytest.raises(AlteredError):
        examine(path, fleet=True)


def test_every_flipped_byte_of_a_fleet_is_noticed(folder: Path) -> None:
    content, path = b"".join(several_runs(folder)), folder / "fleet.jsonl"
    for place in range(0, len(content) - 1, 13):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(AlteredError):
            examine(path, fleet=True)


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_every_flipped_bit_is_noticed_and_no_other_rule_is_found(folder: Path, every: int) -> None:
    """By ``verify``, and by ``predict``, which checks the chain before it believes a rule."""
    path = folder / "rules.jsonl"
    content = b"".join(path.read_bytes().splitlines(keepends=True)[:3])
    path.write_bytes(content)
    rule, found = recent_rules(path)[-1], []
    assert rule["release"] == 3
    bits = [*product(range(len(content)), range(8))][::every]  # seven is no divisor of eight
    for place, bit in bits:
        flipped = bytes([content[place] ^ 1 << bit])
        path.write_bytes(content[:place] + flipped + content[place + 1 :])
        for read in (examine, recent_rules):
            with suppress(AlteredError):
                read(path)
                found.append((place, bit, read))
    print(f"{len(found)} of {len(bits):,} flipped bits of published rules are accepted")
    assert not found


def test_a_line_that_is_being_written_is_no_rule_yet(folder: Path) -> None:
    path = folder / "rules.jsonl"
    *_, last = lines = path.read_bytes().splitlines(keepends=True)
    for size in range(len(last)):
        path.write_bytes(b"".join(lines[:-1]) + last[:size])
        assert recent_rules(path)[-1]["release"] == len(lines) - 1


def test_a_forged_file_is_noticed_by_the_store(folder: Path) -> None:
    """Whoever computes all hashes anew deceives those who have only the file."""
    other = folder / "other"
    other.mkdir()
    work(other, 300)
    forged, real = other / "rules.jsonl", folder / "rules.jsonl"
    assert examine(forged).first == 1
    with pytest.raises(AlteredError, match="but the store is of"):
        examine(forged, folder / "run.db")
    real.write_bytes(b"".join(real.read_bytes().splitlines(keepends=True)[:2]))
    assert examine(real, folder / "run.db").missing > 0


def test_a_store_put_back_with_its_mark_is_noticed_by_the_file(tmp_path: Path) -> None:
    work(tmp_path, 50)
    kept = {name: (tmp_path / name).read_bytes() for name in ("run.db", "run.db.mark")}
    work(tmp_path, 900)
    before = (tmp_path / "rules.jsonl").read_bytes()
    for name, content in kept.items():  # written over, so that not even the inode tells
        (tmp_path / name).write_bytes(content)
    with pytest.raises(RollbackError, match=r"has release .* rolled back"):
        work(tmp_path, 900)
    assert (tmp_path / "rules.jsonl").read_bytes() == before
    with pytest.raises(AlteredError, match="the store was rolled back"):
        examine(tmp_path / "rules.jsonl", tmp_path / "run.db")


def test_another_history_under_the_same_numbers_is_noticed(folder: Path) -> None:
    path = folder / "rules.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[-1])
    path.write_bytes(lines[-1].replace(record["chain"].encode(), b"a" * 64))
    with pytest.raises(RollbackError, match="a different one"):
        work(folder, 900)


FOREIGN = [
    b"precious notes without a line end",
    b"precious notes\n",
    b"a,b\n1,2\n",
    b'{"release": 7}\n',
    b'{"some": "json"}\n',
    b"\x00\xff\x00",
    b"[" * 100_000 + b"\n",
]


@pytest.mark.parametrize("content", FOREIGN, ids=range(len(FOREIGN)))
def test_a_foreign_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    out = tmp_path / "thesis.txt"
    out.write_bytes(content)
    with pytest.raises((ValueError, StoreError)):
        publisher = Publisher(out)
        publisher.refuse_known()
    with pytest.raises(ValueError, match="out must be"):
        work(tmp_path, 50, out)
    assert out.read_bytes() == content


def test_two_runs_do_not_share_a_file(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    before = (folder / "rules.jsonl").read_bytes()
    with pytest.raises(ValueError, match="must not mix runs"):
        work(other, 50, folder / "rules.jsonl")
    assert (folder / "rules.jsonl").read_bytes() == before


def test_two_runs_do_not_share_a_file_at_the_same_time(tmp_path: Path) -> None:
    one, other = (DurableRun.start(RECIPE, tmp_path / name) for name in ("one", "other"))
    first, second = Publisher(tmp_path / "out"), Publisher(tmp_path / "out")
    first.catch_up(one)
    with pytest.raises(StoreError, match="written by another process"):
        second.catch_up(other)
    first.close()
    for run in (one, other):
        run.close()


@pytest.mark.parametrize("cut", [1, 2, 10, 60])
def test_a_half_written_line_is_mended(folder: Path, cut: int) -> None:
    path = folder / "rules.jsonl"
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    assert cut == 1 or examine(path).torn
    work(folder, 900)
    assert path.read_bytes() == content


def test_a_half_written_first_line_is_mended(folder: Path) -> None:
    path = folder / "rules.jsonl"
    content = path.read_bytes()
    path.write_bytes(content[:9])
    work(folder, 900)
    assert path.read_bytes() == content


def test_a_half_written_line_of_another_history_is_a_witness_too(folder: Path) -> None:
    path = folder / "rules.jsonl"
    content = path.read_bytes()
    for torn in (b'{"hypothesis": {"kind"', b"precious"):
        path.write_bytes(content + torn)
        with pytest.raises(ValueError, match="does not end like one"):
            work(folder, 900)
        assert path.read_bytes() == content + torn


def test_heartbeats_are_ours_and_are_checked(folder: Path) -> None:
    run = DurableRun.resume(RECIPE, folder / "run.db")
    publisher = Publisher(folder / "rules.jsonl")
    publisher.catch_up(run)
    publisher.heartbeat(0.0)
    publisher.close()
    beat = json.loads((folder / "rules.jsonl").read_bytes().splitlines()[-1])
    assert beat.keys() == {"heartbeat", "run", "after", "chain"} and beat["heartbeat"] is True
    torn = heartbeat_line(run=run.identity, after=run.newest)[:30]
    run.close()
    assert examine(folder / "rules.jsonl", folder / "run.db").missing == 0
    whole = (folder / "rules.jsonl").read_bytes()
    (folder / "rules.jsonl").write_bytes(whole + torn)
    work(folder, 900)
    assert (folder / "rules.jsonl").read_bytes() == whole
    (folder / "rules.jsonl").write_bytes(whole.replace(b'"after": ', b'"after": 1'))
    with pytest.raises(AlteredError):
        examine(folder / "rules.jsonl")


def test_a_heartbeat_after_the_first_release_is_whole(tmp_path: Path) -> None:
    run = DurableRun.start(RECIPE, tmp_path / "run.db")
    publisher = Publisher(tmp_path / "rules.jsonl")
    publisher.catch_up(run)
    publisher.heartbeat(0.0)
    publisher.close()
    run.close()
    assert examine(tmp_path / "rules.jsonl", tmp_path / "run.db").last == 1
    content = (tmp_path / "rules.jsonl").read_bytes()
    (tmp_path / "rules.jsonl").write_bytes(content[:-8] + b"00000" + content[-3:])
    with pytest.raises(AlteredError, match="line 2"):
        examine(tmp_path / "rules.jsonl")


def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    work(tmp_path, 100, Path("/dev/null"))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[bytes] = []
    listener = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    listener.start()
    work(tmp_path, 900, pipe)
    listener.join(PATIENCE)
    lines = [parsed(line) for line in heard[0].splitlines()]
    assert len(lines) >= 2 and None not in lines


def test_a_stream_gets_the_same_lines(folder: Path) -> None:
    stream = io.BytesIO()
    run = DurableRun.resume(RECIPE, folder / "run.db")
    Publisher(stream).catch_up(run)
    run.close()
    assert stream.getvalue() == (folder / "rules.jsonl").read_bytes()


def test_very_long_last_lines_are_found(tmp_path: Path) -> None:
    """The end of the file is read in blocks that grow."""
    path = tmp_path / "long"
    chain = b', "chain": "' + b"a" * 64 + b'"}'
    line = b'{"release": 4, "run": "' + b"x" * 300_000 + b'"' + chain
    path.write_bytes(b"\n".join([line] * 3) + b"\n")
    Publisher(path)
    path.write_bytes(b"\n".join([line] * 3) + b"?\n")
    with pytest.raises(ValueError, match="last line"):
        Publisher(path)


def test_an_empty_file_holds_nothing_to_verify(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(ValueError, match="no published line"):
        examine(tmp_path / "empty")
