"""The query that runs a fleet on Spark: lines of JSON in, releases in a folder out.

For each batch Spark computes states and releases (``visits.py``), and the states are in its
checkpoint before anything is seen. Only then the driver compares what came out with the mark, lets
the mark remember it, and publishes. A batch that is computed again, because something was killed in
between, must come out as the mark remembers it: a checkpoint that was put back, or a source that
says something else the second time, is refused before anything is published.

Events come from a folder of files, through the fleet's inbox (``take``), or from any stream of
lines (``run``).

The secret is in no configuration, no task and no message: driver and executors read it from a file
of mode 600 that lies at the same path on each machine.
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
from littlestone.fleet.high_water import Height, HighWater
from littlestone.fleet.secret_file import secret_of
from littlestone.fleet.spark.event_files import Left
from littlestone.fleet.spark.folder import NOT_COUNTED, SparkFolder, Standing
from littlestone.fleet.spark.inbox import Inbox, is_fed_by_files
from littlestone.fleet.spark.visits import REFUSED, RELEASED, SCHEMA, KeyVisits
from littlestone.learners.run import PrivateLearner
from littlestone.service.events import Columns

try:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
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
    # Nothing is skipped, whatever the cluster's own settings say.
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}
_CAUSE: Final = re.compile(r"^littlestone\.errors\.\w+: (.+)$", re.MULTILINE)
_LOST: Final = re.compile(r"most recent failure: Lost task [^:]*: ([^\n]+)")
_CRASHED: Final = ("EOFException", "SocketException", "Python worker exited unexpectedly")
_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
_LONGEST: Final = 500
_TRIGGER: Final = "0.1 seconds"
_ROW: Final = Row(*SCHEMA)


def session(master: str | None = None) -> "SparkSession":
    """The session that ``spark-submit`` has prepared; else one on this machine."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("littlestone fleet")
    if master is not None:
        builder = builder.master(master)
    with _telling():
        spark = builder.getOrCreate()
        if _SUBMITTED not in os.environ:  # who submits a job has a log of their own choosing
            spark.sparkContext.setLogLevel("OFF")
        return spark


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
        """Take the files of a folder until it is stopped, or until all that are there are taken.

        A batch has the files that are new, at most ``files``. What is not taken is told once, and
        returned if it is still not when all others are.
        """
        folder = self._apart(events)
        with closing(Inbox(self.folder.path, done=self.folder.standing().batches)) as inbox:
            # Nothing was learned from what other columns made of the files.
            self._bind(columns, sequence, first=inbox.forget)
            lines = (
                spark.readStream.option("maxFilesPerTrigger", 1)
                .option("maxFileAge", "7d")  # batches have ages of their own
                .option("latestFirst", "false")
                .text(str(inbox.folder), lineSep="\n")
            )
            with self._query(lines, columns, sequence, {"processingTime": _TRIGGER}) as query:
                told = set[Left]()
                while True:
                    query.processAllAvailable()
                    self._require_all_read(inbox, query)
                    inbox.discard(self.folder.standing().batches)
                    more = inbox.take(folder, most=files)
                    for left in inbox.left:
                        if left not in told:
                            tell(left)
                    told = set(inbox.left)
                    if until_empty and not more:
                        break
                    if not more:
                        query.awaitTermination(max(pause, 0.01))
            # A checkpoint that was put back has nothing left to compute, and is not done.
            self.mark.check(0, self.folder.standing().height)
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
        """Take what a stream brings until it is stopped, or until all that is there is taken.

        ``lines`` is a streaming DataFrame with a column ``value``: one JSON object each, with the
        event's key, its number in that key (``sequence``), its label and its point.
        """
        if is_fed_by_files(self.folder.path):
            raise StoreError(
                "this fleet takes its events from a folder: go on with take, or start a new fleet"
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
        """The running query; what ends it is told in words that its owner can use."""
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
        with _telling(lambda: self._refusal):
            query = writer.trigger(**when).start()
            try:
                yield query
            finally:
                with suppress(PySparkException, Py4JError, OSError):  # there is no Java any more
                    query.stop()

    def _apart(self, events: Path) -> Path:
        """The folder of events, which must be a folder and hold nothing of the fleet's own."""
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
        """Bind the fleet to its columns, for good when there are events; ``first`` comes before."""
        if columns.user is not None:
            raise ValueError(NOT_COUNTED)
        standing = self.folder.standing()
        begun = bool(standing.rounds or standing.early)
        begun = begun or self.mark.known(0).commits > standing.batches
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
        """Compare what Spark has read with what there is to read."""
        progress = query.lastProgress
        if progress is None:  # it had nothing to do
            return
        offset = json.loads(progress.sources[0].endOffset)  # of the last batch, from 0 on
        read = 0 if offset is None else offset["logOffset"] + 1
        if read != inbox.made:
            raise StoreError(
                f"Spark has read {read} of {inbox.made} batches in {inbox.folder}: the others were "
                f"skipped, or folder and checkpoint do not belong together. Nothing is lost; bring "
                f"the newest of both back"
            )

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
            .sortWithinPartitions("kind", "run", "number", "line")
            .select("kind", "line")
            .write.partitionBy("kind")
            .mode("overwrite")
            .text(str(self.folder.staging))
        )
        found = sums.get
        seals = found.pop("low"), found.pop("high")
        return before.after(**found, seals=seals)


@contextmanager
def _telling(refusal: Callable[[], LittlestoneError | None] = lambda: None) -> Iterator[None]:
    """Turn what Spark raises into an error that says what to do; ``refusal`` is our own, if any."""
    try:
        yield
    except (PySparkException, Py4JError, ConnectionError, EOFError) as problem:
        raise (refusal() or StoreError(_told(problem))) from None


def _told(problem: Exception) -> str:
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
