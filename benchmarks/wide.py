"""Rows of three thousand columns, learned from by the default learner of both adapters.

Seconds are of the processor, and of one core: threads of BLAS that wait would count. What is
measured is everything from a row to a rule: reading, learning and, for scikit-learn, its own
validation.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from littlestone.concepts.schema import Schema
from littlestone.integrations.river import PrivateClassifier
from littlestone.integrations.sklearn import GRID, PrivateOnlineClassifier

Row = tuple[str, str, str, bool | None]

COLUMNS = 3000
ROWS = 10_000
TARGET = 2000
_BLOCK = 250


def measure() -> Iterator[Row]:
    with threadpool_limits(1):
        yield from _measured()


def _measured() -> Iterator[Row]:
    generator = np.random.default_rng(1)
    table = generator.normal(size=(ROWS, COLUMNS))
    labels = (table[:, 7] > 0.5).astype(np.int64)
    names = [f"x{number}" for number in range(COLUMNS)]
    model = PrivateClassifier(
        concepts=Schema.from_mapping({name: {"grid": GRID} for name in names}), rounds=ROWS
    )
    model.hypothesis.describe()  # begun: what is made once is not counted for each row

    def by_blocks() -> None:
        estimator = PrivateOnlineClassifier(rounds=ROWS)
        for start in range(0, ROWS, _BLOCK):
            part = slice(start, start + _BLOCK)
            estimator.partial_fit(table[part], labels[part], classes=[0, 1])

    seconds = 0.0
    for start in range(0, ROWS, _BLOCK):
        part = slice(start, start + _BLOCK)
        records = [dict(zip(names, row, strict=True)) for row in table[part].tolist()]
        wanted = labels[part].astype(bool).tolist()
        begun = time.process_time()
        for record, label in zip(records, wanted, strict=True):
            model.learn_one(record, label)
        seconds += time.process_time() - begun
    yield _rate("River, learn_one", seconds)
    fit = _seconds(lambda: PrivateOnlineClassifier().fit(table, labels))
    yield _rate("scikit-learn, fit", fit)
    yield _rate(f"scikit-learn, partial_fit of {_BLOCK} rows", _seconds(by_blocks))


def _seconds(run: Callable[[], object]) -> float:
    begun = time.process_time()
    run()
    return time.process_time() - begun


def _rate(what: str, seconds: float) -> Row:
    rate = ROWS / seconds
    return f"{what}, {COLUMNS} columns", f"{rate:,.0f} rows/s", f">= {TARGET:,}", rate >= TARGET
