"""Counts from tables over cells are those that asking every record gives."""

import numpy as np
import pytest
from numpy.typing import NDArray

from littlestone.concepts.classes.decision_trees import DecisionTrees
from littlestone.concepts.schema import Schema
from littlestone.privacy.mechanisms.cell_tables import CellTables
from littlestone.privacy.mechanisms.tree_weights import Sample, TreeWeights

SCHEMA = Schema.from_mapping(
    {
        "delay": {"grid": [0, 5, 15, 30, 60]},
        "from": {"values": ["A", "B", "C"]},
        "hour": {"grid": [6, 9, 12, 18]},
        "late": {"values": [0, 1]},
    }
)
TREES = DecisionTrees(SCHEMA, 3)
WIDTHS = [part.cells for part in SCHEMA.fields]


def asked(conditions: list[tuple[int, int, int]], cells: NDArray[np.int64]) -> NDArray[np.float64]:
    """Whether each record holds each question, asked one by one."""
    holds = [(low <= cells[:, part]) & (cells[:, part] <= high) for part, low, high in conditions]
    return np.array(holds, dtype=np.float64).reshape(len(conditions), len(cells))


@pytest.mark.parametrize("shuffled", [False, True], ids=["by field", "in any order"])
@pytest.mark.parametrize("count", [0, 1, 400])
def test_pairs_and_triples_are_counted_as_if_each_record_was_asked(
    shuffled: bool, count: int
) -> None:
    generator = np.random.default_rng(count)
    conditions = list(TREES.conditions)
    if shuffled:
        generator.shuffle(conditions)
    cells = generator.integers(WIDTHS, size=(count, len(WIDTHS)))
    weights = generator.integers(-5, 9, size=count).astype(np.float64)
    tables, holds = CellTables(conditions, WIDTHS), asked(conditions, cells)
    assert np.array_equal(tables.pairs(cells, weights), (holds * weights) @ holds.T)
    triples = np.einsum("ai,bi,ci,i->abc", holds, holds, holds, weights)
    assert np.array_equal(tables.triples(cells, weights), triples)


def sample(size: int) -> Sample:
    generator = np.random.default_rng(size)
    rows = generator.integers([*WIDTHS, 2], size=(size, len(WIDTHS) + 1))
    return Sample.of_rows(rows, WIDTHS, 2)


@pytest.mark.parametrize("eta", [1e-4, 0.5, 3.0])
@pytest.mark.parametrize("size", [1, 30, 5000])
@pytest.mark.parametrize("depth", [2, 3])
def test_weights_by_tables_are_those_by_products(
    depth: int, eta: float, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for tables in (True, False):
        monkeypatch.setattr(CellTables, "pays_off", tables)
        found.append(TreeWeights(TREES, eta).log_options(sample(size), depth))
    assert found[0].tolist() == pytest.approx(found[1].tolist(), rel=1e-12, abs=1e-12)


def test_tables_are_for_questions_that_are_many_for_their_fields() -> None:
    numbers = Schema.from_mapping({f"n{place}": {"range": [0, 100]} for place in range(4)})
    bits = Schema.from_mapping({f"b{place}": {"values": [0, 1]} for place in range(12)})
    many = Schema.from_mapping({f"n{place}": {"range": [0, 100]} for place in range(20)})
    for schema, expected in ((numbers, True), (bits, False), (many, False)):
        refined = schema.refined()
        widths = [part.cells for part in refined.fields]
        assert CellTables(DecisionTrees(refined, 3).conditions, widths).pays_off is expected


@pytest.mark.parametrize("eta", [1e-4, 0.5, 3.0])
def test_powers_from_a_table_are_computed_as_far_as_they_count(eta: float) -> None:
    generator = np.random.default_rng(7)
    numbers = generator.integers([[10], [300], [5000]], size=(3, 40))
    numbers[:, 0] = 0, 250, 0
    weights = TreeWeights(TREES, eta)
    weights._prepare_powers(5000)
    plain = np.log(np.exp(-eta * numbers).sum(axis=1))
    assert weights._log_powers(numbers).tolist() == pytest.approx(plain.tolist(), rel=1e-12)
