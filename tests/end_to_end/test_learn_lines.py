"""A line counts when its end is there, and a file is known by its rows, not by its name."""

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from littlestone.runs.journal.run_log import read_progress

Command = Callable[..., tuple[int, str, str]]
HEADER, ROWS = "delay,late\n", [f"{x},{int(x >= 20)}\n" for x in (3, 41, 17, 42, 58)]
WORDS = (
    *("--class", "thresholds:60", "--feature", "delay", "--label", "late", "--rounds", "1000"),
    *("--learner", "private-majority", "--out", "rules.jsonl", "--store", "run.db"),
)
NOT_TAKEN = "has no line end and was not taken: it may be half-written"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(name: str, *rows: str) -> str:
    Path(name).write_text(HEADER + "".join(rows))
    return name


def rounds() -> int:
    return read_progress("run.db")[0]


def test_a_half_written_row_is_taken_when_it_is_whole(command: Command) -> None:
    """``58,1`` is on its way; ``5`` and ``58`` would be other people's rows."""
    for cut in range(1, 5):
        status, _, said = command("learn", written("a.csv", *ROWS[:4], ROWS[4][:cut]), *WORDS)
        assert status == 0 and f"line 6 of a.csv {NOT_TAKEN}" in said and "--complete" in said
        assert rounds() == 4
    status, _, said = command("learn", written("a.csv", *ROWS), *WORDS)
    assert status == 0 and NOT_TAKEN not in said and rounds() == 5
    status, _, said = command("learn", written("a.csv", *ROWS, "7,0\n"), *WORDS)
    assert status == 0 and "1 events taken, 5 seen before" in said and rounds() == 6


def test_a_complete_file_needs_no_line_end_and_goes_on(command: Command) -> None:
    whole = ROWS[4].rstrip("\n")
    status, _, said = command("learn", written("a.csv", *ROWS[:4], whole), *WORDS, "--complete")
    assert status == 0 and NOT_TAKEN not in said and rounds() == 5
    assert command("learn", written("a.csv", *ROWS, "7,0\n"), *WORDS)[0] == 0
    assert rounds() == 6
    Path("b.csv").write_text("delay,late")
    status, _, said = command("learn", "b.csv", *WORDS)
    assert status == 2 and "no header line that ends (--complete" in said


@pytest.mark.parametrize("ending", [".jsonl", ".csv.gz"])
def test_lines_of_other_files_count_alike(command: Command, ending: str) -> None:
    source = Path(f"a{ending}")
    if ending == ".jsonl":
        source.write_text('{"delay": 3, "late": 0}\n{"delay": 41, "late": 1}')
    else:
        source.write_bytes(gzip.compress(f"{HEADER}3,0\n4".encode()))
    status, _, said = command("learn", str(source), *WORDS)
    assert status == 0 and NOT_TAKEN in said and rounds() == 1


def test_the_end_of_a_pipe_is_not_the_end_of_a_line() -> None:
    command = [sys.executable, "-m", "littlestone", "learn", "-", *WORDS]
    for more, expected in (((), 1), (("--complete",), 2)):
        ran = subprocess.run(
            [*command, *more], input=f"{HEADER}3,0\n41,1".encode(), capture_output=True, check=True
        )
        assert (NOT_TAKEN.encode() in ran.stderr) == (not more) and rounds() == expected


@pytest.mark.parametrize("how", ["renamed", "copied", "compressed", "grown", "cut off"])
def test_a_file_under_another_name_is_not_read_again_without_a_word(
    command: Command, how: str
) -> None:
    command("learn", written("a.csv", *ROWS), *WORDS)
    if how == "renamed":
        Path("a.csv").rename("b.csv")
    elif how == "compressed":
        Path("b.csv.gz").write_bytes(gzip.compress(Path("a.csv").read_bytes()))
    else:
        written("b.csv", *{"copied": ROWS, "grown": [*ROWS, "7,0\n"], "cut off": ROWS[:3]}[how])
    source = "b.csv.gz" if how == "compressed" else "b.csv"
    before = Path("rules.jsonl").read_bytes()
    status, _, said = command("learn", source, *WORDS)
    assert status == 2 and "like those of 'a.csv', which was read before" in said and rounds() == 5
    assert "give --source a.csv" in said and Path("rules.jsonl").read_bytes() == before
    assert command("learn", source, *WORDS, "--source", "a.csv")[0] == 0
    assert rounds() == 5 + (how == "grown")
    assert command("learn", source, *WORDS, "--source", "other rows")[0] == 0
    assert rounds() == 5 + (how == "grown") + {"grown": 6, "cut off": 3}.get(how, 5)


def test_another_file_is_read_without_a_word(command: Command) -> None:
    """Its first rows may be alike: all that can be compared are."""
    command("learn", written("a.csv", *ROWS), *WORDS)
    assert command("learn", written("b.csv", *ROWS[:4], "7,0\n"), *WORDS)[0] == 0
    assert rounds() == 10
    for name in ("a.csv", "b.csv"):
        status, _, said = command("learn", name, *WORDS)
        assert status == 0 and "0 events taken, 5 seen before" in said


def test_an_altered_file_is_refused_and_its_owner_is_warned(command: Command) -> None:
    command("learn", written("a.csv", *ROWS), *WORDS)
    status, _, said = command("learn", written("a.csv", *ROWS[:2], "9,0\n", *ROWS[3:]), *WORDS)
    assert status == 2 and "line 4 was taken before with another example" in said
    assert "a row is read a second time, beyond --max-contributions" in said
    assert rounds() == 5


def test_rows_that_moved_to_other_lines_are_not_read_again(command: Command) -> None:
    """Those before the first line that was read with other rows look new."""
    Path("a.csv").write_text("made by hand\nyesterday\n" + HEADER + "".join(ROWS))
    assert command("learn", "a.csv", *WORDS, "--skip", "2")[0] == 0 and rounds() == 5
    before = Path("rules.jsonl").read_bytes()
    status, _, said = command("learn", written("a.csv", *ROWS), *WORDS, "--skip", "0")
    assert status == 2 and "line 4 was taken before with another example" in said
    assert rounds() == 5 and Path("rules.jsonl").read_bytes() == before


def test_a_copy_that_was_altered_far_behind_is_known_by_its_first_rows(command: Command) -> None:
    rows = [f"{x * 7 % 60},1\n" for x in range(80)]
    command("learn", written("a.csv", *rows), *WORDS)
    for place, status in ((60, 2), (40, 0)):
        altered = [*rows[:place], "9,0\n", *rows[place + 1 :]]
        assert command("learn", written("b.csv", *altered), *WORDS)[0] == status


def test_users_are_told_apart_when_files_are(command: Command) -> None:
    words = (*WORDS, "--user", "who", "--max-contributions", "2")
    for name, who in (("a.csv", "ann"), ("b.csv", "bob")):
        Path(name).write_text("delay,late,who\n" + f"3,0,{who}\n" * 3)
        assert command("learn", name, *words)[0] == 0
    Path("c.csv").write_bytes(Path("b.csv").read_bytes())
    status, _, said = command("learn", "c.csv", *words)
    assert status == 2 and "like those of 'b.csv'" in said and rounds() == 6


def test_the_ids_of_a_store_are_those_of_its_next_command(command: Command) -> None:
    """By its lines the same file would be read a second time."""
    rows = "".join(f"{x},{int(x >= 20)},id{x}\n" for x in range(30))
    Path("a.csv").write_text("delay,late,event\n" + rows)
    assert command("learn", "a.csv", *WORDS, "--id", "event")[0] == 0
    status, _, said = command("learn", "a.csv", "--label", "late", "--store", "run.db")
    assert status == 0 and "0 events taken, 30 seen before" in said and rounds() == 30


@pytest.mark.parametrize("source", ["a.csv", "b.csv"])
def test_what_was_read_by_its_lines_is_not_read_by_its_ids(command: Command, source: str) -> None:
    rows = [f"{x * 7 % 60},{x % 2},id{x}\n" for x in range(30)]
    header = "delay,late,event\n"
    Path("a.csv").write_text(header + "".join(rows))
    Path("other.csv").write_text(header + "".join(rows[::-1]).replace("id", "other"))
    command("learn", "a.csv", *WORDS)
    if source != "a.csv":
        Path("a.csv").rename(source)
    status, _, said = command("learn", source, *WORDS, "--id", "event")
    assert status == 2 and "give --source a.csv and no --id" in said and rounds() == 30
    assert command("learn", source, *WORDS, "--source", "a.csv")[0] == 0 and rounds() == 30
    assert command("learn", "other.csv", *WORDS, "--id", "event")[0] == 0 and rounds() == 60
    named = ("learn", source, *WORDS, "--id", "event", "--source")
    status, _, said = command(*named, "a.csv")  # the name under which it was read
    assert status == 2 and "and no --id" in said and rounds() == 60
    assert command(*named, "other people")[0] == 0 and rounds() == 90


def test_small_groups_do_not_hide_what_was_read_by_its_lines(command: Command) -> None:
    rows = [f"{x * 7 % 60},{x % 2},id{x}\n" for x in range(30)]
    Path("a.csv").write_text("delay,late,event\n" + "".join(rows))
    command("learn", "a.csv", *WORDS)
    words = (*WORDS, "--id", "event", "--group", "1")
    status, _, said = command("learn", "a.csv", *words)
    assert status == 2 and "give --source a.csv and no --id" in said and rounds() == 30
    Path("few.csv").write_text("delay,late,event\n" + "".join(rows[:15]))
    assert command("learn", "few.csv", *words)[0] == 0 and rounds() == 45


def test_a_row_without_an_id_does_not_hide_what_was_read_by_its_lines(command: Command) -> None:
    Path("schema.toml").write_text("[delay]\ngrid = [10, 20]\n")
    rows = "".join(f"{x * 7 % 60},{x % 2},id{x}\n" for x in range(30))
    Path("a.csv").write_text("delay,late,event\n" + rows.replace("id0", ""))
    words = ("--schema", "schema.toml", "--label", "late", "--store", "run.db")
    assert command("learn", "a.csv", *words)[0] == 0
    status, _, said = command("learn", "a.csv", *words, "--id", "event")
    assert status == 2 and "give --source a.csv and no --id" in said and rounds() == 30


ROWS_WITH_IDS = [f"{x * 7 % 60},{x % 2},id{x},other{x}\n" for x in range(60)]


@pytest.mark.parametrize(
    ("words", "way_out"),
    [((), "--id with the column of those ids"), (("--id", "other"), "--id with the column")],
)
def test_what_was_read_by_its_ids_is_not_read_by_lines_or_other_ids(
    command: Command, words: tuple[str, ...], way_out: str
) -> None:
    header = "delay,late,event,other\n"
    command("learn", written("a.csv", *ROWS), *WORDS)
    Path("b.csv").write_text(header + "".join(ROWS_WITH_IDS))
    assert command("learn", "b.csv", *WORDS, "--id", "event")[0] == 0 and rounds() == 65
    status, _, said = command("learn", "b.csv", *WORDS, *words)
    assert status == 2 and "like those from 'id0' on" in said and way_out in said
    assert rounds() == 65
    assert command("learn", "b.csv", *WORDS, *words, "--source", "other rows")[0] == 0
    assert rounds() == 125


def test_rows_within_a_file_are_not_read_again_as_a_file(command: Command) -> None:
    rows = [row.rpartition(",id")[0] + "\n" for row in ROWS_WITH_IDS]
    command("learn", written("a.csv", *rows), *WORDS)
    status, _, said = command("learn", written("b.csv", *rows[9:]), *WORDS)
    assert status == 2 and "like those from 'a.csv line 11' on" in said and rounds() == 60


def test_rows_that_are_alike_by_chance_are_read(command: Command) -> None:
    """Where most rows are equal, the first rows of a file say nothing."""
    command("learn", written("a.csv", "9,1\n", *["3,0\n"] * 100), *WORDS)
    assert command("learn", written("b.csv", *["3,0\n"] * 50), *WORDS)[0] == 0
    assert rounds() == 151
