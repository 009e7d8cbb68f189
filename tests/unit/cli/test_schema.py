"""``littlestone schema`` writes what is no secret: the names of the columns."""

import tomllib
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from littlestone.cli import schema
from littlestone.concepts.schema import Schema

HEADER = 'left,"a ""b"", c",größe,late\n'


def test_only_the_header_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = []
    for rows in ("", "2013-01-01,1,2,3\n" * 5, "\x00\x00\n"):
        (tmp_path / "rows.csv").write_text(HEADER + rows)
        schema.run(str(tmp_path / "rows.csv"), without=["late"], date=["left"])
        written.append(capsys.readouterr().out)
    assert len(set(written)) == 1
    declared = tomllib.loads(written[0])
    assert list(declared) == ["left", 'a "b", c', "größe"]
    with pytest.raises(ValueError, match="must declare either range"):  # left open
        Schema.from_mapping(declared)
    filled = written[0].replace("# range = []", "range = [0, 1]")
    assert len(Schema.from_mapping(tomllib.loads(filled)).fields) == 5


def test_refusals(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(HEADER)
    with pytest.raises(ValueError, match="no column 'lat'"):
        schema.run(str(tmp_path / "rows.csv"), without=["lat"])
    with pytest.raises(ValueError, match="have no names"):
        (tmp_path / "rows.jsonl").write_text("{}")
        schema.run(str(tmp_path / "rows.jsonl"))
    with pytest.raises(ValueError, match="must end in"):
        (tmp_path / "rows.xlsx").write_text("")
        schema.run(str(tmp_path / "rows.xlsx"))
    (tmp_path / "schema.toml").write_text("mine")
    with pytest.raises(FileExistsError):
        schema.run(str(tmp_path / "rows.csv"), out=tmp_path / "schema.toml")
    assert (tmp_path / "schema.toml").read_text() == "mine"


def test_names_of_json_lines_are_those_of_the_first_rows_and_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = '{"order": {"amount": 3, "by": {"app": "x"}}, "tags": [1], "late": 0}'
    (tmp_path / "rows.jsonl").write_text(f"{row}\nno json\n" + '{"note": null}\n')
    schema.run(str(tmp_path / "rows.jsonl"), without=["late"])
    written = capsys.readouterr().out
    assert list(tomllib.loads(written)) == ["order.amount", "order.by.app", "tags", "note"]
    assert "Delete" in written and "Only the header" not in written


def test_a_price_for_grids_does_not_cover_the_names_of_json_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.jsonl").write_text('{"amount": 3}\n{"amount": 4, "of one row": 1}\n')
    schema.run(str(tmp_path / "rows.jsonl"), private_ranges=1.0, numeric=["amount"])
    written = capsys.readouterr().out
    assert "of one row" in tomllib.loads(written)
    assert "even a name that only one row has" in written and "with privacy" in written


def test_the_types_of_a_parquet_file_are_public_and_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pa.table(
        {
            "at": pa.array([0], pa.timestamp("us")),
            "paid": pa.array([None], pa.decimal128(9, 2)),
            "town": pa.array(["x"]),
        }
    )
    parquet.write_table(table, tmp_path / "rows.parquet")
    schema.run(str(tmp_path / "rows.parquet"))
    written = capsys.readouterr().out
    assert '[at]\ndate = ["hour", "weekday", "month"]' in written or '["at"]\ndate' in written
    assert '["paid"]\n# range = []\n\n' in written and '["town"]\n# values = []\n' in written
