"""A driver of a fleet on Spark that writes down what it computes, and may die of it.

    python tests/spark_driver.py FOLDER SECRET EVENTS LOG DIES

It is killed by its own hand, with probability DIES each: when a batch is computed and the mark does
not know it, and when the mark does and nobody else.
"""

import os
import random  # noqa: TID251 (when to die is no noise)
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from littlestone.errors import StoreError
from littlestone.runs.fleet import keyed
from littlestone.runs.fleet.spark_folder import RELEASED, FleetProgress, SparkFolder
from littlestone.runs.fleet.spark_job import RowVisits, SparkFleet
from tests.fleet_events import COLUMNS, RECIPE, SEQUENCE


class WatchedFleet(SparkFleet):
    """Writes the staged releases down, and throws its coin when a batch is computed."""

    log: Path
    dies: float

    def _computed(self, rows: Any, before: FleetProgress) -> FleetProgress:
        progress = super()._computed(rows, before)
        with self.log.open("ab") as log:
            for part in sorted((self.folder.staging / f"kind={RELEASED}").glob("part-*")):
                log.write(part.read_bytes())
        self.maybe_die()
        return progress

    def maybe_die(self) -> None:
        if random.Random(os.urandom(8)).random() < self.dies:
            os.kill(os.getpid(), signal.SIGKILL)


class FreshVisits(RowVisits):
    """The control: noise of the operating system, which nobody can draw again."""

    def handleInputRows(self, *given: Any) -> Iterator[Any]:  # noqa: N802
        known = keyed._keys
        keyed._keys = lambda *given: [os.urandom(32), known(*given)[1]]
        try:
            return super().handleInputRows(*given)
        finally:
            keyed._keys = known


class FreshFleet(WatchedFleet):
    """Ends where the other dies."""

    def processor(self, *given: Any) -> Any:
        made = super().processor(*given)
        made.__class__ = FreshVisits
        return made

    def maybe_die(self) -> None:
        if self.dies:
            raise StoreError("as if it was killed here")


def main(folder: str, secret: str, events: str, log: str, dies: str) -> None:
    spark = (
        SparkSession.builder.master("local[2,8]")  # a task may fail seven times
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    place = SparkFolder(Path(folder))
    fleet = WatchedFleet(place, RECIPE, Path(secret))
    fleet.log, fleet.dies = Path(log), float(dies)
    shown = place.publish

    def publish(progress: FleetProgress) -> None:
        fleet.maybe_die()
        shown(progress)

    place.publish = publish  # type: ignore[method-assign]
    fleet.take(spark, Path(events), COLUMNS, sequence=SEQUENCE, files=1, until_empty=True)
    fleet.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
