"""One row, one round: the example of a round follows from its own row and from public values.

Tables are drawn from a hostile generator, one row is replaced, and the rounds of all the others are
compared: through every door by which rows come in (docs/GUARANTEES.md, "One row, one round").
Nothing here is left to chance but which tables are looked at: a single round that moves is a bug.
"""

import os
from typing import Final

import numpy as np
import pytest

from tests.row_doors import DOORS, Door, changed_rounds
from tests.row_tables import Coins

# Of all doors together; some are slow to open.
QUICK: Final = 5_250
TABLES: Final = int(os.environ.get("TABLES", "105000"))


@pytest.fixture
def coins() -> Coins:
    given = os.environ.get("LITTLESTONE_SEED")
    seed = int(given) if given else int.from_bytes(os.urandom(6), "big")
    print(f"\nreplay with LITTLESTONE_SEED={seed}")
    return Coins(np.random.default_rng(seed))


def most_changed(door: Door, coins: Coins, tables: int) -> int:
    """The most rounds of a table that one replaced row has changed."""
    return max(changed_rounds(door, door.draw(coins)) for _ in range(tables))


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_a_replaced_row_changes_one_round(door: Door, coins: Coins) -> None:
    assert most_changed(door, coins, QUICK // len(DOORS)) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_a_replaced_row_changes_one_round_of_many_tables(door: Door, coins: Coins) -> None:
    tables = -(-TABLES // len(DOORS))
    most = most_changed(door, coins, tables)
    print(f"{door.name}: rows that one replaced row can change: max {most} over {tables:,} tables")
    assert most <= 1
