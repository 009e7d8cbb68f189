"""A driver of a fleet on Spark that writes down what it computes, and may die of it.

    python tests/spark_driver.py FOLDER SECRET EVENTS LOG DIES [fresh]

It is killed by its own hand, with probability DIES each: when a batch is computed and the mark does
not know it, and when the mark does and nobody else. With ``fresh`` noise is that of the operating
system, in every process that learns: the control.
"""

import os
import random  # noqa: TID251 (when to die is no noise)
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.spark_events import COLUMNS, RECIPE, SEQUENCE

from littlestone.fleet import keyed
from littlestone.fleet.spark.folder import SparkFolder, Standing
from littlestone.fleet.spark.job import RowVisits, SparkFleet, text_lines
from littlestone.fleet.spark.visits import RELEASED


class FreshVisits(RowVisits):
    """Noise of a key that nobody can draw again."""

    def handleInputRows(self, *given: Any) -> Iterator[Any]:  # noqa: N802
        if not hasattr(keyed, "_drawn_again"):
            keyed._drawn_again = known = keyed._keys  # type: ignore[attr-defined]
            keyed._keys = lambda *given: [os.urandom(32), known(*given)[1]]
        return super().handleInputRows(*given)


class WatchedFleet(SparkFleet):
    """Writes the staged releases down, and throws its coin twice for each batch."""

    log: Path
    dies: float
    fresh: bool

    def processor(self, *given: Any) -> Any:
        made = super().processor(*given)
        if self.fresh:
            made.__class__ = FreshVisits
        return made

    def _computed(self, rows: Any, before: Standing) -> Standing:
        standing = super()._computed(rows, before)
        with self.log.open("ab") as log:
            for part in sorted((self.folder.staging / f"kind={RELEASED}").glob("part-*")):
                log.write(part.read_bytes())
        self.maybe_die()
        return standing

    def maybe_die(self) -> None:
        if random.Random(os.urandom(8)).random() < self.dies:
            os.kill(os.getpid(), signal.SIGKILL)


def main(folder: str, secret: str, events: str, log: str, dies: str, *fresh: str) -> None:
    spark = (
        SparkSession.builder.master("local[2,8]")  # a task may fail seven times
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    place = SparkFolder(Path(folder))
    fleet = WatchedFleet(place, RECIPE, Path(secret))
    fleet.log, fleet.dies, fleet.fresh = Path(log), float(dies), bool(fresh)
    shown = place.publish

    def publish(standing: Standing) -> None:
        if not fleet.fresh:  # else the mark would never let it come back
            fleet.maybe_die()
        shown(standing)

    place.publish = publish  # type: ignore[method-assign]
    lines = text_lines(spark, Path(events), files=1)
    fleet.run(lines, COLUMNS, sequence=SEQUENCE, until_empty=True)
    fleet.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
