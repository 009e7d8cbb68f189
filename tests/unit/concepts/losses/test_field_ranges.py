"""Rules added up by pairs of fields, against asking every rule about every record."""

from typing import Any

import numpy as np
import pytest

from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.losses import answers as answers_module
from littlestone.concepts.losses.loss_table import LossTable
from littlestone.concepts.schema import Schema

SCHEMAS: dict[str, dict[str, Any]] = {
    "one number": {"n": {"grid": [1, 2, 3]}},
    "one category": {"c": {"values": ["a", "b"]}},
    "two": {"n": {"grid": [1, 2, 3]}, "c": {"values": ["a", "b", "c"]}},
    "a constant": {"c": {"values": ["a"]}, "n": {"grid": [0]}, "m": {"grid": [0, 5]}},
    "many cells": {f"n{i}": {"grid": list(range(7))} for i in range(9)},  # 2**27
}


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("block", [1 << 20, 40])
def test_sums_are_what_the_rules_say_one_by_one(
    name: str, depth: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers_module, "_LARGEST_BLOCK", block)
    pool = Stumps(Schema.from_mapping(SCHEMAS[name]), depth)
    answers, generator = pool.answers(), np.random.default_rng(8)
    rows = np.array(pool.schema.sample(50, generator), dtype=np.int64)
    for count in (0, 1, 5, 50):
        gains = generator.integers(-(10**9), 10**9, size=count)
        told = pool.labels_at(rows[:count]).astype(np.int64)
        assert answers.sums(rows[:count], gains).tolist() == (told @ gains).tolist()
    for position in generator.integers(pool.size, size=20).tolist():
        said = answers.says(position, rows)
        assert said.tolist() == pool.rules[position].many(rows).view(np.bool_).tolist()


def test_losses_of_deep_pools_need_no_table_of_all_records() -> None:
    schema = Schema.from_mapping({f"n{i}": {"grid": list(range(9))} for i in range(12)})
    pool = Stumps(schema, depth=2)
    assert schema.size > 2**23 and pool.size > 20_000
    losses, rows = LossTable(pool), np.array(schema.sample(10_000, np.random.default_rng(1)))
    labels = ((rows[:, 3] >= 4) & (rows[:, 7] < 6)).astype(np.uint8)
    losses.add_many(rows, labels)
    best = pool.rules[int(losses.as_array().argmin())]
    assert losses.as_array().min() == 0 and best.describe() == "n3 >= 3 and n7 < 5"
