"""Whatever a row holds, it becomes an event or a row that is named; never the end of the run."""

import gzip
import io
import json
import time
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.readings import read

from littlestone.choose.catalogue import class_from_spec
from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.domain import IntegerRange
from littlestone.concepts.schema import Numeric, Schema
from littlestone.runs.intake.cells import CellReader, Misfit, number_reader
from littlestone.runs.intake.event import Event
from littlestone.runs.intake.form import BadRow, Form
from littlestone.runs.intake.readers import Columns, events_of, point_reader

SCHEMA = Schema.from_mapping(
    {"delay": {"grid": [0, 15]}, "from": {"values": ["A", "B", "[/bold]"], "missing": "B"}}
)
OVER_SCHEMA, THRESHOLDS, POINTS = Stumps(SCHEMA, 1), Thresholds(60), class_from_spec("points")

DIGITS = "9" * 5000
DEEP = "[" * 100_000 + "]" * 100_000
HOSTILE = [
    f'{{"delay": {DIGITS}, "from": "A", "y": 1}}',
    f'{{"delay": {DEEP}, "from": "A", "y": 1}}',
    f'{{"delay": 3, "from": {"[" * 400}{"]" * 400}, "y": 1}}',
    f'{{"delay": 3, "from": "A", "y": {"[" * 400}{"]" * 400}}}',
    f'{{"delay": {"9" * 4000}, "from": "\\ud800", "y": 1}}',
    '{"delay": "\\ud800", "from": "\\ud800", "y": "\\ud800"}',
    '{"delay": "1e999999999", "from": "A", "y": "[/bold]"}',
    '{"delay": NaN, "from": {"a": []}, "y": Infinity}',
    '{"delay": true, "from": null, "y": 2}',
    '{"delay": "1", "from": "A"',
    "[1, 2]", "null", "\0", "\x1b[31m", '"', DIGITS, "{}",
]  # fmt: skip


def events(
    content: str | bytes, concepts: Any = OVER_SCHEMA, *, form: Form | None = None, **columns: Any
) -> list[Event | BadRow]:
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    named = Columns(**{"label": "y", **columns})
    return list(read("-", concepts, named, standard_input=io.BytesIO(raw), form=form))


def bad(found: list[Event | BadRow]) -> list[BadRow]:
    return [row for row in found if isinstance(row, BadRow)]


GOOD = '{"delay": 20, "from": "A", "y": 1}'


@pytest.mark.parametrize("concepts", [OVER_SCHEMA, THRESHOLDS, POINTS], ids=["schema", "n", "x"])
@pytest.mark.parametrize("identity", [None, "from"])
def test_a_hostile_row_of_json_is_a_row(concepts: Any, identity: str | None) -> None:
    lines = [GOOD, *(row for hostile in HOSTILE for row in (hostile, GOOD))]
    feature = None if concepts is OVER_SCHEMA else "delay"
    found = events("\n".join(lines), concepts, feature=feature, identity=identity)
    assert len(found) == len(lines)
    assert all(isinstance(found[place], Event) for place in range(0, len(lines), 2))
    for line, row in enumerate(found, start=1):
        assert row.line == line
        if isinstance(row, BadRow):
            assert row.reason and str(row).encode() and str(row).isprintable()
            assert len(str(row)) < 300
            assert (row.stand_in is not None) == (concepts is OVER_SCHEMA)


@pytest.mark.parametrize("identity", ["[]", "[1]", '{"a": 1}', f"{'[' * 900}{']' * 900}"])
def test_a_list_or_an_object_is_no_id(identity: str) -> None:
    """How deep a list may be to be written depends on the stack, and so on rows read with it."""
    (row,) = bad(events(f'{{"id": {identity}, "delay": 1, "from": "A", "y": 1}}', identity="id"))
    assert (row.field, row.reason) == ("id", "is a list or an object")


def test_whose_a_row_is() -> None:
    """Looks of one name are one user; rows without a name, or unreadable ones, are the nameless."""
    rows = ['"who": 1', '"who": "1.0"', '"who": " Ann"', '"who": ""', '"who": [1]', '"who": null']
    lines = [f'{{"delay": 20, "from": "A", "y": 1, {row}}}' for row in rows]
    found = events("\n".join([*lines, "no JSON"]), user="who", identity=None)
    users = [(row.stand_in if isinstance(row, BadRow) else row).user for row in found]
    assert users == ["1", "1", "ann", "", "", "", ""]
    assert [row.field for row in bad(found)] == ["who", "who", "who", ""]
    assert len(bad(events("\n".join(lines), POINTS, feature="delay", user="who"))) == 3


def test_a_hostile_row_of_csv_is_a_row() -> None:
    hostile = [
        f"{DIGITS},A,1",
        "1,A",
        'x,"A,1',
        '1,A,"1"x',
        "1e400,\udcff,1",
        "nan,[/bold],-1",
        ",,",
    ]
    text = "delay,from,y\n20,A,1\n" + "".join(f"{row}\n20,A,1\n" for row in hostile)
    found = events(text.encode("utf-8", "surrogateescape"))
    assert len(found) == 1 + 2 * len(hostile)
    assert [row.line for row in bad(found)] == [3, 5, 7, 9, 11, 13, 15]
    assert {type(found[place]) for place in range(0, len(found), 2)} == {Event}
    assert [row.field for row in bad(found)] == ["delay", "", "", "", "from", "delay", "delay"]


WHOLE_NUMBERS = Stumps(Schema.from_mapping({"carrier": {"values": [0, 1, -2]}}), 1)


@pytest.mark.parametrize("rows", [1, 40], ids=["one by one", "a chunk"])
def test_a_text_is_the_declared_whole_number_that_it_spells(rows: int) -> None:
    texts, others = ["1", "0", "-2"], ["01", "1.0", " 1", "+1", "-0", "2", "1_0", "one"]
    csv = [f"{text},1" for text in [*texts, *others] for _ in range(rows)]
    lines = [
        json.dumps({"carrier": text, "y": 1}) for text in [*texts, *others] for _ in range(rows)
    ]
    for content in ("\n".join(["carrier,y", *csv, ""]), "\n".join([*lines, ""])):
        found = events(content, WHOLE_NUMBERS)
        cells = [row.x for row in found if isinstance(row, Event)]
        assert cells == [(1,)] * rows + [(0,)] * rows + [(2,)] * rows
        assert len(bad(found)) == rows * len(others)


def test_a_declared_text_comes_before_the_whole_number_that_it_spells() -> None:
    both = Stumps(Schema.from_mapping({"carrier": {"values": [1, "1"]}}), 1)
    found = events('{"carrier": "1", "y": 1}\n{"carrier": 1, "y": 1}\n', both)
    assert [row.x for row in found if isinstance(row, Event)] == [(1,), (0,)]


def test_a_stand_in_is_the_declared_one_or_the_first_and_the_row_is_a_round() -> None:
    found = events('delay,from,y\n20,X\t,1\nx,A,1\n20,A,maybe\n"\n20,X,1\n')
    assert isinstance(found[-1], Event) and found[-1].example == ((2, 1), 1)  # as declared
    assert [(row.field, row.stand_in.x, row.stand_in.y) for row in bad(found)] == [
        ("from", (2, 1), 1),  # missing = "B"
        ("delay", (0, 0), 1),
        ("y", (2, 0), 0),
        ("", (0, 1), 0),
    ]
    assert [row.stand_in.id for row in bad(found)] == [f"line {line}" for line in range(2, 6)]


def test_a_line_is_a_row_whatever_the_line_before_it_holds() -> None:
    """So files that differ in one line differ in one round; a csv reader breaks it."""
    rows = [f"{delay},A,1" for delay in range(200)]
    honest = events("delay,from,y\n" + "\n".join(rows))
    hostile = events(
        "delay,from,y\n" + "\n".join(['"' if i == 7 else r for i, r in enumerate(rows)])
    )
    assert len(honest) == len(hostile) == 200
    assert [i for i in range(200) if honest[i] != hostile[i]] == [7]


ODD_LINES = [
    b"\x1b$B,A,1", b"20,~{,1", b"20,A,+", b"20,A,1~", b"20,A,\\", b"20,\\n,1", b"+AAo-,A,1",
    b"20,\x1b$)C\x0e,1", b"20,A,\x81", b"20,A,\x81\x30\x81", b"\\N{x,A,1", b"20,A,\xff",
]  # fmt: skip


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "latin-1", "cp1252", "iso2022_jp", "iso2022_jp_2004", "iso2022_kr", "hz", "utf-7",
     "gb18030", "gbk", "big5", "shift_jis", "euc_jp"],
)  # fmt: skip
def test_no_line_changes_how_another_is_decoded(encoding: str) -> None:
    """Encodings with states: ISO-2022 switches alphabets, HZ and UTF-7 swallow line ends."""
    form, rows = Form(encoding=encoding), [b"%d,A,1" % delay for delay in range(12)]
    honest = events(b"\n".join([b"delay,from,y", *rows, b""]), form=form)
    for odd in ODD_LINES:
        lines = [b"delay,from,y", *rows[:5], odd, *rows[6:], b""]
        hostile = events(b"\n".join(lines), form=form)
        assert len(hostile) == len(honest) == 12, odd
        assert [i for i in range(12) if honest[i] != hostile[i]] in ([], [5]), odd


@pytest.mark.parametrize(
    "encoding", ["punycode", "idna", "unicode_escape", "rot13", "no", "", "utf-8\0"]
)
def test_an_encoding_is_one_of_text(encoding: str) -> None:
    with pytest.raises(ValueError, match="encoding must be a known text encoding"):
        Form(encoding=encoding)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_dialects_give_the_same_events(delimiter: str, encoding: str, end: str) -> None:
    lines = ["größe,delay,from,y", '"a, b; c",20,A,1', "d,-1,B,0"]
    if delimiter != ",":
        lines = [line.replace(",", delimiter) for line in lines]
    content = end.join(lines).encode(encoding)
    form = Form() if encoding.startswith("utf-8") else Form(encoding=encoding)
    assert events(content, form=form) == [
        Event("line 2", (2, 0), 1, 2, ((2, 0), 1)), Event("line 3", (0, 1), 0, 3, ((0, 1), 0)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "form", "why"),
    [
        ("20,A,1\n20,A,1\n", Form(), "--no-header"),
        ("delay from y\n20 A 1\n", Form(), "--delimiter"),
        ("delay,from,Y\n", Form(), "no column 'y'"),
        ("delay,from,y,y\n", Form(), "must occur once"),
        ("delay,from,y\n", Form(delimiter=";"), "no column"),
        ('delay,"from,y\n', Form(), "not a line of CSV"),
        ("", Form(), "no header line"),
        ("delay,from,y\n", Form(header=False), "named 1, 2"),
        (b"delay,from,y,gr\xf6\xdfe\n", Form(), "--encoding"),
    ],
)
def test_what_would_lose_every_row_is_refused(content: Any, form: Form, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        events(content, form=form)


def test_rows_without_a_header_are_named_by_their_number() -> None:
    found = events(
        "20,x,1\n30,y,0\n7\n", THRESHOLDS, form=Form(header=False), label="3", feature="1"
    )
    assert found[:2] == [
        Event("line 1", 20, 1, 1, (20, 1)), Event("line 2", 30, 0, 2, (30, 0)),
    ]  # fmt: skip
    assert isinstance(found[2], BadRow)


def test_every_digit_of_a_point_counts() -> None:
    wide = Thresholds(2**60)
    (event,) = events("x,y\n9007199254740993,1\n", wide, feature="x")
    assert isinstance(event, Event) and event.x == 9007199254740993
    (event,) = events('{"x": 9007199254740993.0, "y": 1}', wide, feature="x")
    assert isinstance(event, BadRow)  # the reader of JSON has rounded it
    (event,) = events("x,y\n12.0,1\n", wide, feature="x")
    assert isinstance(event, Event) and event.x == 12
    close = Stumps(Schema.from_mapping({"x": {"grid": [9007199254740993]}}), 1)
    found = events("x,y\n9007199254740992,1\n9007199254740993,1\n", close)
    assert [event.x for event in found if isinstance(event, Event)] == [(0,), (1,)]


def test_the_label_that_counts_as_one() -> None:
    text = "delay,from,y\n1,A,-1\n1,A,1\n1,A,late\n"
    labels = [row.y for row in events(text, positive="1") if isinstance(row, Event)]
    assert labels == [0, 1, 0]
    assert [row.field for row in bad(events(text))] == ["y", "y"]


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".csv.gz", ".jsonl.gz", ".tsv"])
def test_files_of_each_kind(tmp_path: Path, ending: str) -> None:
    rows = [{"delay": 20, "from": "A", "y": 1}, {"delay": -1, "from": "B", "y": 0}]
    between = "\t" if ending == ".tsv" else ","
    lines = [between.join(rows[0]), *(between.join(map(str, row.values())) for row in rows)]
    if "jsonl" in ending:
        lines = [json.dumps(row) for row in rows]
    content = "\n".join(lines).encode()
    path = tmp_path / f"events{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    found = list(read(str(path), OVER_SCHEMA, Columns(label="y"), standard_input=io.BytesIO()))
    assert [(row.x, row.y) for row in found if isinstance(row, Event)] == [((2, 0), 1), ((0, 1), 0)]
    if ending.endswith("gz"):
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(ValueError, match="is damaged"):
            list(read(str(path), OVER_SCHEMA, Columns(label="y"), standard_input=io.BytesIO()))


def test_a_name_that_no_row_of_json_has_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(f"{GOOD}\n" * 3)
    with pytest.raises(ValueError, match="no 'late' in the first 3 rows"):
        read(str(path), OVER_SCHEMA, Columns(label="late"), standard_input=io.BytesIO())


def test_a_pipe_is_read_as_it_comes() -> None:
    class Slow(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            content = self.readline()
            assert content != b"late\n", "read further than what was asked for"
            return content

    pipe = Slow(b"delay,from,y\n1,A,1\n2,A,1\nlate\n")
    found = read("-", OVER_SCHEMA, Columns(label="y"), standard_input=pipe)
    assert [row.line for row in islice(found, 2)] == [2, 3]


@pytest.mark.parametrize(
    ("point", "fits"),
    [
        ('"\\ud83d\\ude00"', True),
        ('"\\ud800"', False),  # half a pair: it could be stored, and never be published
        ("[1, 2, 3]", True),
        ("[[1, 2], 3]", False),
        ("[" * 900 + "1" + "]" * 900, False),
    ],
)
def test_a_point_can_be_stored_and_published_as_often_as_needed(point: str, fits: bool) -> None:
    (found,) = events(f'{{"x": {point}, "y": 1}}', POINTS, feature="x")
    assert isinstance(found, Event) == fits, found


GRIDS = Schema.from_mapping(
    {
        "delay": {"grid": [0, 0.1, 15, 2**53 - 1]},
        "large": {"grid": [0, 2**53 + 1, 10**300]},
        "from": {"values": ["A", "", "B,C", 7]},
    }
)
FITTING = [
    ["1", "0.1", "15", "-3", '"16"', " 2 ", "1_0", "٣", "9007199254740991"],
    ["9007199254740991", "-1", "3"],
    ["A", '"B,C"', '"A"'],
    ["0", "1", "1.0", "true", '"1"'],
]
UNUSUAL = [
    ["9007199254740993", "1e400", "nan", "", "x"],
    ["9007199254740992", "9007199254740993", "", "inf"],
    ["B,C", "", "7", "C", '"A', "A\x00", "\udcff"],
    ["", "2", " yes", "TRUE"],
]


@pytest.mark.parametrize("identity", [None, "from"])
@pytest.mark.parametrize("usual", [0.5, 0.9, 0.999, 1.0])
def test_columns_in_bulk_give_the_events_of_single_rows(
    tmp_path: Path, usual: float, identity: str | None
) -> None:
    """A file is read in chunks, a pipe row by row: what one says of each row, the other does."""
    generator = np.random.default_rng(7)
    lines = [
        ",".join(
            str(generator.choice(fitting if generator.random() < usual else unusual))
            for fitting, unusual in zip(FITTING, UNUSUAL, strict=True)
        )
        for _ in range(2000)
    ]
    content = ("\ufeffdelay,large,from,y\r\n" + "\r\n".join(lines)).encode(errors="surrogateescape")
    (tmp_path / "rows.csv").write_bytes(content)
    concepts, columns = Stumps(GRIDS, 1), Columns(label="y", identity=identity, origin="o")
    found, expected = (
        list(read(source, concepts, columns, standard_input=io.BytesIO(content)))
        for source in (str(tmp_path / "rows.csv"), "-")
    )
    assert found == expected and len(found) == 2000
    assert (len(bad(found)) == 0) == (usual == 1.0)


@pytest.mark.parametrize(
    "form", [Form(units="€ %"), Form(decimal=",", thousands="."), Form(decimal=",", thousands=" ")]
)
def test_no_text_takes_long_to_read(form: Form) -> None:
    """One row must not keep all others waiting: blanks that a pattern tries in every order."""
    number, began = number_reader(form), time.process_time()
    for text in (" " * 4000 + "a\nb", "1" * 5000 + "x", "1.111" * 2000 + "x", "- " * 3000):
        with pytest.raises(ValueError):
            number(text)
    assert time.process_time() - began < 10  # of computing; it would take days


def test_numbers_in_bulk_are_read_as_single_ones_are() -> None:
    part = Numeric("delay", (-1.5, 0, 0.1, 15))
    numbers = ["-1.5", "-0", "0.1", "1e-1", "0.10000000000000001", "14.999", "15", 15, 0.1, 10**6]
    assert CellReader(part).many(numbers) == [CellReader(part).one(each) for each in numbers]
    third = CellReader(Numeric("delay", (Fraction(1, 3),)))  # type: ignore[arg-type]
    assert third.many(["0.3333333333333333", "0.33333333333333334", "0.34"]) == [0, 0, 1]
    unusual: Any
    for unusual in ("nan", "inf", str(2**53), "", None, True, [], "x"):
        with pytest.raises((ValueError, TypeError)):
            CellReader(part).many(["1", unusual])


LABELLED = DecisionTrees(
    Schema.from_mapping({"delay": {"grid": [0, 15]}, "label": {"values": ["ok", " late", 3]}}), 1
)


def test_declared_labels_are_counted_in_their_order() -> None:
    rows = "delay,y\n" + "".join(f"20,{label}\n" for label in ("ok", " late", "late", "3", " 3 "))
    found = events(rows, LABELLED)
    assert [event.y for event in found if isinstance(event, Event)] == [0, 1, 2, 2]
    assert [row.line for row in bad(found)] == [4]  # a label is stripped, a declaration is not
    lines = '{"delay": 20, "y": 3}\n{"delay": 20, "y": 3.0}\n{"delay": 20, "y": "ok"}'
    assert [event.y for event in events(lines, LABELLED) if isinstance(event, Event)] == [2, 2, 0]


@pytest.mark.parametrize("label", ["lost", "", "0", "true", "4"])
def test_a_label_that_is_not_declared_counts_as_the_first(label: str) -> None:
    good = ["20,ok", "20,3"] * 20
    found = events("\n".join(["delay,y", *good, f"20,{label}", *good]), LABELLED)
    (row,) = bad(found)
    assert row.field == "y" and row.line == len(good) + 2
    assert row.stand_in is not None and row.stand_in.y == 0
    # Whatever one row says, all others are the same rounds.
    assert [event.y for event in found if isinstance(event, Event)] == [0, 2] * 40


def test_positive_is_for_labels_that_nobody_declared() -> None:
    with pytest.raises(ValueError, match="positive must not be given where the schema declares"):
        events("delay,y\n20,ok\n", LABELLED, positive="ok")


@pytest.mark.parametrize("place", ["page", "footer"])
def test_a_damaged_parquet_file_is_refused_by_name(tmp_path: Path, place: str) -> None:
    arrow = pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    from pyarrow import parquet  # noqa: PLC0415

    path = tmp_path / "events.parquet"
    columns = {"delay": list(range(5000)), "from": ["A", "B"] * 2500, "y": [0, 1] * 2500}
    parquet.write_table(arrow.table(columns), path)
    content = bytearray(path.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    start = 4 if place == "page" else footer
    content[start : start + 30] = b"\xff" * 30
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"events.parquet is (damaged|not a Parquet file)"):
        list(read(str(path), OVER_SCHEMA, Columns(label="y"), standard_input=io.BytesIO()))


@pytest.mark.parametrize("value", [True, [0, [5], 0], (0, (5,), 0), 5.5, 2.0**60, None, "0x5"])
def test_what_is_no_whole_number_is_no_point_of_a_range(value: Any) -> None:
    read_point = point_reader(IntegerRange(2**61), "x")
    assert [read_point([same])[1] for same in (5, "5", "5.0", " 5e0", 5.0, Decimal(5))] == [5] * 6
    with pytest.raises(Misfit):
        read_point([value])


class Twin(float):
    """Equal to all of its kind, whatever it is."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Twin)

    def __hash__(self) -> int:
        return 1


def test_a_point_that_says_it_equals_another_is_read_by_itself() -> None:
    read_point = point_reader(IntegerRange(64), "x")
    assert [read_point([value])[1] for value in (Twin(3), Twin(5), "3", "5", "3")] == [
        3,
        5,
        3,
        5,
        3,
    ]


class Posing:
    """Says that it is this text."""

    def __eq__(self, other: object) -> bool:
        return other == "5"

    def __hash__(self) -> int:
        return hash("5")


@pytest.mark.parametrize("at_once", [False, True])
def test_a_value_that_says_it_equals_a_text_is_read_by_itself(at_once: bool) -> None:
    """Whether another row has put that text into the cache is nothing to it."""
    schema = Schema.from_mapping({"x": {"grid": [2], "missing": "own value"}})
    for text in ("5", "1"):
        rows = [(line, ["1", text]) for line in range(1, 20)] + [(20, ["1", Posing()])]
        found = events_of(iter(rows), Stumps(schema, 1), Columns(label="y"), at_once=at_once)
        assert [each.line for each in found if isinstance(each, BadRow)] == [20]
