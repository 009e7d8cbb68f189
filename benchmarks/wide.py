"""Rows of many columns: the default learner, alone and behind both adapters.

Seconds are of the processor, and of one core: threads of BLAS that wait would count. What is
measured is everything from a row to a rule: reading, learning and, for scikit-learn, its own
validation.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from littlestone.adapters.river import PrivateClassifier
from littlestone.adapters.sklearn import GRID
from littlestone.adapters.sklearn import PrivateClassifier as SklearnClassifier
from littlestone.concepts.schema import Schema

Row = tuple[str, str, str, bool | None]

COLUMNS = 3000
ROWS = 10_000
TARGET = 2000
_BLOCK = 250
_LEARN = """
import resource, time
import numpy as np
from threadpoolctl import threadpool_limits
from littlestone.choose.request import Request
from littlestone.concepts.schema import Schema
from littlestone.randomness import seeded
schema = Schema.from_mapping({{f"x{{i}}": {{"range": [0, 1]}} for i in range({fields})}})
generator = np.random.default_rng(1)
columns = {{part.name: generator.random(4000) for part in schema.fields}}
labels = (columns["x3"] > 0.5).astype(np.uint8)
with threadpool_limits(1):
    begun = time.process_time()
    run = Request(over=schema, rounds=4000).recipe().start(rng=seeded(1))
    cells, bits = run.validated(columns, labels)
    while len(bits):
        taken = run.take(cells, bits)
        cells, bits = cells[taken:], bits[taken:]
    spent = time.process_time() - begun
print(spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


# 4,000 rows of so many fields: seconds and megabytes at most.
FIELDS = {60: (0.5, 300), 1000: (3.0, 300)}


def measure() -> Iterator[Row]:
    with threadpool_limits(1):
        yield from _default()
        yield from _measured()


def _default() -> Iterator[Row]:
    """Each in a process of its own: memory is the most that it ever had."""
    for fields, (seconds, megabytes) in FIELDS.items():
        command = [sys.executable, "-c", _LEARN.format(fields=fields)]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        spent, used = map(float, told.split())
        reached = spent <= seconds and used <= megabytes
        target = f"<= {seconds:g} s, <= {megabytes} MB"
        yield f"4,000 rows, {fields:,} fields", f"{spent:.2f} s, {used:.0f} MB", target, reached


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
        estimator = SklearnClassifier(rounds=ROWS)
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
    fit = _seconds(lambda: SklearnClassifier().fit(table, labels))
    yield _rate("scikit-learn, fit", fit)
    yield _rate(f"scikit-learn, partial_fit of {_BLOCK} rows", _seconds(by_blocks))


def _seconds(run: Callable[[], object]) -> float:
    begun = time.process_time()
    run()
    return time.process_time() - begun


def _rate(what: str, seconds: float) -> Row:
    rate = ROWS / seconds
    return f"{what}, {COLUMNS} columns", f"{rate:,.0f} rows/s", f">= {TARGET:,}", rate >= TARGET
