"""The proved numbers in the tables of docs/theory are what the library computes, to a tenth.

The pages are compared with docs/measured.json by test_docs.py, and that file with the library here.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from littlestone import PrivateKeys, PrivateMajority, PrivateWitnesses
from littlestone.choose.catalogue import class_from_spec
from littlestone.concepts.protocols import ConceptClass
from littlestone.lab.class_floors import mistakes_floor

THEORY = Path(__file__).parents[2] / "docs" / "theory"
MEASURED = THEORY.parent / "measured.json"
ROUNDS = 10**6
POWERS = {"10⁻⁶": 1e-6, "0": 0.0}


def rows(page: str, heading: str) -> list[dict[str, str]]:
    """The table with a column of this heading, one dictionary for each row."""
    text = (THEORY / page).read_text(encoding="utf-8")
    table = re.search(rf"^\|.* {re.escape(heading)} \|.*\n(?:\|.*\n)+", text, re.MULTILINE)
    assert table, (page, heading)
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()
    ]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def says(cell: str, value: float) -> bool:
    """Whether a cell has the value to a tenth, rounded in any direction."""
    return abs(float(cell.replace(",", "")) - value) < 0.1


def proved_mean(concepts: ConceptClass, delta: float) -> float:
    setting: dict[str, Any] = {"concepts": concepts, "rounds": ROUNDS, "epsilon": 1.0}
    learner = PrivateKeys(**setting, delta=delta) if delta else PrivateWitnesses(**setting)
    return learner.expected_mistake_bound()


def floor(concepts: ConceptClass, delta: float) -> float:
    known = mistakes_floor(concepts, rounds=ROUNDS, epsilon=1.0, delta=delta)
    assert known is not None
    return known.mistakes


@pytest.mark.parametrize("row", rows("majority.md", "proved mean"), ids=lambda row: row["class"])
def test_bounds_of_majorities(row: dict[str, str]) -> None:
    concepts = class_from_spec(row["class"].strip("`"))
    learner = PrivateMajority(concepts=concepts, rounds=ROUNDS, epsilon=1.0)
    assert row["d"] == str(concepts.littlestone_dimension)
    assert says(row["floor"], floor(concepts, 0.0))
    assert says(row["proved mean"], learner.expected_mistake_bound())
    assert row["proved, 95 %"] == f"{math.ceil(learner.mistake_bound(failure_probability=0.05)):,}"
    assert says(row["`PrivateWitnesses`, proved mean"], proved_mean(concepts, 0.0))


@pytest.mark.parametrize("row", rows("floors.md", "proved mean"), ids=lambda row: row["class"])
def test_bounds_beside_floors(row: dict[str, str]) -> None:
    concepts, delta = class_from_spec(row["class"].strip("`")), POWERS[row["δ"]]
    mean, least = proved_mean(concepts, delta), floor(concepts, delta)
    assert says(row["floor"], least)
    assert says(row["proved mean"], mean)
    assert says(row["proved / floor"], mean / least)


def measured(part: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(MEASURED.read_text(encoding="utf-8"))[part]
    return rows


@pytest.mark.parametrize("row", measured("witnesses"), ids=lambda row: row["class"])
def test_means_of_witness_systems(row: dict[str, Any]) -> None:
    assert says(str(row["proved"]), proved_mean(class_from_spec(row["class"]), 0.0))
    page = (THEORY / "witnesses.md").read_text(encoding="utf-8")
    assert f"<!-- number: mean of {row['class']} -->" in page


def test_a_number_that_is_not_so_is_noticed() -> None:
    assert says("1,016.0", 1015.95)
    assert not says("488.1", 466.1)
