"""The folder of a fleet on Spark: its terms, the engine's checkpoint, what was released.

All but ``releases`` is as secret as the data: the checkpoint holds states, ``refused`` holds lines
that could not be taken. A batch becomes visible by one renaming, when the mark knows it.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from littlestone.errors import StoreError
from littlestone.fleet.high_water import Height
from littlestone.fleet.spark.visits import REFUSED, RELEASED
from littlestone.fleet.terms import Terms

NOT_COUNTED: Final = (
    "a fleet on Spark counts no users, and would promise them what it does not keep: count them in "
    "PostgreSQL (littlestone fleet init --user), or state --max-contributions and --max-keys here, "
    "for events that were limited before"
)
_COLUMNS: Final = "columns.json"


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a fleet has come after some batches; all of it is public but ``refused``."""

    batches: int = 0
    keys: int = 0
    rounds: int = 0
    releases: int = 0
    refused: int = 0
    chain: str = "00" * 32
    early: int = 0
    """Events that wait behind a gap."""

    @property
    def height(self) -> Height:
        return Height(self.batches, bytes.fromhex(self.chain))

    def after(
        self,
        *,
        keys: int,
        rounds: int,
        releases: int,
        refused: int,
        seals: tuple[int, int],
        early: int = 0,
    ) -> "Standing":
        """One batch more, with the sum of the seals of all states that it has changed."""
        mixed = b"".join(seal.to_bytes(8, signed=True) for seal in seals)
        digest = hashlib.sha256(bytes.fromhex(self.chain) + mixed)
        # A batch without gaps has the digest that it had when none could wait.
        told = (self.batches, keys, rounds, releases, refused, *([early] if early else []))
        digest.update(repr(told).encode())
        return Standing(
            self.batches + 1,
            self.keys + keys,
            self.rounds + rounds,
            self.releases + releases,
            self.refused + refused,
            digest.hexdigest(),
            self.early + early,
        )


class SparkFolder:
    """On a file system that the driver and all executors share."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        try:
            self.terms = Terms.from_json((self.path / "terms.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise StoreError(
                f"there is no fleet in {path}; littlestone fleet spark init makes one"
            ) from None

    @classmethod
    def from_terms(cls, path: Path, terms: Terms) -> "SparkFolder":
        """A new folder for a new fleet."""
        if terms.users is not None:
            raise ValueError(NOT_COUNTED)
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            raise StoreError(f"{path} exists: a new fleet wants a new folder") from None
        _write(path / "terms.json", terms.to_json())
        for name in ("standing", RELEASED, REFUSED):
            (path / name).mkdir()
        return cls(path)

    @property
    def checkpoint(self) -> str:
        return str(self.path / "checkpoint")

    @property
    def staging(self) -> Path:
        """Where a batch is computed before anybody sees it."""
        return self.path / "staging"

    def standing(self, batches: int | None = None) -> Standing:
        """After so many batches; else now."""
        known = [int(path.stem) for path in (self.path / "standing").glob("*.json")]
        wanted = max(known, default=0) if batches is None else batches
        if not wanted:
            return Standing()
        if wanted not in known:
            raise StoreError(
                f"{self.path} does not know how it stood after {wanted} batches: folder and "
                f"checkpoint do not belong together. Bring the newest of both back"
            )
        text = (self.path / "standing" / f"{wanted}.json").read_text(encoding="utf-8")
        return Standing(**json.loads(text))

    def publish(self, standing: Standing) -> None:
        """Let the staged batch be seen. Doing it twice, with the same batch, changes nothing."""
        for kind in (REFUSED, RELEASED):
            staged, shown = self.staging / f"kind={kind}", self._batch(kind, standing.batches)
            if staged.exists() and not shown.exists():
                _only_parts(staged)
                os.rename(staged, shown)
        _write(self.path / "standing" / f"{standing.batches}.json", json.dumps(asdict(standing)))
        # The one before is what this batch is computed from, should it have to be again.
        (self.path / "standing" / f"{standing.batches - 2}.json").unlink(missing_ok=True)
        shutil.rmtree(self.staging, ignore_errors=True)

    def needs_columns(self, columns: dict[str, str | None], *, begun: bool) -> bool:
        """Whether the fleet has yet to be bound to these columns, and may be.

        When a fleet has ``begun``, its events were read by its columns, and stay so.
        """
        path = self.path / _COLUMNS
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        if known is None and begun:
            raise StoreError(f"{path} is missing, which says how events are read: bring it back")
        if known is not None and begun and known != columns:
            name = next(name for name in columns if columns[name] != known.get(name))
            raise StoreError(
                f"this fleet reads its events with --{name} {known.get(name)}, got --{name} "
                f"{columns[name]}: other columns would make another stream. Nothing was taken; "
                f"rename the column in the files, or start a new fleet"
            )
        return bool(known != columns)

    def bind(self, columns: dict[str, str | None]) -> None:
        """Read all events by these columns from now on."""
        _write(self.path / _COLUMNS, json.dumps(columns))

    def lines(self, kind: str = RELEASED) -> Iterator[bytes]:
        """What was published, batch by batch, in order within each key; or what was refused."""
        for batch in sorted((self.path / kind).iterdir()):
            for part in sorted(batch.iterdir()):
                with part.open("rb") as lines:
                    yield from (line.rstrip(b"\n") for line in lines)

    def _batch(self, kind: str, number: int) -> Path:
        return self.path / kind / f"batch-{number:012}"


def _only_parts(folder: Path) -> None:
    """Without Spark's checksums, and with names that are the same whoever wrote the parts."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith("part-"):
            path.rename(folder / path.name[: len("part-00000")])
        else:
            path.unlink()


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
