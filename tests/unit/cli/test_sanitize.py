"""``littlestone sanitize`` on files: honest, early to refuse, complete in what it writes."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from littlestone.choose.catalogue import class_from_spec
from littlestone.cli import sanitize
from littlestone.errors import TooFewExamplesError


def write_csv(path: Path, header: list[str], rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def run(path: Path, out: Path, **changed: Any) -> None:
    options: dict[str, Any] = {
        "concepts": "thresholds:64",
        "epsilon": 1.0,
        "delta": 1e-6,
        "out": out,
        "column": None,
        "label": None,
        "error": 0.1,
        "failure_probability": 0.05,
        "size": None,
        "method": "auto",
        "seed": 1,
        "as_json": False,
    }
    sanitize.run(path, **{**options, **changed})


@pytest.fixture
def delays(tmp_path: Path) -> Path:
    values = np.minimum(np.random.default_rng(1).exponential(10, size=3000), 63).astype(int)
    rows = [[i, value, int(value > 9)] for i, value in enumerate(values.tolist())]
    return write_csv(tmp_path / "delays.csv", ["flight", "delay", "late"], rows)


def read(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_column_becomes_a_synthetic_column(
    delays: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "synthetic.csv"
    run(delays, out, column="delay")
    header, *rows = read(out)
    assert header == ["delay"]
    assert len(rows) == 3000
    real = np.array([int(row[1]) for row in read(delays)[1:]])
    synthetic = np.array([int(row[0]) for row in rows])
    for threshold in (5, 10, 20):
        assert abs((real >= threshold).mean() - (synthetic >= threshold).mean()) < 0.1
    said = capsys.readouterr()
    assert "Nothing is spent yet" in said.err
    assert "off by at most" in said.err
    assert "NOT PRIVATE" in said.out  # the seed


def test_labels_come_along(delays: Path, tmp_path: Path) -> None:
    out = tmp_path / "synthetic.csv"
    run(delays, out, column="delay", label="late", size=500)
    header, *rows = read(out)
    assert header == ["delay", "late"]
    assert len(rows) == 500
    assert {row[1] for row in rows} == {"0", "1"}


def test_json_holds_the_distribution_and_prints_one_object(
    delays: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "synthetic.json"
    run(delays, out, column="delay", as_json=True)
    shares = [cell["share"] for cell in json.loads(out.read_text())["distribution"]]
    assert sum(shares) == pytest.approx(1)
    record = json.loads(capsys.readouterr().out)
    assert record["sanitizer"] == "TreeSanitizer"
    assert record["examples"] == 3000
    assert record["epsilon"] <= 1.0
    assert record["private"] is False


def test_too_few_examples_are_refused_with_the_number_needed(delays: Path, tmp_path: Path) -> None:
    out = tmp_path / "synthetic.csv"
    with pytest.raises(TooFewExamplesError, match=r"needs [0-9]+; nothing was spent") as refusal:
        run(delays, out, column="delay", error=0.001)
    assert refusal.value.needed > 3000
    assert not out.exists()


def test_any_keys_are_welcome(tmp_path: Path) -> None:
    rows = [["rome"]] * 700 + [["oslo"]] * 400 + [[f"town {i}"] for i in range(100)]
    path = write_csv(tmp_path / "towns.csv", ["town"], rows)
    out = tmp_path / "synthetic.csv"
    run(path, out, concepts="points")
    counts = Counter(row[0] for row in read(out)[1:])
    assert abs(counts["rome"] - 700) < 60
    assert abs(counts["oslo"] - 400) < 60
    assert not any(town.startswith("town") for town in counts)


def test_bit_strings_and_the_generic_method(tmp_path: Path) -> None:
    rows = [["110"]] * 5000 + [["011"]] * 7000
    path = write_csv(tmp_path / "bits.csv", ["bits"], rows)
    out = tmp_path / "synthetic.csv"
    run(path, out, concepts="conjunctions:3", error=0.3, size=100)
    assert {len(row[0]) for row in read(out)[1:]} == {3}
    path = write_csv(tmp_path / "values.csv", ["value"], [[3]] * 20_000)
    run(path, out, concepts="thresholds:8", method="generic", error=0.3, size=100)
    assert Counter(row[0] for row in read(out)[1:])["3"] > 60


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([["1"], ["99"]], {}, r"line 3: .*got x=99"),
        ([["1"], ["many"]], {}, "line 3: invalid literal"),
        ([["1"]], {"column": "other"}, "no column 'other'; there are: value"),
        ([], {}, "must have rows below its header"),
        ([["1"]], {"method": "magic"}, "method must be one of auto, generic"),
        ([["1"]], {"concepts": "halfspaces:2,0.25"}, "cannot be read from one column"),
    ],
)
def test_bad_files_and_options_are_refused_by_name(
    rows: list[list[str]], options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "data.csv", ["value"], rows)
    with pytest.raises(ValueError, match=message):
        run(path, tmp_path / "out.csv", **options)


def test_a_label_that_is_none_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "data.csv", ["value", "late"], [[1, 0], [1, 2]])
    with pytest.raises(ValueError, match="line 3: label must be 0 or 1"):
        run(path, tmp_path / "out.csv", label="late")


def test_a_quote_takes_no_other_line_with_it(tmp_path: Path) -> None:
    """A reader of CSV that joins lines would make one example of all that follow."""
    path = tmp_path / "towns.csv"
    path.write_text('town\n"ro""me"\n"oslo\n' + "rome\n" * 20, encoding="utf-8")
    with pytest.raises(ValueError, match="line 3: not a line of CSV"):
        run(path, tmp_path / "out.csv", concepts="points")
    path.write_text('town\n"ro""me"\noslo\n', encoding="utf-8")
    table = sanitize.read_table(path, class_from_spec("points"), column=None, label=None)
    assert table.examples == ['ro"me', "oslo"]
