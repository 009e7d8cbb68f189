"""Files as people have them: learned, or refused before anything is spent with the line to add."""

import gzip
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pytest
from pyarrow import parquet

from littlestone.cli.main import main
from littlestone.concepts.records.buckets import bucket_of

ROWS: Final = 1500
Command = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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


class Messy(NamedTuple):
    """A file, how somebody who has read the first page would call ``learn``, and what is wrong."""

    file: str
    write: Callable[[Path], None]
    schema: str
    options: str
    added: tuple[str, ...]
    """Options that ``learn`` and ``check`` must name, each of them; none if it is learned."""
    changed: str = ""
    """A schema that ``learn`` must ask for."""


def amount(row: int) -> float:
    return (row * 37 % 1000) / 10


def is_late(row: int) -> bool:
    return amount(row) >= 60


def lines(path: Path, text: str, encoding: str = "utf-8") -> None:
    path.write_bytes(text.encode(encoding))


def german(path: Path) -> None:
    rows = [
        f"{amount(n):.2f}".replace(".", ",")
        + f";{1 + n % 28:02}.03.2026;{'ja' if is_late(n) else 'nein'}"
        for n in range(ROWS)
    ]
    lines(path, "\n".join(["betrag;tag;spät", *rows]) + "\n")


def windows(path: Path) -> None:
    towns = ("Köln", "Düren", "Ulm")
    rows = [f"{amount(n)},{towns[n % 3]},{int(is_late(n))}" for n in range(ROWS)]
    lines(path, "\r\n".join(["betrag,ort,late", *rows]) + "\r\n", "cp1252")


def semicolons(path: Path) -> None:
    rows = [f"{amount(n)};{n % 24};{int(is_late(n))}" for n in range(ROWS)]
    lines(path, "\n".join(["amount;hour;late", *rows]) + "\n")


def compressed(path: Path) -> None:
    rows = [f"{amount(n)},{int(is_late(n))}" for n in range(ROWS)]
    path.write_bytes(gzip.compress(("\n".join(["amount,late", *rows]) + "\n").encode()))


def nested(path: Path) -> None:
    rows = [
        json.dumps({"order": {"amount": amount(n)}, "user": {"id": n % 700}, "late": is_late(n)})
        for n in range(ROWS)
    ]
    lines(path, "\n".join(rows) + "\n")


def decimals(path: Path) -> None:
    parquet.write_table(
        pa.table(
            {
                "amount": pa.array(
                    [Decimal(f"{amount(n):.2f}") for n in range(ROWS)], pa.decimal128(10, 2)
                ),
                "late": pa.array([int(is_late(n)) for n in range(ROWS)], pa.int8()),
            }
        ),
        path,
    )


def nulls(path: Path) -> None:
    rows = [f"{'NULL' if n % 3 else amount(n)},{int(is_late(n))}" for n in range(ROWS)]
    lines(path, "\n".join(["amount,late", *rows]) + "\n")


def merchants(path: Path) -> None:
    rows = [f"m{n * 7919 % 20_000},{amount(n)},{int(is_late(n))}" for n in range(25_000)]
    lines(path, "\n".join(["merchant,amount,late", *rows]) + "\n")


def words(path: Path) -> None:
    rows = [f"{amount(n)},{'verspätet' if is_late(n) else 'pünktlich'}" for n in range(ROWS)]
    lines(path, "\n".join(["amount,status", *rows]) + "\n")


def times(path: Path) -> None:
    rows = [f"{1 + n % 28:02}/03/2026 {n % 24:02}:15,{int(n % 24 >= 15)}" for n in range(ROWS)]
    lines(path, "\n".join(["left,late", *rows]) + "\n")


AMOUNT: Final = "amount.range = [0, 100]\n"
TOWNS: Final = 'betrag.range = [0, 100]\nort.values = ["Köln", "Düren", "Ulm"]\n'
FILES: Final = (
    Messy("german.csv", german, 'betrag.range = [0, 100]\ntag.date = ["weekday"]\n',
          "--label spät", ("--decimal ,", '--date-format "%d.%m.%Y"')),
    Messy("windows.csv", windows, TOWNS,
          "--label late", ("--encoding cp1252",)),
    Messy("semicolons.csv", semicolons, AMOUNT + "hour.range = [0, 24]\n", "--label late", ()),
    Messy("compressed.csv.gz", compressed, AMOUNT, "--label late", ()),
    Messy("nested.jsonl", nested, '"order.amount".range = [0, 100]\n',
          "--label late --user user --max-contributions 3", ("--user user.id",)),
    Messy("decimals.parquet", decimals, AMOUNT, "--label late", ()),
    Messy("nulls.csv", nulls, AMOUNT, "--label late", (),
          changed='amount = { range = [0, 100], missing = "own value" }\n'),
    Messy("merchants.csv", merchants, AMOUNT, "--label late", ()),
    Messy("words.csv", words, AMOUNT, "--label status", ("--positive verspätet",)),
    Messy("times.csv", times, 'left.date = ["hour"]\n', "--label late",
          ('--date-format "%d/%m/%Y %H:%M"',)),
)  # fmt: skip


def quoted(path: Path) -> None:
    rows = [f'"{amount(n)}","{int(is_late(n))}"' for n in range(ROWS)]
    lines(path, "\r\n".join(['"amount","late"', *rows]) + "\r\n", "utf-8-sig")


def sheet(path: Path) -> None:
    rows = [f"{amount(n)}\t{int(is_late(n))}" for n in range(ROWS)]
    lines(path, "\r\n".join(["amount\tlate", *rows]) + "\r\n", "utf-16")


def money(path: Path) -> None:
    rows = [f'"${100 * amount(n):,.2f}",{int(is_late(n))}' for n in range(ROWS)]
    lines(path, "\n".join(["amount,late", *rows]) + "\n")


def percents(path: Path) -> None:
    rows = [f"{amount(n):.1f} %".replace(".", ",") + f";{int(is_late(n))}" for n in range(ROWS)]
    lines(path, "\n".join(["amount;late", *rows]) + "\n")


def french(path: Path) -> None:
    euros = [
        f"{100 * amount(n):,.2f}".replace(",", "\u202f").replace(".", ",") for n in range(ROWS)
    ]
    rows = [f"{euros[n]};{'oui' if is_late(n) else 'non'}" for n in range(ROWS)]
    lines(path, "\n".join(["amount;retard", *rows]) + "\n")


def titled(path: Path) -> None:
    rows = [f"{amount(n)};{int(is_late(n))}" for n in range(ROWS)]
    lines(path, "\n".join(["Orders;", "as of 2026-03-01;", "amount;late", *rows]) + "\n")


def days(path: Path) -> None:
    rows = [f"{46_000 + n / 24:.5f},{int(n % 24 >= 15)}" for n in range(ROWS)]
    lines(path, "\n".join(["left,late", *rows]) + "\n")


def milliseconds(path: Path) -> None:
    rows = [{"left": 1_772_323_200_000 + 3_600_000 * n, "late": n % 24 >= 15} for n in range(ROWS)]
    lines(path, "".join(f"{json.dumps(row)}\n" for row in rows))


def spanish(path: Path) -> None:
    rows = [f"{amount(n)};{'sí' if is_late(n) else 'no'}" for n in range(ROWS)]
    lines(path, "\n".join(["amount;moroso", *rows]) + "\n", "cp1252")


def three_labels(path: Path) -> None:
    rows = [f"{amount(n)},{('paid', 'late', 'lost')[int(amount(n) // 34)]}" for n in range(ROWS)]
    lines(path, "\n".join(["amount,status", *rows]) + "\n")


MORE: Final = (
    Messy("quoted.csv", quoted, AMOUNT, "--label late", ()),
    Messy("sheet.tsv", sheet, AMOUNT, "--label late", ("--encoding utf-16",)),
    Messy("money.csv", money, "amount.range = [0, 10000]\n", "--label late",
          ('--thousands ","', '--units "$"')),
    Messy("percents.txt", percents, AMOUNT, "--label late", ("--decimal ,", '--units "%"')),
    Messy("french.csv", french, "amount.range = [0, 10000]\n", "--label retard",
          ("--decimal ,", '--thousands " "')),
    Messy("titled.csv", titled, AMOUNT, "--label late", ("--skip 2",)),
    Messy("days.csv", days, 'left.date = ["hour"]\n', "--label late", ("--date-format excel",)),
    Messy("milliseconds.jsonl", milliseconds, 'left.date = ["hour"]\n', "--label late",
          ("--date-format unix-ms",)),
    Messy("spanish.csv", spanish, AMOUNT, "--label moroso", ("--encoding cp1252",)),
    Messy("three.csv", three_labels, AMOUNT, "--label status",
          (), changed='label.values = ["late", "lost", "paid"]\n' + AMOUNT),
)  # fmt: skip


def rules() -> list[dict[str, str]]:
    return [json.loads(line) for line in Path("rules.jsonl").read_bytes().splitlines()]


def bare(text: str) -> str:
    """Without quotes, which are a matter of shells."""
    return re.sub("['\"]", "", text)


def is_mended(littlestone: Command, each: Messy) -> bool:
    """Whether a file had to be mended, as ``learn`` and ``check`` say; then it is learned."""
    each.write(Path(each.file))
    Path("schema.toml").write_text(each.schema, encoding="utf-8")
    call = f"{each.file} --schema schema.toml {each.options}"
    store = "--store run.db --out rules.jsonl"
    status, said = littlestone(f"learn {call} {store}")
    if each.added or each.changed:
        assert status == 2 and not Path("run.db").exists(), (each.file, said)
        assert not Path("rules.jsonl").exists(), each.file
        _, told = littlestone(f"check {call}")
        line = "label = { values" if "label" in each.changed else "missing = own value"
        for part in each.added or (line,):
            known = bare(part.removeprefix("--user "))
            assert known in bare(said) and known in bare(told), (each.file, part, said, told)
        if each.changed:
            Path("schema.toml").write_text(each.changed, encoding="utf-8")
        status, said = littlestone(f"learn {call} {store} {' '.join(each.added)}")
    assert status == 0, (each.file, said)
    assert len(rules()) > 1 and " if " in rules()[-1]["rule"], each.file
    for path in Path().glob("r*.*"):
        path.unlink()
    return bool(each.added or each.changed)


@pytest.mark.parametrize("files", [FILES, MORE], ids=["FILES", "MORE"])
def test_ten_messy_files_are_learned_or_refused_before_anything_is_spent(
    littlestone: Command, capsys: pytest.CaptureFixture[str], files: tuple[Messy, ...]
) -> None:
    mended = sum(is_mended(littlestone, each) for each in files)
    with capsys.disabled():
        print(
            f"\nmessy files: {len(files) - mended} learned as they are, {mended} with the line "
            f"added: {len(files)} of {len(files)}"
        )
    assert len(files) == 10


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.csv", 'amount,note,late\n{},"first\nsecond",{}\n'),
        ("blanks.csv", '"amount","note","late"\n"{}" , "x" , "{}"\n'),
        ("array.json", '[\n{{"amount": {}, "late": {}}},\n'),
    ],
)
def test_a_file_that_needs_other_lines_is_refused_with_the_command_that_writes_them(
    littlestone: Command, name: str, text: str
) -> None:
    head, _, row = text.partition("\n")
    rows = "".join(row.format(amount(n), int(is_late(n))) for n in range(ROWS))
    rows = f"{rows.removesuffix(',' + chr(10))}]" if name.endswith("json") else rows
    Path(name).write_text(f"{head}\n{rows}")
    Path("schema.toml").write_text(AMOUNT)
    call = "learn {} --schema schema.toml --label late --store run.db --out rules.jsonl"
    status, said = littlestone(call.format(name))
    assert status == 2 and not Path("run.db").exists()
    command = re.search("python3 -c '[^']+' < [^ ]+ > [a-z]+.jsonl", said)
    assert command is not None, said
    subprocess.run(command[0].replace("python3", sys.executable, 1), shell=True, check=True)
    status, said = littlestone(call.format(command[0].split()[-1]))
    assert status == 0 and f"{ROWS} events taken" in said


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("old.csv", b"amount,late\r1,0\r2,1\r", "tr '\\r' '\\n' < old.csv > new.csv"),
        ("twice.csv", b"amount,amount,late\n1,2,0\n", "must occur once, got 2: rename the others"),
        ("book.xlsx", b"PK\x03\x04", "save the sheet as CSV (UTF-8)"),
        ("bare.csv", "amount,late\n1,0\n".encode("utf-16-le"), "--encoding utf-16-le"),
        ("german.csv", "größe,late\n1,0\n".encode("cp1252"), "--encoding cp1252"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_way_out_and_without_its_rows(
    littlestone: Command, name: str, content: bytes, told: str
) -> None:
    Path(name).write_bytes(content)
    Path("schema.toml").write_text(AMOUNT)
    status, said = littlestone(f"check {name} --schema schema.toml --label late")
    assert status == 2 and told in said and "0\\r2" not in said


def test_one_line_of_totals_changes_no_schema(littlestone: Command) -> None:
    semicolons(Path("rows.csv"))
    with Path("rows.csv").open("a") as file:
        file.write("Total;;560\n")
    Path("schema.toml").write_text(AMOUNT)
    status, said = littlestone("check rows.csv --schema schema.toml --label late")
    assert status == 0 and "1,500 of 1,501 rows fit" in said
    assert "'Total' on line 1502" in said and " add " not in said


def test_check_spends_nothing_and_says_whose_eyes_it_is_for(littlestone: Command) -> None:
    german(Path("german.csv"))
    before = sorted(Path().iterdir())
    Path("schema.toml").write_text("betrag.range = [0, 100]\n")
    status, said = littlestone("check german.csv --schema schema.toml --label spät")
    assert status == 2
    assert sorted(Path().iterdir()) == sorted([*before, Path("schema.toml")])
    assert "For your eyes only" in said and "separated by ';'" in said
    assert "0 of 1,500 rows fit" in said
    assert "'betrag' is not a number in 1,500 rows, as '0,00' on line 2; '3,70' on line 3" in said
    late = sum(map(is_late, range(ROWS)))
    assert f"label 'spät': 'nein' {ROWS - late:,}, 'ja' {late}" in said


def test_check_names_every_misfit_of_a_row_not_only_the_first(littlestone: Command) -> None:
    lines(Path("rows.csv"), "a,b,y\n" + "x,z,maybe\n" * 40)
    Path("schema.toml").write_text('a.range = [0, 1]\nb.values = ["p", "q"]\n')
    _, said = littlestone("check rows.csv --schema schema.toml --label y")
    for reason in (
        "'a' is not a number",
        "'b' is not one of the declared values",
        "'y' is neither",
    ):
        assert f"{reason}" in said and "in 40 rows" in said


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ([f"{n * 7 % 90}" for n in range(200)], "--at-least NUMBER"),
        (
            [("ok", "late", "lost")[n % 3] for n in range(200)],
            'label = { values = ["late", "lost", "ok"] } above all',
        ),
        ([f"a sentence that nobody wrote twice {n}" for n in range(300)], "another --label"),
        ([("auf", "zu")[n % 2] for n in range(200)], "--positive 'zu'"),
    ],
)
def test_a_target_that_is_not_two_labels_is_named_with_what_to_do(
    littlestone: Command, labels: list[str], told: str
) -> None:
    lines(Path("rows.csv"), "x,y\n" + "".join(f"{n},{y}\n" for n, y in enumerate(labels)))
    Path("schema.toml").write_text("x.range = [0, 300]\n")
    for command in ("check rows.csv", "learn rows.csv --store a.db --out a.jsonl"):
        status, said = littlestone(f"{command} --schema schema.toml --label y")
        assert status == 2 and told in said
    assert not Path("a.db").exists()


def test_a_numeric_target_is_learned_from_a_number_on(littlestone: Command) -> None:
    lines(Path("rows.csv"), "x;y\n" + "".join(f"{n % 90};{n % 90},5\n" for n in range(1500)))
    Path("schema.toml").write_text("x.range = [0, 90]\n")
    status, _ = littlestone(
        "learn rows.csv --schema schema.toml --label y --at-least 45 --decimal , --store run.db "
        "--out rules.jsonl"
    )
    assert status == 0 and "x >= 4" in rules()[-1]["rule"]


def test_a_column_of_twenty_thousand_values_is_named_with_keys_in_its_place(
    littlestone: Command,
) -> None:
    merchants(Path("merchants.csv"))
    Path("schema.toml").write_text(AMOUNT)
    status, said = littlestone("check merchants.csv --schema schema.toml --label late")
    assert status == 0
    assert "'merchant': 20,000 or more different values" in said and "PrivateKeys" in said
    assert "buckets = 64 below [merchant] in the schema" in said


def test_a_column_of_many_values_is_learned_by_its_buckets(littlestone: Command) -> None:
    """A tenth of the shops have most of the late orders; no other column says anything."""
    bad = [bucket_of(f"m{n}", 8) == 3 for n in range(2000)]
    rows = [f"m{n * 7919 % 2000},{int(bad[n * 7919 % 2000])}" for n in range(6000)]
    lines(Path("shops.csv"), "\n".join(["merchant,late", *rows]) + "\n")
    Path("schema.toml").write_text("[merchant]\nbuckets = 8\n")
    for command in ("check shops.csv", "learn shops.csv --store run.db --out rules.jsonl"):
        status, said = littlestone(f"{command} --schema schema.toml --label late")
        assert status == 0 and "too many" not in said
    assert "merchant is in bucket 3 of 8" in rules()[-1]["rule"]
    status, said = littlestone("predict rules.jsonl shops.csv --out predicted.csv")
    assert status == 0
    predicted = Path("predicted.csv").read_text().splitlines()[1:]
    assert [line.partition(",")[2] for line in predicted] == [row[-1] for row in rows]
    assert "sha256(" in littlestone("export rules.jsonl --sql")[1]


def test_an_absent_user_column_is_refused(littlestone: Command) -> None:
    nested(Path("nested.jsonl"))
    Path("schema.toml").write_text('"order.amount".range = [0, 100]\n')
    call = "learn nested.jsonl --schema schema.toml --label late --store run.db --user"
    for user in ("customer", "user.name"):
        status, said = littlestone(f"{call} {user}")
        assert status == 2 and f"there is no '{user}' in the first 1000 rows" in said
    assert "'user.id'" in said and not Path("run.db").exists()


def test_a_store_keeps_what_counts_as_one(littlestone: Command) -> None:
    words(Path("words.csv"))
    Path("more.csv").write_text("amount,status\n" + "70,verspätet\n" * 30)
    Path("schema.toml").write_text(AMOUNT)
    call = "learn {} --schema schema.toml --store run.db --out rules.jsonl --label status"
    assert littlestone(call.format("words.csv") + " --positive verspätet")[0] == 0
    status, said = littlestone(call.format("more.csv") + " --positive pünktlich")
    assert status == 2 and "was created with --positive verspätet, not pünktlich" in said
    status, said = littlestone(call.format("more.csv") + " --at-least 3")
    assert status == 2 and "was created with no --at-least, not 3.0" in said
    status, said = littlestone(call.format("more.csv"))  # as it was made
    assert status == 0 and "30 events taken, 0 seen before" in said
    Path("schema.toml").write_text("amount.range = [0, 200]\n")
    assert littlestone(call.format("more.csv"))[0] == 2


def test_learn_looks_at_as_many_rows_as_it_may(littlestone: Command) -> None:
    lines(Path("rows.csv"), "x,y\n" + "?,1\n" * 30 + "1,1\n" * 70)
    Path("schema.toml").write_text("x.range = [0, 9]\n")
    call = "learn rows.csv --schema schema.toml --label y --out a.jsonl"
    status, said = littlestone(f"{call} --store a.db --check 40")
    assert status == 2 and "most rows do not fit: 30 of 40" in said
    assert not Path("a.db").exists()
    assert littlestone(f"{call} --store a.db")[0] == 0


def test_mistyped_words_for_one_are_refused_before_anything_is_spent(littlestone: Command) -> None:
    lines(Path("rows.csv"), "x,y\n" + "1,ja\n2,nein\n" * 30)
    Path("schema.toml").write_text("x.range = [0, 9]\n")
    call = "learn rows.csv --schema schema.toml --label y --out a.jsonl --store a.db"
    status, said = littlestone(f"{call} --positive Ja")
    assert status == 2 and "none of the first 60 rows is labelled 'Ja', but 'ja' is there" in said
    assert "Add --positive 'ja'" in said and not Path("a.db").exists()


@pytest.mark.parametrize("positive", ["true", "True"])
def test_booleans_of_json_are_labels_in_any_case(littlestone: Command, positive: str) -> None:
    row = '{"x": 1, "y": true}\n{"x": 2, "y": false}\n{"x": 3, "y": true}\n'
    lines(Path("rows.jsonl"), row * 20)
    Path("schema.toml").write_text("x.range = [0, 9]\n")
    call = "learn rows.jsonl --schema schema.toml --label y --out a.jsonl --store a.db"
    status, said = littlestone(f"{call} --positive {positive}")
    assert status == 0 and "always 1: 20 mistakes" in said


def test_a_file_that_is_read_again_is_refused_or_warned_of(littlestone: Command) -> None:
    compressed(Path("a.csv.gz"))
    Path("schema.toml").write_text(AMOUNT)
    call = "learn {} --schema schema.toml --label late --store run.db --out rules.jsonl"
    assert littlestone(call.format("a.csv.gz"))[0] == 0
    header, *rows = gzip.decompress(Path("a.csv.gz").read_bytes()).decode().splitlines()
    names = header.split(",")
    as_json = [json.dumps(dict(zip(names, row.split(","), strict=True))) for row in rows]
    lines(Path("b.jsonl"), "\n".join(as_json) + "\n")  # its first row is on line 1, not 2
    status, said = littlestone(call.format("b.jsonl"))
    assert status == 2 and "begin like those of 'a.csv'" in said and "Nothing was taken" in said
    lines(Path("c.csv"), "\n".join([header, *reversed(rows)]) + "\n")
    status, said = littlestone(call.format("c.csv"))
    assert status == 0 and "the lines of 'a.csv' were read before" in said
    status, said = littlestone(call.format("c.csv"))
    assert status == 0 and "read before" not in said and "1500 seen before" in said


def test_what_is_declared_as_missing_fits_in_whatever_words(littlestone: Command) -> None:
    words = ("unknown", "see note", "-")
    body = "".join(
        f"{n % 90 if n % 4 == 0 else words[n % 3]},t{n % 50},{n % 2}\n" for n in range(400)
    )
    lines(Path("rows.csv"), f"x,town,y\n{body}")
    Path("schema.toml").write_text(
        '[x]\nrange = [0, 90]\nmissing = "own value"\n'
        '["town"]\nvalues = ["t1", "T2"]\nmissing = "own value"\n'
    )
    status, said = littlestone("check rows.csv --schema schema.toml --label y")
    assert status == 0 and "400 of 400 rows fit" in said
    told = "'town' has none of the declared values in 392 rows of 400, which count as 'own value'"
    assert told in said
    status, said = littlestone(
        "learn rows.csv --schema schema.toml --label y --store run.db --out rules.jsonl"
    )
    assert status == 0 and told in said and "with stand-ins" not in said


def test_numbers_with_other_marks_do_not_fit_though_missing_is_declared(
    littlestone: Command,
) -> None:
    german(Path("german.csv"))
    Path("schema.toml").write_text('[betrag]\nrange = [0, 100]\nmissing = "own value"\n')
    status, said = littlestone("check german.csv --schema schema.toml --label spät")
    assert status == 2 and "add --decimal ," in said and "own value" not in said


def test_columns_of_dates_and_ids_are_told_from_names(littlestone: Command) -> None:
    days = "".join(
        f"{n},{1 + n % 28:02}.0{1 + n % 9}.20{10 + n % 17},{n}.5,1\n" for n in range(9000)
    )
    lines(Path("rows.csv"), f"number,day,size,y\n{days}")
    status, said = littlestone("check rows.csv --label y")
    assert status == 0 and "'number': 9,000 different values, each once: an id" in said
    assert 'below [day] in the schema, and --date-format "%d.%m.%Y"' in said
    assert "range = [LOW, HIGH] below [size] in the schema" in said


def test_names_that_occur_twice_are_refused_only_where_they_are_needed(
    littlestone: Command,
) -> None:
    """By ``learn`` and by ``check`` alike, in CSV and in Parquet."""
    lines(Path("schema.toml"), "[amount]\nrange = [0, 100]\n")
    lines(Path("rows.csv"), "amount,other,other,,,late\n" + "1,2,3,4,5,0\n" * 20)
    columns = [pa.array([1] * 20), pa.array([2] * 20), pa.array([3] * 20), pa.array([0] * 20)]
    names = ["amount", "other", "other", "late"]
    parquet.write_table(pa.table(columns, names=names), "rows.parquet")
    for file in ("rows.csv", "rows.parquet"):
        status, said = littlestone(f"check {file} --schema schema.toml --label late")
        assert (status, "20 of 20 rows fit" in said) == (0, True), said
        status, said = littlestone(f"check {file} --schema schema.toml --label other")
        assert status and "column 'other' must occur once" in said
