"""Run a fleet on Spark: lines of JSON in, releases in a folder out.

For each batch Spark computes states and releases (``spark_folder.py``), and the states are in its
checkpoint before anything is visible. Then the driver compares the result with the mark, records it
there, and publishes it. A batch that is computed again, because a process was killed in between,
must give the result in the mark: a checkpoint that was restored from an old copy, or a source that
differs the second time, is rejected before anything is published.

Events come from a folder of files, through the inbox of the fleet (``take``), or from any stream of
lines (``run``).

The secret is in no configuration, task or message: driver and executors read it from a file of mode
600 at the same path on each machine.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from littlestone.errors import LittlestoneError, StoreError
from littlestone.learners.run import PrivateLearner
from littlestone.runs.files import secret_of
from littlestone.runs.fleet.commits import Height, HighWater
from littlestone.runs.fleet.spark_files import Inbox, Left, is_fed_by_files
from littlestone.runs.fleet.spark_folder import (
    NOT_COUNTED,
    REFUSED,
    RELEASED,
    SCHEMA,
    FleetProgress,
    KeyVisits,
    SparkFolder,
)
from littlestone.runs.intake.readers import Columns

try:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, Observation, Row, SparkSession
    from pyspark.sql import functions as sql
    from pyspark.sql.types import StringType, StructField, StructType
except ModuleNotFoundError as missing:
    raise StoreError(
        f"{missing.name} is missing: install it with pip install 'littlestone[spark]'; Spark also "
        f"needs Java 17 (apt-get install openjdk-17-jre-headless)"
    ) from None

SETTINGS: Final = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Old states are as valuable to a thief as new ones.
    "spark.sql.streaming.minBatchesToRetain": "2",
    # Nothing is skipped, whatever the settings of the cluster.
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}
_WRITTEN: Final = {
    # One plain file for each task, in place of whatever is staged, whatever the cluster's settings.
    "maxRecordsPerFile": 0,
    "partitionOverwriteMode": "static",
    "compression": "none",
}
_CAUSE: Final = re.compile(r"^littlestone\.errors\.\w+: (.+)$", re.MULTILINE)
_LOST: Final = re.compile(r"most recent failure: Lost task [^:]*: ([^\n]+)")
_CRASHED: Final = ("EOFException", "SocketException", "Python worker exited unexpectedly")
_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
_LONGEST: Final = 500
_TRIGGER: Final = "0.1 seconds"
_ROW: Final = Row(*SCHEMA)


def session(master: str | None = None) -> "SparkSession":
    """Return the session of ``spark-submit``, or create one on this machine."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("littlestone fleet")
    if master is not None:
        builder = builder.master(master)
    with _telling():
        spark = builder.getOrCreate()
        if _SUBMITTED not in os.environ:  # a submitted job has its own log settings
            spark.sparkContext.setLogLevel("OFF")
        return spark


class RowVisits(KeyVisits):
    """Process keys, and return rows of Spark."""

    def handleInputRows(self, *given: Any) -> Iterator["Row"]:  # noqa: N802
        """Process the lines of a key; return the output as rows of Spark."""
        return starmap(_ROW, super().handleInputRows(*given))


class SparkFleet:
    """A fleet with its learner and files; ``take`` and ``run`` feed it."""

    def __init__(
        self, folder: SparkFolder, recipe: PrivateLearner, secret: Path, *, adopt: bool = False
    ) -> None:
        folder.terms.require_recipe(recipe)
        secret_of(secret, folder.terms.fingerprint)  # reject it here, not in each task
        self.folder, self.recipe, self.secret = folder, recipe, secret.resolve()
        mark = secret.with_name(secret.name + ".mark")
        self.mark = HighWater(
            mark, folder.terms.identity, create=adopt, engine="the checkpoint of Spark"
        )
        self.mark.hold_alone()
        self._refusal: LittlestoneError | None = None

    def processor(self, columns: Columns, sequence: str) -> Any:
        """Return the processor of keys for these columns."""
        return RowVisits(
            self.recipe,
            secret=self.secret,
            fingerprint=self.folder.terms.fingerprint,
            columns=columns,
            sequence=sequence,
        )

    def take(
        self,
        spark: "SparkSession",
        events: Path,
        columns: Columns,
        *,
        sequence: str,
        files: int | None = None,
        until_empty: bool = False,
        pause: float = 1.0,
        tell: Callable[[Left], None] = lambda left: None,
    ) -> list[Left]:
        """Take the files of a folder until stopped, or until all of them are taken.

        Args:
            spark: The session.
            events: The folder.
            columns: Which columns hold what.
            sequence: The column of the number of an event within its key.
            files: The most files of one batch.
            until_empty: Stop when all files are taken.
            pause: Seconds between two looks at the folder.
            tell: Called once for each file that is not taken.

        Returns:
            The files that are still not taken at the end.
        """
        folder = self._apart(events)
        with closing(Inbox(self.folder.path, done=self.folder.progress().batches)) as inbox:
            # No event was learned from the files as other columns read them.
            self._bind(columns, sequence, first=inbox.forget)
            lines = (
                spark.readStream.option("maxFilesPerTrigger", 1)
                .option("maxFileAge", "7d")  # the ages of batches are artificial
                .option("latestFirst", "false")
                .text(str(inbox.folder), lineSep="\n")
            )
            with self._query(lines, columns, sequence, {"processingTime": _TRIGGER}) as query:
                reported = set[Left]()
                while True:
                    query.processAllAvailable()
                    self._require_all_read(inbox, query)
                    inbox.discard(self.folder.progress().batches)
                    more = inbox.take(folder, most=files)
                    for left in inbox.left:
                        if left not in reported:
                            tell(left)
                    reported = set(inbox.left)
                    if until_empty and not more:
                        break
                    if not more:
                        query.awaitTermination(max(pause, 0.01))
            # A checkpoint restored from an old copy has nothing to compute, but is not done.
            self.mark.check(0, self.folder.progress().height)
            return inbox.left

    def run(
        self,
        lines: "DataFrame",
        columns: Columns,
        *,
        sequence: str,
        until_empty: bool = False,
        pause: float = 1.0,
    ) -> None:
        """Take the lines of a stream until stopped, or until all of them are taken.

        Args:
            lines: A streaming DataFrame with a column ``value``: one JSON object per row, with the
                key of the event, its number within that key, its label and its point.
            columns: Which columns hold what.
            sequence: The column of the number of an event within its key.
            until_empty: Stop when all lines are taken.
            pause: Seconds between two batches.
        """
        if is_fed_by_files(self.folder.path):
            raise StoreError(
                "this fleet takes its events from a folder: call take, or start a new fleet"
            )
        self._bind(columns, sequence)
        when: dict[str, Any] = (
            {"availableNow": True} if until_empty else {"processingTime": f"{pause} seconds"}
        )
        with self._query(lines, columns, sequence, when) as query:
            query.awaitTermination()

    @contextmanager
    def _query(
        self, lines: "DataFrame", columns: Columns, sequence: str, when: dict[str, Any]
    ) -> Iterator[Any]:
        """Yield the running query; raise what ends it with a message for its owner."""
        spark = lines.sparkSession
        for name, value in SETTINGS.items():
            spark.conf.set(name, value)
        spark.conf.set("spark.sql.shuffle.partitions", self.folder.terms.shards)
        assert columns.identity is not None
        record = StructType([StructField(columns.identity, StringType())])
        key = sql.from_json("value", record).getField(columns.identity)
        text = sql.coalesce(sql.make_valid_utf8("value"), sql.lit(""))
        writer = (
            # A line that is not text has no key: read by Python, it would make a task fail.
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
        with _telling(lambda: self._refusal):
            query = writer.trigger(**when).start()
            try:
                yield query
            finally:
                with suppress(PySparkException, Py4JError, OSError):  # the Java process has ended
                    query.stop()

    def _apart(self, events: Path) -> Path:
        """Return the folder of events, which must not contain files of the fleet."""
        folder = events.resolve()
        if not folder.is_dir():
            raise ValueError(f"events must be a folder, got {str(events)!r}")
        own = self.folder.path
        if folder.is_relative_to(own) or any(
            path.is_relative_to(folder) for path in (own, self.secret)
        ):
            raise ValueError(
                f"events must be a folder apart from the fleet's folder and its secret, got "
                f"{str(events)!r}: everything in it is read as events"
            )
        return folder

    def _bind(
        self, columns: Columns, sequence: str, first: Callable[[], None] = lambda: None
    ) -> None:
        """Bind the fleet to its columns once there are events; call ``first`` before."""
        if columns.user is not None:
            raise ValueError(NOT_COUNTED)
        progress = self.folder.progress()
        begun = bool(progress.rounds or progress.early)
        begun = begun or self.mark.known(0).commits > progress.batches
        found = {
            "key": columns.identity,
            "sequence": sequence,
            "label": columns.label,
            "feature": columns.feature,
            "positive": columns.positive,
        }
        if self.folder.needs_columns(found, begun=begun):
            first()
            self.folder.bind(found)

    def _require_all_read(self, inbox: Inbox, query: Any) -> None:
        """Check that Spark has read every batch."""
        progress = query.lastProgress
        if progress is None:  # it had nothing to do
            return
        offset = json.loads(progress.sources[0].endOffset)  # of the last batch, from 0
        read = 0 if offset is None else offset["logOffset"] + 1
        if read != inbox.made:
            raise StoreError(
                f"Spark has read {read} of {inbox.made} batches in {inbox.folder}: the others were "
                f"skipped, or folder and checkpoint do not belong together. Nothing is lost; "
                f"restore the newest of both"
            )

    def close(self) -> None:
        """Release the mark."""
        self.mark.close()

    def _batch(self, rows: "DataFrame", number: int) -> None:
        try:
            self._publish(rows, number)
        except LittlestoneError as problem:  # Spark would pass on the text only
            self._refusal = problem
            raise

    def _publish(self, rows: "DataFrame", number: int) -> None:
        # A batch below the mark is rejected without computing it.
        self.mark.check(0, Height(number + 1, self.mark.known(0).chain))
        progress = self._computed(rows, self.folder.progress(number))
        self.mark.check(0, progress.height)
        # The mark comes first: it always knows at least what was published.
        self.mark.raise_to(0, progress.height)
        self.mark.sync()
        self.folder.publish(progress)

    def _computed(self, rows: "DataFrame", before: FleetProgress) -> FleetProgress:
        """Let Spark compute the batch and stage its lines; return the new progress."""
        sums = Observation()
        (  # all in one pass: a second one would compute every state again
            rows.observe(
                sums,
                sql.coalesce(sql.sum("created"), sql.lit(0)).alias("keys"),
                sql.coalesce(sql.sum("events"), sql.lit(0)).alias("rounds"),
                sql.coalesce(sql.sum("early"), sql.lit(0)).alias("early"),
                sql.count_if(rows["kind"] == RELEASED).alias("releases"),
                sql.count_if(rows["kind"] == REFUSED).alias("refused"),
                # A seal is a keyed hash of a state; sums can be compared without an order.
                sql.coalesce(sql.bit_xor("low"), sql.lit(0)).alias("low"),
                sql.coalesce(sql.bit_xor("high"), sql.lit(0)).alias("high"),
            )
            .where("line IS NOT NULL")
            .sortWithinPartitions("kind", "run", "number", "line")
            .select("kind", "line")
            .write.options(**_WRITTEN)
            .partitionBy("kind")
            .mode("overwrite")
            .text(str(self.folder.staging))
        )
        found = sums.get
        seals = found.pop("low"), found.pop("high")
        return before.after(**found, seals=seals)


@contextmanager
def _telling(refusal: Callable[[], LittlestoneError | None] = lambda: None) -> Iterator[None]:
    """Turn errors of Spark into one that says what to do; ``refusal`` is our own, if any."""
    try:
        yield
    except (PySparkException, Py4JError, ConnectionError, EOFError) as problem:
        raise (refusal() or StoreError(_in_words(problem))) from None


def _in_words(problem: Exception) -> str:
    text = str(problem)
    own, lost = _CAUSE.findall(text), _LOST.search(text)
    what = next((line.strip() for line in text.splitlines() if line.strip()), repr(problem))
    if own:
        what = own[-1]
    elif lost is not None and any(name in lost[1] for name in _CRASHED):
        what = (
            "one of its Python workers was killed, or had too little memory (a master such as "
            "local[4,8] tries each task eight times)"
        )
    elif lost is not None:
        what = lost[1]
    elif not isinstance(problem, PySparkException):
        what = f"its Java process has ended: {what}"
    return (
        f"Spark has stopped: {what[:_LONGEST]}. Nothing of this batch was published and nothing is "
        f"lost: start the work again"
    )
