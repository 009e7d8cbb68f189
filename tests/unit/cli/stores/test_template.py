"""``littlestone schema`` writes what is no secret: the names of the columns."""

import tomllib
from pathlib import Path

import pytest

from littlestone.cli.stores import template
from littlestone.concepts.schema import Schema

HEADER = 'left,"a ""b"", c",größe,late\n'


def test_only_the_header_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = []
    for rows in ("", "2013-01-01,1,2,3\n" * 5, "\x00\x00\n"):
        (tmp_path / "rows.csv").write_text(HEADER + rows)
        template.run(str(tmp_path / "rows.csv"), without=["late"], date=["left"])
        written.append(capsys.readouterr().out)
    assert len(set(written)) == 1
    declared = tomllib.loads(written[0])
    assert list(declared) == ["left", 'a "b", c', "größe"]
    with pytest.raises(ValueError, match="must declare either grid"):  # left open
        Schema.from_mapping(declared)
    filled = written[0].replace("# grid = []", "grid = [1]")
    assert len(Schema.from_mapping(tomllib.loads(filled)).fields) == 5


def test_refusals(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(HEADER)
    with pytest.raises(ValueError, match="no column 'lat'"):
        template.run(str(tmp_path / "rows.csv"), without=["lat"])
    with pytest.raises(ValueError, match="must have a header"):
        (tmp_path / "rows.jsonl").write_text("{}")
        template.run(str(tmp_path / "rows.jsonl"))
    (tmp_path / "schema.toml").write_text("mine")
    with pytest.raises(FileExistsError):
        template.run(str(tmp_path / "rows.csv"), out=tmp_path / "schema.toml")
    assert (tmp_path / "schema.toml").read_text() == "mine"
