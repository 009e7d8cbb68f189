"""``littlestone learn`` and the files around it: what it refuses, it leaves as it was."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from littlestone.cli.main import main
from littlestone.runs.durable import DurableRun

FIXED = ("--class", "thresholds:60", "--learner", "private-majority", "--rounds", "1000")
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Some inputs, in the current folder."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{x},{int(x >= 20)}\n" for x in range(60))
    Path("events.csv").write_text("delay,late\n" + rows)
    Path("schema.toml").write_text("[delay]\ngrid = [10, 20, 30]\n")
    return tmp_path


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The status, what was printed, and what was said, of a command as the shell runs it."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["littlestone", *words])
        capsys.readouterr()
        try:
            main()
        except SystemExit as end:
            assert isinstance(end.code, int)
            return (end.code, *capsys.readouterr())
        raise AssertionError("main always exits")

    return run


def learn(*words: str, source: str = "events.csv", store: str = "run.db") -> tuple[str, ...]:
    columns = ("--feature", "delay", "--label", "late", "--store", store)
    return ("learn", source, *FIXED, *columns, *words)


def contents() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


def a_sentence(said: str) -> bool:
    """One line for the refusal, and nothing of Python."""
    lines = [line for line in said.splitlines() if line.startswith("littlestone: ")]
    return len(lines) == 1 and "Traceback" not in said


REFUSED = {
    "no such column": learn("--label", "lte"),
    "no such id": learn("--id", "flight"),
    "no such feature": learn("--feature", "dealy"),
    "no such file": learn(source="nothing.csv"),
    "a folder": learn(source="folder.csv"),
    "an empty file": learn(source="empty.csv"),
    "not a known ending": learn(source="events.dat"),
    "no Parquet": learn(source="broken.parquet"),
    "not UTF-8": learn(source="latin.csv"),
    "no such learner": learn("--learner", "nobody"),
    "not private": learn("--learner", "soa"),
    "no such class": learn("--class", "nothing:3"),
    "empty group": learn("--group", "0"),
    "a pipe of whom nobody says who chooses it": learn("--learner", "auto", source="-"),
    "foreign out": learn("--out", "notes.txt"),
    "foreign out without a line end": learn("--out", "note.txt"),
    "out over the input": learn("--out", "events.csv"),
    "out over the input by another name": learn("--out", "./link.csv"),
    "out over the store": learn("--out", "run.db"),
    "out over the mark": learn("--out", "run.db.mark"),
    "out is a folder": learn("--out", "folder.csv"),
    "out in no folder": learn("--out", "nowhere/rules.jsonl"),
    "report over the input": learn("--report", "events.csv"),
    "report over the store": learn("--report", "run.db"),
    "report over out": learn("--out", "rules", "--report", "rules"),
    "report in no folder": learn("--report", "nowhere/report.html"),
    "store in no folder": learn(store="nowhere/run.db"),
    "store is a folder": learn(store="folder.csv"),
    "store is the input": learn(store="events.csv"),
    "store is a foreign file": learn(store="notes.txt"),
    "store is a foreign file, adopted": learn("--adopt", store="notes.txt"),
    "schema missing": ("learn", "events.csv", "--schema", "no.toml", "--label", "late",
                       "--store", "run.db"),
    "schema is no TOML": ("learn", "events.csv", "--schema", "notes.txt", "--label", "late",
                          "--store", "run.db"),
    "schema is binary": ("learn", "events.csv", "--schema", "latin.csv", "--label", "late",
                         "--store", "run.db"),
    "schema is a folder": ("learn", "events.csv", "--schema", "folder.csv", "--label", "late",
                           "--store", "run.db"),
    "a grid beyond all floats": ("learn", "events.csv", "--schema", "huge.toml", "--label", "late",
                                 "--store", "run.db"),
    "report over the schema": ("learn", "events.csv", "--schema", "schema.toml", "--label", "late",
                               "--store", "run.db", "--report", "schema.toml"),
    "report over the class": learn("--class", "stumps:schema.toml", "--report", "schema.toml"),
    "a column of the schema is missing": ("learn", "events.csv", "--schema", "more.toml",
                                          "--label", "late", "--store", "run.db"),
    "verify what is not there": ("verify", "nothing.jsonl"),
    "verify a folder": ("verify", "folder.csv"),
    "verify without a store": ("verify", "events.csv", "--store", "run.db"),
    "sanitize what is not there": ("sanitize", "no.csv", "--class", "points", "--out", "x.csv"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_a_refused_command_leaves_everything_as_it_was(
    folder: Path, command: Command, what: str
) -> None:
    Path("more.toml").write_text("[delay]\ngrid = [10, 20]\n[hour]\ngrid = [5, 9]\n")
    Path("huge.toml").write_text(f"[delay]\ngrid = [1, 1{'0' * 400}]\n")
    Path("notes.txt").write_text("precious notes\n")
    Path("note.txt").write_text("precious note")
    Path("events.dat").write_text("delay,late\n3,1\n")
    Path("empty.csv").touch()
    Path("latin.csv").write_bytes("delay,late,größe\n3,1,2\n".encode("latin-1"))
    Path("broken.parquet").write_bytes(b"PAR1 and nothing else")
    Path("folder.csv").mkdir()
    Path("link.csv").symlink_to("events.csv")
    before = contents()
    status, _, said = command(*REFUSED[what])
    assert status == 2, said
    assert a_sentence(said), said
    assert contents() == before


def test_what_it_publishes_is_found_whole(folder: Path, command: Command) -> None:
    assert command(*learn("--out", "rules.jsonl"))[0] == 0
    status, printed, _ = command("verify", "rules.jsonl")
    assert status == 0 and "are whole" in printed
    status, printed, _ = command("verify", "rules.jsonl", "--store", "run.db")
    assert status == 0 and "logged the same, and 0 more" in printed
    Path("rules.jsonl").write_bytes(Path("rules.jsonl").read_bytes().replace(b"rule", b"role"))
    status, printed, _ = command("verify", "rules.jsonl")
    assert status == 1 and "ALTERED: line 1" in printed


def test_a_device_takes_what_is_published(folder: Path, command: Command) -> None:
    assert command(*learn("--out", "/dev/null"))[0] == 0
    assert command(*learn("--out", "/dev/null"))[0] == 0


def test_a_report_takes_the_place_of_the_last_one(folder: Path, command: Command) -> None:
    Path("report.html").write_text("the last one")
    assert command(*learn("--report", "report.html"))[0] == 0
    assert "What was learned" in Path("report.html").read_text(encoding="utf-8")
    assert Path("report.html").stat().st_mode & 0o777 == 0o600
    assert {path.name for path in folder.iterdir()} == {
        "events.csv", "schema.toml", "run.db", "run.db.mark", "report.html",
    }  # fmt: skip


def test_adopting_says_what_it_means(folder: Path, command: Command) -> None:
    assert command(*learn())[0] == 0
    Path("run.db.mark").unlink()
    status, _, said = command(*learn())
    assert status == 2 and a_sentence(said) and "--adopt" in said
    status, _, said = command(*learn("--adopt", "--quiet"))
    assert status == 0 and "same noise is spent on two streams" in said
    status, _, said = command(*learn("--adopt"))
    assert status == 0 and "adopted" not in said  # the mark speaks for it again


def test_a_store_put_back_with_its_mark_is_refused(folder: Path, command: Command) -> None:
    lines = Path("events.csv").read_text().splitlines(keepends=True)
    Path("first.csv").write_text("".join(lines[:3]))
    assert command(*learn("--out", "rules.jsonl", "--epsilon", "8", source="first.csv"))[0] == 0
    kept = {name: Path(name).read_bytes() for name in ("run.db", "run.db.mark")}
    Path("many.csv").write_text("delay,late\n" + "".join(lines[1:]) * 15)
    more = ("--out", "rules.jsonl", "--epsilon", "8", "--source", "many.csv")
    assert command(*learn(*more, source="many.csv"))[0] == 0
    published = Path("rules.jsonl").read_bytes()
    assert published.count(b"\n") > 1
    for name, content in kept.items():
        Path(name).write_bytes(content)
    status, _, said = command(*learn("--out", "rules.jsonl", "--epsilon", "8"))
    assert status == 2 and a_sentence(said) and "the store was rolled back" in said
    assert Path("rules.jsonl").read_bytes() == published
    assert {name: Path(name).read_bytes() for name in kept} == kept  # no branch was begun


def test_a_new_store_does_not_continue_the_file_of_another(folder: Path, command: Command) -> None:
    assert command(*learn("--out", "rules.jsonl"))[0] == 0
    status, _, said = command(*learn("--out", "rules.jsonl", store="new.db"))
    assert status == 2 and "whose store is missing" in said
    assert not Path("new.db").exists()


@pytest.mark.parametrize("harm", ["cut", "header", "middle", "mark"])
def test_a_damaged_store_is_one_sentence(folder: Path, command: Command, harm: str) -> None:
    assert command(*learn())[0] == 0
    content = bytearray(Path("run.db").read_bytes())
    if harm == "cut":
        del content[5000:]
    elif harm == "header":
        content[3] ^= 1
    elif harm == "middle":
        content[4096:8192] = os.urandom(4096)
    else:
        Path("run.db.mark").write_text("nonsense")
    Path("run.db").write_bytes(content)
    status, _, said = command(*learn())
    assert status == 2 and a_sentence(said), said


def exit_status_into(writing: int, said: Path, *words: str) -> int:
    """Of a process whose standard output is ``writing``; forked, since imports take seconds."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            os.dup2(writing, 1)
            sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
            sys.stderr = said.open("w")
            sys.argv = ["littlestone", *words]
            main()
        except SystemExit as end:
            sys.stdout.flush()  # as at the end of every process
            sys.stderr.close()
            status = int(end.code or 0)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_reader_who_goes_away_is_one_sentence(folder: Path) -> None:
    """A broken pipe is no violation: its status is 2, too."""
    reading, writing = os.pipe()
    os.close(reading)
    status = exit_status_into(writing, Path("said"), *learn("--quiet"))
    os.close(writing)
    said = Path("said").read_text()
    assert status == 2 and a_sentence(said) and "Broken pipe" in said, said


def test_a_full_disk_is_one_sentence(folder: Path, command: Command) -> None:
    status, _, said = command(*learn("--out", "/dev/full"))
    assert status == 2 and a_sentence(said) and "No space left" in said
    status, _, _ = command(*learn("--out", "rules.jsonl"))  # and the store goes on
    assert status == 0
    assert json.loads(Path("rules.jsonl").read_bytes().splitlines()[0])["release"] == 1


def test_a_copied_folder_is_two_stores(folder: Path, command: Command) -> None:
    assert command(*learn("--out", "rules.jsonl"))[0] == 0
    shutil.copytree(folder, folder / "copy")
    os.chdir(folder / "copy")
    status, _, said = command(*learn("--out", "rules.jsonl"))
    assert status == 2 and "is a copy of what" in said


def test_a_book_lets_in_what_fits_and_nothing_is_left_of_what_does_not(
    folder: Path, command: Command
) -> None:
    assert command("budget", "init", "data.book", "--epsilon", "2.5")[0] == 0
    for store in ("one.db", "two.db"):
        out = ("--out", f"{store}.jsonl", "--book", "data.book")
        assert command(*learn(*out, store=store))[0] == 0
    before = contents()
    status, _, said = command(
        *learn("--book", "data.book", "--out", "three.jsonl", store="three.db")
    )
    assert status == 2 and a_sentence(said) and "no room for ε = 1" in said
    assert contents() == before
    for store in ("one.db", "two.db"):  # continued: costs nothing
        out = ("--out", f"{store}.jsonl", "--book", "data.book")
        assert command(*learn(*out, store=store))[0] == 0
    shown = json.loads(command("budget", "show", "data.book", "--json")[1])
    assert shown["promised"] == {"epsilon": 2.0, "delta": 0.0}
    assert [entry["opened"] for entry in shown["stores"]] == [True, True]
    status, _, said = command(*learn("--out", "one.db.jsonl", store="one.db"))
    assert status == 2 and "give it with --book" in said


def crash_before_creation(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Budget is reserved in a book, and then the power fails."""
    assert command("budget", "init", "data.book", "--epsilon", "1")[0] == 0
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(DurableRun, "start", lambda *told, **named: os._exit(7))
        command(*learn("--book", "data.book"))
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_crash_before_creation_leaves_a_reservation_for_the_same_store(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash_before_creation(command, monkeypatch)
    assert "reserved" in command("budget", "show", "data.book")[1]
    assert command(*learn("--book", "data.book", store="other.db"))[0] == 2
    assert command(*learn("--book", "data.book", "--out", "rules.jsonl"))[0] == 0
    assert "reserved" not in command("budget", "show", "data.book")[1]


TOO_MANY = ("--schema", "grids.toml", "--label", "late", "--adversary", "adaptive", "--rounds", "9")


@pytest.mark.parametrize("words", [
    ("learn", "events.csv", *TOO_MANY, "--store", "run.db"),  # a learner that cannot start
    learn(store="nowhere/run.db"),
])  # fmt: skip
def test_whatever_fails_before_a_store_reads_gives_its_reservation_back(
    folder: Path, command: Command, words: tuple[str, ...]
) -> None:
    Path("grids.toml").write_text("[delay]\ngrid = [1, 2]\n")
    assert command("budget", "init", "data.book", "--epsilon", "1", "--delta", "1e-6")[0] == 0
    status, _, said = command(*words, "--book", "data.book")
    assert status == 2 and a_sentence(said) and "no room" not in said
    assert json.loads(command("budget", "show", "data.book", "--json")[1])["stores"] == []
    assert command(*learn("--book", "data.book", "--out", "rules.jsonl"))[0] == 0


def test_only_a_reservation_is_given_back(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash_before_creation(command, monkeypatch)
    shown = command("budget", "return", "data.book", "--store", "run.db")
    assert shown[0] == 0 and "ε = 0 is promised to 0 stores" in shown[1]
    assert command(*learn("--book", "data.book", "--out", "a", store="other.db"))[0] == 0
    for words in (("--store", "other.db"), ("--store", "run.db"), ()):
        status, _, said = command("budget", "return", "data.book", *words)
        assert status == 2 and a_sentence(said)
    assert "no room for" in command(*learn("--book", "data.book", "--out", "b"))[2]


def test_who_chooses_the_events_decides_the_learner(folder: Path, command: Command) -> None:
    """A file was fixed beforehand; against someone who reads the rules another learner is used."""
    for words, name in (((), "DisjointBatches"), (("--adversary", "adaptive"), "AgnosticFinite")):
        said = command(*learn("--learner", "auto", *words, "--out", name, store=f"{name}.db"))[2]
        assert said.startswith(f"{name}, for {'adaptive' if words else 'oblivious'} streams")


def test_baselines_are_for_the_owner_alone(folder: Path, command: Command) -> None:
    words = ("--learner", "auto", "--out", "rules.jsonl", "--report", "page.html")
    status, published, said = command(*learn(*words))
    assert status == 0 and not published
    assert "always 1: 20 mistakes (the best constant)" in said
    assert "the best of all rules of the class: 0 mistakes" in said
    (made,) = re.findall(r"([0-9]+) mistakes; for your eyes only", said)
    assert (int(made) > 20) == ("WARNING" in said)
    assert "mistakes" not in Path("rules.jsonl").read_text()
    page = Path("page.html")
    assert "always 1: 20 mistakes" in page.read_text() and page.stat().st_mode & 0o777 == 0o600
