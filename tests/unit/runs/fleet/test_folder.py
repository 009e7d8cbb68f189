"""The folder of a fleet on Spark: a batch is seen whole, once, whoever has to do it again."""

from pathlib import Path

import pytest
from tests.fleet_events import RECIPE
from typer.testing import CliRunner

from littlestone.cli.main import app
from littlestone.errors import StoreError
from littlestone.runs.fleet.spark_folder import REFUSED, RELEASED, FleetProgress, SparkFolder
from littlestone.runs.fleet.terms import Terms


def made(folder: Path) -> SparkFolder:
    terms = Terms.planned(RECIPE, fingerprint=b"\x00\xff", shards=2, options={"class": "x"})
    return SparkFolder.from_terms(folder / "fleet", terms)


def stage(folder: SparkFolder, kind: str, *parts: str) -> None:
    place = folder.staging / f"kind={kind}"
    place.mkdir(parents=True)
    for number, lines in enumerate(parts):
        (place / f"part-{number:05}-some-name.c000.txt").write_text(lines)
        (place / f".part-{number:05}-some-name.c000.txt.crc").write_text("?")


def after(progress: FleetProgress, **changed: int) -> FleetProgress:
    counts = {"keys": 1, "rounds": 2, "releases": 3, "refused": 0} | changed
    return progress.after(**counts, seals=(-5, 1 << 62))


def test_terms_are_what_they_were(tmp_path: Path) -> None:
    folder = made(tmp_path)
    assert SparkFolder(folder.path).terms == folder.terms
    assert folder.path.stat().st_mode & 0o777 == 0o700
    with pytest.raises(StoreError, match="exists"):
        made(tmp_path)
    with pytest.raises(StoreError, match="no fleet in"):
        SparkFolder(tmp_path)


def test_a_batch_is_seen_when_it_is_published_and_once(tmp_path: Path) -> None:
    folder = made(tmp_path)
    stage(folder, RELEASED, "a\nb\n", "c\n")
    assert list(folder.lines()) == []
    first = after(folder.progress())
    folder.publish(first)
    assert list(folder.lines()) == [b"a", b"b", b"c"] and folder.progress() == first
    stage(folder, RELEASED, "a\nb\n", "c\n")  # computed again
    stage(folder, REFUSED, "z\n")  # and killed before this was seen
    folder.publish(first)
    assert list(folder.lines()) == [b"a", b"b", b"c"] and list(folder.lines(REFUSED)) == [b"z"]
    assert not folder.staging.exists()
    names = {path.name for path in folder.path.rglob("part*")}
    assert names == {"part-00000", "part-00001"}  # the same, whoever wrote them


def test_a_standing_is_known_for_this_batch_and_the_one_before(tmp_path: Path) -> None:
    folder = made(tmp_path)
    progress = FleetProgress()
    for number in range(4):
        assert folder.progress(number) == progress
        progress = after(progress)
        folder.publish(progress)
    (folder.path / "progress" / "5.json.partial").touch()  # somebody is writing
    assert folder.progress(3).batches == 3 and folder.progress().rounds == 8
    with pytest.raises(StoreError, match="do not belong together"):
        folder.progress(2)
    with pytest.raises(StoreError, match="do not belong together"):
        folder.progress(5)


def test_the_chain_tells_batches_apart() -> None:
    start = FleetProgress()
    chains = {
        after(start).chain,
        after(start, rounds=3).chain,
        after(start, refused=1).chain,
        after(after(start)).chain,
        start.after(keys=1, rounds=2, releases=3, refused=0, seals=(1 << 62, -5)).chain,
    }
    assert len(chains) == 5 and after(start) == after(start)
    assert after(start).height.commits == 1 and len(after(start).height.chain) == 32


def test_a_fleet_that_has_begun_keeps_its_columns(tmp_path: Path) -> None:
    folder = made(tmp_path)
    columns = {"key": "shop", "sequence": "n", "positive": None}
    assert folder.needs_columns(columns, begun=False)
    folder.bind(columns)
    assert not folder.needs_columns(columns, begun=False)
    assert not folder.needs_columns(columns, begun=True)
    other = columns | {"sequence": "number"}
    assert folder.needs_columns(other, begun=False)  # a slip of which nothing came
    with pytest.raises(StoreError, match="--sequence n, got --sequence number"):
        folder.needs_columns(other, begun=True)
    (folder.path / "columns.json").unlink()
    with pytest.raises(StoreError, match="is missing, which says how events are read"):
        folder.needs_columns(columns, begun=True)


def test_a_fleet_that_would_have_to_count_users_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Terms.planned(RECIPE, fingerprint=b"", users="who")
    with pytest.raises(ValueError, match="does not count users"):
        SparkFolder.from_terms(tmp_path / "fleet", counted)
    given = ("--secret", "secret", "--class", "points", "--rounds", "9", "--user", "who")
    with monkeypatch.context() as patched:
        patched.chdir(tmp_path)
        said = CliRunner().invoke(app, ["fleet", "spark", "init", "fleet", *given])
    assert isinstance(said.exception, ValueError) and "does not count users" in str(said.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_second_file_of_a_task_is_not_written_over_the_first(tmp_path: Path) -> None:
    folder = made(tmp_path)
    stage(folder, RELEASED, "a\n")
    (folder.staging / f"kind={RELEASED}" / "part-00000-some-name.c001.txt").write_text("b\n")
    with pytest.raises(StoreError, match="two files"):
        folder.publish(after(folder.progress()))
    assert list(folder.lines()) == [] and folder.progress() == FleetProgress()


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"7", b"\xff", b'{"chain": 3}', b'{"a": 1}'])
@pytest.mark.parametrize("name", ["terms.json", "progress/1.json", "columns.json"])
def test_a_damaged_record_is_named(name: str, damage: bytes, tmp_path: Path) -> None:
    folder = made(tmp_path)
    folder.publish(after(folder.progress()))
    folder.bind({"key": "k"})
    (folder.path / name).write_bytes(damage)
    with pytest.raises(StoreError, match="damaged"):
        opened = SparkFolder(folder.path)
        opened.progress()
        opened.needs_columns({"key": "k"}, begun=True)


def test_a_record_of_other_batches_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path)
    first = after(folder.progress())
    folder.publish(first)
    folder.publish(after(first))
    (folder.path / "progress" / "2.json").write_bytes(
        (folder.path / "progress" / "1.json").read_bytes()
    )
    with pytest.raises(StoreError, match="record after 1 batches"):
        folder.progress()
