"""Doors: the ways in which rows become rounds, and what one replaced row changes there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from tests.rows.tables import (
    Coins,
    Public,
    Table,
)

from littlestone.concepts.classes.stumps import Stumps
from littlestone.concepts.schema import Schema
from littlestone.errors import LittlestoneError
from littlestone.learners.agnostic_finite.recipe import AgnosticFinite
from littlestone.learners.engine import single_rounds
from littlestone.learners.run import PrivateLearner

Rows = Sequence[Mapping[str, Any]]
Rounds = Callable[[Public, Rows], list[str]]
REFUSALS: Final = (ValueError, LittlestoneError)
"""What a table may be refused with; anything else is a bug."""


@dataclass(frozen=True)
class Door:
    """A name, the tables that are drawn for it, and the rounds that rows of these become.

    A round is written as its ``repr``. Where a row is refused alone that is written, too; where a
    table is refused as a ``whole``, because of a row in it, one of REFUSALS is raised.
    """

    name: str
    draw: Callable[[Coins], Table]
    rounds: Rounds
    whole: bool = True


def changed_rounds(door: Door, table: Table) -> int:
    """How many rounds are others once one row is; more than all if nothing explains a refusal.

    A table may be refused because of a row that is refused alone, too. If one of two tables is
    refused and the other is not, that is the row in which they differ, and no other row is.
    """
    public, place, before, after = table.public, table.place, table.rows, table.replaced
    old, new = _outcome(door, public, before), _outcome(door, public, after)
    if old is not None and new is not None:
        if _outcome(door, public, [before[place]]) != old[place : place + 1]:
            return len(before) + 1  # it is another round among others than alone
        moved = {i for i, (one, other) in enumerate(zip(old, new, strict=True)) if one != other}
        return len(moved | {place}) if moved else 0

    if not door.whole:
        return len(before) + 1

    def refused(row: Mapping[str, Any]) -> bool:
        return _outcome(door, public, [row]) is None

    others = [row for i, row in enumerate(before) if i != place]
    if old is new:
        explained = any(map(refused, others)) or (refused(before[place]) and refused(table.other))
    else:  # of the others a few will do: each has its turn at being the one that differs
        differing = before[place] if old is None else table.other
        explained = refused(differing) and not any(map(refused, others[:3]))
    return 1 if explained else len(before) + 1


def _outcome(door: Door, public: Public, rows: Rows) -> list[str] | None:
    try:
        found = door.rounds(public, rows)
    except REFUSALS:
        return None
    assert len(found) == len(rows), f"{door.name} made {len(found)} rounds of {len(rows)} rows"
    return found


def rounds_of(points: Any, labels: Any) -> list[str]:
    return [repr(example) for example in single_rounds(points, labels)]


def column_of(rows: Rows, name: str) -> list[Any]:
    return [row[name] for row in rows]


def objects(values: list[Any]) -> np.ndarray[Any, Any]:
    return np.fromiter(values, dtype=object, count=len(values))


@cache
def learner_over(schema: Schema) -> PrivateLearner:
    return AgnosticFinite(concepts=Stumps(schema, 1), rounds=10_000, epsilon=1.0, delta=1e-6)
