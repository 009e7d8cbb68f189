"""``littlestone learn`` and its rows: none vanishes unsaid, and none shows in what is published."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from littlestone.choose.auto import class_over
from littlestone.choose.request import Request
from littlestone.cli.main import main
from littlestone.concepts.schema import Schema
from littlestone.learners.disjoint_batches.recipe import DisjointBatches

Command = Callable[..., tuple[int, str]]
HEADER = "delay,carrier,late"
STUMPS = ("--class", "stumps:schema.toml", "--learner", "private-majority", "--rounds", "400")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("schema.toml").write_text(
        '[delay]\ngrid = [10, 20, 30]\n[carrier]\nvalues = ["AA", "[/bold]", "other"]\n'
    )


@pytest.fixture
def learn(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The status, and what was said, of ``littlestone learn`` on a file or on some lines."""

    def run(source: str | list[str], *words: str) -> tuple[int, str]:
        if isinstance(source, list):
            Path("events.csv").write_text("\n".join([HEADER, *source]) + "\n")
            source = "events.csv"
        columns = ("--label", "late", "--store", "run.db", "--out", "rules.jsonl")
        monkeypatch.setattr(sys, "argv", ["littlestone", "learn", source, *columns, *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        assert isinstance(end.value.code, int)
        said = capsys.readouterr().err
        assert "Traceback" not in said
        return end.value.code, " ".join(said.split())

    return run


def rows(count: int) -> list[str]:
    return [
        f"{x % 40},{('AA', '[/bold]', 'other')[x % 3]},{int(x % 40 >= 20)}" for x in range(count)
    ]


def published() -> list[dict[str, object]]:
    return [json.loads(line) for line in Path("rules.jsonl").read_bytes().splitlines()]


def test_every_row_over_a_schema_is_a_round_and_what_did_not_fit_is_said(learn: Command) -> None:
    hostile = ["x,AA,1", "12,ZZ,1", "12,AA,maybe", '"', "12", f"{'9' * 5000},AA,1", "13,ZZ,1"]
    status, said = learn(rows(60) + hostile, *STUMPS)
    assert status == 0
    assert f"67 events taken ({len(hostile)} with stand-ins), 0 seen before, 0 rejected" in said
    assert "2 rows, first on line 62: 'delay' is not a number, got 'x'" in said
    assert "2 rows, first on line 63: 'carrier' is not one of the declared values, got 'ZZ'" in said
    assert "1 row, first on line 65: not a line of CSV" in said


def test_data_are_never_markup(learn: Command) -> None:
    status, said = learn([*rows(60), "12,[red]ZZ[/red],1"], *STUMPS)
    assert status == 0 and "got '[red]ZZ[/red]'" in said
    status, said = learn([*rows(60), "12,[/],1"], *STUMPS, "--bad-rows", "stop", "--store", "b.db",
                         "--out", "b.jsonl")  # fmt: skip
    assert status == 2 and "got '[/]' (policy: stop)" in said


def test_neighbouring_files_are_told_apart_by_a_rejected_row_and_not_by_a_stand_in(
    learn: Command,
) -> None:
    """With certainty: the first rule is drawn after a public number of rounds, here the last."""
    concepts = class_over(Schema.from_toml("schema.toml"))
    recipe = Request(over=concepts, epsilon=10.0).recipe()
    assert isinstance(recipe, DisjointBatches)
    late = ["25,AA,1"] * recipe.batch_size(0, 0)
    neighbours = {"honest": late, "other": [*late[1:], "25,ZZ,1"]}
    lines = {}
    for policy in ("stand-in", "reject"):
        for name, content in neighbours.items():
            out = f"{policy}-{name}"
            words = ("--schema", "schema.toml", "--epsilon", "10", "--bad-rows", policy)
            status, _ = learn(content, *words, "--store", f"{out}.db", "--out", out)
            assert status == 0
            lines[out] = Path(out).read_bytes().count(b"\n")
    assert lines["stand-in-honest"] == lines["stand-in-other"] == 2
    assert (lines["reject-honest"], lines["reject-other"]) == (2, 1)


REFUSED = {
    "no header": (rows(50), "", (), "--no-header"),
    "a mistyped label": (rows(50), HEADER.replace("late", "lte"), (), "no column 'late'"),
    "a name twice": ([f"{row},1" for row in rows(50)], f"{HEADER},late", (), "must occur once"),
    "nothing fits": (
        [f"x{row}" for row in rows(50)], HEADER, ("--bad-rows", "reject", "--check", "0"),
        "none of",
    ),
    "nothing fits, seen at once": (
        [f"x{row}" for row in rows(50)], HEADER, ("--bad-rows", "reject"),
        "most rows do not fit: 50 of 50. 'delay' is not a number in 50 rows",
    ),
    "most does not": (
        [f"x{row}" if place % 3 else row for place, row in enumerate(rows(50))], HEADER, (),
        "most rows do not fit: 33 of 50",
    ),
    "mostly missing": (
        [row[row.index(",") :] if place % 3 else row for place, row in enumerate(rows(50))], HEADER,
        ("--check", "0"),
        "'delay' is missing in 33, which were taken with stand-ins; missing = \"own value\"",
    ),
    "mostly missing, seen at once": (
        [row[row.index(",") :] if place % 3 else row for place, row in enumerate(rows(50))], HEADER,
        (), "'delay' is missing in 33 rows: add missing = \"own value\" below [delay]",
    ),
    "labels -1 and 1": (
        [row[:-1] + ("1" if place % 4 else "-1") for place, row in enumerate(rows(50))], HEADER,
        ("--check", "0"), "every label that could be read is 1; give",
    ),
    "labels -1 and 1, seen at once": (
        [row[:-1] + ("1" if place % 4 else "-1") for place, row in enumerate(rows(50))], HEADER, (),
        "every label that can be read is 1. 'late' is neither 0 nor 1 (--positive says what is 1)",
    ),
    "beyond the rounds": (rows(500), HEADER, (), "the rows after them were not taken"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_rows_do_not_vanish_with_a_good_status(learn: Command, what: str) -> None:
    lines, header, words, why = REFUSED[what]
    Path("events.csv").write_text("\n".join([*([header] if header else []), *lines, ""]))
    status, said = learn("events.csv", *STUMPS, *words)
    assert status == 2 and why in said, said


def test_labels_of_other_names_are_learned_when_said(learn: Command) -> None:
    lines = [row[:-1] + ("late" if row[-1] == "1" else "early") for row in rows(200)]
    assert learn(lines, *STUMPS, "--positive", "late", "--epsilon", "20")[0] == 0
    assert "delay >= 20" in str(published()[-1]["rule"])


def hostile_file(path: Path, *, good: int, hostile: int) -> None:
    """Good rows with an id each, and among them rows of random bytes, cut lines and worse."""
    generator = np.random.default_rng(13)
    lines = [f"{place},{row}".encode() for place, row in enumerate(rows(good))]
    deep = b'[{"a":' * 50
    for _ in range(hostile):
        row = bytearray(lines[generator.integers(100)])
        kind = generator.integers(6)
        if kind == 0:
            row = bytearray(generator.bytes(int(generator.integers(1, 60))).replace(b"\n", b"\r"))
        elif kind == 1:
            row = row[: generator.integers(1, len(row))]
        elif kind == 2:
            row[generator.integers(len(row))] = b'"\x00\xff\xed\x1b\r['[generator.integers(7)]
        elif kind == 3:
            row = bytearray(b"%d,%s,AA,1" % (generator.integers(99), b"9" * 5000))
        elif kind == 4:
            row = bytearray(deep + row)
        else:
            row = bytearray(b'h,1,"[/bold],1')
        lines.append(b"h" + bytes(row))
    lines = [lines[place] for place in generator.permutation(len(lines))]
    path.write_bytes(b"id,delay,carrier,late\n" + b"\n".join(lines) + b"\n")


@pytest.mark.parametrize(
    ("good", "hostile"), [(300, 300), pytest.param(20_000, 20_000, marks=pytest.mark.slow)]
)
def test_hostile_rows_end_no_run_and_all_good_ones_are_taken(
    learn: Command, good: int, hostile: int
) -> None:
    hostile_file(Path("hostile.csv"), good=good, hostile=hostile)
    words = (*STUMPS, "--rounds", "100000", "--id", "id", "--bad-rows", "reject")
    said = learn("hostile.csv", *words)[1]
    taken = int(said.partition(" events taken")[0].rpartition(" ")[2])
    assert taken >= good
    Path("good.csv").write_text(
        "id,delay,carrier,late\n" + "".join(f"{i},{row}\n" for i, row in enumerate(rows(good)))
    )
    assert f"0 events taken, {good} seen before, 0 rejected" in learn("good.csv", *words)[1]


def test_a_second_file_is_another_source_and_the_first_one_again_is_not(learn: Command) -> None:
    assert "60 events taken, 0 seen before" in learn(rows(60), *STUMPS)[1]
    Path("tuesday.csv").write_text("\n".join([HEADER, *rows(60)[::-1], ""]))
    assert "60 events taken, 0 seen before" in learn("tuesday.csv", *STUMPS)[1]
    assert "10 events taken, 60 seen before" in learn(rows(70), *STUMPS)[1]  # it has grown
    Path("old").mkdir()
    Path("tuesday.csv").rename("old/tuesday.csv")
    assert "0 events taken, 60 seen before" in learn("old/tuesday.csv", *STUMPS)[1]


def test_another_source_of_the_same_name_is_refused_before_a_row_is_lost(learn: Command) -> None:
    assert learn(rows(60), *STUMPS)[0] == 0
    other = ["39,AA,1", *rows(90)[1:]]
    status, said = learn(other, *STUMPS)
    assert status == 2 and "line 2 was taken before with another example" in said
    status, said = learn(other, *STUMPS, "--source", "tuesday")
    assert status == 0 and "90 events taken, 0 seen before" in said
