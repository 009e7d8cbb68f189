"""The commands of a fleet, and the page that shows them."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.fleets import NEEDS_A_SERVER, emptied, littlestone
from tests.server import Server
from typer.testing import CliRunner

from littlestone.choose import request as requests
from littlestone.choose.auto import auto
from littlestone.cli.main import app
from littlestone.runs.book import Book
from littlestone.runs.files import create_secret, read_secret
from littlestone.runs.fleet import database

pytestmark = NEEDS_A_SERVER


def test_the_commands(server: Server, tmp_path: Path) -> None:
    emptied(server)
    where, secret = ("--dsn", server.dsn), ("--secret", str(tmp_path / "secret"))
    made = littlestone(
        "init", *where, *secret, "--class", "thresholds:64", "--rounds", "100",
        "--setting", "realizable", "--max-keys", "3",
    )  # fmt: skip
    assert "ε = 3" in made and "at most 3 keys" in made and "is public" in made
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    refusal = littlestone("init", *where, *secret, "--class", "thresholds:64", expect=2)
    assert "exists" in refusal
    rows = "".join(f"{n // 2 + 1},shop {n % 2},{n},{int(n > 9)}\n" for n in range(20))
    (tmp_path / "events.csv").write_text("number,shop,size,large\n" + rows)
    columns = ("--key", "shop", "--label", "large", "--feature", "size")
    for more in ((), ("--sequence", "number")):  # the second time they are repeats
        said = littlestone("put", str(tmp_path / "events.csv"), *where, *columns, *more)
        assert said == "20 events put\n"
    assert littlestone("work", *where, *secret, "--until-empty") == "20 events taken\n"
    found = json.loads(littlestone("status", *where, "--json"))
    assert found["status"]["keys"] == 2 and found["status"]["rounds"] == 20
    assert found["ledger"]["person"]["cost"] == {"epsilon": 3.0, "delta": 0.0}
    assert "waiting" in littlestone("status", *where)
    [line, *_] = littlestone("releases", *where, "--key", "shop 1").splitlines()
    assert json.loads(line)["run"] == "shop 1" and json.loads(line)["release"] == 1
    (tmp_path / "bad.csv").write_text("shop,size,large\na,3,1\na,99,1\n")
    refusal = littlestone("put", str(tmp_path / "bad.csv"), *where, *columns, expect=2)
    assert "line 3" in refusal and "nothing" in refusal
    os.chmod(tmp_path / "secret", 0o640)
    assert "chmod 600" in littlestone("work", *where, *secret, expect=2)
    (tmp_path / "secret").unlink()
    create_secret(tmp_path / "secret")
    assert "not the secret" in littlestone("work", *where, *secret, expect=2)
    assert read_secret(tmp_path / "secret").hex() not in repr(found)


def test_errors_of_the_server_are_one_line(server: Server, tmp_path: Path) -> None:
    emptied(server)
    where, secret = ("--dsn", server.dsn), ("--secret", str(tmp_path / "secret"))
    made = ("--class", "thresholds:64", "--rounds", "100", "--setting", "realizable")
    littlestone("init", *where, *secret, *made)
    littlestone("blocklist", "init", *where, "--secret", str(tmp_path / "other"), "--rounds", "9")
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS weak")
        connection.execute("CREATE ROLE weak LOGIN")
        connection.execute("DROP TABLE littlestone.releases")
    weak = ("--dsn", server.dsn.replace("user=postgres", "user=weak"))
    new = ("--secret", str(tmp_path / "third"))
    for words in (
        ("status", *weak),
        ("status", *where),
        ("releases", *where),
        ("init", *weak, *new, *made),
        ("blocklist", "status", *weak),
        ("blocklist", "init", *weak, *new, "--rounds", "9"),
    ):
        said = littlestone(*words, expect=2)
        assert said.startswith("the database cannot be used") and "\n" not in said, words
    assert not (tmp_path / "third").exists()


def test_a_fleet_does_not_begin_beside_the_mark_of_another(server: Server, tmp_path: Path) -> None:
    """The budget would be spent on a fleet that cannot work."""
    emptied(server)
    (tmp_path / "secret.mark").write_bytes(b"of another fleet")
    where, secret = ("--dsn", server.dsn), ("--secret", str(tmp_path / "secret"))
    book = str(tmp_path / "book")
    assert CliRunner().invoke(app, ["budget", "init", book, "--epsilon", "9"]).exit_code == 0
    made = ("--class", "thresholds:64", "--rounds", "100", "--book", book)
    assert "secret.mark exists" in littlestone("init", *where, *secret, *made, expect=2)
    assert Book(book).entries() == [] and not (tmp_path / "secret").exists()
    assert "there is no fleet" in littlestone("status", *where, expect=2)


def test_a_german_file_is_refused_before_it_is_put_and_read_as_declared(
    server: Server, tmp_path: Path
) -> None:
    """With stand-ins all its rows would be rounds of one and the same point."""
    emptied(server)
    where, secret = ("--dsn", server.dsn), ("--secret", str(tmp_path / "secret"))
    schema, rows = tmp_path / "schema.toml", tmp_path / "german.csv"
    schema.write_text('[betrag]\nrange = [0, 100]\n[tag]\ndate = ["month"]\n')
    littlestone("init", *where, *secret, "--schema", str(schema), "--rounds", "500")
    lines = [f"{n % 90},5;0{1 + n % 9}.03.2026;{n % 90},0;laden\n" for n in range(300)]
    rows.write_text("betrag;tag;preis;wo\n" + "".join(lines))
    put = ("put", str(rows), *where, "--key", "wo", "--label", "preis", "--at-least", "45")
    said = littlestone(*put, expect=2)
    assert "most rows do not fit: 300 of 300" in said and "--decimal ," in said
    assert json.loads(littlestone("status", *where, "--json"))["status"]["waiting"] == 0
    options = ("--decimal", ",", "--date-format", "%d.%m.%Y")
    assert littlestone(*put, *options).endswith("300 events put\n")
    assert littlestone("work", *where, *secret, "--until-empty") == "300 events taken\n"
    newest = littlestone("releases", *where).splitlines()[-1]
    assert "betrag >=" in json.loads(newest)["rule"]


def test_a_half_written_last_line_is_not_put(server: Server, tmp_path: Path) -> None:
    """``58,1`` is on its way: ``5`` would be another row, and its number used."""
    emptied(server)
    where, columns = ("--dsn", server.dsn), ("--label", "large", "--feature", "size")
    for name, words in (("init", ("--class", "thresholds:64")), ("blocklist", ("init",))):
        littlestone(name, *words, *where, "--secret", str(tmp_path / name), "--rounds", "100")
    lines = '{"size": 3, "large": 1, "shop": "b"}\n', '{"size": 58, "large": 1, "shop": "b"}'
    put, puts = ("put", "--key", "shop"), ("blocklist", "put", "--first", "1")
    for name, first, last, command in (
        ("events.csv", "size,large,shop\n3,1,a\n", "58,1,a", put),
        ("events.jsonl", *lines, put),
        ("rounds.csv", "size,large\n3,1\n", "58,1", puts),
    ):
        path = tmp_path / name
        words = (*command, str(path), *where, *columns)
        for end in (1, len(last)):
            path.write_text(first + last[:end])
            said = littlestone(*words)
            assert said.startswith("1 " if command is put or end == 1 else "0 ")
            assert f"line {first.count(chr(10)) + 1} of {path} has no line end and was not" in said
            assert "--complete" in said
        said = littlestone(*words, "--complete")
        assert "no line end" not in said and said.startswith("2 " if command is put else "1 ")
        path.write_text(f"{first}{last}\n")
        assert "no line end" not in littlestone(*words)
    assert littlestone("work", *where, "--secret", str(tmp_path / "init"), "--until-empty")
    with database.connect(server.dsn) as connection:
        assert database.status(connection)["rounds"] == 4


def test_a_fleet_of_an_earlier_default_goes_on(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def earlier(concepts: Any, **terms: Any) -> Any:
        today: Any = auto(concepts, **terms)
        return replace(today, first=2)

    emptied(server)
    where, secret = ("--dsn", server.dsn), ("--secret", str(tmp_path / "secret"))
    with monkeypatch.context() as then:
        then.setattr(requests, "auto", earlier)
        littlestone("init", *where, *secret, "--class", "thresholds:64", "--rounds", "100")
    rows = "".join(f"a,{n},{int(n > 9)}\n" for n in range(20))
    (tmp_path / "events.csv").write_text("shop,size,large\n" + rows)
    columns = ("--key", "shop", "--label", "large", "--feature", "size")
    littlestone("put", str(tmp_path / "events.csv"), *where, *columns)
    assert littlestone("work", *where, *secret, "--until-empty") == "20 events taken\n"
    ledger = json.loads(littlestone("status", *where, "--json"))["ledger"]
    assert '"first": 2' in json.dumps(ledger) and '"growth": 2.0' in json.dumps(ledger)
    with database.connect(server.dsn) as connection:
        connection.execute("""UPDATE littlestone.fleet SET recipe = replace(recipe, ':2', ':3')""")
    for command in (("status", *where), ("work", *where, *secret)):
        assert "does not match its hash" in littlestone(*command, expect=2)


def test_the_page_can_be_followed(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    emptied(server)
    (tmp_path / "events.csv").write_text("shop,size,large\nHaifa,3,0\nJaffa,70,1\n")
    page = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\$ littlestone fleet (?!spark|blocklist)(.*)$", page, re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["init", "put", "work", "status", "releases"]
    for line in lines:
        words = [server.dsn if word.startswith("postgresql:") else word for word in line.split()]
        said = littlestone(*words)
    assert "Haifa" in said and "Jaffa" not in said
    (tmp_path / "reports.csv").write_text("sender,abusive\n" + "ann,1\n" * 99)
    for line in re.findall(r"^\$ littlestone fleet (blocklist .*)$", page, re.MULTILINE):
        words = [server.dsn if word.startswith("postgresql:") else word for word in line.split()]
        said = littlestone(*words)
    assert said.count('"run"') == 2 and "ann" in said
