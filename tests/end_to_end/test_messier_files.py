"""More files as people have them: what ``check`` says first, and suggestions taken literally."""

import gzip
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from littlestone.cli.main import main

ROWS: Final = 1200
AMOUNT: Final = "amount.range = [0, 1000]\n"
LEARN: Final = "learn {} --schema schema.toml --label late --store run.db --out rules.jsonl"
Command = Callable[[str], tuple[int, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("schema.toml").write_text(AMOUNT)


@pytest.fixture
def littlestone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The status of a command, and everything it said."""

    def run(words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["littlestone", *shlex.split(words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return int(end.value.code or 0), " ".join((said.out + said.err).split())

    return run


def amount(row: int) -> float:
    return (row * 37 % 10_000) / 10


def is_late(row: int) -> bool:
    return amount(row) >= 600


def write(name: str, header: str, row: Callable[[int], str], encoding: str = "utf-8") -> None:
    text = "".join(f"{line}\n" for line in [header, *map(row, range(ROWS))])
    Path(name).write_bytes(text.encode(encoding))


def late(row: int) -> int:
    return int(is_late(row))


def grouped(number: float) -> str:
    """As in India: 1,23,456."""
    whole = str(round(100 * number))
    head, tail = whole[:-3], whole[-3:]
    pairs = re.findall("..?", head[::-1])
    return ",".join([*(pair[::-1] for pair in reversed(pairs)), tail])


@pytest.mark.parametrize(
    ("written", "options"),
    [
        (lambda n: f"{amount(n):.2f}".replace(".", ",") + " zł", '--decimal , --units "zł"'),
        (
            lambda n: f"CHF {10 * amount(n):,.2f}".replace(",", "'"),
            '--thousands "\'" --units "CHF"',
        ),
        (lambda n: f"₹{grouped(amount(n))}", '--thousands "," --units "₹"'),
    ],
)
def test_many_different_amounts_of_money_are_numbers_and_no_names(
    littlestone: Command, written: Callable[[int], str], options: str
) -> None:
    write("rows.csv", "amount;late", lambda n: f"{written(n)};{late(n)}")
    status, said = littlestone("check rows.csv --label late")
    assert (
        status == 0 and f"range = [LOW, HIGH] below [amount] in the schema, and {options}" in said
    )
    Path("schema.toml").write_text("amount.range = [0, 100000]\n")
    status, said = littlestone(LEARN.format("rows.csv"))
    assert status == 2 and options in said and not Path("run.db").exists()
    status, said = littlestone(f"{LEARN.format('rows.csv')} {options}")
    assert status == 0 and "with stand-ins" not in said


def test_names_with_numbers_are_not_amounts(littlestone: Command) -> None:
    write("rows.csv", "user,shop,late", lambda n: f"u{n % 500},Shop {n * 7},{late(n)}")
    status, said = littlestone("check rows.csv --label late")
    assert status == 0 and "--units" not in said and "values = [...] below [user]" in said


@pytest.mark.parametrize(
    ("written", "format_"),
    [
        ("%a %b %d %H:%M:%S UTC %Y", "%a %b %d %H:%M:%S %Z %Y"),
        ("%a, %d %b %Y %H:%M:%S +0200", "%a, %d %b %Y %H:%M:%S %z"),
        ("%d/%b/%Y:%H:%M:%S -0500", "%d/%b/%Y:%H:%M:%S %z"),
        ("%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M %p"),
    ],
)
def test_dates_of_mails_logs_and_twelve_hours_are_named_once(
    littlestone: Command, written: str, format_: str
) -> None:
    def row(n: int) -> str:
        moment = datetime(2026, 1, 1) + timedelta(hours=37 * n)
        return f"{moment:{written}};{int(moment.hour >= 15)}"

    write("rows.csv", "left;late", row)
    Path("schema.toml").write_text('left.date = ["hour", "weekday", "month"]\n')
    said_by_check = littlestone("check rows.csv --label late")[1]
    assert f'--date-format "{format_}"' in said_by_check
    status, said = littlestone(LEARN.format("rows.csv"))
    assert status == 2 and said.count("--date-format") == 1 and "'left' is not a date in" in said
    status, said = littlestone(f'{LEARN.format("rows.csv")} --date-format "{format_}"')
    assert status == 0 and "with stand-ins" not in said


@pytest.mark.parametrize(
    ("day", "parts"),
    [
        (lambda n: f"2026-0{1 + n % 9}-{1 + n % 28:02}", ["month", "weekday"]),
        (lambda n: f"{n % 24:02}:15", ["hour"]),
    ],
)
def test_a_date_without_an_hour_is_offered_without_it(
    littlestone: Command, day: Callable[[int], str], parts: list[str]
) -> None:
    write("rows.csv", "day,amount,late", lambda n: f"{day(n)},{amount(n)},{late(n)}")
    line = f"date = {json.dumps(parts)} below [day] in the schema"
    assert line in littlestone("check rows.csv --label late")[1]
    Path("schema.toml").write_text('day.date = ["hour", "month", "weekday"]\n' + AMOUNT)
    status, said = littlestone(LEARN.format("rows.csv"))
    assert status == 2 and f"{line}, in place of the line there" in said
    Path("schema.toml").write_text(f"day.date = {json.dumps(parts)}\n" + AMOUNT)
    status, said = littlestone(LEARN.format("rows.csv"))
    assert status == 0 and "with stand-ins" not in said


def nested_table() -> pa.Table:
    moments = [datetime(2026, 1, 1) + timedelta(hours=n) for n in range(ROWS)]
    columns: dict[str, Any] = {
        "order": [{"price": Decimal(f"{amount(n):.2f}"), "at": moments[n]} for n in range(ROWS)],
        "who": [None if n % 100 == 7 else {"id": n % 900} for n in range(ROWS)],
        "town": pa.array([("Łódź", "Oslo")[n % 2] for n in range(ROWS)]).dictionary_encode(),
        "day": [date(2026, 1, 1 + n % 28) for n in range(ROWS)],
        "clock": [time(n % 24) for n in range(ROWS)],
        "took": [timedelta(minutes=n) for n in range(ROWS)],
        "tags": [["a"] * (n % 3) for n in range(ROWS)],
        "blob": [b"x"] * ROWS,
        "late": [is_late(n) for n in range(ROWS)],
    }
    return pa.table(columns)


def test_structs_of_parquet_have_dotted_names_and_every_type_has_its_advice(
    littlestone: Command,
) -> None:
    parquet.write_table(nested_table(), "rows.parquet")
    status, said = littlestone("check rows.parquet --label late")
    for advice in (
        'range = [LOW, HIGH] below ["order.price"]',
        'date = ["hour", "month", "weekday"] below ["order.at"]',
        'date = ["month", "weekday"] below [day]',
        'date = ["hour"] below [clock]',
        "'took': 1,200 different values; a length of time",
        "'tags': 3 different values; a list",
        "'blob': one value; bytes",
        "values = [...] below [town]",
    ):
        assert advice in said, (advice, said)
    assert status == 0 and "order.price" in littlestone("schema rows.parquet")[1]
    Path("schema.toml").write_text(
        '"order.price".range = [0, 1000]\n"order.at".date = ["hour"]\n'
        'town.values = ["Łódź", "Oslo"]\nclock.date = ["hour"]\n'
    )
    call = f"{LEARN.format('rows.parquet')} --max-contributions 2 --user"
    assert "there is no column 'who'; there are: order.price" in littlestone(f"{call} who")[1]
    status, said = littlestone(f"{call} who.id")
    assert status == 0 and f"{ROWS} events taken (12 with stand-ins)" in said  # without a user
    assert "order.price >= 600" in Path("rules.jsonl").read_text()


def test_an_arrow_file_is_refused_with_the_command_that_writes_parquet(
    littlestone: Command,
) -> None:
    feather.write_feather(nested_table().drop_columns(["blob"]), "rows.feather")
    status, said = littlestone("check rows.feather --label late")
    command = re.search("python3 -c '[^']+' [^ ]+ [^ ]+[.]parquet", said)
    assert status == 2 and command is not None
    subprocess.run(command[0].replace("python3", sys.executable, 1), shell=True, check=True)
    assert littlestone("check rows.parquet --label late")[0] == 0


def test_a_compressed_file_that_was_cut_is_refused_before_anything_is_spent(
    littlestone: Command,
) -> None:
    write("rows.csv", "amount,late", lambda n: f"{amount(n)},{late(n)}")
    packed = gzip.compress(Path("rows.csv").read_bytes())
    Path("cut.csv.gz").write_bytes(packed[:-20])  # the first thousand rows are there
    status, said = littlestone(LEARN.format("cut.csv.gz"))
    assert status == 2 and "is damaged" in said and "copy it again" in said
    assert not Path("run.db").exists()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "a.csv",
            gzip.compress(b"amount,late\n1,0\n", mtime=0),
            "compressed by gzip: add .gz to its name",
        ),
        ("a.csv.gz", b"amount,late\n1,0\n", "not compressed by gzip: drop .gz from its name"),
        ("a.csv", b"PK\x03\x04rest", "save the sheet as CSV"),
        ("a.txt", b"PAR1rest", "its name must end in .parquet"),
        ("a.csv", b"", "a.csv is empty"),
        ("a.jsonl", b"", "a.jsonl is empty"),
        ("a.csv", b"'amount','late'\n'1','0'\n", 'tr -d "\'" < old.csv > new.csv'),
        ("a.csv", b"amount  late\n1  0\n", "sed 's/^ *//; s/ *$//; s/ */,/g' old.txt > new.csv"),
        ("a.csv", b"amount late\n1 0\n", '--delimiter " "'),
    ],
)
def test_a_file_of_another_kind_is_named_by_its_first_bytes(
    littlestone: Command, name: str, content: bytes, told: str
) -> None:
    Path(name).write_bytes(content)
    for command in ("check {} --label late", LEARN):
        status, said = littlestone(command.format(name))
        assert status == 2 and told in said and not Path("run.db").exists()


def test_a_header_alone_is_not_checked_and_one_label_alone_is_named(littlestone: Command) -> None:
    Path("rows.csv").write_text("amount,late\n")
    status, said = littlestone("check rows.csv --label late")
    assert status == 2 and "has a header and no rows" in said
    Path("rows.csv").write_text("amount,late\n" + "3,0\n" * 40)
    assert "all rows have this label" in littlestone("check rows.csv --label late")[1]


def test_rows_in_a_key_of_json_and_quoted_lines_are_converted_by_the_printed_command(
    littlestone: Command,
) -> None:
    rows = [{"amount": amount(n), "late": is_late(n)} for n in range(ROWS)]
    Path("a b.json").write_text(json.dumps({"at": 1, "rows": rows}))
    write("notes.csv", "amount;note;late", lambda n: f'{amount(n)};"ü\nx";{late(n)}', "cp1252")
    for call, made in (
        ("'a b.json'", "'a b.jsonl'"),
        ("notes.csv --encoding cp1252", "notes.jsonl"),
    ):
        said = littlestone(LEARN.format(call))[1]
        command = re.search("python3 -c '[^']+' < .*[.]jsonl'?", said)
        assert command is not None and not Path("run.db").exists(), said
        subprocess.run(command[0].replace("python3", sys.executable, 1), shell=True, check=True)
        status, said = littlestone(LEARN.format(made))
        assert status == 0 and f"{ROWS} events taken, 0" in said
        for path in Path().glob("r*.*"):
            path.unlink()


@pytest.mark.parametrize("shape", ["({:.1f})", "{:.1f}-"])
def test_negative_amounts_of_accountants_are_refused_with_the_command_that_mends_them(
    littlestone: Command, shape: str
) -> None:
    def row(n: int) -> str:
        number = amount(n) - 600
        return f"{shape.format(-number) if number < 0 else number:};{late(n)}"

    write("old.csv", "amount;late", row)
    Path("schema.toml").write_text("amount.range = [-1000, 1000]\n")
    status, said = littlestone(LEARN.format("old.csv"))
    command = re.search("sed -E '[^']+' old.csv > new.csv", said)
    assert status == 2 and command is not None, said
    subprocess.run(command[0], shell=True, check=True)
    status, said = littlestone(LEARN.format("new.csv"))
    assert status == 0 and "with stand-ins" not in said


def test_words_among_numbers_ask_for_missing_and_not_for_a_category(littlestone: Command) -> None:
    odd = ("#N/A", "?", "", "<NA>", "(null)", "not asked")
    write(
        "rows.csv", "amount,late", lambda n: f"{odd[n // 4 % 6] if n % 4 else amount(n)},{late(n)}"
    )
    status, said = littlestone(LEARN.format("rows.csv"))
    assert status == 2 and 'missing = "own value" below [amount]' in said
    assert "in place of a number" not in said
    Path("schema.toml").write_text('amount = { range = [0, 1000], missing = "own value" }\n')
    status, said = littlestone(LEARN.format("rows.csv"))
    assert status == 0 and "with stand-ins" not in said


def test_predict_reads_a_file_as_the_store_does_and_refuses_one_that_it_misreads(
    littlestone: Command,
) -> None:
    write("rows.csv", "amount;late", lambda n: f"{amount(n):.1f} €;{late(n)}".replace(".", ","))
    options = '--decimal , --units "€"'
    assert littlestone(f"{LEARN.format('rows.csv')} {options}")[0] == 0
    status, said = littlestone("predict rules.jsonl rows.csv --out p.csv")
    assert status == 2 and f"add {options}" in said and not Path("p.csv").exists()
    assert littlestone(f"predict rules.jsonl rows.csv --out p.csv {options}")[0] == 0
    predicted = Path("p.csv").read_text()
    assert littlestone("predict run.db rows.csv --out p.csv")[0] == 0
    assert Path("p.csv").read_text() == predicted and ",1" in predicted


def test_a_folder_and_a_missing_schema_are_refused_with_the_way_out(littlestone: Command) -> None:
    Path("rows.csv").mkdir()
    for command in ("check {} --label late", LEARN):
        for name in (".", "rows.csv"):
            status, said = littlestone(command.format(name))
            assert status == 2 and f"'{name}' is a folder; give one of its files" in said
    status, said = littlestone("learn rows.csv --label late --store run.db")
    assert status == 2 and "littlestone schema FILE writes one to fill in" in said
