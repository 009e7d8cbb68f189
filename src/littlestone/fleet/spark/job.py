"""The query that runs a fleet on Spark: lines of JSON in, releases in a folder out.

For each batch Spark computes states and releases (``visits.py``), and the states are in its
checkpoint before anything is seen. Only then the driver compares what came out with the mark, lets
the mark remember it, and publishes. A batch that is computed again, because something was killed in
between, must come out as the mark remembers it: a checkpoint that was put back, or a source that
says something else the second time, is refused before anything is published.

The secret is in no configuration, no task and no message: driver and executors read it from a file
of mode 600 that lies at the same path on each machine.
"""

import os
import sys
from collections.abc import Iterator
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from littlestone.errors import LittlestoneError, StoreError
from littlestone.fleet.high_water import Height, HighWater
from littlestone.fleet.secret_file import secret_of
from littlestone.fleet.spark.folder import SparkFolder, Standing
from littlestone.fleet.spark.visits import REFUSED, RELEASED, SCHEMA, KeyVisits
from littlestone.learners.run import PrivateLearner
from littlestone.service.events import Columns

try:
    from pyspark.errors import StreamingQueryException
    from pyspark.sql import DataFrame, Observation, Row, SparkSession
    from pyspark.sql import functions as sql
    from pyspark.sql.types import StringType, StructField, StructType
except ModuleNotFoundError as missing:
    raise StoreError(
        f"{missing.name} is missing: pip install 'littlestone[spark]' brings it, and Spark needs "
        f"Java 17 (apt-get install openjdk-17-jre-headless)"
    ) from None

SETTINGS: Final = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # States of long ago are worth as much to a thief as those of today.
    "spark.sql.streaming.minBatchesToRetain": "2",
}
_ROW: Final = Row(*SCHEMA)


def session(master: str | None = None) -> "SparkSession":
    """The session that ``spark-submit`` has prepared; else one on this machine."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("littlestone fleet")
    if master is not None:
        builder = builder.master(master)
    return builder.getOrCreate()


def text_lines(spark: "SparkSession", folder: Path, *, files: int | None = None) -> "DataFrame":
    """The lines of all files that are or will be in a folder; at most ``files`` in one batch."""
    reader = spark.readStream.format("text")
    if files is not None:
        reader = reader.option("maxFilesPerTrigger", files)
    return reader.load(str(folder.resolve()))


class RowVisits(KeyVisits):
    """What comes out of a key, as rows of Spark's own kind."""

    def handleInputRows(self, *given: Any) -> Iterator["Row"]:  # noqa: N802
        return starmap(_ROW, super().handleInputRows(*given))


class SparkFleet:
    """A fleet whose learner and files are known; ``run`` feeds it."""

    def __init__(
        self, folder: SparkFolder, recipe: PrivateLearner, secret: Path, *, adopt: bool = False
    ) -> None:
        folder.terms.require_recipe(recipe)
        secret_of(secret, folder.terms.fingerprint)  # refused here, not by each task
        self.folder, self.recipe, self.secret = folder, recipe, secret.resolve()
        mark = secret.with_name(secret.name + ".mark")
        self.mark = HighWater(
            mark, folder.terms.identity, create=adopt, engine="the checkpoint of Spark"
        )
        self.mark.hold()
        self._refusal: LittlestoneError | None = None

    def processor(self, columns: Columns, sequence: str) -> Any:
        return RowVisits(
            self.recipe,
            secret=self.secret,
            fingerprint=self.folder.terms.fingerprint,
            columns=columns,
            sequence=sequence,
        )

    def run(
        self,
        lines: "DataFrame",
        columns: Columns,
        *,
        sequence: str,
        until_empty: bool = False,
        pause: float = 1.0,
    ) -> None:
        """Take what comes until it is stopped, or until all that is there now is taken.

        ``lines`` is a streaming DataFrame with a column ``value``: one JSON object each, with the
        event's key, its number in that key (``sequence``), its label and its point.
        """
        spark = lines.sparkSession
        for name, value in SETTINGS.items():
            spark.conf.set(name, value)
        spark.conf.set("spark.sql.shuffle.partitions", self.folder.terms.shards)
        assert columns.identity is not None
        record = StructType([StructField(columns.identity, StringType())])
        key = sql.from_json("value", record).getField(columns.identity)
        text = sql.coalesce(sql.make_valid_utf8("value"), sql.lit(""))
        writer = (
            # What is no text has no key: as Python reads it, it would make a task fail.
            lines.select(
                sql.when(sql.is_valid_utf8("value"), key).alias("key"), text.alias("value")
            )
            .groupBy("key")
            .transformWithState(
                statefulProcessor=self.processor(columns, sequence),
                outputStructType=", ".join(map(" ".join, SCHEMA.items())),
                outputMode="Append",
                timeMode="None",
            )
            .writeStream.option("checkpointLocation", self.folder.checkpoint)
            .outputMode("append")
            .foreachBatch(self._batch)
        )
        when: dict[str, Any] = (
            {"availableNow": True} if until_empty else {"processingTime": f"{pause} seconds"}
        )
        query = writer.trigger(**when).start()
        try:
            query.awaitTermination()
        except StreamingQueryException:
            if self._refusal is not None:
                raise self._refusal from None
            raise
        finally:
            query.stop()

    def close(self) -> None:
        self.mark.close()

    def _batch(self, rows: "DataFrame", number: int) -> None:
        try:
            self._publish(rows, number)
        except LittlestoneError as problem:  # Spark would hand on its words only
            self._refusal = problem
            raise

    def _publish(self, rows: "DataFrame", number: int) -> None:
        # Below the mark nothing has to be computed to be refused.
        self.mark.check(0, Height(number + 1, self.mark.known(0).chain))
        standing = self._computed(rows, self.folder.standing(number))
        self.mark.check(0, standing.height)
        # The mark comes first: what was published is never more than it knows.
        self.mark.raise_to(0, standing.height)
        self.mark.sync()
        self.folder.publish(standing)

    def _computed(self, rows: "DataFrame", before: Standing) -> Standing:
        """Let Spark compute the batch and stage its lines; how the fleet then stands."""
        sums = Observation()
        (  # all in one pass: a second one would compute every state again
            rows.observe(
                sums,
                sql.coalesce(sql.sum("created"), sql.lit(0)).alias("keys"),
                sql.coalesce(sql.sum("events"), sql.lit(0)).alias("rounds"),
                sql.coalesce(sql.sum("early"), sql.lit(0)).alias("early"),
                sql.count_if(rows["kind"] == RELEASED).alias("releases"),
                sql.count_if(rows["kind"] == REFUSED).alias("refused"),
                # A seal is the hash of a state under a key; no order is needed to compare sums.
                sql.coalesce(sql.bit_xor("low"), sql.lit(0)).alias("low"),
                sql.coalesce(sql.bit_xor("high"), sql.lit(0)).alias("high"),
            )
            .where("line IS NOT NULL")
            .select("kind", "line")
            .sortWithinPartitions("kind", "line")
            .write.partitionBy("kind")
            .mode("overwrite")
            .text(str(self.folder.staging))
        )
        found = sums.get
        seals = found.pop("low"), found.pop("high")
        return before.after(**found, seals=seals)
