"""Rows become numbered events; whoever has no place in a key is refused with the whole file."""

import io
from pathlib import Path
from typing import Any

import pytest

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.classes.thresholds import Thresholds
from littlestone.concepts.schema import Schema
from littlestone.errors import LittlestoneError
from littlestone.runs.fleet.rows import Part, numbered
from littlestone.runs.intake.form import Form
from littlestone.runs.intake.readers import Columns

CLASS = Thresholds(10)
COLUMNS = Columns(label="y", feature="x", identity="shop")


def read(folder: Path, text: str, **given: Any) -> list[Part]:
    path = folder / "events.csv"
    path.write_text(text)
    settings: dict[str, Any] = {"sequence": None, "concepts": CLASS, "columns": COLUMNS, **given}
    concepts, columns = settings.pop("concepts"), settings.pop("columns")
    return list(
        numbered(str(path), concepts, columns, standard_input=io.BytesIO(), form=Form(), **settings)
    )


def test_events_of_a_key_are_numbered_as_they_come(tmp_path: Path) -> None:
    text = "shop,x,y\na,1,0\nb,2,1\na,3,1\n"
    nobody = [None] * 3
    assert read(tmp_path, text) == [(["a", "b", "a"], [1, 1, 2], [1, 2, 3], [0, 1, 1], nobody)]
    assert [part[1] for part in read(tmp_path, text, size=2)] == [[1, 1], [2]]
    assert read(tmp_path, "shop,x,y\n") == []


def test_a_column_may_have_the_numbers(tmp_path: Path) -> None:
    text = "n,shop,x,y\n7,a,1,0\n5,b,2,1\n8,a,3,1\n"
    [part] = read(tmp_path, text, sequence="n")
    assert part[:4] == (["a", "b", "a"], [7, 5, 8], [1, 2, 3], [0, 1, 1])
    with pytest.raises(LittlestoneError, match="line 3: 'n' is not a whole number"):
        read(tmp_path, "n,shop,x,y\n7,a,1,0\n?,b,2,1\n", sequence="n")


@pytest.mark.parametrize("row", ["a,99,1", ",3,1", "a,,1"])
def test_a_row_without_an_example_or_a_key_refuses_the_file(tmp_path: Path, row: str) -> None:
    with pytest.raises(LittlestoneError, match=r"line 3.*nothing of"):
        read(tmp_path, f"shop,x,y\na,1,0\n{row}\n")


def test_over_a_schema_a_stand_in_keeps_its_place(tmp_path: Path) -> None:
    trees = DecisionTrees(Schema.from_mapping({"delay": {"grid": [0, 15]}}), 1)
    columns = Columns(label="late", identity="shop")
    text = "shop,delay,late\na,3,0\na,?,1\na,20,1\n"
    [(keys, seqs, xs, ys, _)] = read(tmp_path, text, concepts=trees, columns=columns)
    assert (keys, seqs, ys) == (["a"] * 3, [1, 2, 3], [0, 1, 1]) and len(xs) == 3
    for row in (",3,0", ",?,0", ",?,?"):
        with pytest.raises(LittlestoneError, match="line 2: 'shop' is missing"):
            read(tmp_path, f"shop,delay,late\n{row}\n", concepts=trees, columns=columns)
    for bad in ("?", "0", "-3", "1.5"):
        text = f"n,shop,delay,late\n{bad},a,3,0\n"
        with pytest.raises(LittlestoneError, match="line 2: 'n' is not a whole number from 1"):
            read(tmp_path, text, concepts=trees, columns=columns, sequence="n")


def test_users_come_with_their_events_in_one_form(tmp_path: Path) -> None:
    columns = Columns(label="y", feature="x", identity="shop", user="who")
    text = "who,shop,x,y\nAnn,a,1,0\nBob,b,2,1\n ANN,a,3,1\n"
    [part] = read(tmp_path, text, columns=columns)
    assert part[4] == ["ann", "bob", "ann"] and part[:2] == (["a", "b", "a"], [1, 1, 2])
